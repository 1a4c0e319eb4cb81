-- views.sql - what is stored beside tables.def's tables, and views that read well.

-- What the user said of the job: world_size; and written_by, the program that wrote the file.
CREATE TABLE job (key TEXT PRIMARY KEY, value TEXT) STRICT;

-- Where each rank ran, from --rank-map.
CREATE TABLE place (rank INTEGER PRIMARY KEY, host TEXT, gpu INTEGER) STRICT;

-- What the analysis found, the verdict's own finding first; ranks is a JSON list.
CREATE TABLE finding (
  id INTEGER PRIMARY KEY, code TEXT, severity TEXT, title TEXT, detail TEXT, ranks TEXT
) STRICT;

-- The records that prove a finding.
CREATE TABLE evidence (
  id INTEGER PRIMARY KEY, finding INTEGER REFERENCES finding(id), source TEXT, line INTEGER, record INTEGER,
  offset_bytes INTEGER, rank INTEGER, excerpt TEXT
) STRICT;

-- One row: the answer.
CREATE TABLE verdict (
  id INTEGER PRIMARY KEY, code TEXT, cause TEXT, confidence TEXT, action TEXT, summary TEXT,
  process_group TEXT, seq INTEGER, operation TEXT, hang_began_ns INTEGER,
  object TEXT  -- the whole object, as analyze --json prints it
) STRICT;

-- Who the verdict names.
CREATE TABLE culprit (rank INTEGER, host TEXT, gpu INTEGER, role TEXT) STRICT;

-- Every call with names instead of numbers.
CREATE VIEW calls AS
SELECT o.id, d.rank, ifnull(p.label, g.text) AS process_group, b.text AS backend, n.text AS operation, o.seq, o.p2p_seq,
       o.record,
       CASE o.flags & 3 WHEN 1 THEN 'scheduled' WHEN 2 THEN 'started' WHEN 3 THEN 'completed' END AS state,
       (o.flags & 4) != 0 AS retired, s.numel_in, s.numel_out, t.text AS dtype, h.text AS shape,
       strftime('%Y-%m-%d %H:%M:%f', o.created_ns / 1e9, 'unixepoch') AS created, o.created_ns,
       o.finished_us, o.duration_ms, s.timeout_ms, o.stack
FROM operation o
JOIN dump d ON d.id = o.id >> 32
JOIN member m ON m.id = d.first_member + o.member
JOIN signature s ON s.id = o.signature
LEFT JOIN frontier f ON f.member = m.id
LEFT JOIN process_group p ON p.id = f.process_group
LEFT JOIN string g ON g.id = ifnull(m.description, m.name)
LEFT JOIN string b ON b.id = s.backend
LEFT JOIN string n ON n.id = s.operation
LEFT JOIN string t ON t.id = s.dtypes_in
LEFT JOIN string h ON h.id = s.shapes_in;

-- How far every rank has come in every group that is used, furthest behind first.
CREATE VIEW frontiers AS
SELECT rank, process_group, entered, finished, most - entered AS behind, last_operation, calls, last_stack
FROM (
  SELECT f.rank, p.label AS process_group, f.entered, f.finished, n.text AS last_operation, f.calls,
         f.last_stack, p.id AS number, max(f.entered) OVER (PARTITION BY f.process_group) AS most,
         sum(f.calls) OVER (PARTITION BY f.process_group) AS used
  FROM frontier f
  JOIN process_group p ON p.id = f.process_group
  LEFT JOIN signature s ON s.id = f.last_signature
  LEFT JOIN string n ON n.id = s.operation
)
WHERE most > 0 OR used > 0
ORDER BY behind DESC, number, rank;

-- Who waits in what, for whom.
CREATE VIEW waits AS
SELECT w.rank, n.text AS operation, w.seq, p.label AS process_group, w.holder, w.how, w.operation AS call
FROM wait w
JOIN process_group p ON p.id = w.process_group
JOIN operation o ON o.id = w.operation
JOIN signature s ON s.id = o.signature
LEFT JOIN string n ON n.id = s.operation
ORDER BY w.rank, w.holder;

