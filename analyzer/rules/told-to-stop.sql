-- id: told-to-stop
-- code: rank-died
-- role: cascade
-- severity: note
-- title: A process was told to stop
-- title.zh: 进程被要求停止
-- means: SIGTERM, an interrupt from the keyboard or a cancelled job ended this process. Somebody
--   else decided that, so it explains nothing by itself.
-- means.zh: 该进程因 SIGTERM、键盘中断或作业被取消而结束；这是外部的决定，本身不说明原因。
-- remedy: Find who sent it: the launcher after another process failed, the scheduler, or a person.
-- remedy.zh: 查明信号的来源：其他进程失败后的启动器、调度系统，或人工操作。
-- see: https://pytorch.org/docs/stable/elastic/agent.html
SELECT event, rank, host, 'signal ' || signal AS detail FROM ended WHERE signal IN (1, 2, 10, 12, 15)
UNION ALL
SELECT event, rank, host, class FROM exception WHERE kind = 'told'
UNION ALL
SELECT id, rank, host, arg(args, 'signal') FROM event
WHERE family = 'SIGTERM_SEEN' OR family = 'ELASTIC_AGENT' AND arg(args, 'signal') IS NOT NULL
      OR family = 'DL_WORKER' AND arg(args, 'signal') = 'Terminated'
UNION ALL
SELECT id, NULL, ifnull(arg(args, 'node'), host), ifnull(arg(args, 'why'), arg(args, 'failed')) FROM event
WHERE family = 'SLURM_STEP'
      AND (arg(args, 'why') IS NULL OR arg(args, 'why') LIKE 'SIGNAL%' OR arg(args, 'why') LIKE 'TASK FAILURE%'
           OR arg(args, 'why') LIKE 'JOB NOT ENDING%')
UNION ALL
SELECT id, NULL, host, 'pod ' || arg(args, 'object') FROM event
WHERE family = 'K8S_EVENT' AND arg(args, 'reason') = 'Killing'
UNION ALL
-- DeepSpeed's launcher ends all when one has failed, and says afterwards how.
SELECT id, rank, host, 'pid ' || arg(args, 'pid') FROM event
WHERE family = 'DS_KILL' AND NOT EXISTS (SELECT 1 FROM event o WHERE o.family = 'DS_EXIT')
UNION ALL
-- An agent ends the survivors before it says which process failed, and a log may end in between.
SELECT e.id, n.rank, ifnull(n.host, e.host), 'pid ' || arg(e.args, 'pid')
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE e.family = 'ELASTIC_SIG' AND NOT EXISTS (SELECT 1 FROM ended);
