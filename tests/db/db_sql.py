"""`sql`: formats, several statements, where the query comes from, what is refused, strangers' databases."""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import time

import db_lab

RUNAWAY = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
REFUSED = [
    "ATTACH 'other.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "PRAGMA user_version",
    "PRAGMA user_version = 7",
    "PRAGMA writable_schema = ON",
    "PRAGMA journal_mode = WAL",
    "PRAGMA trusted_schema = ON",
    "PRAGMA temp_store_directory = '/'",
    "PRAGMA wal_checkpoint",
    "PRAGMA optimize",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_user_version",
    "INSERT INTO string VALUES (1000000, 'x')",
    "UPDATE verdict SET code = 'healthy'",
    "UPDATE sqlite_master SET sql = ''",
    "UPDATE sqlite_schema SET sql = ''",
    "DELETE FROM operation",
    "DROP TABLE operation",
    "DROP VIEW calls",
    "CREATE TABLE t (a)",
    "CREATE TEMP TABLE t (a)",
    "CREATE TEMP VIEW t AS SELECT 1",
    "CREATE INDEX i ON operation (seq)",
    "CREATE TRIGGER t INSTEAD OF INSERT ON calls BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE t USING fts5(a)",
    "CREATE VIRTUAL TABLE temp.t USING dbstat",
    "ALTER TABLE operation ADD COLUMN x",
    "REINDEX",
    "ANALYZE",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT s",
    "SELECT load_extension('libm.so.6')",
    "SELECT writefile('written', 'x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
    "INSERT INTO string VALUES (1, 'x') RETURNING id",
    "WITH a AS (SELECT 1) DELETE FROM operation",
    ".shell touch written",
]


def test_table(lab):
    with db_lab.folder() as room:
        path = lab.database(room)

        def table(query):
            answer = lab.run("sql", path, query)
            lab.exits(query, answer, 0)
            return answer.out.decode()

        lab.same(
            "numbers right, texts left",
            table("SELECT 1 AS number, 'ab' AS word, 3 AS n"),
            ("number  word  n\n     1  ab    3\n"),
        )
        lab.same(
            "widths",
            table("SELECT 'a' AS x, 10 AS y UNION ALL SELECT 'longer', 5 ORDER BY 2"),
            ("x        y\nlonger   5\na       10\n"),
        )
        lab.same("NULL", table("SELECT NULL AS a, 'b' AS b"), "a  b\n   b\n")
        lab.same("no rows", table("SELECT rank FROM waits WHERE rank < 0"), "rank\n")
        lab.same(
            "wide letters",
            table("SELECT '中文' AS a, 1 AS b UNION ALL SELECT 'abcdef', 2 ORDER BY 2"),
            ("a       b\n中文    1\nabcdef  2\n"),
        )
        lab.same("control characters", table("SELECT 'a' || char(27, 10) || 'b' AS x"), "x\na\\x1b\\x0ab\n")
        lab.same("bytes", table("SELECT x'00ff41' AS x"), "x\n\\x00\\xffA\n")
        lab.same("several", table("SELECT 1 AS a; ;-- nothing\nSELECT 2 AS b;"), "a\n1\n\nb\n2\n")
        lab.same("nothing", table(" -- nothing"), "")
        many = table(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 2500) "
            "SELECT n, 'x' AS w FROM c"
        ).splitlines()
        lab.check(len(many) == 2501 and {len(line) for line in many[:1000]} == {7}, "2,500 rows")
        lab.check(table("SELECT object FROM verdict").count("\n") == 2, "a long cell stays one line")
        lab.check("…" in table("SELECT object FROM verdict"), "a long cell is cut with an ellipsis")


def test_csv(lab):
    values = ["plain", "", "a,b", 'say "x"', "two\nlines", "cr\r", " space ", "é中", "'"]
    with db_lab.folder() as room:
        path = lab.database(room)
        listed = ", ".join("'" + value.replace("'", "''") + "'" for value in values)
        answer = lab.run("sql", "--format", "csv", path, f'SELECT {listed}, NULL, 7, 0.5, 1 AS "a,b"')
        lab.exits("csv", answer, 0)
        rows = list(csv.reader(io.StringIO(answer.out.decode(), newline="")))
        lab.same("values", rows[1], [*values, "", "7", "0.5", "1"])
        lab.same("a name with a comma", rows[0][-1], "a,b")
        lab.same(
            "quoting",
            lab.run("sql", "--format", "csv", path, "SELECT 'a\"b' AS x, '' AS y, NULL AS z").out,
            b'x,y,z\n"a""b","",\n',
        )


