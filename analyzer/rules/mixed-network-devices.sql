-- id: mixed-network-devices
-- code: misconfigured
-- role: root
-- severity: error
-- title: Nodes have different numbers of network devices
-- title.zh: 各节点的网络设备数量不同
-- means: NCCL found fewer usable cards on one node than on another and does not go on.
-- means.zh: NCCL 发现某个节点可用网卡少于其他节点并停止。
-- remedy: Find the node that lacks one (NET/IB : Using ... of each node), or set NCCL_IB_HCA so
--   that all use the same.
-- remedy.zh: 找出缺少网卡的节点（比较各节点的 NET/IB : Using ...），或用 NCCL_IB_HCA 统一选择。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca
SELECT id AS event, NULL AS rank, NULL AS host,
       CASE WHEN line_text(source, line) LIKE '%NCCL WARN%' THEN 'sure' ELSE 'lead' END AS strength,
       arg(args, 'min') || ' to ' || arg(args, 'max') AS detail
FROM event WHERE family = 'net_mismatch';
