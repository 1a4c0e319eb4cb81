-- id: parameter-count-lost
-- code: -
-- role: confirmation
-- severity: warning
-- title: The parameter count of a rank never arrived
-- title.zh: 某个 rank 的参数计数没有送达
-- means: DDP gathered the counts and got 0 for a rank. No model has 0 parameters: the first
--   collective of the job did not deliver its data.
-- means.zh: DDP 收集参数计数时得到 0；不存在 0 个参数的模型，说明作业的第一次集合通信没有送达数据。
-- remedy: Run with NCCL_P2P_DISABLE=1, then pair by pair with nccl-tests, to find the path that
--   loses data; see whether that rank died.
-- remedy.zh: 用 NCCL_P2P_DISABLE=1 运行，再用 nccl-tests 逐对测试以找到丢失数据的路径；并检查该
--   rank 是否已退出。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength, 'rank ' || arg(args, 'other_pg_rank') AS detail
FROM event WHERE family = 'DDP_PARAMS' AND CAST(arg(args, 'other_params') AS INTEGER) = 0;