def test_jsonl(lab):
    query = (
        "SELECT 9223372036854775807 AS most, -9223372036854775808 AS least, 1152921504606846977 AS id, "
        "0.1 AS real, 9e999 AS huge, -9e999 AS tiny, NULL AS none, '' AS empty, 'a\"b\\c' AS quoted, "
        "char(1, 10, 127, 133, 20013, 128512) AS odd, x'ff00c3' AS bytes, x'' AS hollow, '12' AS text"
    )
    with db_lab.folder() as room:
        path = lab.database(room)
        row = lab.rows(path, query)[0]
        lab.same("largest", (row["most"], row["least"], row["id"]), (2**63 - 1, -(2**63), 2**60 + 1))
        lab.same("reals", (row["real"], row["huge"], row["tiny"]), (0.1, float("inf"), float("-inf")))
        lab.same("none and empty", (row["none"], row["empty"], row["hollow"]), (None, "", ""))
        lab.same("texts", (row["quoted"], row["odd"]), ('a"b\\c', "\x01\n\x7f\x85中😀"))
        lab.same("bytes", row["bytes"], "\\xff\0\\xc3")
        lab.same("a text of digits", row["text"], "12")
        lab.same("operation ids", lab.rows(path, "SELECT max(id) >> 32 AS d FROM operation")[0], {"d": 7})
        whole = lab.rows(path, "SELECT * FROM operation")
        lab.same("all operations", len(whole), lab.rows(path, "SELECT count(*) AS n FROM operation")[0]["n"])
        lab.same("two results", [len(lab.rows(path, "SELECT 1 AS a; SELECT 2 AS b, 3 AS c"))], [2])


def test_sources_of_the_query(lab):
    with db_lab.folder() as room:
        path = lab.database(room)
        want = lab.run("sql", path, "SELECT count(*) AS n FROM operation").out
        lab.check(want, "an answer")
        lab.same(
            "standard input", lab.run("sql", path, stdin=b"SELECT count(*) AS n FROM operation").out, want
        )
        query = db_lab.write(
            os.path.join(room, "q.sql"), b"-- how many\nSELECT count(*) AS n\nFROM operation;\n"
        )
        lab.same("a file", lab.run("sql", path, "--file", query).out, want)
        lab.exits("no such file", lab.run("sql", path, "--file", query + "x"), 2, says="cannot read")
        lab.exits("a folder as file", lab.run("sql", path, "--file", room), 2, says="cannot read")
        lab.exits("file and query", lab.run("sql", path, "SELECT 1", "--file", query), 2)
        lab.exits("three words", lab.run("sql", path, "SELECT 1", "SELECT 2"), 2, says="one QUERY")
        lab.exits("no database", lab.run("sql"), 2)
        lab.exits("no such database", lab.run("sql", path + "x", "SELECT 1"), 2, says="cannot read")
        lab.exits("a folder", lab.run("sql", room, "SELECT 1"), 2, says="is not a hangscope database")
        lab.same("nothing on standard input", lab.run("sql", path), (0, b"", ""))
        lab.exits("NUL", lab.run("sql", path, stdin=b"SELECT 1;\0SELECT 2", timeout=10), 2, says="no text")
        lab.exits("bytes", lab.run("sql", path, stdin=b"SELECT '\xff\xfe' AS x"), 0)
        lab.exits("noise", lab.run("sql", path, stdin=bytes(range(1, 256)) * 40), 2)
        lab.exits("deep", lab.run("sql", path, stdin=b"SELECT " + b"(" * 5000 + b"1" + b")" * 5000), 2)
        long = b"SELECT '" + b"x" * 3_000_000 + b"' AS x"
        lab.same("a long query", len(lab.run("sql", "--format", "csv", path, stdin=long).out), 3_000_003)


