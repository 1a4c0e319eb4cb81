-- id: port-or-link-down
-- code: network-fault
-- cause: bad-cable-or-port
-- role: root
-- severity: error
-- title: A network port lost its link
-- title.zh: 网络端口链路中断
-- means: The network card or its driver says that a port of this host went down, that its cable
--   or transceiver is bad, or that the card no longer answers. It outranks transfer errors of the
--   peers.
-- means.zh: 网卡或其驱动报告该主机的端口断开、线缆或光模块异常，或网卡无响应；它优先于对端的传输
--   错误。
-- remedy: Check cable, transceiver and switch port of this host (ibstat, mlxlink, ethtool); take
--   it out of service if the link flaps.
-- remedy.zh: 检查该主机的线缆、光模块与交换机端口（ibstat、mlxlink、ethtool）；若链路反复闪断则停
--   用。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#networking-issues
SELECT id AS event, NULL AS rank, host, 'sure' AS strength,
       ifnull(arg(args, 'device') || ifnull(':' || arg(args, 'port'), '') || ', ', '') || arg(args, 'error') AS detail
FROM event
WHERE family = 'ib_async'
      AND (arg(args, 'error') LIKE '%port error%' OR arg(args, 'error') LIKE '%catastrophic%'
           OR arg(args, 'error') LIKE '%device fatal%' OR arg(args, 'error') LIKE '%port down%')
UNION ALL
SELECT e.id, NULL, e.host,
       CASE WHEN u.line > e.line THEN 'lead' ELSE 'likely' END,
       coalesce(arg(e.args, 'interface'), arg(e.args, 'bdf'))
FROM event e
     -- where it came up again for the last time
     LEFT JOIN (SELECT family, source, ifnull(arg(args, 'interface'), '') AS interface, max(line) AS line FROM event
                WHERE family IN ('MLX_LINK', 'NIC_LINK') AND lower(arg(args, 'state')) = 'up'
                GROUP BY family, source, interface) u
     ON u.family = e.family AND u.source = e.source AND u.interface = ifnull(arg(e.args, 'interface'), '')
WHERE e.family IN ('MLX_LINK', 'NIC_LINK') AND lower(arg(e.args, 'state')) LIKE '%down%'
UNION ALL
SELECT id, NULL, host, CASE WHEN lower(arg(args, 'state')) LIKE '%unplug%' THEN 'lead' ELSE 'likely' END,
       ifnull(arg(args, 'bdf') || ', ', '') || coalesce(arg(args, 'why'), arg(args, 'state'))
FROM event
WHERE family = 'MLX_HEALTH'
      OR family = 'MLX_PME' AND (lower(arg(args, 'state')) LIKE '%error%' OR lower(arg(args, 'state')) LIKE '%unplug%');
