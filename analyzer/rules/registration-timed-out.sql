-- id: registration-timed-out
-- code: init-stuck
-- role: root
-- severity: error
-- title: A task could not register with the coordinator in time
-- title.zh: 任务未能及时向协调服务注册
-- means: Tasks of JAX register with a coordinator when they start, and go on when all have. This one
--   gave up: the coordinator cannot be reached, or other tasks did not come.
-- means.zh: JAX 的任务在启动时向协调服务注册，全部到齐后才继续。该任务已放弃等待：协调服务无法连接，或
--   其他任务没有到来。
-- remedy: See that all tasks were started, with the same coordinator address and number of
--   processes, and that its port can be reached; initialization_timeout gives late tasks more time.
-- remedy.zh: 检查所有任务是否已启动，协调服务地址与进程数是否一致，其端口是否可达；initialization_timeout
--   可给较晚的任务更多时间。
-- see: https://docs.jax.dev/en/latest/multi_process.html
SELECT id AS event, rank, host, 'likely' AS strength, NULL AS detail
FROM event e
WHERE family = 'JAX_AGENT' AND arg(args, 'call') IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM event b WHERE b.family = 'JAX_BARRIER')
      AND (line_text(source, line) LIKE '%DEADLINE_EXCEEDED%'
           OR EXISTS (SELECT 1 FROM event o
                      WHERE o.family = 'JAX_AGENT' AND o.source = e.source AND o.line BETWEEN e.line AND e.line + 4
                            AND arg(o.args, 'why') = 'DEADLINE_EXCEEDED'));
