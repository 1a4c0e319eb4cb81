-- id: device-assert
-- code: rank-died
-- cause: uncaught-exception
-- role: root
-- severity: error
-- title: The program's data broke a check on the GPU
-- title.zh: 程序数据触发了 GPU 端断言
-- means: A device-side assertion failed, often an index out of bounds. From then on every CUDA
--   call of this process fails, NCCL's and the watchdog's included; the hardware is not at fault.
-- means.zh: GPU 端断言失败，多为下标越界。此后该进程的所有 CUDA 调用都会失败（包括 NCCL 与看门狗
--   ）；硬件没有问题。
-- remedy: Run once with CUDA_LAUNCH_BLOCKING=1 to see the call that is to blame, and check
--   indices and labels of that batch.
-- remedy.zh: 用 CUDA_LAUNCH_BLOCKING=1 运行一次以定位真正的调用，并检查该批数据的下标与标签。
-- see: https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#assertion
SELECT id AS event, rank, host, arg(args, 'message') AS detail FROM event WHERE family = 'CUDA_ASSERT'
UNION ALL
SELECT event, rank, host, NULL FROM cuda_error WHERE kind = 'assert';
