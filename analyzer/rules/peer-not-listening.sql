-- id: peer-not-listening
-- code: network-fault
-- role: root
-- severity: warning
-- title: Nobody listens at the address of a peer
-- title.zh: 对端地址无人监听
-- means: The host answers, but refuses the connection: the process that should listen there has
--   not started, has ended, or listens at another address or port.
-- means.zh: 主机可达但拒绝连接：应在该处监听的进程尚未启动、已经结束，或监听在其他地址或端口。
-- remedy: See whether rank 0 (or the peer named) runs and where it listens (ss -ltnp); compare
--   MASTER_ADDR, MASTER_PORT and NCCL_SOCKET_IFNAME on both sides.
-- remedy.zh: 检查 rank 0（或所指对端）是否运行以及监听位置（ss -ltnp）；比较两端的 MASTER_ADDR、
--   MASTER_PORT 与 NCCL_SOCKET_IFNAME。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength,
       coalesce(arg(args, 'peer'), arg(args, 'host') || ifnull(':' || arg(args, 'port'), '')) AS detail
FROM event
WHERE family IN ('sock_connect', 'SOCK_CONNECT', 'TCP_RETRY')
      AND (coalesce(arg(args, 'why'), arg(args, 'error'), '') LIKE '%refused%' OR arg(args, 'errno') IN ('111', '10061'))
      AND ifnull(arg(args, 'who'), 'client') = 'client'
UNION ALL
SELECT id, NULL, NULL, 'lead', arg(args, 'host') || ':' || arg(args, 'port') FROM event
WHERE family = 'GLOO_ERR' AND arg(args, 'what') = 'connect' AND arg(args, 'why') LIKE '%refused%'
      AND arg(args, 'host') NOT LIKE '127.%' AND arg(args, 'host') <> '::1';
