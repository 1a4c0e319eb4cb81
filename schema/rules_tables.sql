-- rules_tables.sql - what a rule may ask: small real tables over a job in memory. `operation` is not
-- among them: rules read what was derived from it.

-- Who spoke: one row per speaker.
CREATE TABLE who (
  speaker INTEGER PRIMARY KEY, source INTEGER, rank INTEGER, how TEXT, host TEXT, local_rank INTEGER, pid INTEGER,
  role TEXT, attempt INTEGER, lines INTEGER, first_line INTEGER, last_line INTEGER, first_ns INTEGER,
  last_ns INTEGER, clock INTEGER
);
INSERT INTO who
SELECT s.id, s.source, i.rank, i.how, text(ifnull(i.host, s.host)), ifnull(i.local_rank, s.local_rank), s.pid,
       text(s.role), i.attempt, s.lines, s.first_line, s.last_line, s.first_ns, s.last_ns, s.clock
FROM hs_speaker s LEFT JOIN (SELECT * FROM hs_identity) i ON i.speaker = s.id;

-- What was said, with who said it. arg(args, 'name') gives a value, stack_has(stack, 'text') looks
-- into frames.
CREATE TABLE event (
  id INTEGER PRIMARY KEY, family TEXT, source INTEGER, line INTEGER, last_line INTEGER, count INTEGER,
  speaker INTEGER, rank INTEGER, host TEXT, local_rank INTEGER, pid INTEGER, attempt INTEGER, time_ns INTEGER,
  last_time_ns INTEGER, clock INTEGER, stack INTEGER, args INTEGER
);
INSERT INTO event
SELECT e.id, text(e.family), e.source, e.line, e.last_line, e.count, e.speaker, w.rank, w.host, w.local_rank, w.pid,
       w.attempt, e.time_ns, e.last_time_ns, e.clock, e.stack, e.args
FROM hs_event e CROSS JOIN who w ON w.speaker = e.speaker;
CREATE INDEX event_family ON event (family);
CREATE INDEX event_rank ON event (rank, family);

-- Settings, versions and devices.
CREATE TABLE fact (
  id INTEGER PRIMARY KEY, name TEXT, value TEXT, source INTEGER, line INTEGER, speaker INTEGER, rank INTEGER,
  host TEXT, pid INTEGER, attempt INTEGER
);
INSERT INTO fact
SELECT f.id, text(f.name), text(f.value), f.source, f.line, f.speaker, w.rank, w.host, w.pid, w.attempt
FROM hs_fact f CROSS JOIN who w ON w.speaker = f.speaker;
CREATE INDEX fact_name ON fact (name);

-- Communicators, one row per rank's end.
CREATE TABLE communicator (
  id INTEGER PRIMARY KEY, source INTEGER, speaker INTEGER, rank INTEGER, host TEXT, attempt INTEGER, comm_rank INTEGER,
  size INTEGER, device INTEGER, bus_id TEXT, comm_id INTEGER, start_line INTEGER, complete_line INTEGER,
  end_line INTEGER, start_ns INTEGER, complete_ns INTEGER, "end" TEXT
);
INSERT INTO communicator
SELECT c.id, c.source, c.speaker, w.rank, w.host, w.attempt, c.rank, c.size, c.device, text(c.bus_id), c.comm_id,
       c.start_line, c.complete_line, c.end_line, c.start_ns, c.complete_ns, text(c."end")
FROM hs_communicator c CROSS JOIN who w ON w.speaker = c.speaker;

-- Who says that it waits, and since when; from lines and from dumps.
CREATE TABLE waiter (rank INTEGER, attempt INTEGER, began_ns INTEGER, reported_ns INTEGER, clock INTEGER, op TEXT, seq INTEGER);
INSERT INTO waiter
SELECT rank, attempt, began_ns, reported_ns, clock, text(op), seq FROM hs_line_wait;

-- The last failed attempt: where the reason is looked for.
CREATE TABLE judged (attempt INTEGER, world_size INTEGER, began_ns INTEGER, reported_ns INTEGER, clock INTEGER);
