-- id: killed-for-memory
-- code: rank-died
-- cause: host-out-of-memory
-- role: root
-- severity: error
-- title: The kernel killed a process of the job for memory
-- title.zh: 内核因内存不足杀死了作业的进程
-- means: The host, or the control group of the job, ran out of memory, and the kernel chose this
--   process. It leaves no line in its own log; the others wait for it.
-- means.zh: 主机（或作业的 cgroup）内存耗尽，内核选中了这个进程。它自己的日志不会留下任何信息，其
--   他 rank 只能一直等待。
-- remedy: Give the job more host memory, or use less of it: fewer or lighter data workers, a
--   smaller pinned buffer, loading checkpoints by shards. Look at the memory of this host before
--   the kill.
-- remedy.zh: 为作业分配更多主机内存，或减少占用：更少的数据加载进程、更小的锁页缓冲、分片加载检查
--   点。检查该主机被杀前的内存曲线。
-- see: https://docs.kernel.org/admin-guide/mm/concepts.html#oom-killer
SELECT e.id AS event,
       ifnull(n.rank, (SELECT max(x.rank) FROM ended x
                       WHERE x.pid = CAST(arg(e.args, 'pid') AS INTEGER)
                             AND (x.host = e.host OR x.host IS NULL OR e.host IS NULL)
                       HAVING count(DISTINCT x.rank) = 1)) AS rank,
       ifnull(n.host, e.host) AS host,
       CASE WHEN n.process IS NOT NULL
                 OR EXISTS (SELECT 1 FROM ended x WHERE x.pid = CAST(arg(e.args, 'pid') AS INTEGER)) THEN 'sure'
            WHEN arg(e.args, 'name') LIKE '%python%' OR arg(e.args, 'name') LIKE 'pt_%'
                 OR arg(e.args, 'task_memcg') LIKE '%/job_%' THEN 'likely'
            ELSE 'lead' END AS strength,
       'pid ' || arg(e.args, 'pid') || ifnull(' (' || arg(e.args, 'name') || ')', '') AS detail
FROM event e LEFT JOIN named n ON n.event = e.id
WHERE e.family = 'OOMK_KILL'
      OR e.family = 'OOMK_CTX'
         AND (e.source, ifnull(arg(e.args, 'pid'), '-'))
             NOT IN (SELECT source, ifnull(arg(args, 'pid'), '') FROM event WHERE family = 'OOMK_KILL');
