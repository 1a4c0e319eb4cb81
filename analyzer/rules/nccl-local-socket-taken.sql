-- id: nccl-local-socket-taken
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.20.3
-- to: 2.20.4
-- title: NCCL binds a local socket of a name that it has in use
-- title.zh: NCCL 重复绑定已在使用的本地套接字名称
-- means: NCCL 2.20.3 and 2.20.4 give two communicators of a process the same name of a local
--   socket, so that creating the second fails. Jobs with several groups (FSDP, tensor parallel)
--   meet it.
-- means.zh: NCCL 2.20.3 与 2.20.4 会为同一进程的两个通信子使用相同的本地套接字名，创建第二个时失
--   败；使用多个通信组的作业（FSDP、张量并行）会遇到。
-- remedy: Upgrade NCCL to 2.20.5 or later.
-- remedy.zh: 将 NCCL 升级到 2.20.5 或更高版本。
-- see: https://github.com/NVIDIA/nccl/issues/1185
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'path') AS detail
FROM event
WHERE family IN ('uds_fail', 'PORT_IN_USE')
      AND line_text(source, line) LIKE '%UDS: Binding to socket%Address already in use%';
