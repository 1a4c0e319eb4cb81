-- id: bus-access-blocked
-- code: peer-access-fault
-- cause: acs-or-iommu
-- role: root
-- severity: error
-- title: The IOMMU blocked a transfer of a device
-- title.zh: IOMMU 阻止了设备的传输
-- means: A device used an address that the IOMMU does not let it use. That is how peer-to-peer
--   transfers hang, or bring wrong data, on a host that is not set up for them.
-- means.zh: 设备访问了 IOMMU 不允许的地址；未正确配置的主机上，点对点传输会因此挂起或得到错误数据。
-- remedy: Boot with iommu=pt (or off), and disable ACS on the bridges between GPUs and network
--   cards.
-- remedy.zh: 以 iommu=pt（或关闭）启动，并在 GPU 与网卡之间的桥上关闭 ACS。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#pci-access-control-services-acs
SELECT id AS event, NULL AS rank, host, 'likely' AS strength, arg(args, 'bdf') AS detail
FROM event WHERE family = 'IOMMU_FAULT';
