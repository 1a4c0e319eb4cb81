-- id: node-drained
-- code: gpu-fault
-- role: root
-- severity: warning
-- title: A node was drained because of its GPU
-- title.zh: 节点因其 GPU 被下线
-- means: Slurm's controller notes why a node takes no more jobs: a health check or a person found
--   something wrong with a GPU or its links. It may be another job's story.
-- means.zh: Slurm 控制器记录了节点停止接收作业的原因：健康检查或管理员发现其 GPU 或链路异常；也可
--   能与本作业无关。
-- remedy: Compare the time with the job's, and read dmesg of that node for Xid lines.
-- remedy.zh: 将时间与本作业对比，并在该节点的 dmesg 中查找 Xid 记录。
-- see: https://slurm.schedmd.com/troubleshoot.html
SELECT id AS event, NULL AS rank, arg(args, 'nodes') AS host, 'lead' AS strength, arg(args, 'why') AS detail
FROM event
WHERE family = 'SLURM_CTLD'
      AND (arg(args, 'why') LIKE '%GPU%' OR arg(args, 'why') LIKE '%Xid%' OR arg(args, 'why') LIKE '%NVLink%'
           OR arg(args, 'why') LIKE '%ECC%');
