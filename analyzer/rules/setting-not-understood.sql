-- id: setting-not-understood
-- code: -
-- role: confirmation
-- severity: warning
-- title: NCCL could not read a setting
-- title.zh: NCCL 无法识别某个设置的值
-- means: The value is no number; NCCL goes on with its default.
-- means.zh: 该值不是数字，NCCL 使用默认值继续。
-- remedy: Correct the value.
-- remedy.zh: 更正该值。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
SELECT id AS event, rank, host, 'sure' AS strength, arg(args, 'name') || '=' || arg(args, 'value') AS detail
FROM event WHERE family = 'env_invalid';
