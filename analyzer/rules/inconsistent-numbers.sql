-- id: inconsistent-numbers
-- code: -
-- role: confirmation
-- severity: warning
-- title: The numbers of a line contradict each other
-- title.zh: 同一行中的数字互相矛盾
-- means: The call ran hundreds of times longer than its timeout allows. Such a line has been
--   typed again or cut; nothing may be concluded from its numbers.
-- means.zh: 调用的运行时间是超时的数百倍；这样的行多半经过改写或截断，其中的数字不可用作依据。
-- remedy: Get the original log.
-- remedy.zh: 获取原始日志。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT id AS event, rank, host, 'sure' AS strength,
       arg(args, 'elapsed_ms') || ' ms of ' || arg(args, 'timeout_ms') || ' ms' AS detail
FROM event
WHERE family = 'WD_TIMEOUT' AND CAST(arg(args, 'timeout_ms') AS INTEGER) > 0
      AND CAST(arg(args, 'elapsed_ms') AS INTEGER) >= 500 * CAST(arg(args, 'timeout_ms') AS INTEGER);
