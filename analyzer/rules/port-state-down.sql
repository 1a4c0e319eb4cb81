-- id: port-state-down
-- code: network-fault
-- cause: bad-cable-or-port
-- role: root
-- severity: warning
-- title: A port of a network card is not up
-- title.zh: 网卡端口未处于激活状态
-- means: The snapshot of this host's cards shows a port that is down. It may be one that nobody
--   uses.
-- means.zh: 该主机的网卡快照显示有端口未激活；也可能是未使用的端口。
-- remedy: See whether NCCL uses that card (NET/IB : Using ...); exclude it with NCCL_IB_HCA or
--   bring it up.
-- remedy.zh: 查看 NCCL 是否使用该网卡（NET/IB : Using ...）；用 NCCL_IB_HCA 排除它或将其恢复。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca
SELECT id AS fact, NULL AS rank, host, 'lead' AS strength, value AS detail
FROM fact
WHERE name IN ('IBSTAT.value') AND (value IN ('Down', 'DOWN', 'Disabled', 'Polling') OR value LIKE 'PORT_DOWN%' OR value LIKE '_: DOWN');
