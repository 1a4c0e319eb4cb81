-- id: call-without-stack
-- code: -
-- role: confirmation
-- severity: note
-- title: The recorder was off: no stack of the failed call
-- title.zh: 记录器已关闭：没有失败调用的堆栈
-- means: With the flight recorder on, PyTorch prints where the failed collective was called from,
--   and leaves dumps.
-- means.zh: 若开启飞行记录器，PyTorch 会打印失败的集合通信的调用位置，并留下转储。
-- remedy: Set TORCH_FR_BUFFER_SIZE=2000 (TORCH_NCCL_TRACE_BUFFER_SIZE before PyTorch 2.7) and
--   TORCH_NCCL_DUMP_ON_TIMEOUT=1.
-- remedy.zh: 设置 TORCH_FR_BUFFER_SIZE=2000（PyTorch 2.7 之前为 TORCH_NCCL_TRACE_BUFFER_SIZE）与
--   TORCH_NCCL_DUMP_ON_TIMEOUT=1。
-- see: https://pytorch.org/tutorials/unstable/flight_recorder_tutorial.html
SELECT id AS event, rank, host, 'lead' AS strength, NULL AS detail
FROM event WHERE family = 'STACK_HDR' AND arg(args, 'absent') IS NOT NULL;
