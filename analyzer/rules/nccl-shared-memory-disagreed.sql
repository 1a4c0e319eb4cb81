-- id: nccl-shared-memory-disagreed
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.26.3
-- to: 2.31.2
-- title: Two ranks of a host disagree how NCCL shares memory
-- title.zh: 同一主机上的两个 rank 对 NCCL 共享内存方式判断不一致
-- means: Each process tries for itself whether host memory can be had through cuMem. Where one
--   can and its neighbour cannot (GPUs of different NUMA nodes), the second opens a segment of
--   size 0 that does not exist.
-- means.zh: 各进程分别检测能否通过 cuMem 获得主机内存；若一个可以而另一个不行（GPU 位于不同 NUMA
--   节点），后者会打开一个大小为 0、并不存在的共享内存段。
-- remedy: Set NCCL_CUMEM_HOST_ENABLE=0 for all ranks; check that all NUMA nodes of the GPUs have
--   processors (lscpu, cpuset of the container).
-- remedy.zh: 为所有 rank 设置 NCCL_CUMEM_HOST_ENABLE=0；检查 GPU 所在的各 NUMA 节点是否都有可用
--   CPU（lscpu、容器 cpuset）。
-- see: https://github.com/NVIDIA/nccl/issues/2190
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'path') AS detail
FROM event
WHERE family = 'shm' AND arg(args, 'what') LIKE 'attaching%' AND arg(args, 'size') = '0';
