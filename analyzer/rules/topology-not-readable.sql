-- id: topology-not-readable
-- code: misconfigured
-- role: root
-- severity: error
-- title: NCCL cannot read how the devices of a host are connected
-- title.zh: NCCL 无法读取主机设备的连接关系
-- means: /sys of this container or virtual machine does not show the GPU's place on the bus, or no
--   processor near it, or a file names devices that are not there, and NCCL gave up.
-- means.zh: 该容器或虚拟机的 /sys 中看不到 GPU 在总线上的位置或其附近的 CPU，或者文件中写有不存在的
--   设备，NCCL 因此放弃。
-- remedy: Mount /sys into the container, or give NCCL the topology of the host in
--   NCCL_TOPO_FILE; newer versions need less of it. Unset NCCL_GRAPH_FILE (/etc/nccl.conf, too).
-- remedy.zh: 将 /sys 挂载进容器，或通过 NCCL_TOPO_FILE 提供主机的拓扑文件；较新的版本对此要求更少。
--   取消 NCCL_GRAPH_FILE（也查看 /etc/nccl.conf）。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-topo-file
SELECT e.id AS event, e.rank, e.host, 'likely' AS strength, arg(e.args, 'text') AS detail
FROM event e
WHERE e.family = 'nccl_warn'
      AND (arg(e.args, 'text') LIKE 'Could not find real path of /sys/%'
           OR arg(e.args, 'text') LIKE '%could not find CPU close to GPU%'
           OR arg(e.args, 'text') LIKE 'Attribute % of node % not found%'
           OR arg(e.args, 'text') LIKE 'Could not find NET with id%'
           OR arg(e.args, 'text') LIKE 'XML Import %not found%'
           OR arg(e.args, 'text') LIKE 'Failed to find reverse path%')
      AND (EXISTS (SELECT 1 FROM event b
                   WHERE b.family = 'backtrace' AND b.source = e.source AND b.line BETWEEN e.line + 1 AND e.line + 15
                         AND b.speaker = e.speaker)
           OR EXISTS (SELECT 1 FROM event b
                      WHERE b.family IN ('NCCL_ERR_IN', 'NCCL_ERR', 'nccl_result_text', 'nccl_tests_fail',
                                         'PY_TRACEBACK', 'SPAWN_EXC')
                            AND b.source = e.source AND b.line > e.line));