def test_errors(lab):
    with db_lab.folder() as room:
        path = lab.database(room)
        for query, says in (
            ("SELEC 1", "syntax error"),
            ("SELECT", "incomplete input"),
            ("SELECT * FROM nowhere", "no such table: nowhere"),
            ("SELECT nowhere FROM operation", "no such column: nowhere"),
            ('SELECT "nowhere" FROM operation', "no such column"),
            ("SELECT nowhere()", "no such function"),
            ("SELECT 'open", "unrecognized token"),
            ("SELECT 1; SELEC 2", "syntax error"),
            ("SELECT " + ",".join("1" * 300), "too many columns"),
            ("SELECT abs(-9223372036854775808)", "integer overflow"),
        ):
            lab.exits(query[:40], lab.run("sql", path, query), 2, says=says)
        lab.exits(
            "a format", lab.run("sql", path, "SELECT 1", "--format", "xml"), 2, says="table, csv, jsonl"
        )
        with open("/dev/full", "wb") as full:
            answer = lab.run("sql", path, "SELECT * FROM operation", stdout=full)
        lab.exits("no room for the answer", answer, 4, says="cannot write to standard output")
        with open("/dev/full", "wb") as full:
            query = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c;" * 2
            answer = lab.run("sql", path, query, "--format", "csv", stdout=full, timeout=20)
        lab.exits("no room for an endless answer", answer, 4, says="cannot write to standard output")
        run = subprocess.run(
            [
                "bash",
                "-c",
                'set -o pipefail; "$0" sql --format csv "$1" "$2" | head -1',
                lab.binary,
                path,
                query,
            ],
            capture_output=True,
            timeout=20,
            check=False,
        )
        lab.same("a reader that has seen enough", (run.stdout, run.stderr), (b"n\n", b""))


def test_refused(lab):
    """Nothing but reading: exit status 2, and neither the database nor its folder changes."""
    with db_lab.folder() as room:
        path = lab.database(room)
        before, names = db_lab.digest(path), sorted(os.listdir(room))
        for query in REFUSED:
            lab.exits(query, lab.run("sql", path, query, cwd=room), 2, says="cannot be run")
            lab.exits(f"after a SELECT: {query}", lab.run("sql", path, "SELECT 1; " + query, cwd=room), 2)
        lab.same("the database", db_lab.digest(path), before)
        lab.same("the folder", sorted(os.listdir(room)), names)
        for query in (
            "PRAGMA table_info(operation)",
            "PRAGMA TABLE_LIST",
            "SELECT * FROM pragma_table_info('wait')",
            "EXPLAIN SELECT 1",
            "EXPLAIN QUERY PLAN SELECT * FROM calls",
            "VALUES (1), (2)",
            "SELECT * FROM sqlite_schema",
            "SELECT * FROM json_tree('[1, {}]')",
        ):
            answer = lab.run("sql", path, query, cwd=room)
            lab.check(answer.status == 0 and answer.out, f"{query}: got {answer.status} {answer.err}")


