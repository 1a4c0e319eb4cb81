-- id: switch-error-fatal
-- code: gpu-fault
-- role: root
-- severity: error
-- title: An NVSwitch reports a fatal error
-- title.zh: NVSwitch 报告致命错误
-- means: A fatal SXid concerns all GPUs of the baseboard: links through this switch are down
--   until it is reset.
-- means.zh: 致命的 SXid 影响该基板上的所有 GPU：在重置之前，经过该交换芯片的链路均不可用。
-- remedy: Drain the host, keep dmesg and the fabric manager's log, then reset all its GPUs or
--   reboot it.
-- remedy.zh: 停用该主机，保留 dmesg 与 fabric manager 日志，然后重置全部 GPU 或重启。
-- see: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
SELECT id AS event, NULL AS rank, host, 'sure' AS strength,
       'SXid ' || arg(args, 'sxid') || ifnull(', link ' || arg(args, 'link'), '') AS detail
FROM event WHERE family = 'SXID' AND arg(args, 'severity') = 'Fatal';
