-- id: worker-call-failed
-- code: rank-died
-- role: root
-- severity: warning
-- title: A call failed in one worker of the engine
-- title.zh: 引擎的某个工作进程中调用失败
-- means: The worker raised while its peers may be inside a collective, where they now wait. Which
--   exception it was stands in the lines below, if they are there.
-- means.zh: 该工作进程抛出异常时，其他进程可能正在集合通信中等待；具体异常若有记录，应在其后几行。
-- remedy: Read the traceback below the line.
-- remedy.zh: 查看该行下方的回溯。
-- see: https://docs.vllm.ai/en/latest/usage/troubleshooting.html
SELECT id AS event, rank, host, 'lead' AS strength, arg(args, 'call') AS detail
FROM event WHERE family = 'VLLM_METHOD_FAILED';
