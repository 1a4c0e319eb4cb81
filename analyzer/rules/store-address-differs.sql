-- id: store-address-differs
-- code: misconfigured
-- cause: wrong-address
-- role: root
-- severity: error
-- title: A rank looks for the store at another port than the others
-- title.zh: 某个 rank 连接存储服务的端口与其他 rank 不同
-- means: This rank waited in vain for an answer at a port where no other rank has its store. The
--   others had found theirs.
-- means.zh: 该 rank 在一个端口上一直得不到回应，而其他 rank 都已连接到另一个端口上的存储服务。
-- remedy: Compare MASTER_ADDR and MASTER_PORT (or --rdzv-endpoint) of all processes.
-- remedy.zh: 比较所有进程的 MASTER_ADDR 与 MASTER_PORT（或 --rdzv-endpoint）。
-- see: https://pytorch.org/docs/stable/distributed.html#environment-variable-initialization
WITH found AS (
  SELECT DISTINCT rank, arg(args, 'port') AS port FROM event WHERE family = 'STORE_IO' AND rank IS NOT NULL
)
SELECT e.id AS event, e.rank, e.host, 'likely' AS strength, arg(e.args, 'host') || ':' || arg(e.args, 'port') AS detail
FROM event e
WHERE e.family IN ('SOCK_CONNECT', 'TCP_RETRY') AND e.rank IS NOT NULL AND arg(e.args, 'port') IS NOT NULL
      AND arg(e.args, 'what') LIKE 'timed out%' AND ifnull(arg(e.args, 'who'), 'client') = 'client'
      AND EXISTS (SELECT 1 FROM found)
      AND e.rank NOT IN (SELECT rank FROM found)
      AND arg(e.args, 'port') NOT IN (SELECT port FROM found WHERE port IS NOT NULL);
