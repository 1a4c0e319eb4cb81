-- id: step-out-of-memory
-- code: rank-died
-- cause: host-out-of-memory
-- role: root
-- severity: error
-- title: The scheduler reports a process killed for memory
-- title.zh: 调度系统报告有进程因内存不足被杀
-- means: Slurm, Kubernetes or Ray says that a process of the job was killed because it, or its
--   host, used more memory than allowed. Slurm says it at the end of the step, so the line is
--   later than the kill.
-- means.zh: Slurm、Kubernetes 或 Ray 表明作业中的进程因内存超限被杀。Slurm 在作业步结束时才打印，
--   因此该行晚于实际发生的时间。
-- remedy: Ask for more memory (--mem, limits.memory), or use less on the host. dmesg of the node
--   names the process.
-- remedy.zh: 申请更多内存（--mem、limits.memory）或减少主机内存占用；节点的 dmesg 会给出进程号。
-- see: https://slurm.schedmd.com/cgroup.conf.html
SELECT e.id AS event,
       CASE WHEN e.family = 'SRUN_TASK' AND arg(e.args, 'tasks') NOT GLOB '*[^0-9]*'
                 AND NOT EXISTS (SELECT 1 FROM event WHERE family IN ('ELASTIC_FAIL', 'ELASTIC_SIG', 'TBL_ROW'))
            THEN CAST(arg(e.args, 'tasks') AS INTEGER)
            WHEN e.family = 'K8S_REASON' THEN e.rank END AS rank,
       CASE WHEN arg(e.args, 'hosts') NOT GLOB '*[],[]*' THEN arg(e.args, 'hosts')
            ELSE ifnull(arg(e.args, 'host'), e.host) END AS host,
       CASE WHEN e.family = 'SLURM_OOM' THEN 'likely' ELSE 'sure' END AS strength,
       coalesce('tasks ' || arg(e.args, 'tasks'), arg(e.args, 'pod'), arg(e.args, 'job')) AS detail
FROM event e
WHERE e.family IN ('SLURM_OOM', 'RAY_OOM')
      OR e.family = 'BATCH_LIMIT' AND (arg(e.args, 'what') LIKE '%mem%' OR arg(e.args, 'what') = 'SWAP')
      OR e.family = 'SRUN_TASK' AND arg(e.args, 'oom') IS NOT NULL
      OR e.family = 'SLURM_STATE' AND arg(e.args, 'state') LIKE 'OUT_OF_ME%'
      OR e.family = 'K8S_REASON' AND arg(e.args, 'reason') LIKE '%OOMKilled'
      OR e.family = 'K8S_EVENT' AND arg(e.args, 'reason') IN ('OOMKilling', 'SystemOOM');
