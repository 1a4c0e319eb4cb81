"""A database written here as others open it: the released sqlite3 shell and Python's sqlite3."""

import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess

import db_lab
import db_same

VIEWS = {
    "calls": "SELECT count(*) FROM operation",
    "mismatches": "SELECT count(*) FROM mismatch",
    "waits": "SELECT count(*) FROM wait",
    "stacks": "SELECT sum(json_array_length(frames)) FROM stack",
    "proof": "SELECT (SELECT count(*) FROM evidence) + (SELECT count(*) FROM finding f WHERE NOT EXISTS "
    "(SELECT 1 FROM evidence e WHERE e.finding = f.id))",
}


def jobs(lab, room):
    """(name, database, verdict object) of every sample and many scenarios."""
    for dumps in db_lab.samples():
        yield from one(lab, os.path.basename(os.path.dirname(dumps)), dumps, room)
    for name in db_same.SCENARIOS:
        dumps = lab.put(lab.scenarios[name].arguments, os.path.join(room, "dumps"))
        yield from one(lab, name, dumps, room)
        shutil.rmtree(dumps)


def one(lab, name, dumps, room):
    path = os.path.join(room, "job.db")
    answer = lab.run("analyze", "-q", "--json", dumps, "--db", path)
    if lab.exits(name, answer, 0, 1, 3):
        yield name, path, json.loads(answer.out)


