-- id: failure-passed-on
-- code: network-fault
-- role: cascade
-- severity: note
-- title: A group had already failed
-- title.zh: 通信组此前已经失败
-- means: The line repeats an error that NCCL or another rank had found before: a remote error, an
--   aborted communicator, a process that takes itself down.
-- means.zh: 该行重复 NCCL 或其他 rank 之前发现的错误：远端错误、被中止的通信子，或进程自行终止。
-- remedy: Search the first NCCL WARN, exception or exit before it, over all ranks.
-- remedy.zh: 在所有 rank 中查找此前最早的 NCCL WARN、异常或退出。
-- see: https://pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications
SELECT id AS event, rank, host,
       CASE WHEN arg(args, 'why') LIKE '%cuda error%' OR arg(args, 'why') LIKE 'internal error%'
                 OR arg(args, 'why') LIKE 'invalid %' THEN '-' ELSE 'network-fault' END AS code,
       substr(coalesce(arg(args, 'why'), arg(args, 'error'), 'rank ' || arg(args, 'pg_src')), 1, 120) AS detail
FROM event
WHERE family IN ('NCCL_ERR_IN', 'NCCL_ERR', 'ASYNC_EXC', 'NCCL2_ASYNC', 'nccl_tests_fail', 'proxy_fail')
UNION ALL
SELECT id, rank, host, '-', arg(args, 'call') || ': ' || coalesce(arg(args, 'message'), arg(args, 'why')) FROM event e
WHERE family = 'XLA_NCCL'
      AND NOT EXISTS (SELECT 1 FROM event o WHERE o.source = e.source AND o.line = e.line AND o.family = 'NCCL_LIBRARY')
UNION ALL
-- The words of a result in a line of a program that no family knows.
SELECT id, rank, host, '-', arg(args, 'error') FROM event e
WHERE family = 'nccl_result_text'
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line = e.line
                            AND o.family IN ('NCCL_ERR_IN', 'NCCL_ERR', 'NCCL_ERROR', 'ASYNC_EXC', 'NCCL2_ASYNC',
                                             'nccl_tests_fail', 'proxy_fail', 'XLA_NCCL', 'COMM_ABORTED'))
UNION ALL
SELECT id, rank, host, '-', substr(coalesce(arg(args, 'why'), 'rank ' || arg(args, 'pg_src')), 1, 120) FROM event
WHERE family IN ('REMOTE_ERR', 'COMM_ABORTED', 'COMM_ERR_SET', 'SOME_FAILED', 'TEARDOWN', 'HB_EXIT', 'NCCL2_ABORT',
                 'fatal_comm')
UNION ALL
SELECT id, rank, host, '-', arg(args, 'why') FROM event WHERE family = 'JAX_AGENT' AND arg(args, 'why') IS NOT NULL
UNION ALL
SELECT id, rank, host, '-', 'waited for rank ' || arg(args, 'pg_src') FROM event e
WHERE family = 'UNIQUEID_TAIL' AND NOT EXISTS (SELECT 1 FROM event o WHERE o.family = 'UNIQUEID_ERR' AND o.source = e.source);
