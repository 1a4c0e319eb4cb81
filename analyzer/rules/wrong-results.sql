-- id: wrong-results
-- code: peer-access-fault
-- cause: acs-or-iommu
-- role: root
-- severity: error
-- title: A collective delivered wrong data
-- title.zh: 集合通信得到了错误数据
-- means: The benchmark compared the results and found values out of bounds. Transfers between
--   devices do not keep the data intact.
-- means.zh: 基准测试校验结果时发现越界值，说明设备之间的传输破坏了数据。
-- remedy: Test pairs of GPUs and nodes, with NCCL_P2P_DISABLE=1 and without, to find the path.
--   Check ACS and the IOMMU.
-- remedy.zh: 分别在启用与不启用 NCCL_P2P_DISABLE=1 的情况下逐对测试 GPU 与节点以定位路径；检查
--   ACS 与 IOMMU。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength, arg(args, 'wrong') AS detail
FROM event WHERE family = 'NCCLT_END' AND arg(args, 'state') = 'FAILED';
