-- id: local-peer-gone
-- code: rank-died
-- role: confirmation
-- severity: note
-- title: A process of the same host closed its connection
-- title.zh: 同一主机上的进程关闭了连接
-- means: NCCL's service thread lost the connection to this local rank: its process ended or
--   aborted.
-- means.zh: NCCL 的服务线程失去了与该本地 rank 的连接：对应进程已结束或中止。
-- remedy: Read the log of that local rank; it is the first to look at if only one is named.
-- remedy.zh: 查看该本地 rank 的日志；若只有一个被提到，应首先检查它。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT e.id AS event, n.rank, ifnull(n.host, e.host) AS host, 'likely' AS strength,
       'local rank ' || arg(e.args, 'local_rank') AS detail
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE e.family = 'sock_closed' AND arg(e.args, 'local_rank') IS NOT NULL
      AND ifnull(e.host, '') IN (SELECT ifnull(host, '') FROM event
                                 WHERE family = 'sock_closed' AND arg(args, 'local_rank') IS NOT NULL
                                 GROUP BY host HAVING count(DISTINCT arg(args, 'local_rank')) = 1);
