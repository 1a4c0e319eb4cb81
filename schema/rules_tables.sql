-- rules_tables.sql - what a rule may ask: small real tables over a job in memory. `operation` is not
-- among them: rules read what was derived from it. (The hs_ tables are the job's own arrays: their
-- ids are read as rowid.)

-- Processes, as far as lines tell one from the other; how: rank-tag, launcher, ... (docs/schema.md).
CREATE TABLE process (
  id INTEGER PRIMARY KEY, attempt INTEGER, rank INTEGER, how TEXT, host TEXT, node TEXT, -- host without its domain
  pid INTEGER, local_rank INTEGER, lines INTEGER
);
INSERT INTO process
SELECT rowid, attempt, rank, how, host,
       CASE WHEN host LIKE '%.%' AND host GLOB '*[^0-9.]*' THEN substr(host, 1, instr(host, '.') - 1) ELSE host END,
       pid, local_rank, lines
FROM hs_process;
CREATE INDEX process_pid ON process (pid);
CREATE INDEX process_local ON process (local_rank, node);

-- Who spoke: what the lines say of their writer, and which process that is from a line on.
CREATE TABLE speaker (
  id INTEGER PRIMARY KEY, source INTEGER, host TEXT, role TEXT, pid INTEGER, local_rank INTEGER
);
INSERT INTO speaker SELECT rowid, source, text(host), text(role), pid, local_rank FROM hs_speaker;
CREATE TABLE voice (
  speaker INTEGER, first_line INTEGER, attempt INTEGER, process INTEGER, PRIMARY KEY (speaker, first_line)
) WITHOUT ROWID;
INSERT INTO voice SELECT speaker, first_line, attempt, process FROM hs_voice;
CREATE TABLE heard (event INTEGER PRIMARY KEY, process INTEGER);
INSERT INTO heard SELECT rowid, process FROM hs_heard;

-- What was said, and whom it is about. arg(args, 'name') gives a value, stack_has(stack, 'text')
-- looks into frames, line_text(source, line) is the line itself.
CREATE TABLE event (
  id INTEGER PRIMARY KEY, family TEXT, source INTEGER, line INTEGER, last_line INTEGER, count INTEGER, speaker INTEGER,
  process INTEGER, rank INTEGER, how TEXT, host TEXT, local_rank INTEGER, pid INTEGER, role TEXT, attempt INTEGER,
  time_ns INTEGER, last_time_ns INTEGER, clock INTEGER, stack INTEGER, args INTEGER
);
INSERT INTO event
SELECT e.rowid, text(e.family), e.source, e.line, e.last_line, e.count, e.speaker, h.process,
       -- vLLM and SGLang name a worker by its place among the tensor-parallel ranks, the only ones it then has.
       ifnull(p.rank, CASE WHEN s.role GLOB 'Worker_TP[0-9]*' AND substr(s.role, 10) NOT GLOB '*[^0-9]*'
                           THEN CAST(substr(s.role, 10) AS INTEGER)
                           WHEN s.role GLOB 'TP[0-9]*' AND substr(s.role, 3) NOT GLOB '*[^0-9]*'
                           THEN CAST(substr(s.role, 3) AS INTEGER) END),
       p.how,
       ifnull(p.host, s.host), ifnull(p.local_rank, s.local_rank), ifnull(p.pid, s.pid), s.role,
       (SELECT v.attempt FROM voice v WHERE v.speaker = e.speaker AND v.first_line <= e.line
        ORDER BY v.first_line DESC LIMIT 1),
       e.time_ns, e.last_time_ns, e.clock, e.stack, e.args
FROM hs_event e CROSS JOIN heard h ON h.event = e.rowid LEFT JOIN process p ON p.id = h.process
     LEFT JOIN speaker s ON s.id = e.speaker;
CREATE INDEX event_family ON event (family, source, line);
CREATE INDEX event_rank ON event (rank, family);
CREATE INDEX event_place ON event (source, line);
-- Below the first line of a traceback its speaker's tag may be missing: its last line is his, too.
UPDATE event SET process = t.process, rank = t.rank, how = t.how, host = t.host, local_rank = t.local_rank, pid = t.pid,
                 role = t.role
FROM (SELECT source, CAST(arg(args, 'exception_line') AS INTEGER) AS line, speaker, process, rank, how, host, local_rank,
             pid, role
      FROM event WHERE family = 'PY_TRACEBACK' AND arg(args, 'exception_line') IS NOT NULL) t
WHERE event.source = t.source AND event.line = t.line AND event.speaker <> t.speaker AND event.rank IS NULL
      AND t.rank IS NOT NULL;

-- Settings, versions and devices.
CREATE TABLE fact (
  id INTEGER PRIMARY KEY, name TEXT, value TEXT, source INTEGER, line INTEGER, speaker INTEGER, process INTEGER,
  rank INTEGER, host TEXT, attempt INTEGER
);
INSERT INTO fact
SELECT f.rowid, text(f.name), text(f.value), f.source, f.line, f.speaker, v.process, p.rank, ifnull(p.host, s.host),
       v.attempt
