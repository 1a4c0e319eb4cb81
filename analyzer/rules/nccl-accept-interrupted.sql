-- id: nccl-accept-interrupted
-- code: known-bug
-- role: root
-- severity: error
-- product: nccl
-- from: 2.19.1
-- to: 2.26.6
-- title: NCCL takes an interrupted accept for a failure
-- title.zh: NCCL 将被信号中断的 accept 当作失败
-- means: A signal that reaches a thread of NCCL while it accepts a connection ends the creation
--   of the communicator, instead of being tried again. Profilers and timers that send signals
--   provoke it.
-- means.zh: NCCL 线程在 accept 时收到信号会直接导致通信子创建失败，而不会重试；发送信号的性能分析
--   器或定时器会触发该问题。
-- remedy: Upgrade NCCL to 2.27.3 or later; until then switch off what sends signals during start
--   (profilers, interval timers).
-- remedy.zh: 将 NCCL 升级到 2.27.3 或更高版本；在此之前，启动阶段关闭会发送信号的工具（性能分析器
--   、间隔定时器）。
-- see: https://github.com/NVIDIA/nccl/issues/1757
SELECT id AS event, rank, host, 'sure' AS strength
FROM event
WHERE family IN ('nccl_warn', 'syscall', 'proxy_fail', 'sock_connect', 'sock_retry', 'sock_fail')
      AND line_text(source, line) LIKE '%accept%Interrupted system call%';
