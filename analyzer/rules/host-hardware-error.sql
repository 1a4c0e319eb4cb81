-- id: host-hardware-error
-- code: -
-- cause: host-blocked
-- role: root
-- severity: warning
-- title: The host's own memory or processor reports an error
-- title.zh: 主机内存或处理器报告错误
-- means: An uncorrected error of memory, processor or bus. It can end or slow down processes of
--   this host.
-- means.zh: 内存、处理器或总线出现未纠正错误，可能导致该主机上的进程结束或变慢。
-- remedy: Drain the host and have the module that the line names replaced.
-- remedy.zh: 停用该主机并更换该行所指的部件。
-- see: https://docs.kernel.org/admin-guide/ras.html
SELECT id AS event, NULL AS rank, host, 'lead' AS strength, arg(args, 'why') AS detail
FROM event
WHERE family = 'MCE'
      AND (arg(args, 'severity') = 'UE' OR arg(args, 'why') LIKE '%Uncorrected%'
           OR arg(args, 'why') LIKE '%Machine Check%');
