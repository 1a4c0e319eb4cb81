-- id: worker-lost
-- code: rank-died
-- role: root
-- severity: error
-- title: A worker process is gone
-- title.zh: 工作进程已消失
-- means: The framework noticed that one of its workers ended. What ended it stands in the
--   worker's own log, if anywhere.
-- means.zh: 框架发现它的一个工作进程已经结束；结束的原因若有记录，应在该工作进程自己的日志中。
-- remedy: Read the log of that worker (Ray: session_latest/logs/worker-*) and dmesg of its host.
-- remedy.zh: 查看该工作进程的日志（Ray：session_latest/logs/worker-*）以及所在主机的 dmesg。
-- see: https://docs.ray.io/en/latest/ray-observability/user-guides/configure-logging.html
SELECT id AS event,
       CASE WHEN family IN ('VLLM_WORKER_DIED', 'SGLANG_CHILD')
            THEN coalesce(CASE WHEN arg(args, 'name') GLOB 'Worker proc *-[0-9]*'
                               THEN CAST(substr(arg(args, 'name'), instr(arg(args, 'name'), '-') + 1) AS INTEGER)
                               WHEN arg(args, 'name') LIKE '%rank=%'
                               THEN CAST(substr(arg(args, 'name'), instr(arg(args, 'name'), 'rank=') + 5) AS INTEGER)
                          END, rank) END AS rank,
       ifnull(arg(args, 'host'), host) AS host, 'likely' AS strength,
       -- NCCL gave up first, and what it had warned of is the reason.
       CASE WHEN family = 'SGLANG_CHILD'
                 AND EXISTS (SELECT 1 FROM event b
                             WHERE b.family = 'backtrace' AND b.source = e.source
                                   AND b.line BETWEEN e.line - 60 AND e.line) THEN 'cascade' ELSE 'root' END AS role,
       coalesce(arg(args, 'why'), arg(args, 'name'), arg(args, 'what')) AS detail
FROM event e
WHERE (family = 'RAY_DIED' AND arg(args, 'node') IS NULL AND ifnull(arg(args, 'state'), '') NOT LIKE 'INTENDED%'
       OR family = 'VLLM_WORKER_DIED' AND ifnull(arg(args, 'exitcode'), '') NOT IN ('-15', '0')
       OR family = 'SGLANG_CHILD' AND arg(args, 'what') = 'Scheduler hit an exception');
