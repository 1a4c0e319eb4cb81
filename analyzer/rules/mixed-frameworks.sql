-- id: mixed-frameworks
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: warning
-- title: Hosts run different versions of a framework
-- title.zh: 各主机的框架版本不同
-- means: A framework that decides which collectives are called, and with which sizes, is not the
--   same everywhere. Ranks may then call different things.
-- means.zh: 决定调用哪些集合通信及其大小的框架在各主机上版本不同，各 rank 可能因此调用不同的操作。
-- remedy: Install the same versions everywhere, best from one image.
-- remedy.zh: 在所有主机安装相同版本，最好使用同一镜像。
-- see: https://pytorch.org/docs/stable/distributed.html
SELECT event, fact, rank, host, 'lead' AS strength, name || ' ' || mine || '; elsewhere ' || others AS detail
FROM different
WHERE name IN ('vllm', 'sglang', 'deepspeed', 'ray', 'transformers', 'accelerate', 'lightning', 'megatron-core');