FROM hs_fact f LEFT JOIN speaker s ON s.id = f.speaker
     LEFT JOIN voice v ON v.speaker = f.speaker
                          AND v.first_line = (SELECT max(o.first_line) FROM voice o
                                              WHERE o.speaker = f.speaker AND o.first_line <= f.line)
     LEFT JOIN process p ON p.id = v.process;
CREATE INDEX fact_name ON fact (name, speaker);

-- Communicators, one row per rank's end.
CREATE TABLE communicator (
  id INTEGER PRIMARY KEY, source INTEGER, speaker INTEGER, process INTEGER, rank INTEGER, host TEXT, attempt INTEGER,
  comm_rank INTEGER, size INTEGER, device INTEGER, bus_id TEXT, comm_id INTEGER, start_line INTEGER,
  complete_line INTEGER, end_line INTEGER, start_ns INTEGER, complete_ns INTEGER, "end" TEXT
);
INSERT INTO communicator
SELECT c.rowid, c.source, c.speaker, v.process, p.rank, ifnull(p.host, s.host), v.attempt, c.rank, c.size, c.device,
       text(c.bus_id), c.comm_id, c.start_line, c.complete_line, c.end_line, c.start_ns, c.complete_ns, text(c."end")
FROM hs_communicator c LEFT JOIN speaker s ON s.id = c.speaker
     LEFT JOIN voice v ON v.speaker = c.speaker
                          AND v.first_line = (SELECT max(o.first_line) FROM voice o
                                              WHERE o.speaker = c.speaker
                                                    AND o.first_line <= max(c.start_line, c.complete_line))
     LEFT JOIN process p ON p.id = v.process;
CREATE INDEX communicator_speaker ON communicator (speaker);
CREATE INDEX communicator_comm ON communicator (comm_id);

-- The last failed attempt: where the reason is looked for.
CREATE TABLE judged (attempt INTEGER, world_size INTEGER, began_ns INTEGER, reported_ns INTEGER, clock INTEGER);

-- ---- what many rules need to know of lines, worked out once ----

-- Signals by the names that programs print.
CREATE TABLE signal (name TEXT PRIMARY KEY, number INTEGER);
INSERT INTO signal VALUES
  ('SIGHUP', 1), ('Hangup', 1), ('SIGINT', 2), ('Interrupt', 2), ('SIGQUIT', 3), ('Quit', 3), ('SIGILL', 4),
  ('Illegal instruction', 4), ('SIGTRAP', 5), ('Trace/breakpoint trap', 5), ('SIGABRT', 6), ('Aborted', 6),
  ('SIGBUS', 7), ('Bus error', 7), ('SIGFPE', 8), ('Floating point exception', 8), ('SIGKILL', 9), ('Killed', 9),
  ('SIGUSR1', 10), ('SIGSEGV', 11), ('Segmentation fault', 11), ('SIGUSR2', 12), ('SIGPIPE', 13), ('Broken pipe', 13),
  ('SIGTERM', 15), ('Terminated', 15), ('SIGXCPU', 24);

-- The process of the job that a line speaks of: by pid, by local rank, or by the address of its GPU.
CREATE TABLE named (event INTEGER PRIMARY KEY, process INTEGER, rank INTEGER, host TEXT);
CREATE TABLE gpu (bus_id TEXT, node TEXT, process INTEGER, PRIMARY KEY (bus_id, node, process)) WITHOUT ROWID;
INSERT INTO gpu
SELECT DISTINCT ltrim(c.bus_id, '0'), p.node, p.id FROM communicator c JOIN process p ON p.id = c.process
WHERE c.bus_id IS NOT NULL AND p.node IS NOT NULL;
CREATE TABLE mention (
  event INTEGER PRIMARY KEY, attempt INTEGER, host TEXT, node TEXT, pid INTEGER, local_rank INTEGER, bus_id TEXT
);
INSERT INTO mention
SELECT id, attempt,
       coalesce(arg(args, 'host'), arg(args, 'node'),
                CASE WHEN arg(args, 'hosts') NOT GLOB '*[],[]*' THEN arg(args, 'hosts') END, host),
       NULL, CAST(nullif(arg(args, 'pid'), '<unknown>') AS INTEGER), CAST(arg(args, 'local_rank') AS INTEGER),
       -- NCCL prints 0000:3b:00.0 as 3b000, the kernel often as 0000:3b:00.
       ltrim(replace(replace(lower(arg(args, 'bdf')), ':', ''), '.', ''), '0')
       || CASE WHEN arg(args, 'bdf') LIKE '%.%' THEN '' ELSE '0' END
