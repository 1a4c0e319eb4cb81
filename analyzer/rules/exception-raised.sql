-- id: exception-raised
-- code: rank-died
-- cause: uncaught-exception
-- role: root
-- severity: error
-- title: A rank raised an exception
-- title.zh: 某个 rank 抛出了异常
-- means: The first exception of this rank that does not merely pass on a failure of another one.
--   Behind [rankN]: stand only exceptions that nobody caught.
-- means.zh: 这是该 rank 的第一个异常，且不是在转述其他 rank 的失败。带 [rankN]: 前缀的只会是无人
--   捕获的异常。
-- remedy: Fix the line that the traceback names. Exceptions of other ranks after it, timeouts
--   above all, are consequences.
-- remedy.zh: 修复回溯所指的代码；其后其他 rank 的异常（尤其是超时）都是后果。
-- see: https://pytorch.org/docs/stable/elastic/errors.html
WITH
-- DDP says below its exception whose it is; where that is cut off, what is left says that it raised.
unused AS (SELECT id, source, line, host, CAST(arg(args, 'rank') AS INTEGER) AS rank FROM event WHERE family = 'DDP_NO_GRAD')
SELECT x.event,
       ifnull(x.rank, (SELECT CAST(arg(u.args, 'rank') AS INTEGER) FROM event u
                       WHERE u.family = 'DDP_NO_GRAD' AND u.source = x.source AND u.line BETWEEN x.line AND x.line + 8
                             AND x.message LIKE 'Expected to have finished reduction%'
                       ORDER BY u.line LIMIT 1)) AS rank,
       x.host,
       CASE WHEN x.raised AND x.how = 'rank-tag' THEN 'sure' ELSE 'likely' END AS strength,
       -- MPI did not start, and the program goes under with it.
       CASE WHEN EXISTS (SELECT 1 FROM event m
                         WHERE m.family = 'MPI_START' AND m.source = x.source
                               AND m.line BETWEEN x.line - 20 AND x.line - 1)
            THEN 'cascade' ELSE 'root' END AS role,
       x.class || CASE WHEN x.message = '' THEN '' ELSE ': ' || substr(x.message, 1, 120) END AS detail
FROM exception x
WHERE x.kind = 'root'
      AND NOT EXISTS (SELECT 1 FROM exception y
                      WHERE y.speaker = x.speaker AND y.line < x.line AND y.kind IN ('root', 'judged'))
UNION ALL
SELECT u.id, u.rank, u.host, 'likely', 'root', 'RuntimeError: parameters without a gradient' FROM unused u
WHERE NOT EXISTS (SELECT 1 FROM exception x WHERE x.source = u.source AND x.line BETWEEN u.line - 8 AND u.line)
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.family = 'DDP_NO_GRAD' AND o.source = u.source AND o.line BETWEEN u.line - 8 AND u.line - 1
                            AND CAST(arg(o.args, 'rank') AS INTEGER) = u.rank);
