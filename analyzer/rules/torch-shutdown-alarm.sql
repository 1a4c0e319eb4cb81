-- id: torch-shutdown-alarm
-- code: -
-- role: exonerates
-- severity: note
-- product: torch
-- from: 2.3.0
-- to: 2.3.1
-- title: The watchdog takes an orderly shutdown for an error
-- title.zh: watchdog 将正常关闭误报为错误
-- means: While a process group of PyTorch 2.3 is destroyed, its watchdog can see the communicator
--   as failed and report an exception. The rank that it names did nothing wrong.
-- means.zh: PyTorch 2.3 销毁进程组时，watchdog 可能将通信子视为失败并报告异常；其中提到的 rank 并
--   无过错。
-- remedy: Ignore the line; upgrade PyTorch to 2.4 or later.
-- remedy.zh: 忽略该行；将 PyTorch 升级到 2.4 或更高版本。
-- see: https://github.com/pytorch/pytorch/issues/120849
SELECT id AS event, rank, host
FROM event
WHERE family = 'COMM_ERR_SET' AND arg(args, 'why') LIKE 'Process Group shutdown%';
