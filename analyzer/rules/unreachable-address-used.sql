-- id: unreachable-address-used
-- code: misconfigured
-- cause: wrong-interface
-- role: root
-- severity: error
-- title: NCCL uses an interface that other hosts cannot reach
-- title.zh: NCCL 使用了其他主机无法到达的接口
-- means: The address that this process tells the others belongs to a container bridge, a virtual
--   pair or a link of its own. Peers on another host connect to it in vain, or reach somebody
--   else.
-- means.zh: 该进程向其他进程公布的地址属于容器网桥、虚拟网卡对或仅本机有效的链路；其他主机上的对
--   端无法连接，或会连到别处。
-- remedy: Set NCCL_SOCKET_IFNAME (and GLOO_SOCKET_IFNAME) to the interface of the hosts' common
--   network, or start the container with the host's network.
-- remedy.zh: 将 NCCL_SOCKET_IFNAME（及 GLOO_SOCKET_IFNAME）设为主机公共网络的接口，或以主机网络启
--   动容器。
-- see: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-socket-ifname
WITH
used AS (
  SELECT id, rank, host, speaker, value,
         (value GLOB 'veth*' OR value GLOB '*]veth*' OR value GLOB '*docker*' OR value GLOB '*virbr*'
          OR value GLOB '*cni[0-9]*' OR value GLOB '*flannel*' OR value GLOB '*cali[0-9a-f]*'
          OR value GLOB '*lxcbr*' OR value GLOB '*br-[0-9a-f]*'
          OR value GLOB '*:fe80:*' OR value GLOB 'fe80:*' OR value GLOB '169.254.*' OR value GLOB '*:169.254.*')
           AS virtual,
         (value GLOB '172.17.*' OR value GLOB '*:172.17.*' OR value GLOB '127.*' OR value GLOB 'lo:*') AS bridged
  FROM fact WHERE name IN ('bootstrap_if.interface', 'bootstrap_if.addr', 'bootstrap_if.more', 'net.device')
)
SELECT u.id AS fact, u.rank, u.host, 'likely' AS strength, u.value AS detail
FROM used u
WHERE (u.virtual
       AND NOT EXISTS (SELECT 1 FROM communicator c JOIN communicator o ON o.comm_id = c.comm_id AND o.host <> c.host
                       WHERE c.speaker = u.speaker AND c.complete_line > 0 AND c.comm_id <> 0))
      -- Loopback, and the job has a second host.
      OR (u.value GLOB '127.*' AND 1 < (SELECT count(DISTINCT host) FROM speaker))
      OR (u.bridged
          AND EXISTS (SELECT 1 FROM event b
                      WHERE b.family = 'sock_connect'
                            OR b.family = 'backtrace' AND arg(b.args, 'file') LIKE '%socket.cc'
                            OR b.family IN ('NCCL_ERR_IN', 'NCCL_ERR')
                               AND (arg(b.args, 'why') LIKE 'unhandled system error%'
                                    OR arg(b.args, 'why') LIKE 'remote process%')));
