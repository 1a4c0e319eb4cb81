-- id: survivor-ended
-- code: rank-died
-- role: exonerates
-- severity: note
-- title: The agent ended a process that was still alive
-- title.zh: 代理结束了仍然存活的进程
-- means: torchrun ends the other processes of its node after one has failed. Those that it sends
--   a signal to were alive: they are not the ones that died first.
-- means.zh: torchrun 在某个进程失败后会结束本节点的其余进程；收到信号的进程当时仍然存活，不是最先
--   死亡的。
-- remedy: The failed process is named a line or two further on: failed (exitcode: ...).
-- remedy.zh: 失败的进程在随后的一两行里给出：failed (exitcode: ...)。
-- see: https://pytorch.org/docs/stable/elastic/agent.html
SELECT e.id AS event, n.rank, n.host, 'pid ' || arg(e.args, 'pid') AS detail
FROM event e JOIN named n ON n.event = e.id
WHERE e.family = 'ELASTIC_SIG' AND n.rank IS NOT NULL;
