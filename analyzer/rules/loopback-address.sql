-- id: loopback-address
-- code: misconfigured
-- cause: wrong-address
-- role: root
-- severity: error
-- title: Several hosts look for rank 0 on themselves
-- title.zh: 多台主机都在本机上寻找 rank 0
-- means: The address of rank 0 is localhost, but the job runs on more than one host: each looks
--   for the store in its own process table.
-- means.zh: rank 0 的地址是 localhost，但作业运行在多台主机上：每台主机都只在自己身上寻找存储服务。
-- remedy: Set MASTER_ADDR or --rdzv-endpoint to the address of the first node.
-- remedy.zh: 将 MASTER_ADDR 或 --rdzv-endpoint 设为第一个节点的地址。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, NULL AS rank, host, 'likely' AS strength, arg(args, 'host') AS detail
FROM event
WHERE family IN ('SOCK_CONNECT', 'TCP_RETRY') AND ifnull(arg(args, 'who'), 'client') = 'client'
      AND arg(args, 'host') IN ('localhost', '127.0.0.1', '::1', '::ffff:127.0.0.1')
      AND 1 < (SELECT count(DISTINCT host) FROM speaker)
UNION ALL
-- gloo connects to what the peer gave as its address; there it does not listen, so it is elsewhere.
SELECT id, NULL, host, 'likely', arg(args, 'host') FROM event
WHERE family = 'GLOO_ERR' AND arg(args, 'what') = 'connect' AND arg(args, 'why') LIKE '%refused%'
      AND (arg(args, 'host') LIKE '127.%' OR arg(args, 'host') = '::1');
