-- id: kernel-failed
-- code: rank-died
-- role: root
-- severity: error
-- title: The kernel of a host failed
-- title.zh: 主机内核崩溃
-- means: After a panic nothing on the host runs; all its ranks are gone without a line in their
--   logs.
-- means.zh: 内核崩溃后主机上的一切都停止运行，其上的所有 rank 都会无声消失。
-- remedy: Drain the host; keep the console output or the crash dump for whoever maintains the
--   kernel.
-- remedy.zh: 停用该主机，保留控制台输出或崩溃转储交给维护人员。
-- see: https://docs.kernel.org/admin-guide/bug-hunting.html
SELECT id AS event, NULL AS rank, host,
       CASE WHEN arg(args, 'why') LIKE 'Kernel panic%' THEN 'sure' ELSE 'likely' END AS strength,
       arg(args, 'why') AS detail
FROM event WHERE family = 'KERNEL_PANIC';
