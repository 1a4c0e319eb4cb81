-- id: torch-counters-unset
-- code: -
-- role: confirmation
-- severity: note
-- product: torch
-- from: 2.3.0
-- to: 2.3.1
-- title: The counters of this line were never set
-- title.zh: 该行的计数器从未被赋值
-- means: PyTorch 2.3 prints what happened to be in memory as the last enqueued and completed work
--   of a group in which no work has been done yet. The numbers mean nothing.
-- means.zh: 对尚无任何操作的通信组，PyTorch 2.3 会把内存中的随机值当作最近入队与完成的操作编号打
--   印；这些数字没有意义。
-- remedy: Ignore these numbers; upgrade PyTorch to 2.4 or later.
-- remedy.zh: 忽略这些数字；将 PyTorch 升级到 2.4 或更高版本。
-- see: https://github.com/pytorch/pytorch/pull/127468
SELECT id AS event, rank, host,
       'enqueued ' || arg(args, 'enqueued') || ', completed ' || arg(args, 'completed') AS detail
FROM event
WHERE family IN ('WD_STATUS', 'DUMP_FIRST', 'DUMP_OBSERVED', 'DUMP_RECV')
      AND (CAST(arg(args, 'enqueued') AS INTEGER) > 1099511627776
           OR CAST(arg(args, 'completed') AS INTEGER) > 1099511627776);
