-- id: stopped-by-scheduler
-- code: rank-died
-- cause: scheduler-limit
-- role: root
-- severity: error
-- title: The scheduler ended the job or took its node
-- title.zh: 调度系统结束了作业或收回了节点
-- means: A time limit, preemption, eviction or requeue ended processes of the job. A job that
--   hung until its limit has another reason before this line; one that worked until then has no
--   fault.
-- means.zh: 时间限制、抢占、驱逐或重新排队结束了作业的进程。若作业先挂起直到时限，原因应在此行之
--   前；若一直在正常工作，则并无故障。
-- remedy: Ask for more time or another priority, and write checkpoints in time (Slurm --signal; a
--   termination grace period in Kubernetes).
-- remedy.zh: 申请更长时间或更高优先级，并及时保存检查点（Slurm --signal；Kubernetes 的终止宽限期
--   ）。
-- see: https://slurm.schedmd.com/job_reason_codes.html
SELECT id AS event, NULL AS rank, ifnull(arg(args, 'node'), host) AS host,
       CASE WHEN arg(args, 'why') NOT LIKE '%TIME%LIMIT%' THEN 'sure'
            WHEN EXISTS (SELECT 1 FROM event WHERE family IN ('STEP_LINE', 'STEP_TIME')) THEN 'lead'
            ELSE 'likely' END AS strength,
       arg(args, 'why') AS detail
FROM event
WHERE family = 'SLURM_STEP'
      AND (arg(args, 'why') LIKE 'TIME LIMIT%' OR arg(args, 'why') LIKE 'PREEMPT%'
           OR arg(args, 'why') LIKE 'JOB REQUEUE%')
UNION ALL
-- A job that somebody cancelled: a step alone is also cancelled when one of its tasks failed.
SELECT id, NULL, ifnull(arg(args, 'node'), host), 'lead', 'cancelled' FROM event
WHERE family = 'SLURM_STEP' AND arg(args, 'why') IS NULL AND line_text(source, line) LIKE '%*** JOB %CANCELLED AT%'
UNION ALL
SELECT id, NULL, host, 'likely', arg(args, 'state') FROM event
WHERE family = 'SLURM_STATE' AND arg(args, 'state') IN ('TIMEOUT', 'PREEMPTED', 'DEADLINE')
UNION ALL
SELECT id, NULL, host, 'likely', arg(args, 'what') FROM event
WHERE family = 'SLURM_CTLD' AND (arg(args, 'what') LIKE 'Time limit%' OR arg(args, 'what') LIKE 'Preempt%'
                                 OR arg(args, 'what') LIKE '%equeu%' OR line_text(source, line) LIKE '%preempted job%')
UNION ALL
SELECT id, rank, host, 'sure', ifnull(arg(args, 'reason'), arg(args, 'why')) FROM event
WHERE family IN ('K8S_REASON', 'K8S_EVENT', 'K8S_EVICTED')
      AND (ifnull(arg(args, 'reason'), 'Evicted')
           IN ('Evicted', 'Preempted', 'Preempting', 'PreemptionByScheduler', 'TaintManagerEviction',
               'DeadlineExceeded', 'DeletionByTaintManager', 'TerminationByKubelet', 'NodeShutdown', 'Shutdown'))
      AND ifnull(arg(args, 'why'), '') NOT LIKE '%is not ready%'
UNION ALL
SELECT id, NULL, host,
       CASE WHEN arg(args, 'what') = 'PREEMPT' THEN 'sure'
            WHEN EXISTS (SELECT 1 FROM event WHERE family IN ('STEP_LINE', 'STEP_TIME')) THEN 'lead'
            ELSE 'likely' END, arg(args, 'what')
FROM event WHERE family = 'BATCH_LIMIT' AND arg(args, 'what') NOT LIKE '%mem%' AND arg(args, 'what') <> 'SWAP';
