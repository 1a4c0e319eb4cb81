-- id: gpu-needs-reset
-- code: gpu-fault
-- role: confirmation
-- severity: warning
-- title: The driver asks for a reset of a GPU
-- title.zh: 驱动要求重置 GPU
-- means: After an error the driver says that this GPU has to be reset before it can be used.
-- means.zh: 发生错误后，驱动表明该 GPU 需要重置才能继续使用。
-- remedy: Drain the host and reset the GPU (nvidia-smi -r, or a reboot).
-- remedy.zh: 停用该主机并重置 GPU（nvidia-smi -r 或重启）。
-- see: https://docs.nvidia.com/deploy/xid-errors/
SELECT id AS event, NULL AS rank, host, 'likely' AS strength,
       -- A call was refused since the GPU has not been reset yet.
       CASE arg(args, 'why') WHEN 'NV_ERR_RESET_REQUIRED' THEN 'root' ELSE 'confirmation' END AS role,
       ifnull(arg(args, 'bdf'), arg(args, 'why')) AS detail
FROM event WHERE family = 'NVRM_RESET';
