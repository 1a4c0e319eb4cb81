-- id: cuda-call-failed
-- code: rank-died
-- cause: uncaught-exception
-- role: root
-- severity: error
-- title: A CUDA call failed on this rank
-- title.zh: 该 rank 的 CUDA 调用失败
-- means: The call raised on this rank. What the error says is not known to be the hardware, the
--   set-up or the memory.
-- means.zh: 该调用在此 rank 上抛出异常；错误内容并不指向硬件、配置或显存。
-- remedy: Run with CUDA_LAUNCH_BLOCKING=1 to see where it comes from.
-- remedy.zh: 用 CUDA_LAUNCH_BLOCKING=1 运行以查明来源。
-- see: https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html
SELECT event, rank, host,
       -- What an exception repeats as NCCL's last error: where it failed stands in NCCL's own line.
       CASE WHEN (SELECT family FROM event e WHERE e.id = event) = 'cuda_fail'
                 AND ifnull(line_text(source, line), '') NOT LIKE '%NCCL %' THEN 'lead' ELSE 'likely' END AS strength,
       why AS detail,
       -- Its process is already at its end.
       CASE kind WHEN 'ending' THEN 'cascade' ELSE 'root' END AS role
FROM cuda_error WHERE kind IN ('other', 'ending');
