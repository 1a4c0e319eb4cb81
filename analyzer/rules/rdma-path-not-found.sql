-- id: rdma-path-not-found
-- code: network-fault
-- role: root
-- severity: error
-- title: No path to the peer over InfiniBand or RoCE
-- title.zh: InfiniBand/RoCE 上没有到对端的路径
-- means: The connection could not be made: with RoCE usually a GID index that is not routable, or
--   ports of different networks that the peers try to join.
-- means.zh: 连接无法建立；RoCE 下多为不可路由的 GID 索引，或双方试图连接不同网络的端口。
-- remedy: Compare show_gids on both hosts; set NCCL_IB_GID_INDEX to the RoCE v2 address of the
--   routed network, and NCCL_IB_HCA so that equal rails meet.
-- remedy.zh: 比较两台主机的 show_gids；将 NCCL_IB_GID_INDEX 设为可路由网络的 RoCE v2 地址，并用
--   NCCL_IB_HCA 使同一轨道对应。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-gid-index
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength,
       ifnull(arg(args, 'device') || ', ', '') || arg(args, 'why') AS detail
FROM event
WHERE family = 'ib_reg' AND arg(args, 'function') LIKE '%modify_qp%'
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'why') FROM event
WHERE family = 'VERBS_ERR' AND (arg(args, 'call') LIKE '%modify_qp%' OR arg(args, 'call') LIKE 'QP %')
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'error') FROM event
WHERE family = 'ib_async' AND arg(args, 'kind') = 'GID table changed';
