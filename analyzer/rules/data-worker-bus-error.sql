-- id: data-worker-bus-error
-- code: shm-exhausted
-- cause: small-shm
-- role: root
-- severity: error
-- title: A data worker met a bus error: shared memory is full
-- title.zh: 数据加载进程出现总线错误：共享内存不足
-- means: Workers hand batches over in shared memory. A bus error is what happens when /dev/shm
--   has no room for them, usually in a container with the default of 64 MB.
-- means.zh: 数据加载进程通过共享内存传递批数据；/dev/shm 没有空间时就会出现总线错误，常见于默认只
--   有 64 MB 的容器。
-- remedy: Start the container with a larger /dev/shm (docker --shm-size=8g, --ipc=host; in
--   Kubernetes an emptyDir with medium Memory), or lower num_workers.
-- remedy.zh: 用更大的 /dev/shm 启动容器（docker --shm-size=8g、--ipc=host；Kubernetes 中使用
--   medium 为 Memory 的 emptyDir），或减少 num_workers。
-- see: https://pytorch.org/docs/stable/multiprocessing.html#sharing-strategies
SELECT id AS event, rank, host, 'sure' AS strength, 'pid ' || arg(args, 'pids') AS detail
FROM event
WHERE family IN ('DL_WORKER', 'DL_BUS') AND lower(arg(args, 'signal')) LIKE 'bus error%';
