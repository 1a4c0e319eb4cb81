-- id: peer-unreachable
-- code: network-fault
-- role: root
-- severity: error
-- title: The address of a peer cannot be reached
-- title.zh: 无法到达对端地址
-- means: Connecting to another rank or to the store ended in a timeout or without a route. A
--   firewall, a wrong address or interface, or a host that is down.
-- means.zh: 连接其他 rank 或存储服务时超时或没有路由：可能是防火墙、地址或网卡接口错误，或主机已
--   宕机。
-- remedy: From that host try the address and port (nc -vz); open the ports between the nodes, or
--   choose the right interface with NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME.
-- remedy.zh: 在该主机上测试该地址与端口（nc -vz）；开放节点间端口，或用 NCCL_SOCKET_IFNAME、
--   GLOO_SOCKET_IFNAME 选择正确的接口。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT id AS event, NULL AS rank, NULL AS host,
       -- A store that counted too few had been there: who comes later finds it gone.
       CASE WHEN family IN ('SOCK_CONNECT', 'TCP_RETRY')
                 AND EXISTS (SELECT 1 FROM event c WHERE c.family = 'STORE_CLIENTS')
                 OR coalesce(arg(args, 'why'), arg(args, 'error'), arg(args, 'errno')) IS NULL
                    AND arg(args, 'what') = 'failed to connect'
                 -- Windows: the name has an address of another kind as well, which is tried next.
                 OR arg(args, 'errno') = '10049'
            THEN 'lead' ELSE 'likely' END AS strength,
       CASE WHEN coalesce(arg(args, 'why'), arg(args, 'error'), '') LIKE '%No route%' THEN 'firewall' END AS cause,
       coalesce(arg(args, 'peer'), arg(args, 'host') || ifnull(':' || arg(args, 'port'), '')) AS detail
FROM event
WHERE family IN ('sock_connect', 'SOCK_CONNECT', 'TCP_RETRY', 'SSH_FAIL')
      AND (coalesce(arg(args, 'why'), arg(args, 'error'), '') LIKE '%timed out%'
           OR coalesce(arg(args, 'why'), arg(args, 'error'), '') LIKE '%No route%'
           OR coalesce(arg(args, 'why'), arg(args, 'error'), '') LIKE '%unreachable%'
           -- A second try after one that failed, in NCCL before 2.24.
           OR coalesce(arg(args, 'why'), '') LIKE 'Software caused connection abort%'
           OR arg(args, 'what') = 'failed to connect' AND arg(args, 'errno') IS NULL AND arg(args, 'error') IS NULL
           OR arg(args, 'what') LIKE 'timed out%' OR arg(args, 'what') IN ('retries', 'timeouts')
           -- Windows says it in its own language.
           OR arg(args, 'errno') IN ('110', '113', '101', '10049', '10051', '10060', '10065'))
      AND ifnull(arg(args, 'who'), 'client') = 'client'
      AND NOT (ifnull(arg(args, 'host'), 'x') NOT GLOB '*[^0-9]*' OR ifnull(arg(args, 'host'), '') GLOB '0.*'
               OR ifnull(arg(args, 'host'), '') LIKE '::ffff:0.%'
               OR coalesce(arg(args, 'why'), '') LIKE '%refused%')
UNION ALL
SELECT id, NULL, NULL, 'likely', CASE WHEN arg(args, 'why') LIKE 'No route%' THEN 'firewall' END, arg(args, 'why')
FROM event WHERE family = 'INIT_NETWORK' AND arg(args, 'why') IN ('No route to host', 'Network is unreachable')
UNION ALL
SELECT id, NULL, NULL, 'likely', NULL, arg(args, 'why') FROM event
WHERE family = 'MPI_NET' AND (arg(args, 'why') LIKE '%No route%' OR arg(args, 'why') LIKE '%timed out%'
                              OR arg(args, 'why') LIKE '%unable to reach%')
UNION ALL
-- The agent of torchrun, where the line that says why is not at hand.
SELECT id, NULL, NULL, 'lead', NULL, arg(args, 'class') FROM event
WHERE family = 'RDZV_EXC' AND arg(args, 'class') = 'RendezvousConnectionError' AND arg(args, 'message') <> ''
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.family IN ('SOCK_CONNECT', 'TCP_RETRY', 'STORE_IO', 'STORE_EOF', 'PEER_CLOSED', 'INIT_NETWORK'))
UNION ALL
-- A connection that stood: the other side no longer acknowledges.
SELECT id, NULL, NULL, 'likely', NULL, arg(args, 'why') || ifnull(', ' || arg(args, 'peer'), '') FROM event
WHERE family = 'sock_fail' AND (arg(args, 'why') LIKE '%timed out%' OR arg(args, 'why') LIKE '%No route%'
                                OR arg(args, 'why') LIKE '%unreachable%')
UNION ALL
-- gloo connects all pairs at the start; who is closed on has a peer that ended.
SELECT id, NULL, NULL, CASE WHEN arg(args, 'why') LIKE '%closed%' OR arg(args, 'why') LIKE '%reset%' THEN 'lead'
                            ELSE 'likely' END,
       CASE WHEN arg(args, 'why') LIKE '%No route%' THEN 'firewall' END, arg(args, 'what') || ': ' || arg(args, 'why')
FROM event WHERE family = 'GLOO_ERR' AND arg(args, 'what') = 'Gloo connectFullMesh failed'
UNION ALL
SELECT id, NULL, NULL, 'likely', NULL, arg(args, 'host') FROM event
WHERE family = 'GLOO_ERR' AND arg(args, 'what') = 'connect' AND arg(args, 'why') LIKE '%timed out%'
UNION ALL
SELECT id, NULL, NULL, 'likely', NULL, 'NVSHMEM: ' || arg(args, 'what') FROM event WHERE family = 'NVSHMEM_CONNECT'
UNION ALL
SELECT id, NULL, NULL, 'likely', NULL, coalesce(arg(args, 'peer'), arg(args, 'device')) FROM event WHERE family = 'KV_TRANSFER';
