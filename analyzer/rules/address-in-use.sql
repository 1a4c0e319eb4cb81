-- id: address-in-use
-- code: rank-died
-- cause: port-in-use
-- role: root
-- severity: error
-- title: Another process has the port
-- title.zh: 端口已被其他进程占用
-- means: A process could not listen where it should. Often an earlier run of the job still lives,
--   or two jobs of one host took the same port.
-- means.zh: 进程无法在指定端口监听；通常是之前的作业仍在运行，或同一主机上的两个作业使用了相同端
--   口。
-- remedy: Find the holder (ss -ltnp), end it if it is left over, or choose another port: torchrun
--   --rdzv-endpoint=HOST:0, MASTER_PORT.
-- remedy.zh: 查找占用者（ss -ltnp），若为遗留进程则结束它，或更换端口：torchrun
--   --rdzv-endpoint=HOST:0、MASTER_PORT。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, rank, host, 'sure' AS strength,
       -- The port of the store is a setting of the job; a worker's own is found by itself.
       CASE WHEN line_text(source, line) LIKE '%server socket has failed%'
                 OR line_text(source, line) LIKE '%RuntimeError: Address already in use%'
                 OR line_text(source, line) LIKE '%RuntimeError: Only one usage of each socket address%'
            THEN 'misconfigured' ELSE 'rank-died' END AS code,
       arg(args, 'host') || ifnull(':' || arg(args, 'port'), '') AS detail
FROM event e WHERE family = 'PORT_IN_USE'
      -- A warning is one of several addresses that the store tries.
      AND (ifnull(arg(args, 'level'), 'E') <> 'W'
           OR EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line BETWEEN e.line + 1 AND e.line + 4
                            AND o.family = 'SOCK_CONNECT' AND arg(o.args, 'who') = 'server'
                            AND arg(o.args, 'level') = 'E'))
      AND ifnull(line_text(source, line), '') NOT LIKE '%UDS: Binding to socket%'
UNION ALL
-- A worker that failed to start in the same second, without a word why.
SELECT e.id, e.rank, e.host, 'sure', 'rank-died', NULL FROM event e
WHERE e.family = 'VLLM_WORKER_DIED' AND arg(e.args, 'what') LIKE 'WorkerProc failed to start%' AND e.rank IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM exception WHERE rank = e.rank)
      AND EXISTS (SELECT 1 FROM event p
                  WHERE p.family = 'PORT_IN_USE' AND p.source = e.source AND p.rank <> e.rank
                        AND p.line BETWEEN e.line - 200 AND e.line + 200
                        AND abs(p.time_ns - e.time_ns) <= 1000000000)
UNION ALL
-- NCCL takes any port: none is left.
SELECT id, NULL, host, 'likely', 'misconfigured', NULL FROM event
WHERE family = 'syscall' AND arg(args, 'function') = 'bind' AND arg(args, 'error') LIKE 'Address already in use%'
UNION ALL
-- What answers there is no store.
SELECT id, NULL, NULL, 'likely', 'misconfigured', arg(args, 'host') || ':' || arg(args, 'port') FROM event
WHERE family = 'TCP_RETRY' AND arg(args, 'why') LIKE 'Ping failed, invalid value%';
