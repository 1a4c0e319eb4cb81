-- id: fabric-manager-fault
-- code: peer-access-fault
-- role: root
-- severity: error
-- title: The fabric manager of a host does not work
-- title.zh: 主机的 fabric manager 异常
-- means: GPUs behind NVSwitch reach each other only while the fabric manager runs, in the version
--   of the driver. Without it CUDA does not start (error 802), or NVLink SHARP fails.
-- means.zh: 通过 NVSwitch 互联的 GPU 依赖与驱动同版本的 fabric manager；缺少它时 CUDA 无法初始化
--   （错误 802），或 NVLink SHARP 失败。
-- remedy: systemctl status nvidia-fabricmanager; install the version of the driver, restart it,
--   then the job.
-- remedy.zh: 检查 systemctl status nvidia-fabricmanager；安装与驱动相同的版本，重启服务后再启动作
--   业。
-- see: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
SELECT event, rank, host, 'sure' AS strength, why AS detail FROM cuda_error WHERE kind = 'fabric'
UNION ALL
SELECT id, NULL, host,
       -- It ends at once on a host without NVSwitches, and is not needed there.
       CASE WHEN (source, ifnull(host, ''))
                 IN (SELECT source, ifnull(host, '') FROM event
                     WHERE family = 'FM_FAIL' AND arg(args, 'why') LIKE '%Nothing to do%') THEN 'lead' ELSE 'sure' END,
       arg(args, 'why')
FROM event WHERE family = 'FM_FAIL'
UNION ALL
SELECT id, NULL, host, 'lead', arg(args, 'message') FROM event
WHERE family = 'FM_LINE' AND arg(args, 'severity') = 'ERROR'
      AND arg(args, 'message') NOT LIKE '%non-fatal%';
