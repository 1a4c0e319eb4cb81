-- id: nccl-host-memory-refused
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.24.3
-- to: 2.26.2
-- title: NCCL could not have host memory through cuMem
-- title.zh: NCCL 无法通过 cuMem 获得主机内存
-- means: NCCL shares host memory through cuMem by default from 2.24.3 on. Where the driver
--   refuses it (containers without NUMA access), these versions report that memory is exhausted,
--   although there is enough, and do not fall back to /dev/shm.
-- means.zh: 自 2.24.3 起 NCCL 默认通过 cuMem 共享主机内存；当驱动拒绝时（如无 NUMA 权限的容器），
--   这些版本会报告内存不足（实际充足），且不会回退到 /dev/shm。
-- remedy: Set NCCL_CUMEM_HOST_ENABLE=0, or upgrade NCCL to 2.26.5 or later. In a container, allow
--   NUMA calls (--cap-add SYS_NICE).
-- remedy.zh: 设置 NCCL_CUMEM_HOST_ENABLE=0，或将 NCCL 升级到 2.26.5 或更高版本；容器中需允许 NUMA
--   调用（--cap-add SYS_NICE）。
-- see: https://github.com/pytorch/pytorch/issues/152302
SELECT c.event, c.rank, c.host, 'likely' AS strength, c.why AS detail
FROM cuda_error c JOIN event e ON e.id = c.event
WHERE c.kind = 'memory' AND e.family = 'cuda_fail'
      AND (line_text(c.source, c.line) LIKE '%shm.cc:%'
           OR EXISTS (SELECT 1 FROM event b
                      WHERE b.family = 'backtrace' AND b.source = c.source AND b.line BETWEEN c.line AND c.line + 4
                            AND b.speaker IS e.speaker AND arg(b.args, 'file') LIKE '%transport/shm.cc'));
