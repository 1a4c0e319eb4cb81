-- id: mixed-settings
-- code: misconfigured
-- role: root
-- severity: warning
-- title: Processes of the job run with different settings
-- title.zh: 作业的进程设置不一致
-- means: A setting that has to be equal on all ranks (algorithm, protocol, transports, sizes,
--   timeouts) is not.
-- means.zh: 本应在所有 rank 上一致的设置（算法、协议、传输、大小、超时）并不一致。
-- remedy: Set it in one place for all: the job script, the image or /etc/nccl.conf of every host.
-- remedy.zh: 在一处统一设置：作业脚本、镜像，或每台主机的 /etc/nccl.conf。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
SELECT event, fact, rank, host, 'lead' AS strength, name || '=' || mine || '; elsewhere ' || others AS detail
FROM different
WHERE (name GLOB 'NCCL_*' OR name GLOB 'RCCL_*' OR name GLOB 'TORCH_NCCL_*' OR name GLOB 'FI_*')
      AND name NOT IN ('NCCL_HOSTID', 'NCCL_DEBUG_FILE', 'NCCL_TOPO_FILE', 'NCCL_TOPO_DUMP_FILE',
                       'NCCL_GRAPH_DUMP_FILE', 'NCCL_COMM_ID', 'NCCL_SOCKET_IFNAME', 'NCCL_IB_HCA',
                       'NCCL_DEBUG', 'NCCL_DEBUG_SUBSYS', 'TORCH_NCCL_DEBUG_INFO_TEMP_FILE', 'NCCL_CROSS_NIC');