FROM event
WHERE family IN ('ELASTIC_FAIL', 'ELASTIC_SIG', 'ELASTIC_KILL', 'ELASTIC_WEDGED', 'TBL_ROW', 'DS_EXIT', 'PL_CHILD',
                 'SPAWN_EXC', 'MPI_EXIT', 'MPICH_BAD_END', 'SHELL_DEATH', 'CONTAINER_EXIT', 'FH_SIGNAL', 'SEGFAULT',
                 'VLLM_WORKER_DIED', 'RAY_DIED', 'OOMK_KILL', 'OOMK_CTX', 'HUNG_TASK', 'XID', 'GPU_LOST', 'sock_closed',
                 'ras_monitor');
UPDATE mention SET node =
  CASE WHEN host LIKE '%.%' AND host GLOB '*[^0-9.]*' THEN substr(host, 1, instr(host, '.') - 1) ELSE host END;
CREATE TABLE meant (event INTEGER, process INTEGER, by INTEGER); -- the best witness has the lowest `by`
INSERT INTO meant
SELECT m.event, p.id, 1 FROM mention m JOIN process p ON p.pid = m.pid
WHERE (p.attempt = m.attempt OR p.attempt IS NULL OR m.attempt IS NULL)
      AND (p.node = m.node OR p.node IS NULL OR m.node IS NULL)
UNION ALL
SELECT m.event, p.id, 2 FROM mention m JOIN process p ON p.local_rank = m.local_rank AND p.node = m.node
WHERE p.attempt = m.attempt OR m.attempt IS NULL
UNION ALL
SELECT m.event, g.process, 3 FROM mention m JOIN gpu g ON g.bus_id = m.bus_id AND g.node = m.node;
-- A line that names no host means the only process that fits.
INSERT INTO meant
SELECT m.event, p.id, 4
FROM mention m
     JOIN (SELECT local_rank, min(id) AS id FROM process WHERE local_rank IS NOT NULL
           GROUP BY local_rank HAVING count(DISTINCT rank) = 1) p ON p.local_rank = m.local_rank
WHERE m.node IS NULL
UNION ALL
SELECT m.event, g.process, 5
FROM mention m
     JOIN (SELECT bus_id, min(process) AS process FROM gpu GROUP BY bus_id HAVING count(*) = 1) g
       ON g.bus_id = m.bus_id
-- Every host has a GPU at that address: those of ranks that are not seen are not known.
WHERE m.node IS NULL
      AND ifnull((SELECT max(size) FROM communicator), 0)
          <= (SELECT count(DISTINCT rank) FROM process WHERE rank IS NOT NULL);
CREATE INDEX meant_event ON meant (event, by, process);
INSERT INTO named
SELECT o.event, p.id, p.rank, p.host
FROM (SELECT event, min(process) AS process FROM meant m
      WHERE by = (SELECT min(by) FROM meant WHERE event = m.event)
      GROUP BY event HAVING count(DISTINCT process) = 1) o
     JOIN process p ON p.id = o.process;

