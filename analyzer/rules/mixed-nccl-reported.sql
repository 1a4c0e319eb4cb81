-- id: mixed-nccl-reported
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: error
-- title: Two ranks use different versions of NCCL
-- title.zh: 两个 rank 使用了不同版本的 NCCL
-- means: NCCL compared the versions while the communicator was made and refused.
-- means.zh: NCCL 在创建通信子时比较版本并拒绝继续。
-- remedy: Install the same NCCL on all hosts and in all containers; see which library is loaded
--   (LD_LIBRARY_PATH, pip list).
-- remedy.zh: 在所有主机与容器中安装同一版本的 NCCL；检查实际加载的库（LD_LIBRARY_PATH、pip list）。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength,
       'rank ' || arg(args, 'rank') || ': ' || arg(args, 'version') || ', rank ' || arg(args, 'other_rank') || ': '
       || arg(args, 'other_version') AS detail
FROM event WHERE family = 'ver_mismatch';
