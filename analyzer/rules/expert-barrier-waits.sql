-- id: expert-barrier-waits
-- code: rank-missing
-- role: root
-- severity: error
-- title: A member of an expert-parallel group did not come to a barrier
-- title.zh: 专家并行组的某个成员没有到达屏障
-- means: DeepEP's kernels count at a barrier whose signal is there. All that report wait for the
--   member that is named; it is late, stuck before the call, or gone. Members are counted within
--   the group (and the host, if the group spans several).
-- means.zh: DeepEP 的内核在屏障处记录各成员的信号。所有报告者都在等待所列成员：它迟到、卡在调用之
--   前，或已退出。成员编号是组内（跨主机时为主机内）编号。
-- remedy: Take stacks (py-spy dump) of that member: it is often in another collective, or in an
--   earlier layer.
-- remedy.zh: 对该成员取调用栈（py-spy dump）：它往往停在另一个集合通信或更早的一层。
-- see: https://github.com/deepseek-ai/DeepEP
SELECT min(e.id) AS event, NULL AS rank, NULL AS host, 'likely' AS strength,
       'member ' || arg(e.args, 'index') || ' of its group' AS detail
FROM event e
WHERE e.family = 'DEEPEP_WAIT' AND CAST(arg(e.args, 'value') AS INTEGER) > 0
      -- Who reports has come itself: then places of several groups are mixed up.
      AND arg(e.args, 'index') NOT IN (SELECT arg(args, 'pg_rank') FROM event
                                       WHERE family = 'DEEPEP_WAIT' AND arg(args, 'pg_rank') IS NOT NULL)
GROUP BY arg(e.args, 'index');