-- Lines that say how a process ended: whose, as far as known, and by which signal or exit code.
CREATE TABLE ended (
  event INTEGER PRIMARY KEY, rank INTEGER, host TEXT, local_rank INTEGER, pid INTEGER, signal INTEGER, exitcode INTEGER,
  what TEXT
);
WITH
said AS (
  SELECT e.id, e.family, e.rank AS speaker_rank, e.how,
         CASE WHEN e.family = 'SGLANG_DEAD' AND arg(e.args, 'rank') IS NULL
              -- The code stands on a line of its own, below the one that names the rank.
              THEN (SELECT CAST(arg(p.args, 'rank') AS INTEGER) FROM event p
                    WHERE p.source = e.source AND p.line BETWEEN e.line - 3 AND e.line - 1
                          AND p.family = 'SGLANG_DEAD' ORDER BY p.line DESC LIMIT 1)
              WHEN e.family NOT LIKE 'MPI%' THEN CAST(nullif(trim(arg(e.args, 'rank')), '') AS INTEGER) END AS rank,
         m.host, m.local_rank, m.pid,
         CASE e.family WHEN 'SEGFAULT' THEN ifnull(arg(e.args, 'what'), 'Segmentation fault')
                       ELSE arg(e.args, 'signal') END AS signal,
         CASE WHEN e.family = 'SPAWN_EXC' AND arg(e.args, 'exitcode') IS NULL AND arg(e.args, 'signal') IS NULL
              THEN 1 -- "the following error": an exception
              ELSE CAST(arg(e.args, 'exitcode') AS INTEGER) END AS exitcode,
         CASE WHEN e.family LIKE 'MPI%'
              -- A block of mpirun names the process first, then how it ended.
              THEN coalesce(CAST(arg(e.args, 'rank') AS INTEGER),
                            (SELECT CAST(arg(p.args, 'rank') AS INTEGER) FROM event p
                             WHERE p.source = e.source AND p.line BETWEEN e.line - 3 AND e.line - 1
                                   AND p.family IN ('MPI_PROCESS', 'MPICH_BAD_END') AND arg(p.args, 'rank') IS NOT NULL
                             ORDER BY p.line DESC LIMIT 1))
              WHEN arg(e.args, 'tasks') NOT GLOB '*[^0-9]*' THEN CAST(arg(e.args, 'tasks') AS INTEGER) END AS task,
         CASE WHEN arg(e.args, 'hosts') NOT GLOB '*[],[]*' THEN arg(e.args, 'hosts')
              ELSE coalesce(CASE WHEN e.family = 'MPI_EXIT'
                                 THEN (SELECT arg(p.args, 'node') FROM event p
                                       WHERE p.source = e.source AND p.line BETWEEN e.line - 3 AND e.line - 1
                                             AND p.family = 'MPI_PROCESS' ORDER BY p.line DESC LIMIT 1) END,
                            e.host) END AS own_host,
         -- mpirun's word for an end without a code
         CASE WHEN e.family = 'MPI_EXIT' THEN arg(e.args, 'what') END AS what
  FROM event e LEFT JOIN mention m ON m.event = e.id
  WHERE e.family IN ('ELASTIC_FAIL', 'TBL_ROW', 'DS_EXIT', 'PL_CHILD', 'SPAWN_EXC', 'SUBPROCESS_EXIT', 'MPI_EXIT', 'HVD_EXIT',
                     'MPICH_BAD_END', 'MPI_ABORT', 'SRUN_TASK', 'SHELL_DEATH', 'CONTAINER_EXIT', 'K8S_EXIT',
                     'FH_FATAL', 'FH_SIGNAL', 'SEGFAULT', 'SLURM_STATE', 'SYS_EXIT', 'VLLM_WORKER_DIED',
                     'SGLANG_DEAD', 'TGI_DEAD')
),
numbered AS (
  SELECT said.*,
         coalesce(CASE WHEN said.signal GLOB '[1-9]*' AND said.signal NOT GLOB '*[^0-9]*'
                       THEN CAST(said.signal AS INTEGER) END,
                  n.number,
                  CASE said.signal WHEN 'general protection fault' THEN 11 WHEN 'trap invalid opcode' THEN 4
                                   WHEN 'trap divide error' THEN 8 END,
                  CASE WHEN said.family = 'FH_FATAL' THEN 6 END,
                  CASE WHEN exitcode < 0 THEN -exitcode WHEN exitcode BETWEEN 129 AND 159 THEN exitcode - 128 END
                 ) AS number
  FROM said LEFT JOIN signal n ON n.name = said.signal
),
-- The table of the same launcher has the rank of a pid.
tabled AS (
  SELECT pid, local_rank, max(rank) AS rank FROM said WHERE family = 'TBL_ROW'
  GROUP BY pid, local_rank HAVING count(DISTINCT rank) = 1
)
INSERT INTO ended
SELECT n.id,
       coalesce(n.rank, o.rank, t.rank,
                -- srun and mpirun count tasks; with an agent per node these are nodes.
                CASE WHEN NOT EXISTS (SELECT 1 FROM event WHERE family IN ('ELASTIC_FAIL', 'ELASTIC_SIG', 'TBL_ROW'))
                     THEN n.task END,
                -- torch.multiprocessing counts its processes, on one host: these are its ranks.
                CASE WHEN n.family = 'SPAWN_EXC'
                          AND NOT EXISTS (SELECT 1 FROM event WHERE family IN ('ELASTIC_FAIL', 'TBL_ROW', 'SRUN_TASK'))
                     THEN n.local_rank END,
                CASE WHEN n.family IN ('FH_FATAL', 'FH_SIGNAL', 'SYS_EXIT', 'PL_CHILD')
                          -- the shell that a launcher made for this rank
                          OR n.family = 'SHELL_DEATH' AND n.how = 'launcher' THEN n.speaker_rank END),
       coalesce(o.host, n.host, n.own_host), n.local_rank, n.pid, n.number, n.exitcode, n.what
FROM numbered n LEFT JOIN named o ON o.event = n.id
     LEFT JOIN tabled t ON t.pid = n.pid AND t.local_rank = n.local_rank
WHERE n.number IS NOT NULL OR n.exitcode IS NOT NULL OR n.family = 'MPI_ABORT' OR n.what <> 'with non-zero status';
CREATE INDEX ended_pid ON ended (pid);

