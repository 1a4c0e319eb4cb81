-- id: aborted
-- code: rank-died
-- cause: killed-by-signal
-- role: root
-- severity: error
-- title: A process aborted
-- title.zh: 进程异常中止（abort）
-- means: The process ended itself with SIGABRT and no watchdog or failed group is in the input: a
--   C++ exception that nobody caught, a failed check, or a corrupted heap.
-- means.zh: 进程以 SIGABRT 自行终止，而输入中没有看门狗或通信组失败的记录：可能是未捕获的 C++ 异
--   常、断言失败或堆损坏。
-- remedy: Read the last lines of its own log: terminate called, what(), a failed assertion.
-- remedy.zh: 查看该进程日志的最后几行：terminate called、what()、断言失败。
-- see: https://pytorch.org/docs/stable/elastic/errors.html
SELECT d.event, d.rank, d.host,
       CASE WHEN e.family IN ('SHELL_DEATH', 'K8S_EXIT', 'CONTAINER_EXIT', 'SLURM_STATE') THEN 'lead'
            ELSE 'likely' END AS strength,
       ifnull('local rank ' || d.local_rank || ' ', '') || ifnull('pid ' || d.pid, '') AS detail
FROM ended d JOIN event e ON e.id = d.event
-- gloo throws where a peer is gone; it aborts nobody.
WHERE d.signal = 6
      AND NOT EXISTS (SELECT 1 FROM torn_down t JOIN event o ON o.id = t.event WHERE o.family <> 'GLOO_ERR')
      AND NOT EXISTS (SELECT 1 FROM torn_down WHERE rank = d.rank);
