-- id: network-card-unusable
-- code: network-fault
-- role: root
-- severity: warning
-- title: NCCL cannot use a network card
-- title.zh: NCCL 无法使用网卡
-- means: A card that is listed but cannot be opened or asked is left out; on one host only, that
--   makes hosts differ. Where it refuses a queue or a memory region, NCCL gives up: limits of the
--   container, GPU Direct, or the card itself.
-- means.zh: 存在但无法打开或查询的网卡会被忽略；若只发生在一台主机上，会造成主机间不一致。若网卡拒绝
--   创建队列或注册内存，NCCL 会放弃：可能是容器的限制、GPU Direct 或网卡本身。
-- remedy: ibv_devinfo -d CARD and ulimit -l on that host and in the container; run once with
--   NCCL_NET_GDR_LEVEL=LOC. Exclude a card that is not meant (NCCL_IB_HCA=^CARD).
-- remedy.zh: 在该主机及容器内执行 ibv_devinfo -d CARD 与 ulimit -l；用 NCCL_NET_GDR_LEVEL=LOC 试运行
--   一次。对不打算使用的网卡用 NCCL_IB_HCA=^CARD 排除。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-hca
SELECT id AS event, NULL AS rank, host, 'lead' AS strength, arg(args, 'device') AS detail
FROM event WHERE family = 'ib_open' AND arg(args, 'what') LIKE 'Unable to%'
UNION ALL
-- NCCL cannot make what a connection needs of the card, and gives up; no memory has a rule of its own.
SELECT id, NULL, host,
       CASE WHEN EXISTS (SELECT 1 FROM event b
                         WHERE b.source = e.source AND b.line BETWEEN e.line + 1 AND e.line + 16
                               AND b.speaker = e.speaker AND b.family = 'backtrace')
            THEN 'likely' ELSE 'lead' END,
       arg(args, 'function') || ifnull(': ' || nullif(trim(arg(args, 'why')), ''), '')
FROM event e
WHERE family = 'ib_reg' AND (arg(args, 'function') LIKE '%ibv_create_%' OR arg(args, 'function') LIKE '%ibv_alloc_pd%'
                             OR arg(args, 'function') LIKE '%ibv_reg_mr%')
      AND ifnull(arg(args, 'why'), '') NOT LIKE '%annot allocate memory%';
