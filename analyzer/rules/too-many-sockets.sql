-- id: too-many-sockets
-- code: -
-- role: confirmation
-- severity: warning
-- title: More sockets per connection than NCCL allows
-- title.zh: 每个连接的套接字数超出 NCCL 的上限
-- means: NCCL_SOCKET_NTHREADS times NCCL_NSOCKS_PERTHREAD may be 64 at most; NCCL changes what
--   exceeds it.
-- means.zh: NCCL_SOCKET_NTHREADS 与 NCCL_NSOCKS_PERTHREAD 的乘积最多为 64，超出部分会被 NCCL 修改。
-- remedy: Lower one of the two.
-- remedy.zh: 减小其中之一。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-nsocks-perthread
SELECT t.fact, t.rank, t.host, 'sure' AS strength, t.value || ' x ' || s.value AS detail
FROM aspect t JOIN aspect s ON s.speaker = t.speaker AND s.name = 'NCCL_NSOCKS_PERTHREAD'
WHERE t.name = 'NCCL_SOCKET_NTHREADS' AND CAST(t.value AS INTEGER) * CAST(s.value AS INTEGER) > 64;
