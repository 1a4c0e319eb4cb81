-- id: nvlink-sharp-failed
-- code: peer-access-fault
-- role: root
-- severity: error
-- title: NVLink SHARP could not be set up
-- title.zh: NVLink SHARP 初始化失败
-- means: NCCL failed to make or bind multicast memory over the NVSwitches. The reason is the
--   fabric manager, the switches or the IOMMU of this host, not an argument of the program.
-- means.zh: NCCL 无法在 NVSwitch 上创建或绑定多播内存；原因在该主机的 fabric manager、交换芯片或
--   IOMMU，而不是程序参数。
-- remedy: Restart the fabric manager on this host. To confirm, run once with NCCL_NVLS_ENABLE=0.
-- remedy.zh: 重启该主机的 fabric manager；可用 NCCL_NVLS_ENABLE=0 运行一次以确认。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-nvls-enable
SELECT event, rank, host, 'sure' AS strength, why AS detail FROM cuda_error WHERE kind = 'nvls'
UNION ALL
SELECT id, rank, host,
       -- Without a level it is what an exception passes on as NCCL's last error.
       CASE WHEN line_text(source, line) LIKE '%NCCL INFO%' THEN 'lead' ELSE 'sure' END,
       arg(args, 'error')
FROM event WHERE family = 'nvls_bind_fail';