-- What an exception means for the rank that raised it, by what else its line is recognised as:
-- carrier: it passes on that something else failed; judged: rules of its own are about that line.
CREATE TABLE family_kind (family TEXT PRIMARY KEY, kind TEXT);
INSERT INTO family_kind VALUES
  ('NCCL_ERR_IN', 'carrier'), ('NCCL_ERR', 'carrier'), ('NCCL_TEXT', 'carrier'), ('nccl_result_text', 'carrier'),
  ('torch_nccl_error', 'carrier'), ('COMM_ABORTED', 'carrier'), ('COMM_ERR_SET', 'carrier'),
  ('UNIQUEID_ERR', 'carrier'), ('STORE_WAIT', 'carrier'), ('STORE_KEY_OLD', 'carrier'), ('STORE_SOCK_TO', 'carrier'),
  ('STORE_IO', 'carrier'), ('STORE_EOF', 'carrier'), ('STORE_BARRIER', 'carrier'), ('STORE_CLIENTS', 'carrier'),
  ('SOCK_CONNECT', 'carrier'), ('TCP_RETRY', 'carrier'), ('RDZV_EXC', 'carrier'), ('GLOO_ERR', 'carrier'),
  ('PEER_CLOSED', 'carrier'), ('WD_TIMEOUT', 'carrier'), ('WAIT_TIMEOUT', 'carrier'), ('WD_TERMINATED', 'carrier'),
  ('GLOO_RANK', 'judged'), ('bad_comm_id', 'judged'), ('MONBAR_FAIL', 'carrier'), ('MONBAR_VICTIM', 'carrier'), ('MONBAR_WRAP', 'carrier'), ('NCCL2_TIMEOUT', 'carrier'),
  ('NCCL2_ASYNC', 'carrier'), ('ELASTIC_CHILD', 'carrier'), ('SPAWN_EXC', 'carrier'), ('SUBPROCESS_EXIT', 'carrier'),
  ('RAY_DIED', 'carrier'), ('VLLM_ENGINE_DEAD', 'carrier'), ('VLLM_RPC_TIMEOUT', 'carrier'), ('EFA_ERR', 'carrier'),
  ('OFI_ERR', 'carrier'), ('CUDA_OOM', 'judged'), ('CUDA_ERR', 'judged'), ('CUDA_INIT', 'judged'),
  ('CUDA_LIBRARY', 'judged'), ('ECC', 'judged'), ('DL_WORKER', 'judged'), ('DL_BUS', 'judged'),
  ('PORT_IN_USE', 'judged'), ('SHM_ERR', 'judged'), ('HOST_MEMORY', 'judged'), ('OPEN_FILES', 'judged'),
  ('THREADS', 'judged'), ('NO_DEVICE_FILE', 'judged'), ('INIT_ENV', 'judged'), ('INIT_NETWORK', 'judged'),
  ('FINGERPRINT', 'judged'), ('DDP_PARAMS', 'judged'), ('DDP_SHAPE', 'judged'), ('DDP_EXHAUSTED', 'judged'),
  ('FSDP_ORDER', 'judged'), ('ACCEL_TIMEOUT', 'judged'), ('NCCL_LIBRARY', 'judged'), ('JAX_BARRIER', 'carrier'), ('XLA_NCCL', 'carrier'), ('RAY_OOM', 'judged'), ('VERBS_ERR', 'judged');

-- Classes and messages of exceptions that are not the fault of the rank that raised them.
CREATE TABLE exception_kind (class TEXT, message TEXT, kind TEXT);
INSERT INTO exception_kind VALUES
  ('%SignalException', '%', 'told'), ('KeyboardInterrupt', '%', 'told'), ('SystemExit', '%', 'told'),
  ('%GeneratorExit', '%', 'told'), ('%CancelledError', '%', 'told'), ('%DistBackendError', '%', 'carrier'),
  ('%DistNetworkError', '%', 'carrier'), ('%DistStoreError', '%', 'carrier'), ('%ChildFailedError', '%', 'carrier'),
  ('%ProcessExitedException', '%', 'carrier'), ('%ProcessRaisedException', '%', 'carrier'),
  ('%CalledProcessError', '%', 'carrier'), ('%TimeoutExpired', '%', 'carrier'), ('BrokenPipeError', '%', 'carrier'),
  ('Connection%Error', '%', 'carrier'), ('EOFError', '', 'carrier'), ('%queue.Empty', '%', 'carrier'),
  ('%BrokenProcessPool', '%', 'carrier'), ('%RemoteDisconnected', '%', 'carrier'),
  ('%RemoteProtocolError', '%', 'carrier'), ('%EngineDeadError', '%', 'carrier'), ('%ActorDiedError', '%', 'carrier'),
  ('%ActorUnavailableError', '%', 'carrier'), ('%RayActorError', '%', 'carrier'),
  ('%WorkerCrashedError', '%', 'carrier'), ('%NodeDiedError', '%', 'carrier'), ('%OwnerDiedError', '%', 'carrier'),
  ('%RayTaskError%', '%', 'carrier'), ('%', 'Caught % in DataLoader worker process %', 'carrier'), ('%Rendezvous%', '%', 'carrier'), ('%GetTimeoutError', '%', 'carrier'),
  ('TimeoutError', '%RPC%', 'carrier'), ('%', '%NCCL error%', 'carrier'),
  ('%', '%unhandled cuda error%', 'carrier'), ('%', '%unhandled system error%', 'carrier'),
  ('%', '%remote process exited or there was a network error%', 'carrier'),
  ('%', '%collective operation timeout%', 'carrier'), ('%', '%Connection closed by%', 'carrier'),
  ('%', '%Connection reset by peer%', 'carrier'), ('%', '%Socket Timeout%', 'carrier'),
  ('%', '%store->get(%', 'carrier'), ('RuntimeError', '%Engine core initialization failed%', 'carrier'),
  ('RuntimeError', '%ngine process failed%', 'carrier'), ('RuntimeError', '%orker process%died%', 'carrier'),
  ('RuntimeError', '[%/gloo/%', 'carrier'), ('ValueError', 'TP rank % but there are other ranks %', 'carrier'),
  ('RuntimeError', '%ancelled%', 'carrier'),
  ('RuntimeError', 'Horovod detected that one or more processes exited%', 'carrier'),
  ('RuntimeError', 'CUDA error%', 'judged'),
  ('%', '%mismatch between collectives%', 'judged');

