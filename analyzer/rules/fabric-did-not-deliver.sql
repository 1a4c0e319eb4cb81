-- id: fabric-did-not-deliver
-- code: network-fault
-- role: root
-- severity: error
-- title: The fabric did not deliver a message
-- title.zh: 网络未能投递消息
-- means: libfabric reports a request that failed. The peer is gone, or the network between them
--   does not let the traffic pass; the rank that reports it is not the culprit.
-- means.zh: libfabric 报告请求失败：对端已消失，或中间网络不允许该流量通过；报告的 rank 不是责任
--   方。
-- remedy: On AWS the security group has to allow all traffic to itself, in and out. Otherwise
--   find the peer that ended, and check its instance.
-- remedy.zh: 在 AWS 上，安全组必须允许与自身之间的全部进出流量；否则查找已结束的对端并检查其实例。
-- see: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength, arg(args, 'why') AS detail
FROM event WHERE family = 'OFI_ERR' AND arg(args, 'why') IS NOT NULL
UNION ALL
SELECT id, NULL, NULL, 'sure', arg(args, 'why') FROM event WHERE family = 'EFA_ERR'
UNION ALL
SELECT id, NULL, NULL,
       -- The plugin that cannot start is left out: NCCL takes another network.
       CASE WHEN coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%nitiali%fail%'
                 OR coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%ailing initiali%'
                 OR coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%fi_getinfo%'
                 OR coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%provider%supported%'
            THEN 'lead' ELSE 'likely' END,
       coalesce(arg(args, 'text'), arg(args, 'message')) FROM event e
WHERE family IN ('net_ofi', 'OFI_ERR')
      AND (line_text(source, line) LIKE '%NCCL WARN%'
           OR coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%error%')
      AND coalesce(arg(args, 'text'), arg(args, 'message')) IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line = e.line AND o.id <> e.id
                            AND (o.family = 'net_ofi' OR o.family = 'OFI_ERR' AND arg(o.args, 'why') IS NOT NULL))
UNION ALL
-- A provider that handles the error of a request; the rest are complaints that need not matter.
SELECT id, NULL, NULL,
       CASE WHEN arg(args, 'function') LIKE '%handle_error' AND arg(args, 'message') LIKE 'err: %'
                 OR arg(args, 'message') LIKE 'fi_cq_readerr: err: %'
            THEN 'likely' ELSE 'lead' END, arg(args, 'message') FROM event
WHERE family = 'FI_ERR' AND ifnull(arg(args, 'severity'), 'warn') <> 'info';
