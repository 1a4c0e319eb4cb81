-- id: arguments-rejected
-- code: misconfigured
-- role: root
-- severity: error
-- title: The script does not take these arguments
-- title.zh: 脚本不接受这些参数
-- means: argparse ended the process before any work: an argument is unknown or missing. Old
--   launchers pass --local-rank, which new ones replaced by the variable LOCAL_RANK.
-- means.zh: argparse 在开始工作之前就结束了进程：参数未知或缺失。旧启动器会传入 --local-rank，新的
--   启动器改用环境变量 LOCAL_RANK。
-- remedy: Correct the command line; read LOCAL_RANK from the environment and start with torchrun.
-- remedy.zh: 修正命令行；从环境变量读取 LOCAL_RANK，并用 torchrun 启动。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT id AS event, NULL AS rank, host, 'sure' AS strength, arg(args, 'why') AS detail
FROM event WHERE family = 'ARGUMENTS';
