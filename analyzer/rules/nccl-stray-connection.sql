-- id: nccl-stray-connection
-- code: known-bug
-- role: root
-- severity: warning
-- product: nccl
-- from: 2.23.4
-- to: 2.26.6
-- title: A stranger's connection may have ended the start of NCCL
-- title.zh: 外来连接可能中断了 NCCL 的启动
-- means: These versions give up when somebody connects to a port of NCCL during the start and
--   closes without a word, as port scanners do.
-- means.zh: 在启动阶段，若有程序（如端口扫描器）连接 NCCL 端口后不发送数据即关闭，这些版本会直接
--   放弃。
-- remedy: Upgrade NCCL to 2.27.3 or later, or keep port scanners off the hosts. If a rank ended
--   at that time, that is the reason instead.
-- remedy.zh: 将 NCCL 升级到 2.27.3 或更高版本，或避免对这些主机做端口扫描。若当时有 rank 退出，则
--   应以其为原因。
-- see: https://github.com/NVIDIA/nccl/issues/1612
SELECT e.id AS event, e.rank, e.host, 'lead' AS strength, arg(e.args, 'peer') AS detail
FROM event e
WHERE e.family = 'sock_closed' AND arg(e.args, 'local_rank') IS NULL
      AND EXISTS (SELECT 1 FROM event b
                  WHERE b.family = 'backtrace' AND b.source = e.source AND b.line BETWEEN e.line AND e.line + 20
                        AND b.speaker IS e.speaker AND arg(b.args, 'file') LIKE '%bootstrap.cc');
