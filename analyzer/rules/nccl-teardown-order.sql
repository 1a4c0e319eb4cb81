-- id: nccl-teardown-order
-- code: known-bug
-- role: root
-- severity: warning
-- product: nccl
-- from: 2.23.4
-- to: 2.23.4
-- title: Groups that are destroyed in different orders hang
-- title.zh: 各 rank 以不同顺序销毁通信组会挂起
-- means: NCCL 2.23.4 waits for its peers when it destroys a communicator. Ranks that destroy
--   their groups in different orders then wait for each other, where other versions did not.
-- means.zh: NCCL 2.23.4 在销毁通信子时会等待对端；若各 rank 销毁通信组的顺序不同，就会相互等待，
--   而其他版本不会。
-- remedy: Destroy process groups in the same order on all ranks, or use another version of NCCL.
-- remedy.zh: 在所有 rank 上以相同顺序销毁进程组，或使用其他版本的 NCCL。
-- see: https://github.com/NVIDIA/Fuser/issues/3055
SELECT id AS event, rank, host, 'likely' AS strength, arg(args, 'what') AS detail
FROM event
WHERE family = 'DUMP_FUTURE' AND arg(args, 'what') LIKE '%shutdown%'
UNION ALL
SELECT e.id, e.rank, e.host, 'likely', 'watchdog stuck for ' || arg(e.args, 'timeout_s') || ' s'
FROM event e
WHERE e.family = 'HB_STUCK'
      AND EXISTS (SELECT 1 FROM event g WHERE g.family = 'GTEST_END' AND g.source = e.source AND g.line < e.line);
