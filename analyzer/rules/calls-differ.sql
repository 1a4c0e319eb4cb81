-- id: calls-differ
-- code: order-mismatch
-- role: root
-- severity: error
-- title: Ranks make different calls
-- title.zh: 各 rank 的调用不一致
-- means: NCCL or FSDP compared what the ranks are about to do and found that they do not agree.
-- means.zh: NCCL 或 FSDP 比较了各 rank 将要执行的操作，发现不一致。
-- remedy: Look for code before this call that depends on the rank or on the data;
--   TORCH_DISTRIBUTED_DEBUG=DETAIL shows the first difference.
-- remedy.zh: 检查此调用之前依赖 rank 或数据的代码；TORCH_DISTRIBUTED_DEBUG=DETAIL 会给出第一处差
--   异。
-- see: https://pytorch.org/docs/stable/distributed.html#torch-distributed-debug
SELECT id AS event, NULL AS rank, NULL AS host, 'likely' AS strength, 'around rank ' || arg(args, 'rank') AS detail
FROM event WHERE family = 'coll_mismatch_24'
UNION ALL
SELECT id, NULL, NULL, 'sure',
       'rank ' || arg(args, 'rank') || ': ' || arg(args, 'params') || ', rank ' || arg(args, 'other_rank') || ': '
       || arg(args, 'other_params')
FROM event
-- Nobody gathers 0 parameters: parameter-count-lost.
WHERE family = 'FSDP_ORDER' AND arg(args, 'params') NOT LIKE '0 %' AND arg(args, 'other_params') NOT LIKE '0 %';
