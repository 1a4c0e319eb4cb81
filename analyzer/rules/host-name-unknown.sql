-- id: host-name-unknown
-- code: misconfigured
-- cause: wrong-address
-- role: root
-- severity: error
-- title: A host name cannot be resolved
-- title.zh: 主机名无法解析
-- means: The name that was given for rank 0, the rendezvous or a node has no address here.
-- means.zh: 为 rank 0、汇合点或节点指定的名字在此处没有对应地址。
-- remedy: Use an address or a name that every node knows (getent hosts NAME); in Kubernetes wait
--   for the service's record.
-- remedy.zh: 使用所有节点都能解析的地址或名字（getent hosts NAME）；在 Kubernetes 中等待服务记录
--   生效。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, NULL AS rank, host,
       CASE WHEN family = 'SSH_FAIL' THEN 'sure' WHEN arg(args, 'why') LIKE 'IPv6%' THEN 'lead' ELSE 'likely' END
         AS strength,
       ifnull(arg(args, 'host'), arg(args, 'why')) AS detail
FROM event
WHERE family = 'INIT_NETWORK'
      AND (arg(args, 'why') LIKE '%cannot be retrieved' OR arg(args, 'why') LIKE 'Unable to resolve%'
           OR arg(args, 'why') LIKE 'Name or service%' OR arg(args, 'why') LIKE 'Temporary failure%')
      OR family = 'SSH_FAIL' AND line_text(source, line) LIKE '%Could not resolve hostname%';
