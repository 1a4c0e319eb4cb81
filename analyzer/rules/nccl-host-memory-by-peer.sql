-- id: nccl-host-memory-by-peer
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.24.3
-- to: 2.30.7
-- title: NCCL asks for peer access to share host memory
-- title.zh: NCCL 为共享主机内存而请求 GPU 对等访问
-- means: NCCL shares host memory through cuMem by default from 2.24.3 on. Between GPUs without
--   peer access (L4, T4, consumer cards) importing it can fail, although host memory needs no
--   peer access.
-- means.zh: 自 2.24.3 起 NCCL 默认通过 cuMem 共享主机内存；在不支持对等访问的 GPU（L4、T4、消费级
--   显卡）之间导入时可能失败，尽管主机内存并不需要对等访问。
-- remedy: Set NCCL_CUMEM_HOST_ENABLE=0 for all ranks.
-- remedy.zh: 为所有 rank 设置 NCCL_CUMEM_HOST_ENABLE=0。
-- see: https://github.com/NVIDIA/nccl/issues/1838
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'error') AS detail
FROM event
WHERE family = 'cuda_fail' AND arg(args, 'error') LIKE 'peer access is not supported%'
      AND line_text(source, line) LIKE '%shm.cc:%';
