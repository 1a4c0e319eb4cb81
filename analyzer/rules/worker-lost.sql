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
SELECT e.id AS event,
       CASE WHEN e.family IN ('VLLM_WORKER_DIED', 'SGLANG_CHILD')
            THEN coalesce(CASE WHEN arg(e.args, 'name') GLOB 'Worker proc *-[0-9]*'
                               THEN CAST(substr(arg(e.args, 'name'), instr(arg(e.args, 'name'), '-') + 1) AS INTEGER)
                               WHEN arg(e.args, 'name') LIKE '%rank=%'
                               THEN CAST(substr(arg(e.args, 'name'), instr(arg(e.args, 'name'), 'rank=') + 5) AS INTEGER)
                          END, e.rank)
            WHEN e.family = 'SGLANG_DEAD' THEN CAST(arg(e.args, 'rank') AS INTEGER)
            ELSE n.rank END AS rank,
       coalesce(arg(e.args, 'host'), n.host,
                -- Open MPI names the other side some lines below.
                (SELECT arg(p.args, 'node') FROM event p
                 WHERE e.family = 'MPI_PEER_GONE' AND p.family = e.family AND p.source = e.source
                       AND p.line BETWEEN e.line + 1 AND e.line + 16 AND arg(p.args, 'node') IS NOT NULL
                 ORDER BY p.line LIMIT 1), e.host) AS host,
       -- Its own watchdog had ended it, its traceback says why, or the line above does.
       CASE WHEN e.family = 'RAY_DIED' AND EXISTS (SELECT 1 FROM torn_down t WHERE t.process = n.process)
                 OR (e.family = 'SGLANG_CHILD'
                     OR e.family = 'VLLM_WORKER_DIED' AND arg(e.args, 'what') LIKE 'WorkerProc %')
                     -- NCCL gave up first, and what it had warned of is the reason.
                    AND (EXISTS (SELECT 1 FROM event b
                                 WHERE b.family = 'backtrace' AND b.source = e.source
                                       AND b.line BETWEEN e.line - 60 AND e.line)
                         OR EXISTS (SELECT 1 FROM event t
                                    WHERE t.source = e.source AND t.line BETWEEN e.line AND e.line + 1
                                          AND t.speaker = e.speaker AND t.family = 'PY_TRACEBACK'
                                          AND arg(t.args, 'class') IS NOT NULL)
                         OR EXISTS (SELECT 1 FROM event w JOIN torn_down t ON t.event = w.id
                                    WHERE w.source = e.source AND w.line BETWEEN e.line - 20 AND e.line - 1))
            THEN 'cascade'
            -- MPI only says that somebody is gone; whatever else is said of it says more.
            WHEN e.family = 'MPI_PEER_GONE'
                 AND (EXISTS (SELECT 1 FROM exception) OR EXISTS (SELECT 1 FROM torn_down)
                      OR EXISTS (SELECT 1 FROM ended) OR EXISTS (SELECT 1 FROM event WHERE family = 'backtrace'))
            THEN 'cascade' ELSE 'root' END AS role,
       -- A list of pods tells more where nothing else is told; it may be older than what is.
       CASE WHEN e.family = 'K8S_REASON' AND EXISTS (SELECT 1 FROM event o WHERE o.family NOT LIKE 'K8S@_%' ESCAPE '@')
            THEN 'lead' ELSE 'likely' END AS strength,
       coalesce(arg(e.args, 'pod'), arg(e.args, 'why'), arg(e.args, 'name'), arg(e.args, 'what')) AS detail
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE (e.family = 'RAY_DIED' AND arg(e.args, 'node') IS NULL AND ifnull(arg(e.args, 'state'), '') NOT LIKE 'INTENDED%'
       OR e.family = 'VLLM_WORKER_DIED' AND ifnull(arg(e.args, 'exitcode'), '') NOT IN ('-15', '0')
       OR e.family = 'K8S_JOB'
       OR e.family = 'K8S_REASON' AND arg(e.args, 'pod') IS NOT NULL
          AND arg(e.args, 'reason') IN ('Error', 'Init:Error', 'CrashLoopBackOff', 'Init:CrashLoopBackOff')
       OR e.family = 'MPI_PEER_GONE' AND arg(e.args, 'what') IS NOT NULL
       OR e.family = 'SGLANG_DEAD' AND arg(e.args, 'rank') IS NOT NULL
       OR e.family = 'SGLANG_CHILD' AND arg(e.args, 'what') = 'Scheduler hit an exception');
