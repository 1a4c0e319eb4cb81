-- id: nccl-not-installed
-- code: misconfigured
-- role: root
-- severity: error
-- title: NCCL itself is not where the program looks for it
-- title.zh: 程序找不到 NCCL 库
-- means: libnccl.so could not be loaded, so no collective of GPUs can run. It is not installed, of
--   another major version, or not on the search path of this process.
-- means.zh: 无法加载 libnccl.so，因此 GPU 集合通信无法运行：未安装、主版本不符，或不在该进程的库搜索路
--   径中。
-- remedy: Install the NCCL that fits the framework's CUDA (pip list, ldconfig -p) in every
--   environment, and check LD_LIBRARY_PATH.
-- remedy.zh: 在每个环境中安装与框架 CUDA 匹配的 NCCL（pip list、ldconfig -p），并检查
--   LD_LIBRARY_PATH。
-- see: https://docs.nvidia.com/deeplearning/nccl/install-guide/index.html
SELECT id AS event, rank, host, 'likely' AS strength, coalesce(arg(args, 'file'), arg(args, 'what')) AS detail
FROM event WHERE family = 'NCCL_LIBRARY';
