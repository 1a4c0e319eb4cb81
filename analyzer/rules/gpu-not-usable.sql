-- id: gpu-not-usable
-- code: misconfigured
-- role: root
-- severity: error
-- title: A process cannot use the GPU that it was given
-- title.zh: 进程无法使用分配给它的 GPU
-- means: There is no such GPU for this process: more processes than GPUs, a wrong
--   CUDA_VISIBLE_DEVICES, a container without devices, a GPU in exclusive use; or GPU and driver
--   (virtual ones above all) do not offer what NCCL asks for.
-- means.zh: 该进程没有这块 GPU：进程数多于 GPU 数、CUDA_VISIBLE_DEVICES 有误、容器未挂载设备、GPU
--   被独占；或 GPU 与驱动（尤其是虚拟 GPU）不提供 NCCL 所需的功能。
-- remedy: Compare processes per node with nvidia-smi -L in the same container, and set the device
--   from LOCAL_RANK.
-- remedy.zh: 在同一容器内比较每节点进程数与 nvidia-smi -L，并根据 LOCAL_RANK 选择设备。
-- see: https://pytorch.org/docs/stable/elastic/run.html
SELECT event, rank, host, CASE kind WHEN 'device' THEN 'sure' ELSE 'likely' END AS strength, why AS detail
FROM cuda_error WHERE kind IN ('device', 'start')
UNION ALL
SELECT id, rank, host, 'lead', arg(args, 'function') || ': ' || trim(arg(args, 'error')) FROM event
WHERE family = 'nvml' AND arg(args, 'error') LIKE 'Not Found%';
