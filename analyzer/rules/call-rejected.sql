-- id: call-rejected
-- code: misconfigured
-- role: root
-- severity: error
-- title: NCCL rejected a call
-- title.zh: NCCL 拒绝了一次调用
-- means: An argument of the call cannot be: a root that is no rank, a buffer of another device, a
--   type that no algorithm handles, or settings that leave no algorithm.
-- means.zh: 调用参数不合法：root 不是有效 rank、缓冲属于其他设备、没有算法支持该类型，或设置排除
--   了所有算法。
-- remedy: Fix the call that the line names; remove NCCL_ALGO and NCCL_PROTO if they are set.
-- remedy.zh: 修正该行所指的调用；若设置了 NCCL_ALGO、NCCL_PROTO 则将其删除。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/colls.html
SELECT id AS event, rank, host, 'sure' AS strength,
       arg(args, 'op') || coalesce(', ' || arg(args, 'what'), ', ' || arg(args, 'datatype'), '') AS detail
FROM event WHERE family IN ('arg_root', 'arg_pointer', 'no_algo', 'sym_mismatch');
