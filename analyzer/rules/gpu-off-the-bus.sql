-- id: gpu-off-the-bus
-- code: gpu-fault
-- role: root
-- severity: error
-- title: The host no longer reaches a GPU
-- title.zh: 主机已无法访问某块 GPU
-- means: The device does not answer on the bus, or its driver could not be brought up. Every
--   process that uses it is stuck or dead.
-- means.zh: 设备在总线上无响应，或其驱动无法启动；所有使用它的进程都会卡住或退出。
-- remedy: Drain the host. Power-cycle it; if it comes back, have power, seating and the device
--   checked.
-- remedy.zh: 停用该主机并断电重启；若再次出现，请检查供电、插槽和设备。
-- see: https://docs.nvidia.com/deploy/xid-errors/
SELECT e.id AS event, n.rank, ifnull(n.host, e.host) AS host, 'sure' AS strength,
       ifnull(arg(args, 'bdf'), arg(args, 'why')) AS detail
FROM event e LEFT JOIN named n ON n.event = e.id WHERE e.family = 'GPU_LOST'
UNION ALL
SELECT id, rank, host, 'sure', trim(arg(args, 'error')) FROM event
WHERE family = 'nvml' AND arg(args, 'error') LIKE '%is lost%';
