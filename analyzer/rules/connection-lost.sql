-- id: connection-lost
-- code: network-fault
-- role: cascade
-- severity: note
-- title: The other end of a connection is gone
-- title.zh: 连接的另一端已消失
-- means: A process on the other side ended or gave up, or the store did. Its own log knows why;
--   only if nobody ended is the network to blame.
-- means.zh: 对端进程（或存储服务）已结束或放弃；原因在对端日志中。只有当没有任何进程结束时，才应
--   怀疑网络。
-- remedy: Look for the rank that ended or aborted first.
-- remedy.zh: 查找最先结束或中止的 rank。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#networking-issues
SELECT id AS event, rank, host,
       coalesce(arg(args, 'peer'), arg(args, 'host') || ifnull(':' || arg(args, 'port'), ''),
                'rank ' || arg(args, 'rank'), arg(args, 'path'), arg(args, 'why')) AS detail
FROM event
WHERE family IN ('sock_fail', 'proxy_call', 'proxy_poll', 'STORE_IO', 'STORE_EOF', 'STORE_FLAG_FAIL')
      OR family = 'PEER_CLOSED' AND ifnull(line_text(source, line), '') NOT LIKE '%will retry%'
      OR family = 'uds_fail' AND arg(args, 'errno') IN ('2', '32', '104', '111')
      OR family = 'sock_closed' AND arg(args, 'local_rank') IS NULL
      OR family = 'GLOO_ERR' AND arg(args, 'what') NOT LIKE '%imeout%' AND arg(args, 'what') NOT LIKE 'Timed out%'
         AND arg(args, 'what') NOT LIKE 'Gloo connect%' AND arg(args, 'what') <> 'connect'
      OR family = 'UCX_ERR' AND (arg(args, 'message') LIKE '%reset by peer%' OR arg(args, 'message') LIKE '%closed%');
