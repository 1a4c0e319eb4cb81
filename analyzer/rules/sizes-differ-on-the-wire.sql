-- id: sizes-differ-on-the-wire
-- code: size-mismatch
-- role: root
-- severity: error
-- title: A peer sends another size than this rank expects
-- title.zh: 对端发送的大小与本 rank 预期不符
-- means: Both sides are in a transfer that should be the same call, and the sizes do not fit:
--   their calls or sizes differ, or NCCL_PROTO or NCCL_ALGO is not equal on all ranks.
-- means.zh: 双方处于本应相同的调用中，但大小不符：调用或大小不同，或各 rank 的 NCCL_PROTO、
--   NCCL_ALGO 设置不一致。
-- remedy: Run with TORCH_DISTRIBUTED_DEBUG=DETAIL to see both calls; compare NCCL settings of the
--   ranks.
-- remedy.zh: 用 TORCH_DISTRIBUTED_DEBUG=DETAIL 运行以查看双方的调用；比较各 rank 的 NCCL 设置。
-- see: https://pytorch.org/docs/stable/distributed.html#torch-distributed-debug
SELECT id AS event, NULL AS rank, NULL AS host,
       CASE WHEN family = 'ib_mismatch' THEN 'sure' ELSE 'likely' END AS strength,
       -- The sizes may stand on the next line of a wrapped log.
       ltrim(ifnull(arg(args, 'size') || ' instead of ' || arg(args, 'expected_size'), '')
             || ifnull(', peer ' || arg(args, 'peer'), ''), ', ') AS detail
FROM event WHERE family IN ('ib_mismatch', 'sock_truncated');
