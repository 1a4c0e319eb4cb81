-- id: transport-switched-off
-- code: -
-- role: confirmation
-- severity: note
-- title: A transport is switched off
-- title.zh: 某种传输方式被关闭
-- means: NCCL_P2P_DISABLE, NCCL_SHM_DISABLE, NCCL_IB_DISABLE and NCCL_NVLS_ENABLE=0 are for
--   finding faults. Left on, they make the job slow, or hide the fault.
-- means.zh: NCCL_P2P_DISABLE、NCCL_SHM_DISABLE、NCCL_IB_DISABLE 与 NCCL_NVLS_ENABLE=0 用于排障；
--   长期保留会使作业变慢或掩盖故障。
-- remedy: Remove the setting once the fault behind it is found.
-- remedy.zh: 找到根本原因后删除该设置。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
SELECT fact, rank, host, 'lead' AS strength, name || '=' || value AS detail
FROM aspect
WHERE name IN ('NCCL_P2P_DISABLE', 'NCCL_SHM_DISABLE', 'NCCL_IB_DISABLE') AND value = '1'
      OR name IN ('NCCL_NVLS_ENABLE', 'NCCL_CUMEM_ENABLE') AND value = '0';
