-- id: xla-rendezvous
-- code: init-stuck
-- role: root
-- severity: error
-- title: XLA waits for devices to make a communicator
-- title.zh: XLA 在等待其他设备以建立通信器
-- means: Some devices came to make a communicator and others did not, so that these threads wait.
--   Which ones are missing is not said: another process may never have called the same program.
-- means.zh: 部分设备已来建立通信器而另一些没有，因此这些线程在等待。日志没有说明缺的是哪些：可能是另
--   一个进程没有调用同一段程序。
-- remedy: See that every process runs the same jitted function with the same arguments; take stacks
--   (py-spy dump) of the processes that print nothing.
-- remedy.zh: 确认每个进程都以相同参数运行同一个 jit 函数；对没有输出的进程取调用栈（py-spy dump）。
-- see: https://docs.jax.dev/en/latest/multi_process.html
SELECT e.id AS event, NULL AS rank, NULL AS host,
       CASE WHEN arg(e.args, 'what') LIKE '%clique%' THEN 'init-stuck' ELSE '-' END AS code,
       CASE WHEN arg(e.args, 'what') LIKE '%clique%' THEN 'root' ELSE 'cascade' END AS role,
       'likely' AS strength, coalesce(arg(e.args, 'what'), arg(e.args, 'elapsed_ms') || ' ms') AS detail
FROM event e
     LEFT JOIN (SELECT speaker, max(line) AS line FROM event
                WHERE family = 'XLA_WAIT' AND arg(args, 'done') IS NOT NULL GROUP BY speaker) d
     ON d.speaker = e.speaker AND d.line > e.line
WHERE e.family = 'XLA_WAIT' AND arg(e.args, 'done') IS NULL AND d.line IS NULL;
