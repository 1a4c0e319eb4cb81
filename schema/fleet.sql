-- fleet.sql - a fleet: many jobs, one row each, and views for what operators ask of them.

-- What the file is: written_by, the program that wrote it.
CREATE TABLE fleet (key TEXT PRIMARY KEY, value TEXT) STRICT;

-- A job. `stamp` stands for names, sizes and times of its files, `tool` for the program and rules that judged it: if both are as they were, it is not judged again.
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,  -- absolute
  name TEXT,                  -- below the ROOT that was searched
  files INTEGER, bytes INTEGER, newest_ns INTEGER, stamp INTEGER, tool TEXT,
  state TEXT,                 -- judged, unreadable, crashed, timeout, memory, failed
  exit INTEGER, signal INTEGER, "limit" TEXT,  -- how its process ended; which limit: time, cpu, memory
  tries INTEGER,              -- 2: it failed among others and once more alone
  trouble TEXT,               -- why it was not judged
  code TEXT, cause TEXT, confidence TEXT, action TEXT, summary TEXT,  -- of the verdict
  operation TEXT, group_kind TEXT,
  fingerprint TEXT,           -- equal for the same fault; NULL: healthy, undetermined, not judged
  sketch TEXT,                -- what the fingerprint stands for
  happened_ns INTEGER, happened_from TEXT,  -- hang: it began then; last: the last time that the job tells; files: when the newest file was written
  world_size INTEGER,
  gpus INTEGER,               -- that stood still: one per rank, of the world or as far as ranks are seen; NULL: not known, or none (gloo)
  idle_ns INTEGER,            -- from the beginning of the hang to the last sign of the job
  kept_db TEXT, kept_report TEXT,  -- beside fleet.db
  wall_ms INTEGER, cpu_ms INTEGER, peak_bytes INTEGER, judged_ns INTEGER  -- of judging it
) STRICT;
CREATE INDEX job_fingerprint ON job (fingerprint);
CREATE INDEX job_happened ON job (happened_ns);

-- Who the verdict names.
CREATE TABLE culprit (job INTEGER REFERENCES job(id), rank INTEGER, host TEXT, gpu INTEGER, role TEXT) STRICT;
CREATE INDEX culprit_job ON culprit (job);

-- What else is worth knowing; the verdict's own finding comes first.
CREATE TABLE finding (job INTEGER REFERENCES job(id), code TEXT, severity TEXT, ranks INTEGER) STRICT;
CREATE INDEX finding_job ON finding (job);

-- Where in the user's code the culprit stands (`who` = culprit), or those that wait; depth 0 is innermost.
CREATE TABLE frame (job INTEGER REFERENCES job(id), who TEXT, depth INTEGER, file TEXT, function TEXT) STRICT;
CREATE INDEX frame_job ON frame (job);

-- Every job with its verdict on one line: what `fleet export` and `batch --jsonl` give. Nothing in it depends on when or how fast it was judged.
CREATE VIEW jobs AS
SELECT j.path, j.name, j.state, j.code, j.cause, j.confidence, j.action, j.summary, j.operation, j.group_kind,
       (SELECT group_concat(rank, ' ') FROM (SELECT DISTINCT rank FROM culprit
        WHERE job = j.id AND rank IS NOT NULL ORDER BY rank)) AS ranks,
       (SELECT group_concat(host, ' ') FROM (SELECT DISTINCT host FROM culprit
        WHERE job = j.id AND host IS NOT NULL ORDER BY host)) AS hosts,
       (SELECT group_concat(gpu, ' ') FROM (SELECT DISTINCT host || ':' || gpu AS gpu FROM culprit
        WHERE job = j.id AND host IS NOT NULL AND gpu IS NOT NULL ORDER BY 1)) AS gpus,
       (SELECT group_concat(place, ' ‹ ') FROM (SELECT file || ' ' || function AS place FROM frame
        WHERE job = j.id AND who = 'culprit' ORDER BY depth)) AS place,
       (SELECT group_concat(place, ' ‹ ') FROM (SELECT file || ' ' || function AS place FROM frame
        WHERE job = j.id AND who = 'waiting' ORDER BY depth)) AS waiting_place,
       j.fingerprint, strftime('%Y-%m-%dT%H:%M:%SZ', j.happened_ns / 1000000000, 'unixepoch') AS happened,
       j.happened_from, j.world_size,
       round(j.idle_ns / 1000000 * j.gpus / 3600000.0, 3) AS gpu_hours,
       j.exit, j.signal, j."limit", j.tries, j.trouble, j.files, j.bytes, j.kept_db, j.kept_report, j.tool
