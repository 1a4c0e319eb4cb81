-- id: gpu-counters-bad
-- code: gpu-fault
-- role: root
-- severity: warning
-- title: nvidia-smi shows uncorrected errors of a GPU
-- title.zh: nvidia-smi 显示 GPU 存在未纠正错误
-- means: The snapshot counts uncorrectable memory errors or a failed row remapping. They may be
--   older than this job.
-- means.zh: 快照中存在不可纠正的显存错误或行重映射失败；它们可能早于本次作业。
-- remedy: Compare with the counts before the job; drain the host if they grow.
-- remedy.zh: 与作业开始前的计数比较；若有增长则停用该主机。
-- see: https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/
SELECT id AS fact, NULL AS rank, host, 'lead' AS strength, name || ': ' || value AS detail
FROM fact
WHERE (name IN ('Uncorrectable Error', 'SRAM Uncorrectable', 'DRAM Uncorrectable', 'Double Bit ECC')
       AND CAST(value AS INTEGER) > 0)
      OR (name IN ('Remapping Failure Occurred') AND value LIKE 'Yes%');
