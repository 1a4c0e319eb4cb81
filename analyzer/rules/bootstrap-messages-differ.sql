-- id: bootstrap-messages-differ
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: warning
-- title: Ranks exchange messages of different sizes at the start
-- title.zh: 启动阶段各 rank 交换的消息长度不同
-- means: What a rank received is not what its NCCL sends: the versions differ, or something else
--   talks to that port.
-- means.zh: 收到的内容与本版本 NCCL 的格式不符：版本不同，或有其他程序连接了该端口。
-- remedy: Compare the NCCL version of all ranks; keep port scanners away from the nodes.
-- remedy.zh: 比较所有 rank 的 NCCL 版本；避免端口扫描访问这些节点。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength,
       arg(args, 'size') || ' instead of ' || arg(args, 'expected_size') AS detail
FROM event WHERE family = 'boot_truncated';
