-- id: device-memory-fault
-- code: rank-died
-- cause: uncaught-exception
-- role: root
-- severity: error
-- title: A kernel of this rank used memory that it must not use
-- title.zh: 该 rank 的 GPU 内核访问了非法内存
-- means: The GPU stopped a kernel of this process. It is reported at some later call, so the
--   stack may be wrong; the rank is right. Mostly a bug of a kernel, seldom the hardware.
-- means.zh: GPU 终止了该进程的一个内核。错误会在之后的某次调用才报告，因此堆栈可能不准，但 rank
--   是对的；多为内核代码缺陷，少数为硬件问题。
-- remedy: Run with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer. If it follows the host and not
--   the rank, look for Xid lines there.
-- remedy.zh: 用 CUDA_LAUNCH_BLOCKING=1 或 compute-sanitizer 运行；若错误跟随主机而不是 rank，请检
--   查该主机的 Xid。
-- see: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html
SELECT event, rank, host, why AS detail FROM cuda_error WHERE kind = 'access'
UNION ALL
SELECT id, rank, host, 'node-' || arg(args, 'gpu_node') || ': ' || arg(args, 'why') FROM event
WHERE family = 'HW_EXCEPTION' AND arg(args, 'what') = 'Memory access fault';
