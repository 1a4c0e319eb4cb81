-- id: shapes-differ
-- code: size-mismatch
-- role: root
-- severity: error
-- title: Ranks brought tensors of different shapes
-- title.zh: 各 rank 的张量形状不同
-- means: Accelerate checked the shapes before the collective, and they differ.
-- means.zh: Accelerate 在集合通信前检查了形状，发现不一致。
-- remedy: Pad the tensors first (accelerator.pad_across_processes), or drop the uneven last batch.
-- remedy.zh: 先补齐张量（accelerator.pad_across_processes），或丢弃不完整的最后一批。
-- see: https://huggingface.co/docs/accelerate/basic_tutorials/troubleshooting
SELECT id AS event, NULL AS rank, NULL AS host, 'sure' AS strength, NULL AS detail
FROM event WHERE family = 'ACCEL_TIMEOUT';
