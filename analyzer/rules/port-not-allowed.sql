-- id: port-not-allowed
-- code: misconfigured
-- role: root
-- severity: error
-- title: The store may not listen on its port
-- title.zh: 存储服务无权监听该端口
-- means: The system refuses the port to this user: below 1024 it needs a privilege, and Windows
--   keeps whole ranges for itself. Ports drawn at random now and then land there.
-- means.zh: 系统不允许该用户使用此端口：低于 1024 的端口需要特权，Windows 还会保留整段端口；随机选
--   取的端口有时会落在其中。
-- remedy: Choose a free port from 1024 up: MASTER_PORT, torchrun --master-port, or
--   --rdzv-endpoint=HOST:0 for one that is free.
-- remedy.zh: 选择 1024 及以上的空闲端口：MASTER_PORT、torchrun --master-port，或用
--   --rdzv-endpoint=HOST:0 自动选择。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, rank, host, 'sure' AS strength,
       arg(args, 'host') || ifnull(':' || arg(args, 'port'), '') AS detail
FROM event e
WHERE family = 'SOCK_CONNECT' AND arg(args, 'who') = 'server'
      AND (arg(args, 'errno') IN ('13', '-13', '10013') OR ifnull(line_text(source, line), '') LIKE '%name: EACCES%')
      -- A warning is one of several addresses that the store tries.
      AND (ifnull(arg(args, 'level'), 'E') <> 'W'
           OR EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line BETWEEN e.line + 1 AND e.line + 4
                            AND o.family = 'SOCK_CONNECT' AND arg(o.args, 'who') = 'server'
                            AND arg(o.args, 'level') = 'E'));
