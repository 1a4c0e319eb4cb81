-- id: no-answer-over-rdma
-- code: network-fault
-- role: root
-- severity: error
-- title: A peer did not answer over InfiniBand or RoCE
-- title.zh: 对端在 InfiniBand/RoCE 上无应答
-- means: The card sent again and again and got no acknowledgement: the link, the route or the
--   peer is gone. The rank that reports it is at the near end and not the culprit.
-- means.zh: 网卡多次重传仍未收到确认：链路、路由或对端已失效。报告的 rank 只是近端，并非责任方。
-- remedy: Look at the peer that the line names and the path to it: ibstat, perfquery, the switch;
--   for RoCE the GID index, PFC and ECN. NCCL_IB_TIMEOUT=22 helps only against short outages.
-- remedy.zh: 检查该行所指的对端与路径：ibstat、perfquery、交换机；RoCE 还需检查 GID 索引、PFC 与
--   ECN。NCCL_IB_TIMEOUT=22 只对短暂中断有效。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-timeout
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength,
       'error 12' || ifnull(', peer ' || arg(args, 'peer'), '') || ifnull(', ' || arg(args, 'device'), '') AS detail
FROM event
WHERE family = 'ib_completion' AND (arg(args, 'status') = '12' OR arg(args, 'status_name') LIKE '%RETRY_EXC%'
                                    AND arg(args, 'status_name') NOT LIKE '%RNR%')
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'why') FROM event
WHERE family = 'VERBS_ERR'
      AND (arg(args, 'why') LIKE '%WC_RETRY_EXC%' OR arg(args, 'why') = 'transport retry counter exceeded')
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'message') FROM event
WHERE family = 'UCX_ERR' AND arg(args, 'message') LIKE '%retry count exceeded%';
