-- id: switch-error
-- code: gpu-fault
-- role: confirmation
-- severity: warning
-- title: An NVSwitch reports an error
-- title.zh: NVSwitch 报告错误
-- means: The switch itself could recover. With an Xid of a GPU on the same host it shows which
--   link is bad.
-- means.zh: 该错误可由交换芯片自行恢复；若同一主机上还有 GPU 的 Xid，则可据此判断故障链路。
-- remedy: Watch whether it comes again on this link.
-- remedy.zh: 关注同一链路上是否再次出现。
-- see: https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
SELECT id AS event, NULL AS rank, host, 'lead' AS strength,
       'SXid ' || arg(args, 'sxid') || ifnull(', link ' || arg(args, 'link'), '') AS detail
FROM event WHERE family = 'SXID' AND arg(args, 'severity') <> 'Fatal';
