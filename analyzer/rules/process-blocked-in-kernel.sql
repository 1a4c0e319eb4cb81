-- id: process-blocked-in-kernel
-- code: rank-slow
-- cause: storage-stall
-- role: root
-- severity: error
-- title: A process is blocked in the kernel
-- title.zh: 进程阻塞在内核中
-- means: It waits in uninterruptible sleep, mostly for storage, sometimes for a device, and
--   cannot even be killed. If it is a process of the job, its rank comes late or never.
-- means.zh: 进程处于不可中断睡眠，多为等待存储，偶尔为等待设备，甚至无法被杀死。若属于本作业，对
--   应的 rank 将迟到或永远不到。
-- remedy: cat /proc/PID/stack on that host shows what it waits for; check the file system it
--   reads or writes.
-- remedy.zh: 在该主机上用 cat /proc/PID/stack 查看等待对象，并检查它读写的文件系统。
-- see: https://docs.kernel.org/admin-guide/sysctl/kernel.html#hung-task-timeout-secs
SELECT e.id AS event, n.rank, ifnull(n.host, e.host) AS host,
       CASE WHEN n.process IS NOT NULL OR e.family = 'ELASTIC_WEDGED' OR arg(e.args, 'name') LIKE '%python%'
                 OR arg(e.args, 'name') LIKE 'pt_%' THEN 'likely' ELSE 'lead' END AS strength,
       ifnull(arg(e.args, 'name') || ', ', '') || 'pid ' || arg(e.args, 'pid') AS detail
FROM event e LEFT JOIN named n ON n.event = e.id WHERE e.family IN ('HUNG_TASK', 'ELASTIC_WEDGED');
