-- id: network-not-there
-- code: misconfigured
-- role: root
-- severity: error
-- title: The network that NCCL was told to use is not there
-- title.zh: NCCL 被要求使用的网络不存在
-- means: No plugin or transport of that name could be started on this host: the setting names one
--   that is not installed, or its library was not found.
-- means.zh: 该主机上无法启动此名称的网络插件或传输：设置所指的插件未安装，或找不到其库文件。
-- remedy: Remove NCCL_NET and NCCL_NET_PLUGIN to let NCCL choose, or install the plugin and add
--   its folder to LD_LIBRARY_PATH on every host.
-- remedy.zh: 删除 NCCL_NET 与 NCCL_NET_PLUGIN 让 NCCL 自行选择，或在每台主机安装该插件并将其目录
--   加入 LD_LIBRARY_PATH。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-net
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'net') AS detail FROM event WHERE family = 'net_missing'
UNION ALL
-- libfabric has nothing for the plugin; where NCCL goes on with another network that is no failure.
SELECT id, rank, host,
       CASE WHEN source IN (SELECT source FROM fact WHERE name = 'using_network.net') THEN 'lead' ELSE 'likely' END,
       coalesce(arg(args, 'text'), arg(args, 'message'))
FROM event e
WHERE family IN ('net_ofi', 'OFI_ERR')
      AND coalesce(arg(args, 'text'), arg(args, 'message')) LIKE '%find any optimal provider%'
      AND NOT EXISTS (SELECT 1 FROM event o
                      WHERE o.source = e.source AND o.line = e.line AND o.family = 'net_ofi' AND o.id <> e.id);
