-- id: peer-not-answering
-- code: rank-missing
-- role: root
-- severity: warning
-- title: A process does not answer NCCL's RAS
-- title.zh: 一个进程未回应 NCCL 的 RAS
-- means: The report lacks the data of this process. It may be gone, or only slow to answer: a
--   second report tells.
-- means.zh: 报告中缺少该进程的数据：它可能已经消失，也可能只是回应缓慢；再取一次报告即可判断。
-- remedy: Ask RAS again after a minute (ncclras); look whether the process lives on that host.
-- remedy.zh: 一分钟后再次查询 RAS（ncclras），并在该主机上检查进程是否存活。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html
SELECT id AS event, CAST(arg(args, 'rank') AS INTEGER) AS rank, arg(args, 'host') AS host, 'lead' AS strength,
       coalesce('rank ' || coalesce(arg(args, 'rank'), arg(args, 'ranks')), 'pid ' || arg(args, 'pid')) AS detail
FROM event
WHERE family = 'RAS'
      AND source NOT IN (SELECT source FROM event WHERE family = 'RAS' AND arg(args, 'error') = 'DEAD')
      AND (arg(args, 'what') = 'missing' AND ifnull(arg(args, 'state'), '') <> 'dead'
           AND (arg(args, 'pid') IS NOT NULL OR arg(args, 'ranks') IS NOT NULL)
           OR arg(args, 'what') = 'process' AND arg(args, 'error') = 'INCOMPLETE');
