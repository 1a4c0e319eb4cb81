-- id: memory-lock-limit
-- code: misconfigured
-- cause: resource-limit
-- role: root
-- severity: error
-- title: The card may not lock enough memory
-- title.zh: 可锁定内存的限制过小
-- means: InfiniBand and RoCE need memory that is locked. The limit of this process or container
--   is too small, so that queues and regions cannot be made.
-- means.zh: InfiniBand 与 RoCE 需要锁定内存；该进程或容器的限制过小，无法创建队列与内存区。
-- remedy: ulimit -l unlimited (limits.conf, docker --ulimit memlock=-1, LimitMEMLOCK=infinity of
--   slurmd).
-- remedy.zh: 设置 ulimit -l unlimited（limits.conf、docker --ulimit memlock=-1、slurmd 的
--   LimitMEMLOCK=infinity）。
-- see:
--   https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#networking-issues
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'function') AS detail
FROM event WHERE family = 'ib_reg' AND arg(args, 'why') LIKE '%annot allocate memory%'
UNION ALL
SELECT id, rank, host, 'sure', arg(args, 'call') FROM event e
WHERE family = 'VERBS_ERR' AND arg(args, 'why') LIKE '%annot allocate memory%'
      AND NOT EXISTS (SELECT 1 FROM event o WHERE o.source = e.source AND o.line = e.line AND o.family = 'ib_reg')
UNION ALL
SELECT id, rank, host, 'lead', coalesce(arg(args, 'limit_bytes') || ' bytes', arg(args, 'limit_kb') || ' kB') FROM event
WHERE family = 'MEMLOCK';