-- The records of the judged operation, side by side.
CREATE VIEW mismatches AS
SELECT m.rank, m.side, n.text AS operation, m.seq, p.label AS process_group, s.numel_in, h.text AS shape,
       t.text AS dtype
FROM mismatch m
JOIN process_group p ON p.id = m.process_group
JOIN signature s ON s.id = m.signature
LEFT JOIN string n ON n.id = s.operation
LEFT JOIN string h ON h.id = s.shapes_in
LEFT JOIN string t ON t.id = s.dtypes_in
ORDER BY m.side, m.rank;

-- Who comes last, how often and by how much; clocks of hosts differ.
CREATE VIEW straggler AS
SELECT p.label AS process_group, a.last_rank AS rank, count(*) AS times_last,
       round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY a.process_group), 1) AS percent,
       round(avg(a.late_ns) / 1e6, 3) AS mean_late_ms, round(max(a.late_ns) / 1e6, 3) AS max_late_ms
FROM arrival a JOIN process_group p ON p.id = a.process_group
GROUP BY a.process_group, a.last_rank
ORDER BY times_last DESC, p.id, rank;

-- What was read and what was odd about it; members of groups that left no dump have no source.
CREATE VIEW coverage AS
SELECT n.text AS source, s.format, d.rank AS rank, ifnull(p.host, h.text) AS host, s.records, s.diagnostics,
       d.cut_short
FROM source s
JOIN string n ON n.id = s.name
LEFT JOIN dump d ON d.source = s.id
LEFT JOIN place p ON p.rank = d.rank
LEFT JOIN string h ON h.id = d.host
UNION ALL
SELECT NULL, NULL, r.rank, p.host, 0, 0, NULL
FROM (
  SELECT DISTINCT j.value AS rank
  FROM (SELECT DISTINCT ranks FROM member) m JOIN list l ON l.id = m.ranks, json_each(l.items) j
) r
LEFT JOIN place p ON p.rank = r.rank
WHERE r.rank NOT IN (SELECT rank FROM dump WHERE rank IS NOT NULL)
ORDER BY rank, source;

-- Every dump: who made it, with which library, in which version of the format, over which time.
CREATE VIEW dumps AS
SELECT d.rank, n.text AS source, l.text AS library, (d.version / 1000) || '.' || (d.version % 1000) AS version,
       d.operation_count AS calls, strftime('%Y-%m-%d %H:%M:%f', d.first_ns / 1e9, 'unixepoch') AS first_call,
       strftime('%Y-%m-%d %H:%M:%f', d.last_ns / 1e9, 'unixepoch') AS last_stamp, d.cut_short
FROM dump d
LEFT JOIN source s ON s.id = d.source
LEFT JOIN string n ON n.id = s.name
LEFT JOIN string l ON l.id = d.library
ORDER BY d.rank, d.id;

-- Where calls come from: every frame of every stack, depth 0 innermost.
CREATE VIEW stacks AS
SELECT s.id AS stack, j.key AS depth, f.text AS function, p.text AS file, r.line
FROM stack s, json_each(s.frames) j
JOIN frame r ON r.id = j.value
LEFT JOIN string f ON f.id = r.function
LEFT JOIN string p ON p.id = r.file;

-- Where calls come from, in a line: the frames of a stack that are the user's, innermost first.
CREATE VIEW sites AS
SELECT stack, group_concat(file || ':' || line || ' ' || function, ' ‹ ') AS site
FROM (
  SELECT stack, replace(file, rtrim(file, replace(file, '/', '')), '') AS file, line, function
  FROM stacks
  WHERE file NOT LIKE '%-packages/%' AND file NOT LIKE 'torch/%' AND file NOT LIKE '%/torch/distributed/%'
  ORDER BY stack, depth
)
GROUP BY stack;

-- Why: the findings with their evidence.
CREATE VIEW proof AS
SELECT f.code, f.severity, f.detail, e.rank, e.source, e.line, e.record, e.excerpt
FROM finding f LEFT JOIN evidence e ON e.finding = f.id
ORDER BY f.id, e.id;
