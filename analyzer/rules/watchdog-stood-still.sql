-- id: watchdog-stood-still
-- code: gpu-stall
-- role: root
-- severity: warning
-- title: The watchdog thread of a rank stood still
-- title.zh: 某个 rank 的看门狗线程停止推进
-- means: The thread that looks for finished calls was itself blocked: in a CUDA or NCCL call, or
--   because another thread holds Python's interpreter lock inside one. If all ranks print it at
--   once, it says nothing about this one.
-- means.zh: 检查完成情况的线程自身被阻塞：卡在 CUDA 或 NCCL 调用中，或另一线程在此类调用中持有解
--   释器锁。若所有 rank 同时出现，则不能说明是这一个的问题。
-- remedy: Take a native stack of that process (py-spy dump --native --pid PID, or gdb) before it
--   is killed.
-- remedy.zh: 在进程被终止前获取其原生堆栈（py-spy dump --native --pid PID 或 gdb）。
-- see: https://pytorch.org/docs/stable/torch_nccl_environment_variables.html
SELECT id AS event, rank, host, 'lead' AS strength, arg(args, 'timeout_s') || ' s' AS detail
FROM event WHERE family IN ('HB_STUCK', 'HB_TIMEOUT', 'HB_OLD', 'HB_DISABLED');
