-- id: amd-gpu-hang
-- code: gpu-fault
-- role: root
-- severity: error
-- title: An AMD GPU hung or was reset
-- title.zh: AMD GPU 挂起或被重置
-- means: The driver found a GPU that no longer makes progress, or reports uncorrectable errors.
--   All processes print the same line; the number is the GPU's node of that host.
-- means.zh: 驱动发现 GPU 不再推进或存在不可纠正错误。所有进程都会打印同一行，其中的编号是该主机上
--   的 GPU 节点号。
-- remedy: Find the GPU by its node number (rocm-smi --showhw, rocminfo) and its host; drain it
--   and read dmesg for amdgpu lines.
-- remedy.zh: 按节点号（rocm-smi --showhw、rocminfo）定位 GPU 及其主机，停用并查看 dmesg 中的
--   amdgpu 信息。
-- see: https://rocm.docs.amd.com/projects/amdsmi/en/latest/
SELECT id AS event, NULL AS rank, host, 'sure' AS strength, 'node-' || arg(args, 'gpu_node') AS detail
FROM event WHERE family = 'HW_EXCEPTION' AND arg(args, 'what') = 'HW Exception'
UNION ALL
SELECT id, NULL, host,
       CASE WHEN arg(args, 'why') LIKE '%uncorrectable%' OR arg(args, 'why') LIKE 'RAS%' THEN 'sure' ELSE 'likely' END,
       ifnull(arg(args, 'bdf') || ': ', '') || arg(args, 'why')
FROM event
WHERE family = 'AMDGPU_ERR' AND arg(args, 'why') NOT LIKE '%page fault%' AND arg(args, 'why') NOT LIKE '%succe%';
