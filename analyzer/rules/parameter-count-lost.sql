-- id: parameter-count-lost
-- code: -
-- role: confirmation
-- severity: warning
-- title: The parameter count of a rank never arrived
-- title.zh: 某个 rank 的参数计数没有送达
-- means: DDP or FSDP gathered counts and got 0 for a rank, or a number that no model has: it is not
--   a count. That rank's answer was not delivered, or it was in another collective at that place.
-- means.zh: DDP 或 FSDP 收集参数计数时某个 rank 的结果为 0 或不可能的数：它不是参数个数。说明该 rank 的数据没有送达，
--   或它当时处于另一个集合通信中。
-- remedy: Run with NCCL_P2P_DISABLE=1, then pair by pair with nccl-tests, to find the path that
--   loses data; see whether that rank died.
-- remedy.zh: 用 NCCL_P2P_DISABLE=1 运行，再用 nccl-tests 逐对测试以找到丢失数据的路径；并检查该
--   rank 是否已退出。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength, 'rank ' || arg(args, 'other_pg_rank') AS detail
FROM event
-- Tensors, not elements: the largest models have some ten thousand.
WHERE family = 'DDP_PARAMS' AND CAST(arg(args, 'other_params') AS INTEGER) NOT BETWEEN 1 AND 1000000
UNION ALL
SELECT id, NULL, NULL, 'lead', 'rank ' || CASE WHEN arg(args, 'params') LIKE '0 %' THEN arg(args, 'rank') ELSE arg(args, 'other_rank') END
FROM event WHERE family = 'FSDP_ORDER' AND (arg(args, 'params') LIKE '0 %' OR arg(args, 'other_params') LIKE '0 %');
