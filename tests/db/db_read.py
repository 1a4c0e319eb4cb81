"""Reading: files that are no databases, other versions, cut and damaged ones, rows that cannot be."""

import json
import os
import random
import re
import shutil
import sqlite3

import db_lab

JOB = "--ranks 4 --steps 24 --fault missing --culprits 2 --duplicate 1"
FLIPS = 200
CUTS = 60

# (what is done to a database, what is said of it); {big} is beyond 64 bits' half
ROWS = [
    ("DELETE FROM string WHERE id = 3", r"row 4 of string: rows are missing"),
    ("UPDATE string SET id = -1 WHERE id = 0", r"row -1 of string: no row has such a number"),
    ("UPDATE string SET id = 1000000 WHERE id = 2", r"row 3 of string: rows are missing"),
    (
        "UPDATE string SET text = (SELECT text FROM string WHERE id = 0) WHERE id = 5",
        r"row 5 of string: .*twice",
    ),
    ("UPDATE string SET text = NULL WHERE id = 5", r"row 5 of string: it is no text"),
    ("UPDATE string SET text = 17 WHERE id = 5", r"row 5 of string: it is no text"),
    ("DELETE FROM list WHERE id = 0", r"row 1 of list: rows are missing"),
    ("UPDATE list SET items = '0,1' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[0,-1]' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[0,1' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[0,,1]' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[0]]' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[99999999999]' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE list SET items = '[4000000000]' WHERE id = 0", r"row 0 of list: a number is out of range"),
    ("UPDATE list SET items = x'5b305d' WHERE id = 0", r"row 0 of list: it is not a list"),
    ("UPDATE frame SET function = 1000000 WHERE id = 1", r"row 1 of frame: it refers to a row"),
    ("UPDATE frame SET file = -1 WHERE id = 1", r"row 1 of frame: it refers to a row"),
    ("UPDATE frame SET line = -7 WHERE id = 1", r"row 1 of frame: a number is out of range"),
    ("UPDATE frame SET line = 5000000000 WHERE id = 1", r"row 1 of frame: a number is out of range"),
    ("UPDATE frame SET line = NULL WHERE id = 1", r"row 1 of frame: a value is missing"),
    ("UPDATE frame SET line = 'x' WHERE id = 1", r"row 1 of frame: a value is of another type"),
    ("UPDATE frame SET line = 1.5 WHERE id = 1", r"row 1 of frame: a value is of another type"),
    ("UPDATE stack SET frames = '[1000000]' WHERE id = 0", r"row 0 of stack: it refers to a row"),
    ("UPDATE stack SET frames = 'none' WHERE id = 0", r"row 0 of stack: it is not a list"),
    (
        "UPDATE stack SET frames = printf('[%s0]', replace(hex(zeroblob(2000)), '00', '0,')) WHERE id = 0",
        r"row 0 of stack: it is not a list",
    ),
    ("DELETE FROM signature WHERE id = 0", r"row 1 of signature: rows are missing|row 0 of operation"),
    ("UPDATE signature SET key = x'' WHERE id = 0", r"row 0 of signature: its key is no key"),
    ("UPDATE signature SET key = x'00' WHERE id = 0", r"row 0 of signature: its key is no key"),
    ("UPDATE signature SET key = zeroblob(4000) WHERE id = 0", r"row 0 of signature: its key is no key"),
    ("UPDATE signature SET key = x'ffffffff' || substr(key, 5) WHERE id = 0", r"row 0 of signature"),
    (
        "UPDATE signature SET key = CAST(substr(key, 1, 12) || x'ffffffff' || substr(key, 17) AS BLOB)",
        r"row 0 of signature: its key is no key",
    ),
    ("UPDATE signature SET key = key || zeroblob(4) WHERE id = 0", r"row 0 of signature"),
    ("UPDATE signature SET key = 'text' WHERE id = 0", r"row 0 of signature: its key is no key"),
    ("UPDATE source SET name = 1000000 WHERE id = 2", r"row 2 of source: it refers to a row"),
    ("UPDATE source SET name = NULL WHERE id = 2", r"row 2 of source: it has no name"),
    ("UPDATE source SET format = x'1b5b326a' WHERE id = 2", r"row 2 of source: a value is of another type"),
    (
        "UPDATE source SET format = char(27) || '[2J' WHERE id = 2",
        r"row 2 of source: a format that is no word",
    ),
    ("UPDATE source SET format = '' WHERE id = 2", r"row 2 of source: a format without a name"),
    ("UPDATE source SET records = -1 WHERE id = 2", r"row 2 of source: a number is out of range"),
    ("UPDATE source SET bids = 77 WHERE id = 2", r"row 2 of source: it refers to a row"),
    ("UPDATE source SET diagnostics = 5 WHERE id = 2", r"row 2 of source: it counts other rows"),
    ("UPDATE source SET diagnostics = 0", r"of source: it counts other rows"),
    ("DELETE FROM diagnostic", r"of source: it counts other rows"),
    ("UPDATE diagnostic SET source = 99 WHERE id = 0", r"row 0 of diagnostic: it refers to a row"),
    ("UPDATE diagnostic SET source = NULL WHERE id = 0", r"row 0 of diagnostic: it has no source"),
    ("UPDATE diagnostic SET code = 'nonsense' WHERE id = 0", r"row 0 of diagnostic: an unknown code"),
    ("UPDATE diagnostic SET code = 'healthy' WHERE id = 0", r"row 0 of diagnostic: an unknown code"),
    ("UPDATE diagnostic SET code = NULL WHERE id = 0", r"row 0 of diagnostic: a value is missing"),
    ("UPDATE diagnostic SET excerpt = 1 << 40 WHERE id = 0", r"row 0 of diagnostic: it refers to a row"),
    (
        "INSERT INTO diagnostic SELECT 50, code, source, excerpt, offset_bytes, record FROM diagnostic",
        r"row 50 of diagnostic: rows are missing",
    ),
    ("DELETE FROM dump WHERE id = 1", r"row 2 of dump: rows are missing"),
    ("DELETE FROM dump WHERE id = 3", r"refers to a row that is not there|belongs to a dump|groups"),
    ("UPDATE dump SET source = 99 WHERE id = 1", r"row 1 of dump: it refers to a row"),
    ("UPDATE dump SET source = NULL WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("UPDATE dump SET rank = 4000000000 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("UPDATE dump SET rank = -1 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("UPDATE dump SET first_member = 2 WHERE id = 1", r"row 1 of dump: its groups are another's"),
    ("UPDATE dump SET first_member = 4294967295 WHERE id = 1", r"row 1 of dump: its groups are not there"),
    ("UPDATE dump SET first_member = 0 WHERE id = 1", r"row 1 of dump: its groups are another's"),
    ("UPDATE dump SET member_count = 65535 WHERE id = 1", r"row 1 of dump: its groups are not there"),
    ("UPDATE dump SET member_count = 70000 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    (
        "UPDATE dump SET operation_count = operation_count + 1 WHERE id = 1",
        r"row 1 of dump: rows of operation",
    ),
    ("UPDATE dump SET operation_count = 3 WHERE id = 1", r"row 4294967299 of operation: it is out of place"),
    ("UPDATE dump SET operation_count = 1 << 31 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("UPDATE dump SET cut_short = 2 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("UPDATE dump SET last_ns = -5 WHERE id = 1", r"row 1 of dump: a number is out of range"),
    ("DELETE FROM member WHERE id = 0", r"row 1 of member: rows are missing"),
    ("DELETE FROM member", r"of operation: it is out of place|of dump: its groups are not there"),
    ("UPDATE member SET dump = 77 WHERE id = 0", r"row 0 of member: it refers to a row"),
    ("UPDATE member SET dump = 1 WHERE id = 0", r"row 0 of dump: its groups are another's"),
    ("UPDATE member SET name = NULL WHERE id = 0", r"row 0 of member: it has no dump or no name"),
    ("UPDATE member SET ranks = 77 WHERE id = 0", r"row 0 of member: it refers to a row"),
    ("UPDATE member SET local_id = 1 << 40 WHERE id = 0", r"row 0 of member: a number is out of range"),
    ("UPDATE member SET has_status = -1 WHERE id = 0", r"row 0 of member: a number is out of range"),
    ("DELETE FROM operation WHERE id = 3", r"row 4 of operation: it is out of place"),
    (
        "DELETE FROM operation WHERE id = (SELECT max(id) FROM operation)",
        r"of dump: rows of operation are missing",
    ),
    ("DELETE FROM operation", r"row 0 of dump: rows of operation are missing"),
    ("UPDATE operation SET id = -3 WHERE id = 3", r"row -3 of operation: it belongs to a dump"),
    (
        "UPDATE operation SET id = 77 << 32 WHERE id = 3",
        r"of operation: it (belongs to a dump|is out of place)",
    ),
    ("UPDATE operation SET id = 1000 WHERE id = 3", r"row 4 of operation: it is out of place"),
    ("UPDATE operation SET signature = 1000000 WHERE id = 3", r"row 3 of operation: it refers to a row"),
    ("UPDATE operation SET signature = NULL WHERE id = 3", r"row 3 of operation: it is out of place"),
    ("UPDATE operation SET stack = -1 WHERE id = 3", r"row 3 of operation: it refers to a row"),
    ("UPDATE operation SET member = 9 WHERE id = 3", r"row 3 of operation: it is out of place"),
    ("UPDATE operation SET member = 70000 WHERE id = 3", r"row 3 of operation: a number is out of range"),
    ("UPDATE operation SET flags = 256 WHERE id = 3", r"row 3 of operation: a number is out of range"),
    ("UPDATE operation SET seq = 1 << 32 WHERE id = 3", r"row 3 of operation: a number is out of range"),
    ("UPDATE operation SET seq = -1 WHERE id = 3", r"row 3 of operation: a number is out of range"),
    ("UPDATE operation SET created_ns = -1 WHERE id = 3", r"row 3 of operation: a number is out of range"),
    ("UPDATE operation SET created_ns = 1 << 62 WHERE id = 3", r"3 of operation: a number is out of range"),
    (
        "UPDATE operation SET duration_ms = 1e300 WHERE id = 3",
        r"row 3 of operation: a number is out of range",
    ),
    ("UPDATE operation SET record = x'00' WHERE id = 3", r"row 3 of operation: a value is of another type"),
    ("INSERT INTO job VALUES ('world_size', '-5')", r"table job: a value is out of range"),
    ("INSERT INTO job VALUES ('world_size', 'many')", r"table job: a value is out of range"),
    ("INSERT INTO job VALUES ('world_size', '99999999999999999999')", r"table job: a value is out of range"),
    ("INSERT INTO place VALUES (-1, 'x', 0)", r"table place: a value is out of range"),
    ("INSERT INTO place VALUES (1 << 40, 'x', 0)", r"table place: a value is out of range"),
    ("INSERT INTO place VALUES (1, NULL, 0)", r"table place: a value is out of range"),
    ("INSERT INTO place VALUES (1, 'x', -1)", r"table place: a value is out of range"),
    ("INSERT INTO place VALUES (1, 'x', 1 << 33)", r"table place: a value is out of range"),
    *[
        (f"DROP TABLE {name}", f"it has no table {name}")
        for name in (
            "string",
            "list",
            "frame",
            "stack",
            "args",
            "signature",
            "source",
            "diagnostic",
            "text_block",
            "speaker",
            "event",
            "communicator",
            "link",
            "fact",
            "dump",
            "member",
            "operation",
        )
    ],
    ("DROP TABLE job", r"it has no table job"),
    ("DROP TABLE place", r"it has no table place"),
    ("ALTER TABLE operation DROP COLUMN seq", r"no such column: seq"),
    ("ALTER TABLE operation RENAME TO calls_made", r"it has no table operation"),
]

# What cannot be told from truth: a verdict, whichever, and no crash.
ODD = [
    "UPDATE operation SET created_ns = 4611686018427387903",
    "UPDATE operation SET created_ns = NULL",
    "UPDATE operation SET created_ns = id + 1, finished_us = 4294967295",
    "UPDATE operation SET seq = 4294967295, p2p_seq = 4294967295",
    "UPDATE operation SET seq = 0",
    "UPDATE operation SET record = 4294967295",
    "UPDATE operation SET flags = 255",
    "UPDATE operation SET flags = id % 256",
    "UPDATE operation SET duration_ms = 9e999",
    "UPDATE operation SET duration_ms = NULL",
    "UPDATE operation SET stack = NULL",
    "UPDATE operation SET signature = (id * 7919) % (SELECT count(*) FROM signature)",
    "UPDATE operation SET seq = (id * 7919) % 4294967296",
    "UPDATE dump SET rank = 0",
    "UPDATE dump SET rank = NULL",
    "UPDATE dump SET rank = 10000000 - id",
    "UPDATE dump SET first_ns = 4611686018427387903, last_ns = 1",
    "UPDATE dump SET first_ns = NULL, last_ns = 4611686018427387903",
    "UPDATE dump SET version = 4294967295",
    "UPDATE dump SET source = 0",
    "UPDATE dump SET has_entries = 0, cut_short = 1",
    "UPDATE member SET enqueued = 9223372036854775807, started = -9223372036854775808, completed = -1",
    "UPDATE member SET enqueued = -9223372036854775808, completed = 9223372036854775807",
    "UPDATE member SET local_id = -2147483648",
    "UPDATE member SET ranks = NULL",
    "UPDATE member SET name = id % 5, description = NULL, backend = 0",
    "UPDATE list SET items = '[]'",
    "UPDATE list SET items = '[0,0,0,0]' WHERE id = 0",
    "UPDATE list SET items = '[10000000,9999999,3,2]' WHERE id = 0",
    "UPDATE list SET items = '[1,2,3]' WHERE id = 0",
    "UPDATE list SET items = printf('[%s7]', replace(hex(zeroblob(20000)), '00', '10000000,')) WHERE id = 0",
    "UPDATE string SET text = text || char(27, 10, 0, 8238) || x'ff'",
    "UPDATE string SET text = CAST(x'fffe00' || id AS TEXT)",
    "UPDATE string SET text = zeroblob(1000000 + id)",
    "UPDATE string SET text = 'nccl:send ' || id || '->' || 4294967295",
    "UPDATE string SET text = 'nccl:all_reduce' || id",
    "UPDATE source SET name = 0",
    "UPDATE source SET size_bytes = -1, content = 0, records = 4294967295",
    "UPDATE source SET format = 'some-other-format', bids = NULL",
    "UPDATE diagnostic SET offset_bytes = -2, record = -9223372036854775808, excerpt = NULL",
    "UPDATE signature SET key = CAST(substr(key, 1, 8) || zeroblob(24) AS BLOB) WHERE id = 0",
    "INSERT INTO job VALUES ('world_size', '10000000')",
    "INSERT INTO job VALUES ('more', 'nobody knows')",
    "INSERT INTO place SELECT id, 'host', NULL FROM string",
    "DELETE FROM job",
    "DELETE FROM verdict",
    "UPDATE verdict SET object = '{}', code = 'healthy'",
    "DELETE FROM frontier; DELETE FROM wait; DELETE FROM process_group",
    "UPDATE frontier SET rank = -7, process_group = 99",
    "DROP TABLE wait; DROP TABLE finding; DROP TABLE evidence",
    "CREATE TABLE notes (text); CREATE INDEX i ON operation (seq)",
    "INSERT INTO text_block VALUES (0, 0, 1, 1, 1, x'28b52ffd')",
]


def loosen(path):
    """Without STRICT and references, so that rows can hold anything."""
    with db_lab.python_sqlite(path) as db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE type = 'table'")
    with db_lab.python_sqlite(path) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        for table in ("frame", "operation", "string", "source", "stack", "signature", "dump"):
            columns = [row[1:3] for row in db.execute(f"PRAGMA table_info({table})")]
            listed = ", ".join(
                f'"{name}"' + (" INTEGER PRIMARY KEY" if name == "id" else "") for name, _ in columns
            )
            db.execute(f"CREATE TABLE loose ({listed})")
            db.execute(f"INSERT INTO loose SELECT * FROM {table}")
            db.execute(f"DROP TABLE {table}")
            db.execute(f"ALTER TABLE loose RENAME TO {table}")
    return path


def damage(path, statements):
    with db_lab.python_sqlite(path) as db:
        db.execute("PRAGMA legacy_alter_table = ON")
        for statement in statements.split(";"):
            db.execute(statement)


def strict_database(lab, room):
    whole = lab.database(room, JOB)
    with db_lab.python_sqlite(whole) as db:
        for view in [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]:
            db.execute(f"DROP VIEW {view}")
    return whole


def test_rows(lab):
    """What a row cannot be: exit status 4, with the table and the row."""
    with db_lab.folder() as room:
        strict = strict_database(lab, room)
        loose = loosen(shutil.copy(strict, os.path.join(room, "loose.db")))
        lab.exits("without STRICT", lab.analyze(loose), 1)
        path = os.path.join(room, "damaged.db")
        told = 0
        for statement, says in ROWS:
            for whole in (strict, loose):
                shutil.copy(whole, path)
                try:
                    damage(path, statement)
                except sqlite3.Error as error:
                    lab.check(whole is strict, f"{statement}: {error}")
                    continue
                for words in (
                    ("analyze", "--json", path),
                    ("merge", whole, path, "-o", os.path.join(room, "x.db")),
                ):
                    answer = lab.run(*words)
                    lab.exits(f"{statement}: {words[0]}", answer, 4, says="damaged.db' is damaged: ")
                    lab.check(re.search(says, answer.err), f"{statement}: want /{says}/, got {answer.err}")
                told += 1
        lab.check(told > len(ROWS), "too few could be tried")
        lab.check(not os.path.exists(os.path.join(room, "x.db")), "a database from a damaged one")


# What is done to the calls of a large database, which two threads read, and which row is told: of several
# the first. Dumps 0 to 3 are one half, 4 to 7 the other.
HALVES = [
    ("UPDATE operation SET flags = 999 WHERE id = 5 << 32 | 7", (5 << 32) + 7),
    ("UPDATE operation SET flags = 999 WHERE id IN (1 << 32 | 7, 5 << 32 | 7)", (1 << 32) + 7),
    ("UPDATE operation SET member = 9 WHERE id >> 32 > 3", 4 << 32),
    ("DELETE FROM operation WHERE id = 7 << 32", (7 << 32) + 1),
    ("UPDATE operation SET id = 9 << 32 WHERE id = 7 << 32 | 9", (7 << 32) + 10),
    ("UPDATE operation SET id = -5 WHERE id = 7 << 32 | 9", -5),
]


def test_two_threads(lab):
    """A database that is large enough for two of them gives the verdict of its dumps, or says why not."""
    job = "--ranks 8 --steps 2700 --ring 0 --no-frames --fault missing --culprits 5"
    with db_lab.folder() as room:
        whole = lab.database(room, job)
        rows = lab.rows(whole, "SELECT count(*) AS n FROM operation")
        lab.check(rows[0]["n"] > 14000, f"two_threads: {rows} is too little")
        verdicts = [
            json.loads(lab.analyze(path).out)["verdict"]
            for path in (os.path.join(room, "dumps-job.db"), whole)
        ]
        lab.check(verdicts[0] == verdicts[1], f"two_threads: {verdicts}")
        for statement, row in HALVES:
            path = os.path.join(room, "damaged.db")
            shutil.copy(whole, path)
            damage(path, statement)
            lab.exits(statement, lab.analyze(path), 4, says=f"row {row} of operation: ")


def test_odd_rows(lab):
    """What a row may be, however odd: some verdict or a sentence, the same from a database written again."""
    with db_lab.folder() as room:
        whole = strict_database(lab, room)
        path, again = os.path.join(room, "odd.db"), os.path.join(room, "again.db")
        for statement in ODD:
            shutil.copy(whole, path)
            damage(path, statement)
            first = lab.analyze(path)
            if not lab.exits(statement, first, 0, 1, 2, 3, 4) or first.status in (2, 4):
                continue
            lab.check(
                "\x1b" not in lab.run("analyze", path, "-vv").out.decode(),
                f"{statement}: escapes on the screen",
            )
            answer = lab.run("merge", "-q", path, "-o", again)
            if lab.exits(f"{statement}: merge", answer, 0):
                lab.same(f"{statement}: the verdict again", lab.analyze(again)[:2], first[:2])


def test_no_databases(lab):
    """Files of other kinds, and databases of others."""
    with db_lab.folder() as room:
        files = {
            "empty": b"",
            "text": b"SELECT 1;\n",
            "head": b"SQLite format 3\0",
            "zeros": bytes(5000),
            "dump": db_lab.read(os.path.join(lab.put(JOB, os.path.join(room, "d")), "nccl_trace_rank_0"))[
                :900
            ],
        }
        for name, data in files.items():
            db_lab.write(os.path.join(room, name), data)
        with db_lab.python_sqlite(os.path.join(room, "foreign")) as db:
            db.execute("CREATE TABLE operation (id INTEGER PRIMARY KEY)")
        files["foreign"] = b""
        for name in files:
            path = os.path.join(room, name)
            says = "is not a hangscope database"
            lab.exits(f"sql {name}", lab.run("sql", path, "SELECT 1"), 2, says=says)
            lab.exits(f"merge {name}", lab.run("merge", path, "-o", os.path.join(room, "x")), 2, says=says)
            if name != "dump":
                status = 3 if name == "text" else 2  # any text may be a log: this one says nothing
                lab.exits(f"analyze {name}", lab.analyze(path), status)
        for words in (("sql", "gone", "SELECT 1"), ("merge", "gone", "-o", "x"), ("analyze", "gone")):
            lab.exits(f"{words[0]} of nothing", lab.run(*words, cwd=room), 2, says="gone")
        lab.same("nothing is written", os.path.exists(os.path.join(room, "x")), False)
        if os.getuid() == 0:
            whole = lab.database(room)
            os.chmod(whole, 0)
            for words in (("sql", whole, "SELECT 1"), ("analyze", whole), ("merge", whole, "-o", "/tmp/x")):
                lab.exits(f"{words[0]}: not to be read", lab.run(*words, user=db_lab.NOBODY), 2)


def test_versions(lab):
    """A database of another version: refused with both numbers."""
    with db_lab.folder() as room:
        whole = lab.database(room, JOB)
        path = os.path.join(room, "other.db")
        for version in (0, 1, 99, -1, 2**31 - 1):
            shutil.copy(whole, path)
            with db_lab.python_sqlite(path) as db:
                db.execute(f"PRAGMA user_version = {version}")
            says = f"is a database of version {version}, and this hangscope reads version 3"
            for words in (
                ("analyze", path),
                ("sql", path, "SELECT 1"),
                ("merge", whole, path, "-o", path + "x"),
            ):
                lab.exits(f"{words[0]}, version {version}", lab.run(*words), 2, says=says)
            lab.exits(
                "written over", lab.run("ingest", "-q", os.path.join(room, "dumps-job.db"), "-o", path), 0
            )


def test_seeds(lab):
    """The fuzzer starts from whole databases; make_seeds.py writes them again when tables change."""
    seeds = os.path.join(os.path.dirname(db_lab.HERE), "fuzz", "corpus", "store")
    for name in sorted(os.listdir(seeds)):
        lab.exits(f"seed {name}", lab.analyze(os.path.join(seeds, name)), 0, 1, 3)


def survives(lab, what, path, room):
    """Any answer or a sentence, by contract; the same file afterwards."""
    before = db_lab.digest(path)
    lab.exits(f"{what}: analyze", lab.run("analyze", "--json", path, timeout=60), 0, 1, 2, 3, 4)
    query = "SELECT count(*) FROM calls; SELECT * FROM frontiers; SELECT * FROM waits; SELECT * FROM stacks"
    lab.exits(f"{what}: sql", lab.run("sql", path, query, timeout=60), 0, 2, 4)
    lab.same(f"{what}: the file", db_lab.digest(path), before)


def test_cut(lab):
    """Cut at any length: a cut database is never taken for a whole one."""
    with db_lab.folder() as room:
        data = db_lab.read(lab.database(room, JOB))
        path = os.path.join(room, "cut.db")
        source = random.Random(4)
        lengths = {0, 1, 15, 16, 99, 100, 101, 4095, 4096, 8191, 8192, 8193, len(data) - 1, len(data) - 8192}
        lengths |= {source.randrange(len(data)) for _ in range(CUTS)}
        for length in sorted(lengths):
            db_lab.write(path, data[:length])
            survives(lab, f"cut at {length}", path, room)
            answer = lab.run("merge", path, "-o", os.path.join(room, "x"))
            lab.exits(f"cut at {length}: merge", answer, 2, 4)
        for more in (1, 8192, 100000):
            db_lab.write(path, data + bytes(more))
            survives(lab, f"{more} bytes behind", path, room)


def test_flips(lab):
    """Bytes that changed, at random places and in the first page."""
    with db_lab.folder() as room:
        data = db_lab.read(lab.database(room, JOB))
        path = os.path.join(room, "flipped.db")
        for seed in range(FLIPS):
            source = random.Random(seed)
            changed = bytearray(data)
            end = len(data) if seed % 3 else 8192
            for _ in range(source.choice((1, 1, 2, 10, 100))):
                changed[source.randrange(end)] = source.choice(
                    (0, 1, 0x7F, 0x80, 0xFF, source.randrange(256))
                )
            db_lab.write(path, bytes(changed))
            survives(lab, f"flips, seed {seed}", path, room)


def test_pages(lab):
    """Whole pages that went: zeros, noise, another page's bytes."""
    with db_lab.folder() as room:
        data = db_lab.read(lab.database(room, JOB))
        path = os.path.join(room, "pages.db")
        pages = len(data) // 8192
        for page in range(pages):
            source = random.Random(page)
            other = source.randrange(pages) * 8192
            for what, bytes_ in (
                ("zeros", bytes(8192)),
                ("noise", source.randbytes(8192)),
                ("another", data[other : other + 8192]),
            ):
                if page or what == "another":
                    db_lab.write(path, data[: page * 8192] + bytes_ + data[(page + 1) * 8192 :])
                    survives(lab, f"page {page}: {what}", path, room)
