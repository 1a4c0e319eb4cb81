-- id: gpu-error-hardware
-- code: gpu-fault
-- role: root
-- severity: error
-- title: The driver reports a hardware error of a GPU
-- title.zh: 驱动报告 GPU 硬件错误
-- means: An Xid of the kind that means the device, its memory or its links: 48, 62-64, 74, 79,
--   92, 94, 95, 119, 120, 137, 140, 143-150.
-- means.zh: 该 Xid 属于设备、显存或链路故障：48、62-64、74、79、92、94、95、119、120、137、140、
--   143-150。
-- remedy: Drain the host and keep its logs (nvidia-bug-report.sh), then reset the GPU or have it
--   replaced. 94 alone ends only the process that used the page.
-- remedy.zh: 停用该主机并保留日志（nvidia-bug-report.sh），然后重置或更换 GPU。单独的 94 只会结束
--   使用该页的进程。
-- see: https://docs.nvidia.com/deploy/xid-errors/
SELECT e.id AS event, n.rank, ifnull(n.host, e.host) AS host,
       CASE WHEN e.follows THEN 'likely' ELSE 'sure' END AS strength,
       'Xid ' || e.xid || ifnull(', ' || arg(e.args, 'bdf'), '') AS detail
FROM (SELECT *, message LIKE '%caused by previous Xid %' AS follows,
             -- What follows names the number of its reason.
             CAST(CASE WHEN message LIKE '%caused by previous Xid %'
                       THEN substr(message, instr(message, 'previous Xid ') + 13) ELSE number END AS INTEGER) AS xid
      FROM (SELECT id, host, args, arg(args, 'message') AS message, arg(args, 'xid') AS number
            FROM event WHERE family = 'XID')) e
     LEFT JOIN named n ON n.event = e.id
WHERE e.xid IN (48, 62, 63, 64, 74, 79, 92, 94, 95, 119, 120, 137, 140) OR e.xid BETWEEN 143 AND 150;