-- Exceptions, where their last line stands. raised: a traceback belongs to it.
CREATE TABLE exception (
  event INTEGER PRIMARY KEY, source INTEGER, line INTEGER, speaker INTEGER, rank INTEGER, how TEXT, host TEXT,
  class TEXT, message TEXT, kind TEXT, raised INTEGER
);
WITH
traced AS (
  SELECT id, source, CAST(arg(args, 'exception_line') AS INTEGER) AS line, speaker, rank, how, host,
         arg(args, 'class') AS class,
         ifnull(arg(args, 'message'), '') AS message
  FROM event WHERE family = 'PY_TRACEBACK' AND arg(args, 'class') IS NOT NULL
),
said AS (
  SELECT id, source, line, speaker, rank, how, host, arg(args, 'class') AS class,
         ifnull(arg(args, 'message'), '') AS message,
         EXISTS (SELECT 1 FROM traced t WHERE t.source = e.source AND t.line = e.line) AS raised
  FROM event e WHERE family = 'PY_EXC'
  UNION ALL
  SELECT id, source, line, speaker, rank, how, host, class, message, 1 FROM traced t
  WHERE NOT EXISTS (SELECT 1 FROM event e WHERE e.source = t.source AND e.line = t.line AND e.family = 'PY_EXC')
  UNION ALL
  SELECT id, source, line, speaker, rank, how, host, 'C++', ifnull(arg(args, 'message'), ''), 1 FROM event
  WHERE family = 'CXX_WHAT'
)
INSERT INTO exception
SELECT id, source, line, speaker, rank, how, host, class, message,
       coalesce((SELECT k.kind FROM event o JOIN family_kind k ON k.family = o.family
                 WHERE o.source = said.source AND o.line = said.line ORDER BY k.kind DESC LIMIT 1),
                (SELECT k.kind FROM exception_kind k WHERE said.class LIKE k.class AND said.message LIKE k.message
                 ORDER BY k.kind LIMIT 1),
                -- What torch.multiprocessing up to PyTorch 1.5 raises for a process that it made.
                (SELECT 'carrier' FROM event o
                 WHERE said.class = 'Exception' AND o.source = said.source AND o.family = 'SPAWN_EXC'
                       AND o.line BETWEEN said.line + 1 AND said.line + 2),
                'root'), raised
FROM said;
CREATE INDEX exception_rank ON exception (rank, kind);
CREATE INDEX exception_place ON exception (source, line);
CREATE INDEX exception_speaker ON exception (speaker, kind, line);

-- Lines of a watchdog, of a group that failed or of a GPU that did: an abort or an error code is
-- then a consequence.
CREATE TABLE torn_down (event INTEGER PRIMARY KEY, rank INTEGER, process INTEGER);
CREATE INDEX torn_down_rank ON torn_down (rank);
CREATE INDEX torn_down_process ON torn_down (process);
INSERT INTO torn_down
SELECT id, rank, process FROM event
WHERE family IN ('WD_TIMEOUT', 'WAIT_TIMEOUT', 'WD_TERMINATED', 'SOME_FAILED', 'TEARDOWN', 'HB_STUCK', 'HB_TIMEOUT',
                 'HB_OLD', 'HB_EXIT', 'COMM_ABORTED', 'COMM_ERR_SET', 'NCCL2_TIMEOUT', 'NCCL2_ABORT', 'NCCL2_ASYNC',
                 'NCCL_ERR', 'NCCL_ERR_IN', 'XLA_NCCL', 'nccl_result_text', 'nccl_tests_fail', 'nccl_tests_cuda', 'GLOO_ERR', 'HW_EXCEPTION',
                 'CUDA_ERR', 'CUDA_ASSERT');

-- Where each speaker said something for the last time that is more than a warning of NCCL's; empty without such.
CREATE TABLE last_word (speaker INTEGER PRIMARY KEY, line INTEGER);
INSERT INTO last_word
SELECT speaker, max(line)
FROM (SELECT speaker, line FROM event WHERE family <> 'nccl_warn'
      UNION ALL SELECT speaker, line FROM fact
      UNION ALL SELECT speaker, max(start_line, ifnull(complete_line, 0)) FROM communicator)
WHERE EXISTS (SELECT 1 FROM event
              WHERE family IN ('nccl_warn', 'uds_fail', 'nvml', 'ib_reg', 'ib_library', 'alloc_fail'))
      AND speaker IS NOT NULL
GROUP BY speaker;

