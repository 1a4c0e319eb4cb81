-- id: gpu-error-software
-- code: rank-died
-- role: confirmation
-- severity: warning
-- title: The driver reports a fault of the program on a GPU
-- title.zh: 驱动报告程序在 GPU 上出错
-- means: Xid 13, 31, 43, 45, 68 and 69 are usually the program's own memory access, or what
--   follows when a process is killed; 154 only says what recovery is needed. They do not prove a
--   broken device.
-- means.zh: Xid 13、31、43、45、68、69 通常是程序自身的非法访存，或进程被杀后的结果；154 只说明所
--   需的恢复动作。它们不能证明设备损坏。
-- remedy: Read the log of the process that the line names. Suspect the device only if it happens
--   again there with other programs.
-- remedy.zh: 查看该行所指进程的日志；只有当其他程序也在同一设备上反复出现时，才怀疑设备。
-- see: https://docs.nvidia.com/deploy/xid-errors/
SELECT e.id AS event, n.rank, ifnull(n.host, e.host) AS host,
       CASE WHEN CAST(arg(args, 'xid') AS INTEGER) IN (43, 45, 154) THEN 'cascade' ELSE 'confirmation' END AS role,
       'lead' AS strength, 'Xid ' || arg(args, 'xid') || ifnull(', ' || arg(args, 'bdf'), '') AS detail
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE family = 'XID' AND CAST(arg(args, 'xid') AS INTEGER) IN (13, 31, 43, 45, 68, 69, 154);
