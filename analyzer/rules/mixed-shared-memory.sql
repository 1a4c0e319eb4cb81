-- id: mixed-shared-memory
-- code: misconfigured
-- cause: small-shm
-- role: root
-- severity: warning
-- title: A host has far less shared memory than others
-- title.zh: 某主机的共享内存远小于其他主机
-- means: /dev/shm of this host or container is less than half of another one's. Jobs that fit
--   elsewhere run out of it here.
-- means.zh: 该主机或容器的 /dev/shm 不到其他主机的一半；在别处能运行的作业在这里可能耗尽共享内存。
-- remedy: Give all containers the same --shm-size (in Kubernetes an emptyDir with medium Memory),
--   and remount /dev/shm alike on all hosts.
-- remedy.zh: 为所有容器设置相同的 --shm-size（Kubernetes 使用 medium 为 Memory 的 emptyDir），并
--   在所有主机上以相同大小挂载 /dev/shm。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
WITH
shm AS (
  SELECT attempt, host, min(id) AS fact, min(value) AS size,
         min(CAST(value AS REAL) * CASE substr(value, -1) WHEN 'T' THEN 1073741824 WHEN 'G' THEN 1048576
                                                          WHEN 'M' THEN 1024 ELSE 1 END) AS kib
  FROM fact WHERE name = 'DF_SHM.size' AND host IS NOT NULL
  GROUP BY attempt, host
)
SELECT s.fact, NULL AS rank, s.host, 'lead' AS strength, s.size || '; elsewhere ' || o.size AS detail
FROM shm s JOIN (SELECT attempt, size, max(kib) AS kib FROM shm GROUP BY attempt) o ON o.attempt IS s.attempt
WHERE s.kib * 2 < o.kib
GROUP BY s.fact;
