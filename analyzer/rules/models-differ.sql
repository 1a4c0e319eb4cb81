-- id: models-differ
-- code: size-mismatch
-- role: root
-- severity: error
-- title: Ranks have built different models
-- title.zh: 各 rank 构建的模型不同
-- means: DDP compares the parameters of all ranks before it starts, and they differ in number or
--   shape.
-- means.zh: DDP 启动前会比较所有 rank 的参数，发现数量或形状不同。
-- remedy: Build the model from the same configuration and seed on every rank; look for layers
--   that depend on the rank or on local data.
-- remedy.zh: 在所有 rank 上用相同的配置与随机种子构建模型；检查依赖 rank 或本地数据的层。
-- see: https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
WITH
-- What can be no count of parameters is for parameter-count-lost.
told AS (
  SELECT CAST(arg(args, 'pg_rank') AS INTEGER) AS rank, arg(args, 'params') AS params FROM event
  WHERE family = 'DDP_PARAMS' AND CAST(arg(args, 'other_params') AS INTEGER) BETWEEN 1 AND 1000000
  UNION
  SELECT CAST(arg(args, 'other_pg_rank') AS INTEGER), arg(args, 'other_params') FROM event
  WHERE family = 'DDP_PARAMS' AND CAST(arg(args, 'other_params') AS INTEGER) BETWEEN 1 AND 1000000
),
most AS (SELECT params FROM told GROUP BY params HAVING count(*) * 2 > (SELECT count(*) FROM told)),
unlike_zero AS (SELECT DISTINCT CAST(arg(args, 'pg_rank') AS INTEGER) AS rank FROM event WHERE family = 'DDP_SHAPE'),
world AS (
  SELECT coalesce((SELECT world_size FROM judged), (SELECT max(rank) + 1 FROM process), 0) AS size,
         (SELECT count(*) FROM unlike_zero) AS unlike
),
-- The few, against the many; places in another group than the default one name nobody.
odd AS (
  SELECT rank FROM told WHERE params NOT IN (SELECT params FROM most) AND EXISTS (SELECT 1 FROM most)
  UNION
  SELECT rank FROM unlike_zero WHERE (SELECT unlike * 2 < size FROM world)
  UNION
  SELECT 0 FROM world WHERE unlike * 2 > size AND size > 2
  EXCEPT
  SELECT CAST(arg(args, 'pg_rank') AS INTEGER) FROM event
  WHERE family IN ('DDP_PARAMS', 'DDP_SHAPE') AND rank <> CAST(arg(args, 'pg_rank') AS INTEGER)
)
SELECT e.id AS event, o.rank, NULL AS host, 'likely' AS strength,
       'rank ' || arg(args, 'pg_rank') || ': ' || arg(args, 'params') || ', rank ' || arg(args, 'other_pg_rank') || ': '
       || arg(args, 'other_params') AS detail
FROM event e LEFT JOIN odd o ON o.rank IN (CAST(arg(e.args, 'pg_rank') AS INTEGER),
                                           CAST(arg(e.args, 'other_pg_rank') AS INTEGER))
WHERE e.family = 'DDP_PARAMS' AND CAST(arg(e.args, 'other_params') AS INTEGER) BETWEEN 1 AND 1000000
UNION ALL
SELECT e.id, o.rank, NULL, CASE WHEN o.rank IS NULL THEN 'sure' ELSE 'likely' END,
       'rank ' || arg(args, 'pg_rank') || ', params[' || arg(args, 'param') || '] ' || arg(args, 'shape')
FROM event e LEFT JOIN odd o ON o.rank IN (0, CAST(arg(e.args, 'pg_rank') AS INTEGER))
WHERE e.family = 'DDP_SHAPE';
