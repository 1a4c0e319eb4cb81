-- id: mixed-networks
-- code: misconfigured
-- role: root
-- severity: error
-- title: Hosts of the job use different networks
-- title.zh: 作业的主机使用了不同的网络
-- means: Some processes use InfiniBand and others sockets, or another plugin's network. They
--   cannot connect to each other.
-- means.zh: 部分进程使用 InfiniBand，另一些使用套接字或其他插件的网络，彼此无法连接。
-- remedy: On the hosts that differ check the cards, libibverbs in the container and
--   NCCL_IB_DISABLE; or set NCCL_NET for all.
-- remedy.zh: 检查与众不同的主机的网卡、容器内的 libibverbs 与 NCCL_IB_DISABLE；或为所有进程设置
--   NCCL_NET。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-net
SELECT event, fact, rank, host, 'likely' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name = 'network';
