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
SELECT id AS event, NULL AS rank, NULL AS host, 'likely' AS strength,
       'rank ' || arg(args, 'pg_rank') || ': ' || arg(args, 'params') || ', rank ' || arg(args, 'other_pg_rank') || ': '
       || arg(args, 'other_params') AS detail
FROM event WHERE family = 'DDP_PARAMS' AND CAST(arg(args, 'other_params') AS INTEGER) > 0
UNION ALL
SELECT id, NULL, NULL, 'sure',
       'rank ' || arg(args, 'pg_rank') || ', params[' || arg(args, 'param') || '] ' || arg(args, 'shape')
FROM event WHERE family = 'DDP_SHAPE';
