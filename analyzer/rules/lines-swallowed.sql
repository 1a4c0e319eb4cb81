-- id: lines-swallowed
-- code: -
-- role: confirmation
-- severity: note
-- title: Ray dropped equal lines of other processes
-- title.zh: Ray 丢弃了其他进程的相同行
-- means: Ray prints a line once and counts the rest, so silence of a rank proves nothing in this
--   log.
-- means.zh: Ray 对相同的行只打印一次并计数，因此该日志中某个 rank 没有输出并不能说明问题。
-- remedy: Set RAY_DEDUP_LOGS=0, or read the log of each worker.
-- remedy.zh: 设置 RAY_DEDUP_LOGS=0，或查看每个工作进程的日志。
-- see:
--   https://docs.ray.io/en/latest/ray-observability/user-guides/configure-logging.html#log-deduplication
SELECT min(id) AS event, NULL AS rank, NULL AS host, 'lead' AS strength, NULL AS detail
FROM event WHERE arg(args, 'repeated') IS NOT NULL GROUP BY source;
