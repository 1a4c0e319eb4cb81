-- id: rank-came-twice
-- code: misconfigured
-- cause: invalid-rank
-- role: root
-- severity: error
-- title: Two processes came as the same rank
-- title.zh: 两个进程使用了同一个 rank
-- means: While a communicator was made, a rank checked in a second time, or the processes
--   disagree about how many they are.
-- means.zh: 创建通信子时，同一个 rank 重复登记，或各进程对总数的认识不一致。
-- remedy: Compare RANK and WORLD_SIZE of all processes. If the id of the communicator is handed
--   over by a file or a fixed address, see that no old one is used.
-- remedy.zh: 比较所有进程的 RANK 与 WORLD_SIZE；若通过文件或固定地址传递通信子 ID，请确认未使用旧
--   的。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/communicators.html
SELECT id AS event, CAST(arg(args, 'rank') AS INTEGER) AS rank, NULL AS host, 'sure' AS strength,
       coalesce('rank ' || arg(args, 'rank') || ' of ' || arg(args, 'nranks'), arg(args, 'what'),
                'local id ' || arg(args, 'local_id')) AS detail
FROM event WHERE family = 'boot_dup';
