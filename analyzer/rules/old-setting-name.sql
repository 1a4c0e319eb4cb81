-- id: old-setting-name
-- code: -
-- role: confirmation
-- severity: note
-- title: A setting is given by its old name
-- title.zh: 使用了旧的设置名称
-- means: PyTorch 2.2 gave these settings the prefix TORCH_NCCL_. The old names are read with a
--   warning, and one day no longer.
-- means.zh: PyTorch 2.2 起这些设置改用 TORCH_NCCL_ 前缀；旧名称目前仍可用但会告警，将来会失效。
-- remedy: Use the new name.
-- remedy.zh: 改用新名称。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT id AS event, NULL AS fact, rank, host, 'lead' AS strength,
       arg(args, 'name') || ' -> ' || arg(args, 'instead') AS detail
FROM event WHERE family = 'ENV_DEPRECATED'
UNION ALL
SELECT NULL, fact, rank, host, 'lead', name || ' -> TORCH_' || name FROM aspect
WHERE name IN ('NCCL_BLOCKING_WAIT', 'NCCL_ASYNC_ERROR_HANDLING', 'NCCL_DESYNC_DEBUG', 'NCCL_ENABLE_TIMING');