-- What errors of CUDA point at; the first kind that fits.
CREATE TABLE cuda_kind (ordinal INTEGER PRIMARY KEY, error TEXT, place TEXT, kind TEXT);
INSERT INTO cuda_kind VALUES
  (1, '%device-side assert%', '%', 'assert'), (2, '%illegal memory access%', '%', 'access'),
  (3, '%unspecified launch failure%', '%', 'access'), (4, '%misaligned address%', '%', 'access'),
  (5, '%illegal instruction%', '%', 'access'), (6, '%invalid program counter%', '%', 'access'),
  (7, '%invalid address space%', '%', 'access'), (8, '%launch timed out%', '%', 'access'),
  (9, '%EXECUTION_FAILED', '%', 'access'), (10, '%ECC%', '%', 'hardware'), (11, '%NVLink%', '%', 'hardware'),
  (12, '%hardware stack error%', '%', 'hardware'), (13, '%not supported in the installed CUDA driver%', '%', 'build'),
  (19, 'invalid argument%', '%/p2p.cc%', 'connect'), (20, '%', '%nvls.cc%', 'nvls'),
  (21, '%', '%mnnvl%', 'fabric'), (22, '%not yet initialized%', '%', 'fabric'),
  (23, '%fabric%', '%', 'fabric'), (24, '%', '%/p2p.cc%', 'peer'), (25, '%peer %', '%', 'peer'),
  (14, '%driver shutting down%', '%', 'ending'), (15, '%initialization error%', '%NCCL WARN%', 'start'),
  (26, '%', '%ipcsocket.cc%', 'peer'), (27, 'invalid argument%', '% transport.cc:%', 'connect'),
  (29, 'invalid argument%', '%shmutils.cc:%', 'connect'), (33, '%mapping of buffer object%', '%', 'connect'),
  (28, '%operation not supported%', '% NCCL WARN%', 'start'),
  (30, '%out of memory%', '%', 'memory'), (31, '%ALLOC_FAILED', '%', 'memory'),
  (40, '%device ordinal%', '%', 'device'), (41, '%CUDA-capable device%', '%', 'device'),
  (42, '%No CUDA GPUs%', '%', 'device'), (43, '%No devices were found%', '%', 'device'),
  (44, '%busy or unavailable%', '%', 'device'),
  (46, '%initialize NVML: Unknown Error%', '%', 'start'), (45, '%Unable to determine the device handle%', '%', 'hardware'),
  (50, '%kernel image%', '%', 'build'), (51, '%PTX%', '%', 'build'), (52, '%insufficient%', '%', 'build'),
  (53, '%driver%too old%', '%', 'build'), (54, '%library version mismatch%', '%', 'build'),
  (55, '%unsupported display driver%', '%', 'build'), (56, '%no NVIDIA driver%', '%', 'device'),
  (99, '%', '%', 'other');
-- Each call of CUDA that failed, with its kind: assert, access, hardware, ending, start, memory, peer, connect, nvls,
-- fabric, device, build, other.
CREATE TABLE cuda_error (
  event INTEGER PRIMARY KEY, source INTEGER, line INTEGER, rank INTEGER, host TEXT, why TEXT, kind TEXT
);
INSERT INTO cuda_error
SELECT e.id, e.source, e.line, e.rank, e.host, coalesce(arg(e.args, 'why'), arg(e.args, 'error')), k.kind
FROM event e
CROSS JOIN cuda_kind k ON k.ordinal =
  (SELECT min(c.ordinal) FROM cuda_kind c
   WHERE coalesce(arg(e.args, 'why'), arg(e.args, 'error'), '') LIKE c.error
         AND ifnull(line_text(e.source, e.line), '') LIKE c.place)
WHERE (e.family IN ('CUDA_ERR', 'CUDA_INIT', 'CUDA_LIBRARY', 'cuda_fail', 'nccl_tests_cuda')
       OR e.family = 'nvml' AND arg(e.args, 'error') LIKE '%mismatch%')
      -- What fails while a communicator is destroyed was not needed any more.
      AND NOT (e.family = 'cuda_fail'
               AND EXISTS (SELECT 1 FROM event d
                           WHERE d.source = e.source AND d.line BETWEEN e.line + 1 AND e.line + 8
                                 AND d.speaker IS e.speaker AND d.family = 'nccl_warn'
                                 AND arg(d.args, 'text') LIKE 'commReclaim: %failed in destroy/abort%'));

CREATE INDEX cuda_error_place ON cuda_error (source, line);

