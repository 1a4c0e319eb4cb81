-- id: empty-address
-- code: misconfigured
-- cause: wrong-interface
-- role: root
-- severity: error
-- title: A rank was given an empty address to connect to
-- title.zh: 某个 rank 得到了空的连接地址
-- means: The peer filled in no address: it found no interface, because its setting names one that
--   is not there. The rank that prints this line is not the one with the wrong setting.
-- means.zh: 对端没有填写地址：它因设置了不存在的接口而未找到接口。打印此行的 rank 并不是设置有误
--   的那一个。
-- remedy: Look at NCCL_SOCKET_IFNAME of the other ranks, and at ip -br address on their hosts.
-- remedy.zh: 检查其他 rank 的 NCCL_SOCKET_IFNAME 以及其主机上的 ip -br address。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength, NULL AS detail
FROM event
WHERE family = 'sock_family';
