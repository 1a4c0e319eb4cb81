-- id: node-lost
-- code: rank-died
-- cause: scheduler-limit
-- role: root
-- severity: error
-- title: A node of the job was lost
-- title.zh: 作业的一个节点丢失
-- means: The scheduler or launcher no longer reaches this node; all ranks on it are gone.
-- means.zh: 调度系统或启动器已无法联系该节点，其上的所有 rank 都已丢失。
-- remedy: Take the node out of service until its console and logs of power, network and GPU have
--   been read.
-- remedy.zh: 在查看其控制台以及电源、网络和 GPU 日志之前，将该节点停用。
-- see: https://slurm.schedmd.com/troubleshoot.html
SELECT id AS event, NULL AS rank,
       coalesce(arg(args, 'nodes'),
                -- Ray's number of a node is no host.
                CASE WHEN family = 'RAY_DIED' THEN arg(args, 'host') END, arg(args, 'node'), arg(args, 'object'), arg(args, 'host'),
                -- Open MPI names it a few lines below.
                (SELECT arg(n.args, 'node') FROM event n
                 WHERE e.family = 'MPI_LOST_NODE' AND n.family = e.family AND n.source = e.source
                       AND n.line BETWEEN e.line + 1 AND e.line + 4 AND arg(n.args, 'node') IS NOT NULL
                 ORDER BY n.line LIMIT 1), host) AS host,
       -- Who misses heartbeats may be slow, or have been taken away on purpose.
       CASE WHEN family = 'MPI_LOST_NODE' OR family = 'RAY_DIED' AND arg(args, 'why') LIKE '%missed too many%'
            THEN 'likely' ELSE 'sure' END AS strength,
       coalesce(arg(args, 'why'), arg(args, 'state'), arg(args, 'message')) AS detail
FROM event e
WHERE family IN ('SRUN_NODE', 'K8S_NODE')
      OR family = 'MPI_LOST_NODE' AND arg(args, 'what') LIKE 'has lost%'
         -- Nobody can be lost where nobody could go.
         AND NOT EXISTS (SELECT 1 FROM event s
                         WHERE s.family = 'SSH_FAIL' AND s.source = e.source AND s.line BETWEEN e.line - 16 AND e.line)
      OR family = 'SLURM_STEP' AND arg(args, 'why') LIKE 'NODE FAILURE%'
      OR family = 'SLURM_STATE' AND arg(args, 'state') IN ('NODE_FAIL', 'BOOT_FAIL')
      OR family = 'SLURM_CTLD' AND (arg(args, 'nodes') IS NOT NULL AND arg(args, 'state') IS NULL
                                    AND arg(args, 'why') IS NULL OR arg(args, 'why') LIKE 'Node unexpectedly%')
      OR family IN ('K8S_EVENT', 'K8S_REASON') AND arg(args, 'reason') IN ('NodeNotReady', 'NodeLost')
      OR family = 'K8S_EVICTED' AND arg(args, 'why') LIKE '%is not ready%'
      OR family = 'RAY_DIED' AND arg(args, 'node') IS NOT NULL
      OR family = 'HOST_BOOT' AND arg(args, 'state') IN ('Restarting system', 'Power down', 'System halted');
