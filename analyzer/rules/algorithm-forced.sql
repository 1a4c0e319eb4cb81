-- id: algorithm-forced
-- code: -
-- role: confirmation
-- severity: note
-- title: The algorithm or protocol of NCCL is forced
-- title.zh: 强制指定了 NCCL 的算法或协议
-- means: NCCL_ALGO and NCCL_PROTO take choices away that NCCL makes by size and topology. Set on
--   some ranks only, they make collectives hang.
-- means.zh: NCCL_ALGO 与 NCCL_PROTO 会剥夺 NCCL 依据大小与拓扑作出的选择；若只在部分 rank 上设置
--   ，集合通信会挂起。
-- remedy: Remove the setting, or make sure that all ranks have it.
-- remedy.zh: 删除该设置，或确保所有 rank 都一致。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-algo
SELECT fact, rank, host, 'lead' AS strength, name || '=' || value AS detail
FROM aspect WHERE name IN ('NCCL_ALGO', 'NCCL_PROTO');
