-- id: too-many-at-the-barrier
-- code: misconfigured
-- cause: invalid-rank
-- role: root
-- severity: error
-- title: More processes came than the world has ranks
-- title.zh: 到达的进程数超过 world size
-- means: The first barrier counts every process that comes. More than the world size means a
--   wrong launch, or a second start that uses the store of the first.
-- means.zh: 首个屏障会统计到达的进程；超过 world size 说明启动参数有误，或重启后使用了旧的存储服
--   务。
-- remedy: Compare the world size with the number of processes started; give a restarted job a new
--   port or a fresh store.
-- remedy.zh: 比较 world size 与实际启动的进程数；重启的作业应使用新的端口或存储服务。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event,
       CASE WHEN CAST(arg(args, 'rank') AS INTEGER) >= CAST(arg(args, 'world_size') AS INTEGER)
            THEN CAST(arg(args, 'rank') AS INTEGER) END AS rank,
       NULL AS host, 'sure' AS strength, arg(args, 'joined') || ' of ' || arg(args, 'world_size') AS detail
FROM event
WHERE family IN ('STORE_BARRIER', 'STORE_BARRIER_WAIT')
      AND CAST(arg(args, 'joined') AS INTEGER) > CAST(arg(args, 'world_size') AS INTEGER);
