-- id: multinode-nvlink-failed
-- code: peer-access-fault
-- role: root
-- severity: error
-- title: NVLink between nodes does not work
-- title.zh: 跨节点 NVLink 不可用
-- means: The GPUs of several nodes form one NVLink domain, but the IMEX service or its channels
--   are not there.
-- means.zh: 多个节点的 GPU 属于同一 NVLink 域，但 IMEX 服务或其通道不可用。
-- remedy: Check nvidia-imex-ctl -N and /dev/nvidia-caps-imex-channels on all nodes, in the
--   container too. NCCL_MNNVL_ENABLE=0 does without.
-- remedy.zh: 在所有节点（包括容器内）检查 nvidia-imex-ctl -N 与 /dev/nvidia-caps-imex-channels；
--   NCCL_MNNVL_ENABLE=0 可绕过。
-- see: https://docs.nvidia.com/multi-node-nvlink-systems/imex-guide/
SELECT id AS event, rank, host, 'sure' AS strength, 'clique of ' || arg(args, 'clique_size') AS detail
FROM event WHERE family = 'mnnvl_fail';
