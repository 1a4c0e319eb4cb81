-- id: evidence-switched-off
-- code: -
-- role: confirmation
-- severity: warning
-- title: A setting keeps evidence from being written
-- title.zh: 某项设置导致证据不会被写出
-- means: The recorder, its dump or the watchdog is switched off, or NCCL is told to say nothing.
--   The next hang will leave as little as this one.
-- means.zh: 记录器、转储或看门狗被关闭，或 NCCL 被要求不输出；下次挂起留下的信息会同样少。
-- remedy: Set TORCH_FR_BUFFER_SIZE=2000, TORCH_NCCL_DUMP_ON_TIMEOUT=1,
--   TORCH_NCCL_ENABLE_MONITORING=1, TORCH_NCCL_ASYNC_ERROR_HANDLING=3 and NCCL_DEBUG=WARN.
-- remedy.zh: 设置 TORCH_FR_BUFFER_SIZE=2000、TORCH_NCCL_DUMP_ON_TIMEOUT=1、
--   TORCH_NCCL_ENABLE_MONITORING=1、TORCH_NCCL_ASYNC_ERROR_HANDLING=3 与 NCCL_DEBUG=WARN。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT fact, rank, host, 'lead' AS strength, name || '=' || value AS detail
FROM aspect
WHERE name IN ('TORCH_NCCL_TRACE_BUFFER_SIZE', 'TORCH_FR_BUFFER_SIZE', 'TORCH_NCCL_DUMP_ON_TIMEOUT',
               'TORCH_NCCL_ENABLE_MONITORING', 'TORCH_NCCL_ASYNC_ERROR_HANDLING', 'NCCL_ASYNC_ERROR_HANDLING')
      AND value IN ('0', 'false', 'False')
      OR name = 'NCCL_DEBUG' AND upper(value) IN ('NONE', 'VERSION');
