-- id: barrier-not-full
-- code: init-stuck
-- role: root
-- severity: warning
-- title: A rank waits at the first barrier for others
-- title.zh: 某个 rank 在首个屏障处等待其他 rank
-- means: The barrier of a new group tells every few seconds how many have come. The log shows
--   neither that all came nor that the time is over, so that the others may just be late.
-- means.zh: 新建组的屏障每隔数秒报告已到达的进程数。日志既没有显示全部到齐，也没有显示超时，因此其他进
--   程也可能只是较晚。
-- remedy: Look which ranks printed nothing of this barrier, and read what they do instead (py-spy
--   dump); start all nodes with the same address, port and world size.
-- remedy.zh: 查看哪些 rank 没有打印该屏障的信息，以及它们在做什么（py-spy dump）；所有节点应使用相同的
--   地址、端口与 world size 启动。
-- see: https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
SELECT id AS event, NULL AS rank, NULL AS host, 'lead' AS strength,
       'rank ' || arg(args, 'rank') || ': ' || arg(args, 'joined') || ' of ' || arg(args, 'world_size') AS detail
FROM event
WHERE family = 'STORE_BARRIER_WAIT'
      AND CAST(arg(args, 'joined') AS INTEGER) < CAST(arg(args, 'world_size') AS INTEGER)
      -- Its last word of this barrier, which nobody says is over.
      AND (source, ifnull(arg(args, 'rank'), ''), ifnull(arg(args, 'key'), ''), line)
          IN (SELECT source, ifnull(arg(args, 'rank'), '') AS rank, ifnull(arg(args, 'key'), '') AS key, max(line)
              FROM event WHERE family = 'STORE_BARRIER_WAIT' GROUP BY source, 2, 3)
      AND ifnull(arg(args, 'key'), '')
          NOT IN (SELECT arg(args, 'key') FROM event
                  WHERE (family = 'STORE_BARRIER' OR family = 'STORE_BARRIER_DONE' AND arg(args, 'done') IS NOT NULL)
                        AND arg(args, 'key') IS NOT NULL);
