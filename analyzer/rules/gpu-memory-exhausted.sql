-- id: gpu-memory-exhausted
-- code: rank-died
-- cause: gpu-out-of-memory
-- role: root
-- severity: error
-- title: A rank ran out of GPU memory
-- title.zh: 某个 rank 的 GPU 显存不足
-- means: An allocation on the GPU failed, which raises on the rank that asked for it. The other
--   ranks wait for it in their next collective until their timeout.
-- means.zh: 该 rank 申请 GPU 显存失败并抛出异常；其余 rank 会在下一次集合通信中一直等到超时。
-- remedy: Lower the batch size or sequence length of this rank, or shard more. If much is
--   reserved but not allocated, set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True. See with
--   nvidia-smi whether another process holds memory of this GPU.
-- remedy.zh: 减小该 rank 的批大小或序列长度，或进一步切分模型。若保留量远大于分配量，可设置
--   PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True；用 nvidia-smi 检查是否有其他进程占用这块
--   GPU。
-- see: https://pytorch.org/docs/stable/notes/cuda.html#memory-management
SELECT id AS event, rank, host, arg(args, 'size') AS detail,
       CASE WHEN arg(args, 'level') IN ('W', 'I') THEN 'lead' ELSE 'sure' END AS strength
FROM event WHERE family = 'CUDA_OOM'
UNION ALL
SELECT event, rank, host, why, 'likely' FROM cuda_error c
WHERE kind = 'memory'
      AND NOT EXISTS (SELECT 1 FROM event o WHERE o.source = c.source AND o.line = c.line AND o.family = 'CUDA_OOM')
UNION ALL
SELECT id, rank, host, arg(args, 'size') || ' bytes', 'likely' FROM event e
WHERE family = 'alloc_fail' AND arg(args, 'what') LIKE 'CUDA %' AND arg(args, 'what') NOT LIKE '%host%'
      AND NOT EXISTS (SELECT 1 FROM cuda_error c WHERE c.source = e.source AND c.line BETWEEN e.line - 8 AND e.line)
UNION ALL
SELECT id, rank, host, arg(args, 'what'), 'lead' FROM event
WHERE family = 'HW_EXCEPTION' AND arg(args, 'what') = 'HSA_STATUS_ERROR_OUT_OF_RESOURCES';