def ends_by_signal(lab, path, query, what):
    """A query without end: Ctrl-C ends it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        run = subprocess.Popen(
            [lab.binary, "sql", path, query], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(0.3)
        lab.same(f"{what} runs", run.poll(), None)
        run.send_signal(number)
        try:
            lab.same(f"{what} ends", (run.communicate(timeout=10)[0], run.returncode), (b"", -number))
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            lab.check(False, f"{what}: {number.name} does not end it")


def test_runaway(lab):
    with db_lab.folder() as room:
        path = lab.database(room)
        ends_by_signal(lab, path, RUNAWAY, "a runaway query")
        with db_lab.python_sqlite(path) as db:
            db.execute("DROP VIEW waits")
            db.execute(f"CREATE VIEW waits AS {RUNAWAY}")
        ends_by_signal(lab, path, "SELECT * FROM waits", "a stranger's view")
        lab.exits("the verdict all the same", lab.analyze(path), 1)


# ---- databases of strangers: what was done to one, in SQL; `!` lines need writable_schema ----

STRANGERS = {
    "a view that loads code": [
        "DROP VIEW waits",
        "CREATE VIEW waits AS SELECT load_extension('x.so') AS rank",
    ],
    "a view that writes": [
        "DROP VIEW waits",
        "CREATE VIEW waits AS SELECT writefile('written', 'x') AS rank",
    ],
    "a view of itself": ["DROP VIEW waits", "CREATE VIEW waits AS SELECT * FROM waits"],
    "a view on a virtual table": [
        "DROP VIEW waits",
        "CREATE VIRTUAL TABLE t USING fts5(a)",
        "CREATE VIEW waits AS SELECT * FROM t",
    ],
    "a view on the pages": ["DROP VIEW waits", "CREATE VIEW waits AS SELECT * FROM dbstat"],
    "a trigger": [
        "CREATE TRIGGER t INSTEAD OF INSERT ON waits BEGIN DELETE FROM verdict; END",
        "CREATE TRIGGER u AFTER INSERT ON string BEGIN DELETE FROM verdict; END",
    ],
    "a table that is a view": [
        "DROP TABLE diagnostic",
        f"CREATE VIEW diagnostic AS SELECT n AS id FROM ({RUNAWAY.replace('count(*)', 'n')})",
    ],
    "a job that is a view": [
        "DROP TABLE place",
        "CREATE VIEW place AS "
        f"SELECT n AS rank, 'x' AS host, 1 AS gpu FROM ({RUNAWAY.replace('count(*)', 'n')})",
    ],
    "a virtual table": [
        "DROP TABLE text_block",
        "CREATE VIRTUAL TABLE text_block USING fts5(packed, source)",
    ],
    "computed columns": [
        "DROP TABLE frame",
        "CREATE TABLE frame (id INTEGER PRIMARY KEY, function INTEGER, "
        "file INTEGER, line INTEGER AS (length(zeroblob(900000000))))",
    ],
    "an index that computes": ["CREATE INDEX i ON operation (abs(seq - 9223372036854775807) * 2.5)"],
    "statistics that lie": ["ANALYZE", "UPDATE sqlite_stat1 SET stat = '99999999999999999999 -1 x'"],
    "another encoding of a view": [
        "DROP VIEW waits",
        "CREATE VIEW waits AS SELECT x'ff00' AS rank, zeroblob(9) b",
    ],
    "a huge value": ["DROP VIEW waits", "CREATE VIEW waits AS SELECT length(zeroblob(999999999)) AS rank"],
    "many columns": ["CREATE TABLE wide (" + ", ".join(f"c{n}" for n in range(1999)) + ")"],
    "names that are SQL": ['CREATE TABLE "x; DROP TABLE y" ("a""b")'],
    "a schema of noise": ["!UPDATE sqlite_schema SET sql = 'CREATE nonsense' WHERE name = 'operation'"],
    "no schema text": ["!UPDATE sqlite_schema SET sql = NULL WHERE name = 'operation'"],
    "a schema of numbers": ["!UPDATE sqlite_schema SET sql = 17, rootpage = 'x' WHERE name = 'operation'"],
    "a page of another": [
        "!UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE "
        "name = 'string') WHERE name = 'operation'"
    ],
    "the schema's own page": ["!UPDATE sqlite_schema SET rootpage = 1 WHERE name = 'operation'"],
    "a page far away": ["!UPDATE sqlite_schema SET rootpage = 999999 WHERE name = 'operation'"],
    "a page below": ["!UPDATE sqlite_schema SET rootpage = -5 WHERE name = 'operation'"],
    "no page": ["!UPDATE sqlite_schema SET rootpage = 0 WHERE name = 'operation'"],
    "a table called a view": ["!UPDATE sqlite_schema SET type = 'view' WHERE name = 'operation'"],
    "a table twice": ["!INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 'operation'"],
    "a module nobody has": [
        "!UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE operation USING nobody()', "
        "rootpage = 0 WHERE name = 'operation'"
    ],
    "fewer columns": [
        "!UPDATE sqlite_schema SET sql = 'CREATE TABLE operation (id INTEGER PRIMARY KEY)' "
        "WHERE name = 'operation'"
    ],
    "no row ids": [
        "!UPDATE sqlite_schema SET sql = 'CREATE TABLE string (id INTEGER PRIMARY KEY, text) WITHOUT "
        "ROWID' WHERE name = 'string'"
    ],
}
ASKED = [
    "SELECT * FROM waits",
    "SELECT * FROM string LIMIT 5",
    "SELECT * FROM operation ORDER BY seq LIMIT 5",
    "SELECT count(*) FROM calls",
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM pragma_table_list",
    "SELECT * FROM diagnostic LIMIT 2",
]


def tamper(path, statements):
    for statement in statements:
        with db_lab.python_sqlite(path) as db:
            if statement.startswith("!"):
                db.execute("PRAGMA writable_schema = ON")
            db.execute(statement.lstrip("!"))


def harmless(lab, what, path, room):
    """Whatever is asked: an answer or a sentence, in time, and the file and its folder stay as they are."""
    before, names = db_lab.digest(path), sorted(os.listdir(room))
    for query in ASKED:
        if "diagnostic LIMIT" in query and "is a view" in what:
            continue
        lab.exits(f"{what}: {query}", lab.run("sql", path, query, cwd=room, timeout=30), 0, 2, 4)
    lab.exits(f"{what}: analyze", lab.run("analyze", "--json", path, cwd=room, timeout=30), 1, 4)
    lab.exits(f"{what}: merge", lab.run("merge", "-q", path, "-o", "/dev/null", cwd=room, timeout=30), 4)
    lab.same(f"{what}: the file", db_lab.digest(path), before)
    lab.same(f"{what}: the folder", sorted(os.listdir(room)), names)


def test_strangers(lab):
    with db_lab.folder() as room:
        whole = lab.database(room)
        for what, statements in STRANGERS.items():
            path = os.path.join(room, "stranger.db")
            shutil.copy(whole, path)
            tamper(path, statements)
            harmless(lab, what, path, room)
        shutil.copy(whole, path)
        tamper(path, STRANGERS["a table that is a view"])
        lab.exits("a view is refused", lab.analyze(path), 4, says="it has no table diagnostic")
        shutil.copy(whole, path)
        tamper(path, STRANGERS["a job that is a view"])
        lab.exits("another view is refused", lab.analyze(path), 4, says="it has no table place")
        shutil.copy(whole, path)
        tamper(path, STRANGERS["computed columns"])
        lab.exits("computed columns are refused", lab.analyze(path), 4, says="it has no table frame")


def test_beside_the_file(lab):
    """A journal or a log of writes that lies beside a database is a stranger's, too: not read, not made."""
    with db_lab.folder() as room:
        path = lab.database(room)
        want = lab.analyze(path)
        for suffix in ("-journal", "-wal", "-shm"):
            db_lab.write(path + suffix, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(range(256)) * 20)
        harmless(lab, "files beside it", path, room)
        lab.same("the verdict", lab.analyze(path)[:2], want[:2])
        for suffix in ("-journal", "-wal", "-shm"):
            os.unlink(path + suffix)
        data = bytearray(db_lab.read(path))
        data[18] = data[19] = 2  # a log of writes is to be kept
        db_lab.write(path, bytes(data))
        harmless(lab, "with a log of writes", path, room)
        lab.same("the verdict again", lab.analyze(path)[:2], want[:2])


