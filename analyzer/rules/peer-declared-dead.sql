-- id: peer-declared-dead
-- code: rank-died
-- role: root
-- severity: error
-- title: A process was declared dead
-- title.zh: 一个进程被判定已死亡
-- means: NCCL's RAS, or the coordinator of JAX, has had no answer from that process for a minute or
--   more: the process, its host or the network to it is gone.
-- means.zh: NCCL 的 RAS 或 JAX 的协调者在一分钟或更长时间内没有收到该进程的回应：该进程、其主机或通往它
--   的网络已失效。
-- remedy: Look at the log and the exit of that process, and at dmesg of its host.
-- remedy.zh: 查看该进程的日志与退出状态，以及其主机的 dmesg。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html
WITH
-- Where a report has one dead process, the only rank that communicators miss is its.
dead AS (
  SELECT source FROM event WHERE family = 'RAS' AND arg(args, 'what') = 'process' AND arg(args, 'error') = 'DEAD'
  GROUP BY source HAVING count(*) = 1
),
missing AS (
  SELECT source, min(CAST(coalesce(arg(args, 'rank'), arg(args, 'ranks')) AS INTEGER)) AS rank FROM event
  WHERE family = 'RAS' AND arg(args, 'what') = 'missing'
        AND coalesce(arg(args, 'rank'), arg(args, 'ranks')) NOT GLOB '*[^0-9]*'
  GROUP BY source HAVING count(DISTINCT CAST(coalesce(arg(args, 'rank'), arg(args, 'ranks')) AS INTEGER)) = 1
)
SELECT e.id AS event, n.rank, ifnull(n.host, arg(e.args, 'host')) AS host, 'likely' AS strength,
       'pid ' || arg(e.args, 'pid') || ', GPU ' || arg(e.args, 'gpus') AS detail
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE e.family = 'ras_monitor' AND arg(e.args, 'what') = 'PEER_DEAD'
UNION ALL
-- A report names the process, and the ranks that its communicators miss.
SELECT e.id, (SELECT m.rank FROM missing m JOIN dead d ON d.source = m.source WHERE m.source = e.source),
       arg(e.args, 'host'), 'likely', 'pid ' || arg(e.args, 'pid') || ifnull(', GPU ' || arg(e.args, 'gpu'), '')
FROM event e
WHERE e.family = 'RAS' AND arg(e.args, 'what') = 'process' AND arg(e.args, 'error') = 'DEAD'
UNION ALL
SELECT id, CAST(arg(args, 'rank') AS INTEGER), arg(args, 'host'), 'likely', 'pid ' || arg(args, 'pid') FROM event
WHERE family = 'RAS' AND arg(args, 'what') = 'missing' AND arg(args, 'state') = 'dead'
UNION ALL
SELECT id, CAST(arg(args, 'rank') AS INTEGER), NULL, 'likely', 'task ' || arg(args, 'rank') FROM event
WHERE family = 'JAX_HEARTBEAT' AND arg(args, 'why') = 'UNAVAILABLE';
