-- id: resources-not-there
-- code: misconfigured
-- cause: resource-limit
-- role: root
-- severity: error
-- title: The cluster does not have what the job asks for
-- title.zh: 集群没有作业所要求的资源
-- means: No node of Ray's cluster has, or may ever have, the GPUs and processors that one part of
--   the job asks for, so that this part never starts and the others wait.
-- means.zh: Ray 集群中没有（也不会有）任何节点具备作业某一部分所要求的 GPU 与 CPU，因此它永远不会启
--   动，其余部分一直等待。
-- remedy: Compare with `ray status`: lower what is asked for per node, or let the missing nodes
--   join. With vLLM, VLLM_HOST_IP of each node has to be its address in Ray.
-- remedy.zh: 与 `ray status` 对比：减少单节点的需求，或让缺少的节点加入。使用 vLLM 时，各节点的
--   VLLM_HOST_IP 必须是它在 Ray 中的地址。
-- see: https://docs.ray.io/en/latest/ray-core/scheduling/placement-group.html
SELECT id AS event, NULL AS rank, NULL AS host, 'likely' AS strength, coalesce(arg(args, 'size'), arg(args, 'what')) AS detail
FROM event e
WHERE family = 'RAY_RESOURCES' AND arg(args, 'state') IS NULL
      -- What is asked for may come later: work behind the line shows that it did.
      AND NOT EXISTS (SELECT 1 FROM event w
                      WHERE w.source = e.source AND w.line > e.last_line
                            AND w.family IN ('STEP_LINE', 'STEP_TIME', 'BAR', 'WORK_LOAD', 'VLLM_READY', 'VLLM_STATS',
                                             'init_start', 'WD_TIMEOUT'));
