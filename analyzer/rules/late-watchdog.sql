-- id: late-watchdog
-- code: -
-- role: confirmation
-- severity: warning
-- title: A timeout was noticed much too late
-- title.zh: 超时被发现得太晚
-- means: The call ran several times longer than its timeout before the watchdog said so: that
--   thread was itself blocked, so the order of reports tells nothing about who came late.
-- means.zh: 看门狗在数倍于超时的时间后才报告：该线程自身曾被阻塞，因此报告的先后不能说明谁迟到。
-- remedy: Look for what blocked the process: a CUDA call, the interpreter lock, storage.
-- remedy.zh: 查找是什么阻塞了该进程：CUDA 调用、解释器锁或存储。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT id AS event, rank, host, 'lead' AS strength,
       arg(args, 'elapsed_ms') || ' ms of ' || arg(args, 'timeout_ms') || ' ms' AS detail
FROM event
WHERE family = 'WD_TIMEOUT' AND CAST(arg(args, 'timeout_ms') AS INTEGER) >= 10000
      AND CAST(arg(args, 'elapsed_ms') AS INTEGER) >= 2 * CAST(arg(args, 'timeout_ms') AS INTEGER)
      AND CAST(arg(args, 'elapsed_ms') AS INTEGER) < 500 * CAST(arg(args, 'timeout_ms') AS INTEGER);
