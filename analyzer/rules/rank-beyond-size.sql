-- id: rank-beyond-size
-- code: misconfigured
-- cause: invalid-rank
-- role: root
-- severity: error
-- title: A rank does not fit the number of ranks
-- title.zh: rank 与 rank 总数不符
-- means: A process was started as a rank that the group, as large as it was told, cannot have.
--   Usually the world size counts one node and the ranks count all.
-- means.zh: 进程的 rank 超出了它被告知的组大小；通常是 world size 只计算了一个节点，而 rank 计算
--   了所有节点。
-- remedy: Compare WORLD_SIZE, RANK, --nnodes and --nproc-per-node on every node: world size is
--   nodes times processes per node.
-- remedy.zh: 在每个节点上比较 WORLD_SIZE、RANK、--nnodes 与 --nproc-per-node：world size 应为节点
--   数乘以每节点进程数。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, CAST(arg(args, 'rank') AS INTEGER) AS rank, host, 'sure' AS strength,
       'rank ' || arg(args, 'rank') || ' of ' || arg(args, 'nranks') AS detail
FROM event WHERE family IN ('bad_rank', 'GLOO_RANK')
UNION ALL
-- A barrier of a group that only its members join gives the rank of the world and the size of the group.
SELECT id, CAST(arg(args, 'rank') AS INTEGER), host, CASE WHEN family = 'INIT_STEP' THEN 'sure' ELSE 'likely' END,
       'rank ' || arg(args, 'rank') || ' of ' || arg(args, 'world_size')
FROM event
WHERE family IN ('STORE_BARRIER', 'STORE_BARRIER_WAIT', 'INIT_STEP') AND arg(args, 'rank') IS NOT NULL
      AND CAST(arg(args, 'rank') AS INTEGER) >= CAST(arg(args, 'world_size') AS INTEGER);
