-- views.sql - what is stored beside tables.def's tables, and views that read well.

-- What the user said of the job.
CREATE TABLE job (key TEXT PRIMARY KEY, value TEXT) STRICT;
CREATE TABLE place (rank INTEGER PRIMARY KEY, host TEXT, gpu INTEGER) STRICT;

-- Lines of text that rules may cite, many to a block: filled by the readers of logs.
CREATE TABLE text_block (
  id INTEGER PRIMARY KEY, source INTEGER REFERENCES source(id), first_line INTEGER, line_count INTEGER,
  packed BLOB  -- zstd
) STRICT;

CREATE TABLE finding (
  id INTEGER PRIMARY KEY, code TEXT, severity TEXT, title TEXT, detail TEXT, ranks TEXT
) STRICT;
CREATE TABLE evidence (
  id INTEGER PRIMARY KEY, finding INTEGER REFERENCES finding(id), source TEXT, line INTEGER, record INTEGER,
  offset_bytes INTEGER, rank INTEGER, excerpt TEXT
) STRICT;
CREATE TABLE verdict (
  id INTEGER PRIMARY KEY, code TEXT, cause TEXT, confidence TEXT, action TEXT, summary TEXT,
  process_group TEXT, seq INTEGER, operation TEXT, hang_began_ns INTEGER,
  object TEXT  -- the whole object, as analyze --json prints it
) STRICT;
CREATE TABLE culprit (rank INTEGER, host TEXT, gpu INTEGER, role TEXT) STRICT;

-- Every call with names instead of numbers.
CREATE VIEW calls AS
SELECT o.id, d.rank, g.text AS process_group, b.text AS backend, n.text AS operation, o.seq, o.p2p_seq,
       o.record,
       CASE o.flags & 3 WHEN 1 THEN 'scheduled' WHEN 2 THEN 'started' WHEN 3 THEN 'completed' END AS state,
       (o.flags & 4) != 0 AS retired, s.numel_in, s.numel_out, t.text AS dtype, h.text AS shape,
       o.created_ns, o.finished_us, o.duration_ms, s.timeout_ms, o.stack
FROM operation o
JOIN dump d ON d.id = o.id >> 32
JOIN member m ON m.id = d.first_member + o.member
JOIN signature s ON s.id = o.signature
LEFT JOIN string g ON g.id = ifnull(m.description, m.name)
LEFT JOIN string b ON b.id = s.backend
LEFT JOIN string n ON n.id = s.operation
LEFT JOIN string t ON t.id = s.dtypes_in
LEFT JOIN string h ON h.id = s.shapes_in;

-- How far every rank has come in every group it uses, furthest behind first.
CREATE VIEW frontiers AS
SELECT f.rank, p.label AS process_group, f.entered, f.finished,
       max(f.entered) OVER (PARTITION BY f.process_group) - f.entered AS behind, n.text AS last_operation,
       f.calls
FROM frontier f
JOIN process_group p ON p.id = f.process_group
LEFT JOIN signature s ON s.id = f.last_signature
LEFT JOIN string n ON n.id = s.operation
ORDER BY behind DESC, p.id, f.rank;

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

-- What was read and what was odd about it.
CREATE VIEW coverage AS
SELECT n.text AS source, s.format, d.rank, h.text AS host, s.records, s.diagnostics, d.cut_short
FROM source s
JOIN string n ON n.id = s.name
LEFT JOIN dump d ON d.source = s.id
LEFT JOIN string h ON h.id = d.host
ORDER BY s.id;

-- Where calls come from: the innermost frames of every stack.
CREATE VIEW stacks AS
SELECT s.id AS stack, j.key AS depth, f.text AS function, p.text AS file, r.line
FROM stack s, json_each(s.frames) j
JOIN frame r ON r.id = j.value
LEFT JOIN string f ON f.id = r.function
LEFT JOIN string p ON p.id = r.file;

-- Why: the findings with their evidence.
CREATE VIEW proof AS
SELECT f.code, f.severity, f.detail, e.rank, e.source, e.line, e.record, e.excerpt
FROM finding f LEFT JOIN evidence e ON e.finding = f.id
ORDER BY f.id, e.id;
