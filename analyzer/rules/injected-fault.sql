-- id: injected-fault
-- code: rank-died
-- role: root
-- severity: error
-- title: A test injected this fault
-- title.zh: 故障由测试工具注入
-- means: A resiliency tool says that it ended this rank on purpose.
-- means.zh: 容错测试工具表明它有意结束了该 rank。
-- remedy: Nothing to fix, if the test was meant to run here.
-- remedy.zh: 如果测试本来就应在此运行，则无需修复。
-- see: https://nvidia.github.io/nvidia-resiliency-ext/
SELECT id AS event, CAST(arg(args, 'rank') AS INTEGER) AS rank, NULL AS host, 'sure' AS strength,
       arg(args, 'what') AS detail
FROM event
WHERE family = 'FT_EVENT' AND arg(args, 'what') LIKE 'rank_killed%';
