-- id: aborted-after-failure
-- code: rank-died
-- role: cascade
-- severity: note
-- title: A process aborted after its group had failed
-- title.zh: 通信组失败后进程中止
-- means: Exit by SIGABRT is how PyTorch's watchdog takes a process down after a collective failed
--   or timed out. The process is a victim.
-- means.zh: 集合通信失败或超时后，PyTorch 的看门狗会以 SIGABRT 结束进程；该进程是受害者。
-- remedy: Look for the rank that did not come, not for the one that aborted.
-- remedy.zh: 应查找没有到达的 rank，而不是中止的 rank。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT event, rank, host,
       ifnull('local rank ' || local_rank || ' ', '') || ifnull('pid ' || pid, '') AS detail
FROM ended d
WHERE signal = 6
      AND (EXISTS (SELECT 1 FROM torn_down t JOIN event o ON o.id = t.event WHERE o.family <> 'GLOO_ERR')
           OR EXISTS (SELECT 1 FROM torn_down WHERE rank = d.rank));
