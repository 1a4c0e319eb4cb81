-- id: ended-by-signal
-- code: rank-died
-- cause: killed-by-signal
-- role: root
-- severity: error
-- title: A process was ended by a signal
-- title.zh: 进程被信号终止
-- means: SIGKILL comes from outside: the kernel's memory killer, the scheduler or a person.
--   SIGSEGV, SIGBUS, SIGILL and SIGFPE are crashes of the process itself. The process leaves no
--   exception.
-- means.zh: SIGKILL 来自外部：内核的内存回收、调度系统或人工操作。SIGSEGV、SIGBUS、SIGILL、SIGFPE
--   是进程自身崩溃。这种结束不会留下异常信息。
-- remedy: For SIGKILL read dmesg of that host (out of memory) and the scheduler's log. For a
--   crash take a core file, or run with PYTHONFAULTHANDLER=1.
-- remedy.zh: SIGKILL 请查看该主机的 dmesg（内存不足）与调度日志；崩溃请获取 core 文件，或设置
--   PYTHONFAULTHANDLER=1 再运行。
-- see: https://pytorch.org/docs/stable/elastic/errors.html
SELECT d.event, d.rank, d.host,
       CASE WHEN e.family = 'SRUN_TASK'
                 AND EXISTS (SELECT 1 FROM event o
                             WHERE o.source = e.source AND o.line < e.line
                                   AND o.family IN ('SRUN_ABORT', 'SRUN_TASK', 'SLURM_STEP')) THEN 'cascade'
            WHEN d.signal = 9
                 AND d.pid IN (SELECT CAST(arg(args, 'pid') AS INTEGER) FROM event
                               WHERE family = 'ELASTIC_KILL' AND arg(args, 'pid') IS NOT NULL)
            THEN 'cascade'
            -- The launcher ends what it had started already.
            WHEN d.signal = 9 AND e.family = 'MPICH_BAD_END'
                 AND EXISTS (SELECT 1 FROM event o
                             WHERE o.source = e.source AND o.line < e.line AND o.family = 'MPI_START')
            THEN 'cascade'
            -- A server that ends itself with all its processes: the shell only repeats it.
            WHEN e.family = 'SHELL_DEATH' AND d.pid IS NULL
                 AND EXISTS (SELECT 1 FROM event o
                             WHERE o.source = e.source AND o.line BETWEEN e.line - 5 AND e.line - 1
                                   AND o.family = 'SGLANG_CHILD' AND arg(o.args, 'what') LIKE 'Received sigquit%')
            THEN 'cascade'
            -- Who cannot go on without NCCL ends itself, some with a bad instruction.
            WHEN e.family = 'SHELL_DEATH' AND d.pid IS NULL AND d.signal IN (4, 5, 11)
                 AND EXISTS (SELECT 1 FROM event o
                             WHERE o.source = e.source AND o.line BETWEEN e.line - 3 AND e.line - 1
                                   AND o.family IN ('nccl_result_text', 'nccl_tests_fail', 'NCCL_ERR'))
            THEN 'cascade'
            ELSE 'root' END AS role,
       CASE WHEN e.family = 'SEGFAULT' AND d.rank IS NULL THEN 'lead'
            -- A bus error is mostly a full /dev/shm.
            WHEN d.signal IN (7, 15) OR e.family IN ('SHELL_DEATH', 'K8S_EXIT', 'CONTAINER_EXIT', 'SLURM_STATE') THEN 'likely'
            ELSE 'sure' END AS strength,
       CASE d.signal WHEN 7 THEN 'small-shm' ELSE 'killed-by-signal' END AS cause,
       'signal ' || d.signal || ifnull(', local rank ' || d.local_rank, '') || ifnull(', pid ' || d.pid, '') AS detail
FROM ended d CROSS JOIN event e ON e.id = d.event
WHERE d.signal IN (3, 4, 5, 7, 8, 9, 11, 24, 31)
      -- The agent found this one ended by SIGTERM, and had sent it to others only.
      OR d.signal = 15 AND e.family = 'ELASTIC_FAIL'
         AND EXISTS (SELECT 1 FROM event o WHERE o.source = e.source AND o.family = 'ELASTIC_SIG')
         AND (e.source, ifnull(d.pid, -1)) NOT IN (SELECT source, ifnull(CAST(arg(args, 'pid') AS INTEGER), -2)
                                                   FROM event WHERE family = 'ELASTIC_SIG')
         AND e.source NOT IN (SELECT source FROM event
                              WHERE family = 'SIGTERM_SEEN'
                                    OR family = 'ELASTIC_AGENT' AND arg(args, 'signal') IS NOT NULL)
      -- The first task that srun names, before it ended the step.
      OR d.signal = 15 AND e.family = 'SRUN_TASK' AND d.rank IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM event o
                         WHERE o.source = e.source AND o.line < e.line
                               AND o.family IN ('SRUN_ABORT', 'SRUN_TASK', 'SLURM_STEP'))
UNION ALL
-- Open MPI's word for a crash, where the line below it with the signal was not copied.
SELECT id, rank, arg(args, 'host'), 'root', 'likely', 'killed-by-signal', 'pid ' || arg(args, 'pid')
FROM event
WHERE family = 'FH_SIGNAL' AND arg(args, 'signal') IS NULL
      AND line_text(source, line) LIKE '%*** Process received signal%'
      AND (source, ifnull(arg(args, 'pid'), '-'))
          NOT IN (SELECT source, ifnull(arg(args, 'pid'), '-') FROM event
                  WHERE family = 'FH_SIGNAL' AND arg(args, 'signal') IS NOT NULL);
