-- id: unequal-timeouts
-- code: -
-- role: confirmation
-- severity: note
-- title: Groups have different timeouts
-- title.zh: 各通信组的超时不同
-- means: The group with the shortest timeout reports first, even if it only waits for another
--   one. The first report is then not the first wait.
-- means.zh: 超时最短的组最先报告，即使它只是在等待另一个组；因此最先报告的不一定最先等待。
-- remedy: Give all groups the same timeout.
-- remedy.zh: 为所有通信组设置相同的超时。
-- see: https://pytorch.org/docs/stable/distributed.html#torch.distributed.new_group
SELECT min(id) AS event, NULL AS rank, NULL AS host, 'sure' AS strength, arg(args, 'timeout_ms') || ' ms' AS detail
FROM event
WHERE family IN ('WD_TIMEOUT', 'PG_OPTIONS') AND arg(args, 'timeout_ms') IS NOT NULL
      AND 1 < (SELECT count(DISTINCT arg(o.args, 'timeout_ms')) FROM event o
               WHERE o.family IN ('WD_TIMEOUT', 'PG_OPTIONS') AND arg(o.args, 'timeout_ms') IS NOT NULL)
GROUP BY arg(args, 'timeout_ms');
