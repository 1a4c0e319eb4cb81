-- id: mixed-nccl-versions
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: error
-- title: Processes of the job run different versions of NCCL
-- title.zh: 作业的进程运行着不同版本的 NCCL
-- means: No line complains, only the comparison shows it. Different versions need not agree on
--   messages, protocols or algorithms.
-- means.zh: 没有任何一行会报错，只有比较才能发现。不同版本的消息、协议与算法未必一致。
-- remedy: Install one version everywhere; see which library is loaded (LD_LIBRARY_PATH, pip list,
--   the container image).
-- remedy.zh: 在所有位置安装同一版本；检查实际加载的库（LD_LIBRARY_PATH、pip list、容器镜像）。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT event, fact, rank, host, 'likely' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name IN ('nccl', 'rccl', 'torch');
