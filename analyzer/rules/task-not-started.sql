-- id: task-not-started
-- code: misconfigured
-- role: root
-- severity: error
-- title: The tasks of the job could not be started
-- title.zh: 作业任务无法启动
-- means: The launcher was refused: the program cannot be run there, the request does not fit the
--   allocation, or this host lets nobody in. Ranks that did start wait for those that did not.
-- means.zh: 启动器被拒绝：程序无法在该主机运行、请求超出分配，或该主机拒绝登录。已启动的 rank 会
--   一直等待未启动的 rank。
-- remedy: Fix what the line names: path and permissions of the program on every host, the numbers
--   of nodes, tasks and GPUs, keys of ssh.
-- remedy.zh: 修正该行所指的问题：各主机上程序的路径与权限、节点/任务/GPU 数量、ssh 密钥。
-- see: https://slurm.schedmd.com/srun.html
SELECT id AS event, NULL AS rank, coalesce(arg(args, 'node'), host) AS host,
       CASE WHEN arg(args, 'why') LIKE 'gethostbyname%' THEN 'sure' ELSE 'likely' END AS strength,
       arg(args, 'why') AS detail
FROM event
WHERE family = 'SRUN_START' AND (arg(args, 'why') LIKE 'Unable to create step%' OR arg(args, 'why') LIKE 'Task launch%'
                                 OR arg(args, 'why') LIKE 'Application launch%' OR arg(args, 'why') LIKE '%invalid%')
      OR family = 'SLURM_TASK_END' AND arg(args, 'why') LIKE 'execve%'
      OR family = 'SSH_FAIL' AND (arg(args, 'why') LIKE 'Host key%' OR arg(args, 'why') LIKE 'Permission denied%'
                                  OR arg(args, 'why') LIKE '%refused%')
      OR family = 'MPI_START'
UNION ALL
SELECT id, NULL, arg(args, 'node'), 'likely', arg(args, 'what') FROM event
WHERE family = 'MPI_LOST_NODE' AND arg(args, 'what') NOT LIKE 'has lost%';
