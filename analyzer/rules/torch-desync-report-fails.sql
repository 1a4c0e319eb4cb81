-- id: torch-desync-report-fails
-- code: -
-- role: confirmation
-- severity: note
-- product: torch
-- from: 1.11.0
-- to: 2.1.2
-- title: PyTorch could not write its report of who is behind
-- title.zh: PyTorch 未能生成落后 rank 的报告
-- means: The desync report of these versions fails on an assertion when a rank has begun more
--   than one operation. It is a defect of the report, not the reason of the timeout.
-- means.zh: 当某个 rank 已开始多个操作时，这些版本的 desync 报告会断言失败；这是报告自身的缺陷，
--   而不是超时的原因。
-- remedy: Take the watchdog's own lines as evidence. Upgrade PyTorch to 2.2 or later, or use its
--   flight recorder.
-- remedy.zh: 以 watchdog 自身的日志行为依据；将 PyTorch 升级到 2.2 或更高版本，或使用其 flight
--   recorder。
-- see: https://github.com/pytorch/pytorch/issues/105287
SELECT id AS event, rank, host
FROM event
WHERE family IN ('DESYNC_FAIL', 'WD_TERMINATED') AND arg(args, 'why') LIKE '%kEventStart INTERNAL ASSERT FAILED%';
