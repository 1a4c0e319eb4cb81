-- id: network-card-unusable
-- code: network-fault
-- role: root
-- severity: warning
-- title: NCCL cannot open a network card
-- title.zh: NCCL 无法打开网卡
-- means: The card is listed but cannot be opened or asked; NCCL goes on without it. On one host
--   only, that makes hosts differ.
-- means.zh: 网卡存在但无法打开或查询，NCCL 会忽略它继续运行；若只发生在一台主机上，会造成主机间不
--   一致。
-- remedy: ibv_devinfo -d CARD on that host and in the container; exclude a card that is not meant
--   (NCCL_IB_HCA=^CARD).
-- remedy.zh: 在该主机及容器内执行 ibv_devinfo -d CARD；对不打算使用的网卡用 NCCL_IB_HCA=^CARD 排
--   除。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca
SELECT id AS event, NULL AS rank, host, 'lead' AS strength, arg(args, 'device') AS detail
FROM event WHERE family = 'ib_open' AND arg(args, 'what') LIKE 'Unable to%';
