-- id: two-ranks-one-gpu
-- code: misconfigured
-- cause: duplicate-gpu
-- role: root
-- severity: error
-- title: Two ranks run on the same GPU
-- title.zh: 两个 rank 使用了同一块 GPU
-- means: NCCL found the same device behind two ranks of a communicator: nobody chose a GPU per
--   process, or all processes see only one.
-- means.zh: NCCL 发现同一通信子的两个 rank 使用同一设备：进程没有各自选择 GPU，或所有进程都只能看
--   到一块。
-- remedy: Call torch.cuda.set_device(LOCAL_RANK) before the first use of CUDA, and check
--   CUDA_VISIBLE_DEVICES of every process.
-- remedy.zh: 在首次使用 CUDA 之前调用 torch.cuda.set_device(LOCAL_RANK)，并检查每个进程的
--   CUDA_VISIBLE_DEVICES。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/usage/communicators.html
SELECT id AS event, ifnull(rank, CAST(arg(args, 'rank') AS INTEGER)) AS rank, host, 'sure' AS strength,
       'device ' || arg(args, 'busid') AS detail
FROM event WHERE family = 'dup_gpu'
UNION ALL
SELECT id, CAST(arg(args, 'other_rank') AS INTEGER), host, 'sure', 'device ' || arg(args, 'busid') FROM event
WHERE family = 'dup_gpu' AND arg(args, 'other_rank') IS NOT NULL
      AND (rank IS NULL OR rank = CAST(arg(args, 'rank') AS INTEGER));
