-- id: nccl-abort-stuck
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.25.1
-- to: 2.25.1
-- title: NCCL does not come back from an abort
-- title.zh: NCCL 的中止操作不返回
-- means: ncclCommAbort of NCCL 2.25.1 can wait for ever. A rank that wanted to give up stays,
--   with its GPU in use; what made it give up is another matter.
-- means.zh: NCCL 2.25.1 的 ncclCommAbort 可能永久等待；想要放弃的 rank 会停住并占用 GPU，而导致其
--   放弃的原因则另当别论。
-- remedy: Upgrade NCCL to 2.26.2 or later, and look for what happened before the abort.
-- remedy.zh: 将 NCCL 升级到 2.26.2 或更高版本，并查找中止之前发生的问题。
-- see: https://github.com/pytorch/pytorch/issues/149153
SELECT id AS event, rank, host, 'likely' AS strength, arg(args, 'what') AS detail
FROM event
WHERE family = 'DUMP_FUTURE' AND arg(args, 'what') LIKE '%abort%';