def test_names(lab):
    """Names that SQLite could take for something else."""
    with db_lab.folder() as room:
        whole = lab.database(room)
        dumps = os.path.join(room, "dumps-job.db")
        want = lab.analyze(dumps).out
        for name in (
            "file:x.db",
            "file:x.db?mode=memory",
            ":memory:",
            "a?b#c%41.db",
            "sp ace.db",
            "中文.db",
            "-x.db",
            "x.db\n",
            "a'b\"c.db",
        ):
            to = name if name[0] != "-" else "./" + name
            answer = lab.run("ingest", "-q", dumps, "-o", to, cwd=room)
            lab.exits(f"ingest to {name!r}", answer, 0)
            if not lab.check(
                os.path.isfile(os.path.join(room, name)), f"{name!r} is there: {os.listdir(room)}"
            ):
                continue
            lab.same(f"{name!r}: bytes", db_lab.digest(os.path.join(room, name)), db_lab.digest(whole))
            lab.same(f"analyze {name!r}", lab.run("analyze", "--json", to, cwd=room).out, want)
            lab.same(f"sql {name!r}", lab.run("sql", to, "SELECT 1 AS a", cwd=room).out, b"a\n1\n")
            lab.same(f"//{name!r}", lab.analyze("/" + os.path.join(room, name)).out, want)
            os.unlink(os.path.join(room, name))
        lab.same("nothing else is left", sorted(os.listdir(room)), ["dumps-job.db", "job.db"])


def test_object_is_json(lab):
    with db_lab.folder() as room:
        path = lab.database(room)
        row = lab.rows(path, "SELECT code, confidence, object ->> '$.verdict.code' AS c FROM verdict")[0]
        lab.same("the code", (row["code"], row["c"]), ("rank-missing", "rank-missing"))
        object_ = json.loads(lab.rows(path, "SELECT object FROM verdict")[0]["object"])
        lab.same("the schema", object_["schema"], "hangscope.verdict/1")
