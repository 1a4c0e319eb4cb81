-- id: benchmark-without-rows
-- code: -
-- role: confirmation
-- severity: warning
-- title: A benchmark printed the head of its table and no row
-- title.zh: 基准测试只打印了表头，没有任何结果行
-- means: The communicators were made, and the first size was never finished: the first transfer
--   hangs or failed. If the log was copied while it ran, it says nothing.
-- means.zh: 通信器已建立，但第一个大小始终没有完成：首次传输挂起或失败。若日志是在运行中复制的，则不
--   说明任何问题。
-- remedy: Run it with NCCL_DEBUG=INFO, on one GPU pair after the other; NCCL_P2P_DISABLE=1 and
--   NCCL_IB_DISABLE=1 tell which transport it is.
-- remedy.zh: 以 NCCL_DEBUG=INFO 逐对 GPU 运行；NCCL_P2P_DISABLE=1 与 NCCL_IB_DISABLE=1 可判断是哪种
--   传输。
-- see: https://github.com/NVIDIA/nccl-tests
SELECT id AS event, rank, host, 'lead' AS strength, NULL AS detail
FROM event e
WHERE family = 'NCCLT_COLUMNS'
      AND NOT EXISTS (SELECT 1 FROM event r
                      WHERE r.family IN ('NCCLT_ROW', 'NCCLT_END') AND r.source = e.source AND r.last_line > e.line);
