-- id: engine-ended
-- code: rank-died
-- role: cascade
-- severity: note
-- title: A framework ended after one of its processes failed
-- title.zh: 某个进程失败后框架结束
-- means: The engine or launcher passes on that a worker failed. The worker's own lines say why.
-- means.zh: 引擎或启动器在转述某个工作进程的失败；原因在该进程自己的日志中。
-- remedy: Look for the first error of a worker before this line.
-- remedy.zh: 查找此行之前某个工作进程的第一个错误。
-- see: https://docs.vllm.ai/en/latest/usage/troubleshooting.html
SELECT id AS event, rank, host, coalesce(arg(args, 'why'), arg(args, 'what'), arg(args, 'path')) AS detail
FROM event
WHERE family IN ('VLLM_ENGINE_DEAD', 'ELASTIC_CHILD')
      OR family = 'SGLANG_CHILD' AND arg(args, 'what') LIKE 'Received sigquit%';
