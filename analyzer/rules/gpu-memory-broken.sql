-- id: gpu-memory-broken
-- code: gpu-fault
-- role: root
-- severity: error
-- title: Memory or a link of a GPU has failed
-- title.zh: GPU 显存或链路发生不可纠正错误
-- means: A process met an uncorrectable ECC or NVLink error, or its GPU can no longer be opened.
--   The rank that reports it runs on that GPU.
-- means.zh: 进程遇到不可纠正的 ECC 或 NVLink 错误，或其 GPU 已无法打开；报告的 rank 正运行在这块
--   GPU 上。
-- remedy: Drain the host; nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER shows the counts.
--   Reset or replace the GPU.
-- remedy.zh: 停用该主机；用 nvidia-smi -q -d ECC,PAGE_RETIREMENT,ROW_REMAPPER 查看计数，并重置或
--   更换 GPU。
-- see: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/
SELECT event, rank, host, 'sure' AS strength, why AS detail FROM cuda_error WHERE kind = 'hardware'
UNION ALL
SELECT id, rank, host, 'sure', arg(args, 'what') FROM event e
WHERE family = 'ECC' AND lower(arg(args, 'what')) NOT LIKE 'ecc error%'
      AND NOT EXISTS (SELECT 1 FROM cuda_error c WHERE c.source = e.source AND c.line = e.line AND c.kind = 'hardware');
