-- id: exception-passed-on
-- code: rank-died
-- role: cascade
-- severity: note
-- title: A rank passes on that something else failed
-- title.zh: 某个 rank 只是转述了其他地方的失败
-- means: This exception is raised when another rank, the store or a child process has failed. The
--   reason stands in that one's log.
-- means.zh: 这个异常是在其他 rank、存储服务或子进程失败后抛出的；真正的原因在对方的日志里。
-- remedy: Look for what happened before this line on the other ranks.
-- remedy.zh: 在其他 rank 的日志中查找此行之前发生了什么。
-- see: https://pytorch.org/docs/stable/distributed.html#debugging-torch-distributed-applications
SELECT x.event, x.rank, x.host, x.class AS detail
FROM exception x
WHERE x.kind = 'carrier';
