-- id: peer-memory-failed
-- code: peer-access-fault
-- role: root
-- severity: error
-- title: A GPU cannot reach the memory of another one
-- title.zh: GPU 无法访问另一块 GPU 的显存
-- means: Peer-to-peer access inside a node failed when NCCL set it up, although the devices are
--   connected.
-- means.zh: 设备之间虽有连接，但 NCCL 建立节点内点对点访问时失败。
-- remedy: Check nvidia-smi topo -p2p r, PCI access control (ACS) and the IOMMU, and that
--   containers share the devices and IPC. NCCL_P2P_DISABLE=1 confirms.
-- remedy.zh: 检查 nvidia-smi topo -p2p r、PCI 访问控制（ACS）与 IOMMU，以及容器是否共享设备与 IPC
--   ；可用 NCCL_P2P_DISABLE=1 确认。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#pci-access-control-services-acs
SELECT event, rank, host, CASE kind WHEN 'peer' THEN 'sure' ELSE 'likely' END AS strength, why AS detail
FROM cuda_error WHERE kind IN ('peer', 'connect')
UNION ALL
SELECT id, rank, host, 'sure', arg(args, 'error') FROM event
WHERE family = 'p2p_fail' AND arg(args, 'error') IS NOT NULL
UNION ALL
SELECT id, rank, host, 'likely', 'GPU ' || arg(args, 'gpu') || ', ' || arg(args, 'other_gpu') FROM event
WHERE family = 'p2p_disabled' AND arg(args, 'kind') LIKE 'NVLINK%';
