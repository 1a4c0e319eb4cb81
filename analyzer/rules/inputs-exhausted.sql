-- id: inputs-exhausted
-- code: rank-missing
-- cause: uneven-steps
-- role: root
-- severity: error
-- title: A rank ran out of data before the others
-- title.zh: 某个 rank 的数据先于其他 rank 用完
-- means: DDP's join noticed that a rank has no more input while others go on.
-- means.zh: DDP 的 join 机制发现某个 rank 已没有输入，而其他 rank 仍在继续。
-- remedy: Give all ranks the same number of batches (drop_last, DistributedSampler), or use the
--   join context without throwing.
-- remedy.zh: 让所有 rank 的批次数相同（drop_last、DistributedSampler），或使用不抛异常的 join 上
--   下文。
-- see: https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength, NULL AS detail
FROM event WHERE family = 'DDP_EXHAUSTED';
