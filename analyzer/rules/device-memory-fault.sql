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
SELECT c.event, c.rank, c.host,
       -- NCCL's own calls fail so when a transfer had failed before them.
       CASE WHEN e.family = 'cuda_fail'
                 AND EXISTS (SELECT 1 FROM event n
                             WHERE n.source = e.source AND n.line < e.line AND n.family = 'ib_completion')
            THEN 'cascade' ELSE 'root' END AS role,
       c.why AS detail
FROM cuda_error c JOIN event e ON e.id = c.event WHERE c.kind = 'access'
UNION ALL
SELECT id, rank, host, 'root', 'node-' || arg(args, 'gpu_node') || ': ' || arg(args, 'why') FROM event
WHERE family = 'HW_EXCEPTION' AND arg(args, 'what') = 'Memory access fault';
