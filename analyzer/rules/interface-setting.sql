-- id: interface-setting
-- code: misconfigured
-- cause: wrong-interface
-- role: confirmation
-- severity: note
-- title: This host was told which interface to use
-- title.zh: 该主机被指定了要使用的接口
-- means: Another line of the job says that an interface or address is missing; this is the
--   setting it can come from.
-- means.zh: 作业中另有一行表明缺少接口或地址；可能就来自这个设置。
-- remedy: See whether that interface exists on this host.
-- remedy.zh: 检查该接口是否存在于该主机上。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT f.id AS fact, f.rank, f.host, 'likely' AS strength, f.name || '=' || f.value AS detail
FROM fact f
WHERE f.name IN ('NCCL_SOCKET_IFNAME', 'GLOO_SOCKET_IFNAME')
      AND EXISTS (SELECT 1 FROM event WHERE family IN ('no_iface', 'sock_family'));
