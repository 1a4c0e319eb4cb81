-- id: processor-stuck
-- code: rank-slow
-- cause: host-blocked
-- role: root
-- severity: error
-- title: A processor of a host stood still
-- title.zh: 主机的某个处理器停滞
-- means: The kernel saw a processor do nothing else for many seconds; processes on the host do
--   not run meanwhile.
-- means.zh: 内核发现某个处理器长时间无法调度，期间主机上的进程得不到运行。
-- remedy: Read the stack below the line; update the driver or kernel that it names, and watch the
--   host.
-- remedy.zh: 查看该行下方的堆栈，更新其所指的驱动或内核，并持续观察该主机。
-- see: https://docs.kernel.org/admin-guide/lockup-watchdogs.html
SELECT id AS event, NULL AS rank, host, 'likely' AS strength,
       coalesce('CPU ' || arg(args, 'cpu'), arg(args, 'why')) AS detail
FROM event WHERE family = 'SOFT_LOCKUP';