def view_names(db):
    return [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")]


def test_python(lab):
    """Whole, with all references; every view is read; the numbers are those of the verdict object."""
    with db_lab.folder() as room:
        for name, path, report in jobs(lab, room):
            db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            lab.same(f"{name}: integrity", db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            lab.same(f"{name}: references", db.execute("PRAGMA foreign_key_check").fetchall(), [])
            views = view_names(db)
            lab.check(set(VIEWS) <= set(views), f"{name}: views {views}")
            for view in views:
                rows = db.execute(f"SELECT * FROM {view}").fetchall()
                if view in VIEWS:
                    want = db.execute(VIEWS[view]).fetchone()[0] or 0
                    lab.same(f"{name}: rows of {view}", len(rows), want)
            agrees(lab, name, db, report)
            db.close()


def agrees(lab, name, db, report):
    """What tables say and what the object says."""

    def ask(query, *values):
        return db.execute(query, values).fetchall()

    agrees_on_verdict(lab, name, ask, report)
    agrees_on_facts(lab, name, ask, report["coverage"])
    agrees_on_waits(lab, name, ask, report["verdict"])


def agrees_on_verdict(lab, name, ask, report):
    verdict = report["verdict"]
    row = ask("SELECT code, cause, confidence, action, summary, hang_began_ns, object FROM verdict")
    keys = ("code", "cause", "confidence", "action", "summary", "hang_began_ns")
    lab.same(f"{name}: verdict", [r[:6] for r in row], [tuple(verdict[key] for key in keys)])
    lab.same(f"{name}: object", json.loads(row[0][6]), report)
    lab.same(
        f"{name}: culprits",
        ask("SELECT rank, host, gpu, role FROM culprit"),
        [tuple(c[key] for key in ("rank", "host", "gpu", "role")) for c in verdict["culprits"]],
    )
    lab.same(
        f"{name}: findings",
        [(*r[:4], json.loads(r[4])) for r in ask("SELECT code, severity, title, detail, ranks FROM finding")],
        [
            tuple(f[key] for key in ("code", "severity", "title", "detail", "ranks"))
            for f in report["findings"]
        ],
    )
    keys = ("source", "line", "record", "offset", "rank", "excerpt")
    lab.same(
        f"{name}: evidence",
        ask("SELECT finding, source, line, record, offset_bytes, rank, excerpt FROM evidence ORDER BY id"),
        [(n, *(e[key] for key in keys)) for n, f in enumerate(report["findings"]) for e in f["evidence"]],
    )


def agrees_on_facts(lab, name, ask, coverage):
    named = "source s JOIN string n ON n.id = s.name"
    lab.same(
        f"{name}: sources",
        ask(f"SELECT text, format, records, diagnostics FROM {named} ORDER BY s.id"),
        [tuple(s[key] for key in ("path", "format", "records", "diagnostics")) for s in coverage["sources"]],
    )
    lab.same(
        f"{name}: operations of each dump",
        ask(
            f"SELECT text, count(o.id) FROM {named} JOIN dump d ON d.source = s.id LEFT JOIN operation o "
            "ON o.id BETWEEN d.id << 32 AND (d.id << 32) + 4294967295 GROUP BY d.id ORDER BY s.id"
        ),
        ask(
            "SELECT source, records FROM coverage WHERE source IN "
            f"(SELECT text FROM {named} JOIN dump d ON d.source = s.id) ORDER BY source"
        ),
    )
    ranks = {r[0] for r in ask("SELECT rank FROM dump")}
    lab.check(set(coverage["ranks_with_dumps"]) <= ranks, f"{name}: ranks with dumps {ranks}")
    frontiers = {r[0] for r in ask("SELECT rank FROM frontier")}
    lab.check(frontiers <= set(coverage["ranks_with_dumps"]), f"{name}: ranks with frontiers {frontiers}")


def agrees_on_waits(lab, name, ask, verdict):
    waiting = {r[0] for r in ask("SELECT rank FROM wait")}
    lab.check(set(verdict["waiting_ranks"]) <= waiting, f"{name}: waiting ranks {waiting}")
    operation = verdict["operation"]
    if operation:
        group, size = operation["group"], operation["group_size"]
        rows = ask("SELECT label, size FROM process_group WHERE label = ?", group)
        lab.check(rows and (size is None or rows == [(group, size)]), f"{name}: group {rows}")
        lab.same(
            f"{name}: operation",
            ask("SELECT process_group, seq, operation FROM verdict"),
            [(group, operation["seq"], operation["op"])],
        )
    if operation and operation["seq"] and verdict["code"] == "rank-missing":
        there = "FROM waits WHERE process_group = ? AND seq = ?"
        direct = {r[0] for r in ask(f"SELECT rank {there}", group, operation["seq"])}
        lab.check(direct and direct <= set(verdict["waiting_ranks"]), f"{name}: waiting in it {direct}")
        holders = {r[0] for r in ask(f"SELECT holder {there}", group, operation["seq"])}
        lab.check({c["rank"] for c in verdict["culprits"]} <= holders, f"{name}: holders {holders}")


def test_shell(lab):
    """The sqlite3 program: its answers are those of `hangscope sql`."""
    shell = shutil.which("sqlite3")
    if not shell:
        raise db_lab.Skip("there is no sqlite3 program")

    def ask(path, query):
        run = subprocess.run(
            [shell, "-readonly", "-csv", "-header", path, query], capture_output=True, check=False
        )
        lab.same(f"sqlite3: {query}", (run.returncode, run.stderr), (0, b""))
        return list(csv.reader(io.StringIO(run.stdout.decode(), newline="")))

    with db_lab.folder() as room:
        for name, path, _ in jobs(lab, room):
            lab.same(f"{name}: integrity", ask(path, "PRAGMA integrity_check")[1:], [["ok"]])
            lab.same(f"{name}: references", ask(path, "PRAGMA foreign_key_check"), [])
            with db_lab.python_sqlite(path) as db:
                views = view_names(db)
            for view in views:
                ours = lab.run("sql", "--format", "csv", path, f"SELECT * FROM {view}")
                lab.exits(f"{name}: {view}", ours, 0)
                rows = list(csv.reader(io.StringIO(ours.out.decode(), newline="")))
                theirs = ask(path, f"SELECT * FROM {view}")
                lab.same(f"{name}: {view}", rows, theirs or rows[:1])


def test_schema(lab):
    """Strict tables, marked as ours, without an index or a trigger, whole references between tables."""
    with db_lab.folder() as room:
        path = lab.database(room)
        with db_lab.python_sqlite(path) as db:
            lab.same(
                "marks",
                [db.execute(f"PRAGMA {p}").fetchone()[0] for p in ("application_id", "user_version")],
                [0x68677363, 3],
            )
            tables = db.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            )
            for name, sql in tables:
                lab.check(sql.rstrip().endswith("STRICT"), f"{name} is not strict")
            lab.same(
                "nothing else",
                db.execute(
                    "SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'view') AND sql NOT NULL"
                ).fetchall(),
                [],
            )
