-- id: communicator-address-invalid
-- code: misconfigured
-- cause: wrong-address
-- role: root
-- severity: error
-- title: NCCL_COMM_ID is no address
-- title.zh: NCCL_COMM_ID 不是有效地址
-- means: NCCL_COMM_ID names where the ranks meet. It has to be an address with a port, or a host
--   name that can be resolved with a port.
-- means.zh: NCCL_COMM_ID 指定各 rank 汇合的位置，必须是带端口的地址，或带端口且可解析的主机名。
-- remedy: Unset NCCL_COMM_ID, or write it as ADDRESS:PORT with the address of rank 0's host.
-- remedy.zh: 取消设置 NCCL_COMM_ID，或写成 地址:端口，地址为 rank 0 所在主机。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-comm-id
SELECT id AS event, NULL AS rank, host, 'sure' AS strength,
       (SELECT 'NCCL_COMM_ID=' || f.value FROM fact f
        WHERE f.name = 'NCCL_COMM_ID' AND f.speaker = e.speaker LIMIT 1) AS detail
FROM event e WHERE family = 'bad_comm_id';
