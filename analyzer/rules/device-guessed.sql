-- id: device-guessed
-- code: -
-- cause: unset-device
-- role: confirmation
-- severity: note
-- title: Nobody said which GPU is this rank's
-- title.zh: 没有为该 rank 指定 GPU
-- means: PyTorch guesses the device from the rank. If the guess is wrong, two ranks share a GPU
--   or a barrier hangs.
-- means.zh: PyTorch 会根据 rank 猜测设备；若猜错，两个 rank 会共用一块 GPU，或屏障挂起。
-- remedy: Call torch.cuda.set_device(LOCAL_RANK) first, or pass device_id to init_process_group.
-- remedy.zh: 先调用 torch.cuda.set_device(LOCAL_RANK)，或在 init_process_group 中传入 device_id。
-- see: https://pytorch.org/docs/stable/distributed.html#torch.distributed.init_process_group
SELECT id AS event, rank, host, 'lead' AS strength, 'GPU ' || arg(args, 'device') AS detail
FROM event WHERE family = 'UNKNOWN_DEVICE';
