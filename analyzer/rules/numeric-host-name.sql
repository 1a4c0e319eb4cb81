-- id: numeric-host-name
-- code: misconfigured
-- cause: wrong-address
-- role: root
-- severity: error
-- title: A host name of digits was read as an address
-- title.zh: 全数字主机名被当作 IP 地址
-- means: A name that is a number is not looked up: it is taken as a 32-bit address. 10.0.0.1
--   written as 167772161 is the same to the resolver, so 5309742 becomes 0.81.5.46, where nobody
--   is.
-- means.zh: 纯数字的名字不会被解析，而是被当作 32 位地址；例如 5309742 会变成 0.81.5.46，那里没有
--   任何主机。
-- remedy: Give the address or a full name with a letter or dot as MASTER_ADDR or --rdzv-endpoint,
--   or rename the host.
-- remedy.zh: 在 MASTER_ADDR 或 --rdzv-endpoint 中使用真实地址或带字母、点的完整名称，或重命名主机。
-- see: https://man7.org/linux/man-pages/man3/inet_aton.3.html
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength,
       arg(args, 'host')
       || CASE WHEN arg(args, 'host') GLOB '[1-9]*' AND CAST(arg(args, 'host') AS INTEGER) < 4294967296
               THEN printf(' = %d.%d.%d.%d', arg(args, 'host') >> 24 & 255, arg(args, 'host') >> 16 & 255,
                           arg(args, 'host') >> 8 & 255, arg(args, 'host') & 255) ELSE '' END AS detail
FROM event
WHERE family IN ('SOCK_CONNECT', 'TCP_RETRY') AND arg(args, 'host') GLOB '[0-9]*'
      AND arg(args, 'host') NOT GLOB '*[^0-9]*'
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'host') FROM event
WHERE family IN ('SOCK_CONNECT', 'TCP_RETRY')
      AND (arg(args, 'host') GLOB '0.[0-9]*' AND arg(args, 'host') <> '0.0.0.0' OR arg(args, 'host') LIKE '::ffff:0.%');
