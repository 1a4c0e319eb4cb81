-- id: rdma-requests-flushed
-- code: network-fault
-- role: cascade
-- severity: note
-- title: Waiting transfers were dropped after an earlier error
-- title.zh: 之前出错后，排队的传输被清空
-- means: Error 5 is what all requests of a queue get after another one failed. It is never the
--   reason.
-- means.zh: 错误 5 是队列中另一个请求失败后，其余请求得到的结果，不会是原因。
-- remedy: Find the first completion with another error, on any rank.
-- remedy.zh: 在所有 rank 中查找第一个其他错误码的完成事件。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#networking-issues
SELECT id AS event, rank, host, 'peer ' || arg(args, 'peer') AS detail
FROM event
WHERE family = 'ib_completion' AND (arg(args, 'status') = '5' OR arg(args, 'status_name') LIKE '%FLUSH%')
UNION ALL
SELECT id, rank, host, NULL FROM event WHERE family = 'VERBS_ERR' AND arg(args, 'why') LIKE '%FLUSH%';
