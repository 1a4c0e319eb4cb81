-- id: engine-waits
-- code: -
-- role: cascade
-- severity: note
-- title: A framework waits for its workers
-- title.zh: 框架在等待它的工作进程
-- means: The engine or its watchdog noticed that no step was finished in time. It waits; the
--   reason lies with one of the workers.
-- means.zh: 引擎或其看门狗发现步骤未能按时完成；它只是在等待，原因在某个工作进程。
-- remedy: Take stacks of all workers (py-spy dump) and look for the one that is not in the
--   collective.
-- remedy.zh: 获取所有工作进程的堆栈（py-spy dump），找出不在集合通信中的那一个。
-- see: https://docs.vllm.ai/en/latest/usage/troubleshooting.html
SELECT id AS event, rank, host,
       coalesce(arg(args, 'call'), arg(args, 'elapsed_s') || ' s', 'rank ' || arg(args, 'rank'), arg(args, 'timeout_s') || ' s', arg(args, 'what'))
         AS detail
FROM event
WHERE family IN ('VLLM_SHM_WAIT', 'VLLM_RPC_TIMEOUT', 'SGLANG_WATCHDOG', 'TRTLLM_HANG', 'FT_TIMEOUT', 'RAY_RETRY', 'TGI_WAIT')
      OR family = 'DEEPEP_WAIT' AND arg(args, 'index') IS NULL
      OR family = 'RAY_RESOURCES' AND arg(args, 'state') IS NOT NULL;
