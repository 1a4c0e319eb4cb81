-- id: iommu-not-passthrough
-- code: -
-- cause: acs-or-iommu
-- role: confirmation
-- severity: warning
-- title: A setting of the host can make transfers hang
-- title.zh: 主机设置可能导致传输挂起
-- means: RCCL found that the kernel was not started with iommu=pt, or that NUMA balancing is on.
-- means.zh: RCCL 发现内核未以 iommu=pt 启动，或开启了 NUMA 自动均衡。
-- remedy: Boot with iommu=pt; sysctl kernel.numa_balancing=0.
-- remedy.zh: 以 iommu=pt 启动；执行 sysctl kernel.numa_balancing=0。
-- see: https://rocm.docs.amd.com/projects/rccl/en/latest/
SELECT id AS event, rank, host, 'lead' AS strength, arg(args, 'what') AS detail
FROM event WHERE family = 'rccl_host_setting';
