-- id: ended-with-error
-- code: rank-died
-- cause: uncaught-exception
-- role: root
-- severity: error
-- title: A process ended with an error code
-- title.zh: 进程以错误码退出
-- means: The launcher saw this process end with a code other than 0 and no signal. If its own
--   exception is in the input, that one says more; if it only passed on the failure of others,
--   this end is a consequence.
-- means.zh: 启动器看到该进程以非 0 退出码结束（不是信号）。若输入中有它自己的异常，以异常为准；若
--   它只是转述别处的失败，则这只是后果。
-- remedy: Read the end of that process's own log.
-- remedy.zh: 查看该进程自己日志的末尾。
-- see: https://pytorch.org/docs/stable/elastic/errors.html
WITH
-- The launcher's own exception only says that a process failed.
other AS (SELECT rank, kind FROM exception
          WHERE class NOT LIKE '%ChildFailedError' AND message NOT LIKE 'Horovod detected that one or more processes exited%'
          UNION ALL
          -- The exception in a row of torchrun's table, where rules of its own are about it.
          SELECT e.rank, k.kind FROM event e
          JOIN exception_kind k ON arg(e.args, 'class') LIKE k.class AND arg(e.args, 'message') LIKE k.message
          WHERE e.family = 'TBL_ROW' AND k.kind = 'judged'),
-- Rows of its tables behind the first that it calls the root cause.
later AS (
  SELECT e.id FROM event e
  JOIN (SELECT attempt, min(arg(args, 'time')) AS time FROM event
        WHERE family = 'TBL_ROW' AND arg(args, 'root') IS NOT NULL GROUP BY attempt) f ON f.attempt IS e.attempt
  WHERE e.family = 'TBL_ROW' AND (arg(e.args, 'root') IS NULL OR arg(e.args, 'time') > f.time)
)
SELECT d.event, d.rank, d.host,
       CASE WHEN EXISTS (SELECT 1 FROM other WHERE rank = d.rank AND kind = 'root')
                 OR EXISTS (SELECT 1 FROM other WHERE rank IS NULL AND kind = 'root')
                 OR d.rank IS NULL AND EXISTS (SELECT 1 FROM other WHERE kind = 'root') THEN 'confirmation'
            WHEN d.event IN (SELECT id FROM later) THEN 'cascade'
            -- Python ends with 1 when nobody catches an exception: what others raised does not explain more.
            WHEN d.exitcode > 1 AND d.rank IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM other WHERE rank = d.rank)
                 AND NOT EXISTS (SELECT 1 FROM torn_down WHERE rank = d.rank)
                 -- nccl-tests ends so when a call of NCCL failed.
                 AND NOT EXISTS (SELECT 1 FROM event WHERE family IN ('nccl_tests_fail', 'nccl_tests_cuda')) THEN 'root'
            WHEN EXISTS (SELECT 1 FROM other WHERE rank = d.rank)
                 OR EXISTS (SELECT 1 FROM other WHERE rank IS NULL)
                 OR d.rank IS NULL AND EXISTS (SELECT 1 FROM other)
                 OR EXISTS (SELECT 1 FROM torn_down WHERE rank = d.rank)
                 OR EXISTS (SELECT 1 FROM torn_down WHERE rank IS NULL)
                 OR d.rank IS NULL AND EXISTS (SELECT 1 FROM torn_down) THEN 'cascade'
            ELSE 'root' END AS role,
       CASE WHEN d.rank IS NULL AND d.pid IS NULL AND d.exitcode IS NULL THEN 'lead' ELSE 'likely' END AS strength,
       coalesce('exit code ' || d.exitcode, d.what, 'MPI_ABORT') || ifnull(', local rank ' || d.local_rank, '')
       || ifnull(', pid ' || d.pid, '') AS detail
FROM ended d WHERE d.signal IS NULL AND ifnull(d.exitcode, 1) > 0;
