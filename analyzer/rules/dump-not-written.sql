-- id: dump-not-written
-- code: -
-- role: confirmation
-- severity: note
-- title: A rank could not write its dump
-- title.zh: 某个 rank 无法写出转储
-- means: The recorder was on, but the file could not be written, so the dump of this rank is
--   missing.
-- means.zh: 记录器已开启，但文件无法写入，因此缺少该 rank 的转储。
-- remedy: Point TORCH_FR_DUMP_TEMP_FILE (TORCH_NCCL_DEBUG_INFO_TEMP_FILE before PyTorch 2.7) to a
--   folder that exists and has room on every host.
-- remedy.zh: 将 TORCH_FR_DUMP_TEMP_FILE（PyTorch 2.7 之前为 TORCH_NCCL_DEBUG_INFO_TEMP_FILE）指向
--   每台主机上存在且有空间的目录。
-- see: https://pytorch.org/tutorials/unstable/flight_recorder_tutorial.html
SELECT id AS event, rank, host, 'lead' AS strength, arg(args, 'path') AS detail
FROM event WHERE family = 'DUMP_FILE' AND arg(args, 'failed') IS NOT NULL;
