-- id: rdma-request-failed
-- code: network-fault
-- role: root
-- severity: error
-- title: A transfer over InfiniBand or RoCE failed
-- title.zh: InfiniBand/RoCE 传输失败
-- means: 4 is a memory region that the card may not use (GPU Direct, IOMMU), 9 and 10 that the
--   peer's buffer does not fit (sizes or calls differ), 13 that the peer was not ready; others
--   are errors of the card.
-- means.zh: 4 表示网卡无权访问该内存区（GPU Direct、IOMMU），9 与 10 表示对端缓冲不符（大小或调用
--   不同），13 表示对端未就绪，其余为网卡错误。
-- remedy: For 4 run once with NCCL_NET_GDR_LEVEL=LOC and check nvidia_peermem and ACS; for 9 and
--   10 compare the calls of both ranks; else update firmware and check the port.
-- remedy.zh: 4：用 NCCL_NET_GDR_LEVEL=LOC 运行一次并检查 nvidia_peermem 与 ACS；9、10：比较两端的
--   调用；其余：更新固件并检查端口。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#networking-issues
SELECT id AS event, NULL AS rank, NULL AS host, 'likely' AS strength,
       'error ' || arg(args, 'status') || ifnull(', peer ' || arg(args, 'peer'), '')
       || ifnull(', ' || arg(args, 'device'), '') AS detail
FROM event
WHERE family = 'ib_completion' AND arg(args, 'status') NOT IN ('12', '5', '0')
      AND ifnull(arg(args, 'status_name'), '') NOT LIKE '%FLUSH%'
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'why') FROM event
WHERE family = 'VERBS_ERR' AND (arg(args, 'why') LIKE 'IBV_WC_%' OR arg(args, 'why') = 'got completion with error')
      AND arg(args, 'why') NOT LIKE '%RETRY_EXC%' AND arg(args, 'why') NOT LIKE '%FLUSH%'
UNION ALL
SELECT id, NULL, NULL, 'likely', arg(args, 'message') FROM event
WHERE family = 'UCX_ERR' AND arg(args, 'message') LIKE '% on %(synd 0x%'
      AND arg(args, 'message') NOT LIKE '%retry count exceeded%' AND arg(args, 'message') NOT LIKE '%flush%'
UNION ALL
SELECT id, NULL, host, 'likely', arg(args, 'error') FROM event
WHERE family = 'ib_async' AND arg(args, 'kind') LIKE '%fatal event%' AND arg(args, 'kind') NOT LIKE '%non-fatal%'
      AND arg(args, 'error') NOT LIKE '%port error%' AND arg(args, 'error') NOT LIKE '%catastrophic%'
      AND arg(args, 'error') NOT LIKE '%device fatal%' AND arg(args, 'error') NOT LIKE '%port down%'
UNION ALL
SELECT id, NULL, host, 'likely', arg(args, 'error') FROM event
WHERE family = 'ib_async' AND ifnull(arg(args, 'kind'), '') NOT LIKE '%fatal%'
      AND (arg(args, 'error') LIKE '%violation%' OR arg(args, 'error') LIKE '%work queue%error%')
UNION ALL
SELECT id, NULL, host, 'likely',
       coalesce(arg(args, 'what'), arg(args, 'failed') || ' devices failed') || ifnull(': ' || arg(args, 'error'), '')
FROM event WHERE family = 'ib_failover';
