-- id: gpu-error-other
-- code: -
-- role: confirmation
-- severity: warning
-- title: The driver reports an error of a GPU
-- title.zh: 驱动报告 GPU 错误
-- means: An Xid that by its number alone points neither at the hardware nor at the program.
-- means.zh: 仅凭编号无法判断该 Xid 属于硬件还是程序。
-- remedy: Look it up in NVIDIA's table of Xid errors.
-- remedy.zh: 请在 NVIDIA 的 Xid 表中查询。
-- see: https://docs.nvidia.com/deploy/xid-errors/
SELECT id AS event, NULL AS rank, host, 'lead' AS strength,
       'Xid ' || arg(args, 'xid') || ifnull(', ' || arg(args, 'bdf'), '') AS detail
FROM event
WHERE family = 'XID'
      AND CAST(arg(args, 'xid') AS INTEGER)
          NOT IN (13, 31, 43, 45, 48, 62, 63, 64, 68, 69, 74, 79, 92, 94, 95, 119, 120, 137, 140, 154)
      AND CAST(arg(args, 'xid') AS INTEGER) NOT BETWEEN 143 AND 150;