-- What processes run with, by name and with one spelling: the ground for comparing hosts.
CREATE TABLE aspect (
  name TEXT, value TEXT, attempt INTEGER, rank INTEGER, host TEXT, speaker INTEGER, event INTEGER, fact INTEGER
);
INSERT INTO aspect
SELECT CASE
         WHEN name = 'version_rccl.version' THEN 'rccl'
         WHEN name IN ('version_nccl.version', 'ras_version.version', 'NCCL version')
              OR name LIKE 'nvidia-nccl-cu%' THEN 'nccl'
         WHEN name IN ('PyTorch version', 'torch', 'pytorch') THEN 'torch'
         WHEN name IN ('SMI_VERSION.version', 'Nvidia driver version') THEN 'driver'
         WHEN name = 'cuda_driver.version' THEN 'cuda-driver'
         WHEN name = 'using_network.net' THEN 'network'
         WHEN name = 'net_ofi_version.version' THEN 'ofi-plugin'
         WHEN name = 'bootstrap_if.interface' THEN 'interface'
         WHEN name IN ('NET/Plugin', 'net_plugin_path.path', 'net_plugin_path.net') THEN 'net-plugin'
         WHEN name = 'gdr.state' THEN 'gpu-direct'
         WHEN name LIKE 'megatron_core' THEN 'megatron-core'
         WHEN name = 'pytorch-lightning' THEN 'lightning'
         ELSE name END,
       CASE
         WHEN name = 'NET/Plugin' THEN
           CASE WHEN value LIKE 'No plugin found%' OR value LIKE '%sing internal net%' THEN 'internal'
                ELSE 'external' END
         WHEN name LIKE 'net_plugin_path.%' THEN 'external'
         WHEN value LIKE '"%"' OR value LIKE '''%''' THEN substr(value, 2, length(value) - 2)
         ELSE value END,
       attempt, rank, host, speaker, NULL, id
FROM fact
WHERE (name IN ('version_nccl.version', 'version_rccl.version', 'NCCL version', 'PyTorch version', 'torch', 'pytorch',
               'SMI_VERSION.version', 'Nvidia driver version', 'cuda_driver.version', 'using_network.net',
               'net_ofi_version.version', 'bootstrap_if.interface', 'net_plugin_path.path', 'net_plugin_path.net',
               'gdr.state', 'vllm', 'sglang', 'deepspeed', 'ray', 'transformers', 'accelerate', 'lightning',
               'pytorch-lightning', 'megatron-core', 'megatron_core')
       OR name LIKE 'nvidia-nccl-cu%' OR name GLOB 'NCCL_*' OR name GLOB 'RCCL_*' OR name GLOB 'TORCH_*'
       OR name GLOB 'FI_*' OR name GLOB 'UCX_*' OR name GLOB 'CUDA_*' OR name GLOB 'GLOO_*'
       OR (name = 'NET/Plugin'
           AND (value LIKE 'No plugin found%' OR value LIKE '%sing internal net%' OR value LIKE 'Loaded net plugin%'
                OR value LIKE 'Plugin name set by env to%')))
UNION ALL
SELECT 'nccl', arg(args, 'version'), attempt, rank, host, speaker, id, NULL FROM event
WHERE family IN ('NCCL_ERR_IN', 'NCCL_ERR', 'PG_OPTIONS', 'PG_ENVIRONMENT') AND arg(args, 'version') IS NOT NULL
UNION ALL
SELECT 'nccl', text(library), NULL, rank, text(host), speaker, NULL, NULL FROM hs_dump
WHERE text(library) GLOB '2.[0-9]*';
UPDATE aspect SET value = substr(value, 1, instr(value, '+') - 1)
WHERE name IN ('nccl', 'rccl', 'torch') AND value LIKE '%+%';
CREATE INDEX aspect_name ON aspect (name, host);
CREATE INDEX aspect_speaker ON aspect (name, speaker);

-- Where hosts (or ranks, where hosts are unknown) of an attempt disagree: those that most others do
-- not agree with, or all when no value has the majority. Lines of nobody in particular do not count:
-- files of several jobs may lie together.
CREATE TABLE different (name TEXT, mine TEXT, others TEXT, rank INTEGER, host TEXT, event INTEGER, fact INTEGER);
WITH
place AS (
  SELECT attempt, name, ifnull(host, 'rank ' || rank) AS place, min(value) AS value, min(rank) AS rank, host,
         min(event) AS event, min(fact) AS fact
  FROM aspect WHERE host IS NOT NULL OR rank IS NOT NULL
  GROUP BY attempt, name, place HAVING count(DISTINCT value) = 1
),
counted AS (
  SELECT attempt, name, value, count(*) AS places FROM place GROUP BY attempt, name, value
),
total AS (
  SELECT attempt, name, sum(places) AS places, max(places) AS most FROM counted
  GROUP BY attempt, name HAVING count(*) > 1
)
INSERT INTO different
SELECT p.name, p.value,
       (SELECT group_concat(c.value, ', ')
        FROM (SELECT value FROM counted o WHERE o.attempt IS p.attempt AND o.name = p.name AND o.value <> p.value
              ORDER BY places DESC, value LIMIT 3) c),
       p.rank, p.host, CASE WHEN p.fact IS NULL THEN p.event END, p.fact
FROM place p JOIN total t ON t.attempt IS p.attempt AND t.name = p.name
     JOIN counted c ON c.attempt IS p.attempt AND c.name = p.name AND c.value = p.value
WHERE c.places < t.most OR t.most * 2 <= t.places;
