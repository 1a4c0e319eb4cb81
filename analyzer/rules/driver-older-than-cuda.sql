-- id: driver-older-than-cuda
-- code: -
-- cause: different-library
-- role: confirmation
-- severity: warning
-- title: The driver is older than the CUDA that NCCL was built for
-- title.zh: 驱动版本低于 NCCL 构建时的 CUDA 版本
-- means: It works within a major version, with features missing; across major versions it fails.
-- means.zh: 同一主版本内可以工作但缺少功能；跨主版本则会失败。
-- remedy: Update the driver of this host, or use a build for its CUDA.
-- remedy.zh: 更新该主机的驱动，或使用适配其 CUDA 的版本。
-- see: https://docs.nvidia.com/deploy/cuda-compatibility/
SELECT d.id AS fact, d.rank, d.host, 'lead' AS strength, d.value || ', NCCL ' || c.value AS detail
FROM fact d JOIN fact c ON c.speaker = d.speaker AND c.name = 'version_nccl.cuda'
WHERE d.name = 'cuda_driver.version'
      AND CAST(d.value AS INTEGER) / 1000 < CAST(c.value AS INTEGER);
