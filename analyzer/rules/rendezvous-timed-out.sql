-- id: rendezvous-timed-out
-- code: init-stuck
-- role: root
-- severity: error
-- title: Not all nodes came to the rendezvous
-- title.zh: 并非所有节点都到达集合点
-- means: The agent of this node waited for the others and gave up. No worker was started.
-- means.zh: 该节点的 agent 等待其他节点超时后放弃，没有启动任何工作进程。
-- remedy: See whether torchrun runs on every node, with the same --nnodes, --rdzv-id and
--   --rdzv-endpoint; --rdzv-conf join_timeout=SECONDS gives late nodes more time.
-- remedy.zh: 检查每个节点是否都运行了 torchrun，且 --nnodes、--rdzv-id、--rdzv-endpoint 一致；
--   --rdzv-conf join_timeout=秒 可给较晚的节点更多时间。
-- see: https://pytorch.org/docs/stable/elastic/rendezvous.html
SELECT id AS event, NULL AS rank, host, 'likely' AS strength, arg(args, 'class') AS detail
FROM event WHERE family = 'RDZV_EXC' AND arg(args, 'class') = 'RendezvousTimeoutError';
