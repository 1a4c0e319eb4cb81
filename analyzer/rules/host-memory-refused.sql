-- id: host-memory-refused
-- code: rank-died
-- cause: host-out-of-memory
-- role: root
-- severity: error
-- title: A rank got no memory of its host
-- title.zh: 某个 rank 申请主机内存失败
-- means: An allocation in host memory failed on this rank and raised there: the host is full, or
--   a limit of the process or container is reached.
-- means.zh: 该 rank 申请主机内存失败并抛出异常：主机内存已满，或触及了进程或容器的限制。
-- remedy: See free memory and the limits of the container (ulimit -v, memory.max). Lower what is
--   kept in host memory per rank.
-- remedy.zh: 检查可用内存与容器限制（ulimit -v、memory.max），减少每个 rank 在主机内存中保存的数
--   据。
-- see: https://docs.kernel.org/admin-guide/cgroup-v2.html#memory
SELECT id AS event, rank, host, 'likely' AS strength, arg(args, 'size') AS detail
FROM event e
WHERE family = 'HOST_MEMORY' AND ifnull(arg(args, 'call'), '') NOT LIKE '%ibv_%'
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line = e.line
                            AND o.family IN ('ib_reg', 'VERBS_ERR', 'SHM_ERR', 'shm', 'shm2', 'FI_ERR'))
UNION ALL
SELECT id, rank, host, 'likely', arg(args, 'size') || ' bytes' FROM event
WHERE family = 'alloc_fail' AND (arg(args, 'what') LIKE '%alloc' AND arg(args, 'what') NOT LIKE 'CUDA%');
