-- id: interface-not-found
-- code: misconfigured
-- cause: wrong-interface
-- role: root
-- severity: error
-- title: The interface that was asked for is not on this host
-- title.zh: 指定的网络接口在该主机上不存在
-- means: NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME or NCCL_IB_HCA names an interface or card that
--   this host does not have, or the address of the peer lies in no network of this host.
-- means.zh: NCCL_SOCKET_IFNAME、GLOO_SOCKET_IFNAME 或 NCCL_IB_HCA 指定的接口或网卡在该主机上不存
--   在，或对端地址不属于该主机的任何网络。
-- remedy: Compare ip -br address on all hosts; name a prefix that fits all
--   (NCCL_SOCKET_IFNAME=eth), or exclude (=^docker,lo).
-- remedy.zh: 在所有主机上比较 ip -br address；使用对所有主机都适用的前缀（NCCL_SOCKET_IFNAME=eth
--   ），或用排除方式（=^docker,lo）。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT id AS event, rank, host, 'sure' AS strength,
       coalesce(arg(args, 'peer'),
                (SELECT f.name || '=' || f.value FROM fact f
                 WHERE f.name = 'NCCL_SOCKET_IFNAME' AND f.speaker = e.speaker LIMIT 1)) AS detail
FROM event e WHERE family = 'no_iface'
UNION ALL
SELECT id, rank, host, 'sure', arg(args, 'why') FROM event
WHERE family = 'INIT_NETWORK' AND arg(args, 'why') LIKE 'Unable to find address for%'
UNION ALL
-- What gloo was built with has no device for this host or interface, as on Windows.
SELECT id, rank, host, 'likely', arg(args, 'why') FROM event
WHERE family = 'INIT_NETWORK' AND arg(args, 'why') LIKE '%unsupported gloo device'
UNION ALL
SELECT id, rank, host, 'likely', arg(args, 'what') FROM event
WHERE family = 'ib_open' AND arg(args, 'what') LIKE 'No IP interface%';
