-- id: launch-incomplete
-- code: misconfigured
-- role: root
-- severity: error
-- title: The launch did not say what a process needs to know
-- title.zh: 启动时缺少进程所需的信息
-- means: A variable that tells the rank, the size or the address of the first process is missing
--   or cannot be used.
-- means.zh: 缺少用于说明 rank、规模或首个进程地址的变量，或其值不可用。
-- remedy: Start with torchrun, or set MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE for every
--   process.
-- remedy.zh: 使用 torchrun 启动，或为每个进程设置 MASTER_ADDR、MASTER_PORT、RANK 与 WORLD_SIZE。
-- see: https://pytorch.org/docs/stable/distributed.html#environment-variable-initialization
SELECT id AS event, rank, host, 'sure' AS strength, ifnull(arg(args, 'name'), arg(args, 'why')) AS detail
FROM event WHERE family = 'INIT_ENV';
