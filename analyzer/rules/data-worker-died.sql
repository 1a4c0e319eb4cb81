-- id: data-worker-died
-- code: rank-died
-- role: root
-- severity: error
-- title: A process that loads data for a rank ended
-- title.zh: 某个 rank 的数据加载进程退出
-- means: A worker of the rank's DataLoader was killed or ended, which raises on that rank. Killed
--   is mostly host memory; a segmentation fault is a bug of the code that reads data.
-- means.zh: 该 rank 的 DataLoader 工作进程被杀或退出，并在该 rank 上抛出异常。被 Killed 多为主机
--   内存不足；段错误是读数据的代码有缺陷。
-- remedy: Run with num_workers=0 to see the error itself. For Killed see dmesg and lower
--   num_workers or prefetch_factor.
-- remedy.zh: 用 num_workers=0 复现以看到真正的错误；若为 Killed，请查看 dmesg，并减少 num_workers
--   或 prefetch_factor。
-- see: https://pytorch.org/docs/stable/data.html
SELECT id AS event, rank, host,
       CASE WHEN arg(args, 'signal') = 'Killed' THEN 'host-out-of-memory'
            WHEN arg(args, 'signal') IS NOT NULL THEN 'killed-by-signal' ELSE 'uncaught-exception' END AS cause,
       CASE WHEN arg(args, 'signal') IS NULL THEN 'likely' ELSE 'sure' END AS strength,
       ifnull(arg(args, 'signal'), 'pid ' || arg(args, 'pids')) AS detail
FROM event
WHERE family IN ('DL_WORKER', 'DL_BUS') AND lower(ifnull(arg(args, 'signal'), '')) NOT LIKE 'bus error%'
      AND ifnull(arg(args, 'signal'), '') <> 'Terminated';
