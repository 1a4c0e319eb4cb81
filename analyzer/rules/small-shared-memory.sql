-- id: small-shared-memory
-- code: -
-- cause: small-shm
-- role: confirmation
-- severity: note
-- title: There is little shared memory here
-- title.zh: 此处共享内存很小
-- means: /dev/shm has the 64 MB that containers get by default. Data workers and NCCL inside one
--   host need more.
-- means.zh: /dev/shm 只有容器默认的 64 MB；数据加载进程与单机 NCCL 通常需要更多。
-- remedy: Start the container with --shm-size=8g or --ipc=host.
-- remedy.zh: 使用 --shm-size=8g 或 --ipc=host 启动容器。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
SELECT id AS fact, NULL AS rank, host, 'lead' AS strength, value AS detail
FROM fact WHERE name = 'DF_SHM.size' AND value IN ('64M', '65536', '64.0M', '64MB');
