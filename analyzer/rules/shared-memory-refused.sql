-- id: shared-memory-refused
-- code: shm-exhausted
-- cause: small-shm
-- role: root
-- severity: error
-- title: A shared memory segment could not be made
-- title.zh: 无法创建共享内存段
-- means: NCCL or PyTorch shares buffers between processes of a host in /dev/shm. It is full, too
--   small (64 MB is the default of containers), or not shared between the containers.
-- means.zh: NCCL 或 PyTorch 通过 /dev/shm 在同一主机的进程间共享缓冲；它已满、过小（容器默认 64
--   MB），或未在容器间共享。
-- remedy: df -h /dev/shm in the container; start it with --shm-size=8g or --ipc=host, in
--   Kubernetes mount an emptyDir with medium Memory. NCCL_SHM_DISABLE=1 confirms.
-- remedy.zh: 在容器内执行 df -h /dev/shm；使用 --shm-size=8g 或 --ipc=host 启动，Kubernetes 中挂
--   载 medium 为 Memory 的 emptyDir；NCCL_SHM_DISABLE=1 可用于确认。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
SELECT e.id AS event, e.rank, e.host,
       -- The memory is there, but CUDA does not take it; or a segment that a peer was to make is not there.
       CASE WHEN c.event IS NOT NULL
                 OR e.family = 'shm' AND arg(e.args, 'what') LIKE 'attaching%' AND arg(e.args, 'error') LIKE 'No such file%'
            THEN 'likely' ELSE 'sure' END AS strength,
       CASE WHEN c.event IS NOT NULL
                 OR e.family IN ('shm', 'shm2') AND ifnull(arg(e.args, 'error'), 'No space') NOT LIKE 'No space%'
            THEN NULL ELSE 'small-shm' END AS cause,
       ifnull(arg(e.args, 'path'), arg(e.args, 'error')) || ifnull(', ' || arg(e.args, 'size') || ' bytes', '')
         AS detail
FROM event e
LEFT JOIN cuda_error c ON c.event = (SELECT max(b.event) FROM cuda_error b
                                     WHERE b.source = e.source AND b.line BETWEEN e.line - 3 AND e.line - 1
                                           AND b.kind = 'connect')
WHERE e.family IN ('shm', 'shm2', 'SHM_ERR')
      OR e.family = 'syscall' AND arg(e.args, 'error') LIKE 'No space left%'
      OR e.family = 'syscall' AND arg(e.args, 'function') LIKE '%shm_open%'
      OR e.family = 'NO_SPACE' AND arg(e.args, 'path') LIKE '/dev/shm%';
