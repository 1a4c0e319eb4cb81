-- id: mixed-interfaces
-- code: -
-- cause: wrong-interface
-- role: confirmation
-- severity: note
-- title: Hosts use interfaces of different names
-- title.zh: 各主机使用的接口名称不同
-- means: It may be right, if the hosts are built differently. It is also how one host ends up in
--   another network.
-- means.zh: 若主机硬件不同，这可能是正常的；但也可能意味着某台主机进入了另一个网络。
-- remedy: See that the addresses behind them lie in one network.
-- remedy.zh: 确认这些接口的地址处于同一网络。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
SELECT event, fact, rank, host, 'lead' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name = 'interface';
