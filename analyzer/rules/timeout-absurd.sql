-- id: timeout-absurd
-- code: misconfigured
-- cause: timeout-too-short
-- role: root
-- severity: error
-- title: The timeout is too short for any collective
-- title.zh: 超时设置短到任何集合通信都无法完成
-- means: The limit of this group is below a second. The wait proves nothing about any rank.
-- means.zh: 该通信组的超时不足一秒，这次等待不能说明任何 rank 有问题。
-- remedy: Give init_process_group or new_group a timeout of minutes; the argument is a timedelta,
--   not milliseconds.
-- remedy.zh: 在 init_process_group 或 new_group 中使用分钟级的超时；该参数是 timedelta，而不是毫
--   秒数。
-- see: https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
SELECT id AS event, NULL AS rank, NULL AS host, 'likely' AS strength, arg(args, 'timeout_ms') || ' ms' AS detail
FROM event
WHERE family IN ('WD_TIMEOUT', 'WAIT_TIMEOUT') AND CAST(arg(args, 'timeout_ms') AS INTEGER) BETWEEN 1 AND 999;
