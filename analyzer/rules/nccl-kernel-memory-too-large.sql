-- id: nccl-kernel-memory-too-large
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.25.1
-- to: 2.25.1
-- title: Kernels of NCCL need more shared memory than the GPU has
-- title.zh: NCCL 内核所需共享内存超过 GPU 上限
-- means: The kernels of NCCL 2.25.1 do not fit consumer GPUs of the Blackwell generation (RTX
--   50), so that launching them fails.
-- means.zh: NCCL 2.25.1 的内核不适配消费级 Blackwell GPU（RTX 50 系列），启动会失败。
-- remedy: Upgrade NCCL to 2.26.2 or later.
-- remedy.zh: 将 NCCL 升级到 2.26.2 或更高版本。
-- see: https://github.com/NVIDIA/nccl-tests/issues/287
SELECT c.event, c.rank, c.host, 'sure' AS strength, c.why AS detail
FROM cuda_error c
WHERE c.why LIKE 'invalid argument%'
      AND EXISTS (SELECT 1 FROM event e
                  WHERE e.family = 'kernel_smem' AND e.source = c.source AND e.line < c.line)
UNION ALL
SELECT id, rank, host, 'sure', arg(args, 'needed') || ' of ' || arg(args, 'available') || ' bytes' FROM event
WHERE family = 'kernel_smem' AND line_text(source, line) LIKE '%NCCL WARN%';
