-- id: mixed-drivers
-- code: version-mismatch
-- cause: different-library
-- role: root
-- severity: warning
-- title: Hosts of the job run different drivers
-- title.zh: 作业的主机运行着不同版本的驱动
-- means: Usually harmless, but a reason to look twice at the hosts that differ.
-- means.zh: 通常无害，但应重点检查与众不同的主机。
-- remedy: Bring all hosts to one driver version.
-- remedy.zh: 将所有主机统一为同一驱动版本。
-- see: https://docs.nvidia.com/deploy/cuda-compatibility/
SELECT event, fact, rank, host, 'lead' AS strength, mine || '; elsewhere ' || others AS detail
FROM different WHERE name IN ('driver', 'cuda-driver');
