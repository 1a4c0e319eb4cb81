-- id: mixed-net-plugins
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: error
-- title: Some hosts load a network plugin and others do not
-- title.zh: 部分主机加载了网络插件而其他主机没有
-- means: The transports of a plugin and of NCCL itself, or of two versions of a plugin, do not
--   understand each other. The job hangs or fails when they connect.
-- means.zh: 插件与 NCCL 内置传输（或插件的不同版本）互不兼容，建立连接时会挂起或失败。
-- remedy: Install the plugin in the same place on all hosts and check LD_LIBRARY_PATH, or set
--   NCCL_NET_PLUGIN=none everywhere.
-- remedy.zh: 在所有主机的相同位置安装插件并检查 LD_LIBRARY_PATH，或在所有位置设置
--   NCCL_NET_PLUGIN=none。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-net-plugin
SELECT event, fact, rank, host, 'likely' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name IN ('net-plugin', 'ofi-plugin');
