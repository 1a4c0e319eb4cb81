-- id: mixed-gpu-direct
-- code: -
-- role: confirmation
-- severity: warning
-- title: GPU Direct RDMA is on for some hosts only
-- title.zh: 只有部分主机启用了 GPU Direct RDMA
-- means: The hosts without it copy through their memory: slower, and a sign that a module or the
--   topology differs there.
-- means.zh: 未启用的主机需经主机内存中转：更慢，也说明其内核模块或拓扑不同。
-- remedy: lsmod | grep nvidia_peermem on those hosts; compare nvidia-smi topo -m.
-- remedy.zh: 在这些主机上执行 lsmod | grep nvidia_peermem；比较 nvidia-smi topo -m。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-net-gdr-level
SELECT event, fact, rank, host, 'lead' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name = 'gpu-direct';
