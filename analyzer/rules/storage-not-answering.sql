-- id: storage-not-answering
-- code: rank-slow
-- cause: storage-stall
-- role: root
-- severity: error
-- title: Storage does not answer a host
-- title.zh: 存储对主机无响应
-- means: NFS, Lustre, another file system or a disk of this host failed or stood still. Ranks
--   that read data or write checkpoints there come late.
-- means.zh: 该主机上的 NFS、Lustre、其他文件系统或磁盘失败或停滞；在其上读数据或写检查点的 rank
--   会迟到。
-- remedy: Check the server and the network to it from this host; compare with other hosts of the
--   job at that time.
-- remedy.zh: 从该主机检查存储服务器及网络，并与同一时间的其他主机比较。
-- see: https://docs.kernel.org/admin-guide/nfs/index.html
SELECT id AS event, NULL AS rank, host,
       CASE WHEN family = 'GPFS_ERR' THEN 'lead' ELSE 'likely' END AS strength,
       coalesce(arg(args, 'host'), arg(args, 'device'), arg(args, 'what')) AS detail
FROM event e
WHERE family = 'NFS_STALL' AND ifnull(arg(args, 'what'), '') <> 'OK'
      OR family IN ('LUSTRE_ERR') AND arg(args, 'why') NOT LIKE '%Connection restored%'
      OR family IN ('GPFS_ERR', 'IO_ERR');