FROM job j;

-- Jobs of each day and verdict (or, when there is none, of the state), and what they cost: GPU-hours from the beginning of the hang to the last sign of the job, and how many of the jobs do not tell.
CREATE VIEW verdicts_over_time AS
SELECT date(happened_ns / 1000000000, 'unixepoch') AS day, ifnull(code, state) AS verdict, count(*) AS jobs,
       round(total(idle_ns / 1000000 * gpus) / 3600000.0, 3) AS gpu_hours,
       sum(code IS NOT 'healthy' AND (idle_ns IS NULL OR gpus IS NULL)) AS jobs_of_unknown_cost
FROM job GROUP BY day, verdict ORDER BY day, jobs DESC, verdict;

-- Every fault by its fingerprint, the most frequent first; `example` is the path of its newest job.
CREATE VIEW faults AS
SELECT fingerprint, code, cause, operation, group_kind, sketch, count(*) AS jobs,
       strftime('%Y-%m-%dT%H:%M:%SZ', min(happened_ns) / 1000000000, 'unixepoch') AS first_happened,
       strftime('%Y-%m-%dT%H:%M:%SZ', max(happened_ns) / 1000000000, 'unixepoch') AS last_happened,
       round(total(idle_ns / 1000000 * gpus) / 3600000.0, 3) AS gpu_hours,
       sum(idle_ns IS NULL OR gpus IS NULL) AS jobs_of_unknown_cost,
       (SELECT n.path FROM job n WHERE n.fingerprint = j.fingerprint
        ORDER BY n.happened_ns DESC, n.path LIMIT 1) AS example
FROM job j WHERE fingerprint IS NOT NULL
GROUP BY fingerprint ORDER BY jobs DESC, last_happened DESC, fingerprint;

-- The faults that came more than once.
CREATE VIEW recurring AS SELECT * FROM faults WHERE jobs > 1;

-- Faults that were not seen before the last seven days, counted back from the newest job of the fleet.
CREATE VIEW new_faults AS
SELECT f.* FROM faults f
WHERE f.first_happened > (SELECT strftime('%Y-%m-%dT%H:%M:%SZ', max(happened_ns) / 1000000000 - 604800, 'unixepoch')
                          FROM job);

-- Hosts, GPUs and places in the user's code that verdicts name in more than one job.
CREATE VIEW offenders AS
SELECT kind, what, count(DISTINCT job) AS jobs, count(DISTINCT fingerprint) AS faults,
       group_concat(DISTINCT code) AS codes,
       strftime('%Y-%m-%dT%H:%M:%SZ', min(happened_ns) / 1000000000, 'unixepoch') AS first_happened,
       strftime('%Y-%m-%dT%H:%M:%SZ', max(happened_ns) / 1000000000, 'unixepoch') AS last_happened
FROM (
  SELECT * FROM (
    SELECT 'host' AS kind, c.host AS what, c.job FROM culprit c WHERE c.host IS NOT NULL
    UNION SELECT 'gpu', c.host || ':' || c.gpu, c.job FROM culprit c WHERE c.host IS NOT NULL AND c.gpu IS NOT NULL
    UNION SELECT 'place', f.file || ' ' || f.function, f.job FROM frame f WHERE f.who = 'culprit' AND f.depth = 0
  ) o JOIN job j ON j.id = o.job ORDER BY j.code
)
GROUP BY kind, what HAVING jobs > 1 ORDER BY kind, jobs DESC, what;

-- One row: what the jobs that are not healthy cost as far as they tell, and the share (0 to 1) of them that does not.
CREATE VIEW lost AS
SELECT count(*) AS jobs, sum(idle_ns IS NOT NULL AND gpus IS NOT NULL) AS jobs_of_known_cost,
       round(total(idle_ns / 1000000 * gpus) / 3600000.0, 3) AS gpu_hours,
       round(avg(idle_ns IS NULL OR gpus IS NULL), 3) AS unknown_share
FROM job WHERE code != 'healthy';

-- Jobs that could not be judged, and why.
CREATE VIEW not_judged AS
SELECT path, name, state, exit, signal, "limit", tries, trouble FROM job WHERE state != 'judged' ORDER BY path;

-- Where the databases and reports of jobs were kept: paths beside fleet.db.
CREATE VIEW kept AS
SELECT path, name, code, fingerprint, kept_db, kept_report FROM job
WHERE kept_db IS NOT NULL OR kept_report IS NOT NULL ORDER BY path;
