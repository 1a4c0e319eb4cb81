"""A fleet: resumed, changed, shared out, put together, asked."""

import glob
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

from batch_lab import db_lab


def wait_for_rows(fleet, count, timeout=60):
    """Wait until so many jobs are committed."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        try:
            db = sqlite3.connect(f"file:{fleet}?mode=ro&immutable=1", uri=True)
            rows = db.execute("SELECT count(*) FROM job").fetchone()[0]
            db.close()
            if rows >= count:
                return True
        except sqlite3.Error:
            pass
        time.sleep(0.02)
    return False


def judged(fleet):
    """{path: when it was judged}, after what was interrupted is undone."""
    db = sqlite3.connect(fleet)
    try:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        return dict(db.execute("SELECT path, judged_ns FROM job"))
    finally:
        db.close()


def test_kill_and_resume(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    names = lab.archive(root, 600)
    for number, how in enumerate((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGKILL)):
        command = [lab.binary, "batch", "-q", "-j", "2", root, "-o", fleet]
        before = judged(fleet) if os.path.exists(fleet) else {}
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            there = wait_for_rows(fleet, min(len(before) + 1, 600))
            run.send_signal(how)
            status = run.wait(30)
        lab.check(there, f"round {number}: nothing was written")
        lab.check(status in (-how, 0), f"round {number}: ended by {how}, status {status}")
        if how != signal.SIGKILL:
            lab.exits("export after a signal", lab.run("fleet", "export", fleet), 0)
        after = judged(fleet)
        lost = [path for path in before if after.get(path) != before[path]]
        lab.same(f"round {number}: lost or done twice", lost, [])
    before = judged(fleet)
    lab.exits("the rest", lab.batch(root, fleet), 0)
    after = judged(fleet)
    lab.same("all jobs", len(after), len(names))
    lab.same("done twice", [path for path in before if after[path] != before[path]], [])
    whole = os.path.join(folder, "whole.db")
    lab.exits("at once", lab.batch(root, whole), 0)
    lab.same("as if never interrupted", lab.export(fleet), lab.export(whole))


def test_signal_waits_for_the_transaction(lab, folder):
    """What was judged when a signal comes is written."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.archive(root, 40)
    os.mkfifo(os.path.join(folder, "pipe"))
    command = [lab.binary, "batch", "-q", "-j", "1", root, os.path.join(folder, "pipe"), "-o", fleet]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        wait_for_rows(fleet, 40)  # the last one, a FIFO that nobody writes to, does not end
        run.send_signal(signal.SIGTERM)
        lab.same("status", run.wait(30), -signal.SIGTERM)
    lab.same("rows", len(lab.jobs(fleet)), 40)
    lab.same("left beside", sorted(os.listdir(folder)), ["archive", "fleet.db", "pipe"])


def test_changed_jobs(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    names = sorted(lab.archive(root, 12))
    lab.exits("first", lab.batch(root, fleet), 0)
    first = judged(fleet)
    files = sorted(glob.glob(os.path.join(root, names[0], "*")))
    os.utime(files[0], ns=(1, 1))
    shutil.rmtree(os.path.join(root, names[1]))
    lab.put("--fault size --culprits 1 --ranks 4 --steps 12", os.path.join(root, names[1]))
    lab.put("--ranks 2 --steps 8", os.path.join(root, "new"))
    shutil.rmtree(os.path.join(root, names[2]))
    with db_lab.python_sqlite(fleet) as db:
        db.execute("UPDATE job SET tool = '0.0.0' WHERE name = ?", (names[3],))
    lab.exits("second", lab.batch(root, fleet), 0)
    second = judged(fleet)
    redone = sorted(os.path.relpath(path, root) for path in second if second[path] != first.get(path))
    lab.same("judged again", redone, sorted([names[0], names[1], names[3], "new"]))
    jobs = lab.jobs(fleet)
    lab.same("the new verdict", jobs[names[1]]["code"], "size-mismatch")
    lab.check(names[2] in jobs, "a job that went away is forgotten")
    lab.exits("restart", lab.batch(root, fleet, "--restart"), 0)
    lab.check(names[2] not in lab.jobs(fleet), "--restart keeps what is gone")
    rules = db_lab.write(os.path.join(folder, "r.sql"), RULE.encode())
    before = judged(fleet)
    lab.exits("other rules", lab.batch(root, fleet, "--rules", rules), 0)
    after = judged(fleet)
    lab.check(all(after[path] != before[path] for path in before), "rules do not count")


RULE = """-- id: own-rule
-- code: -
-- role: confirmation
-- severity: note
-- title: A rule of the user
-- means: Nothing.
-- remedy: Nothing.
SELECT id AS event, rank, host, 'sure' AS strength FROM event WHERE family = 'NO_SUCH_FAMILY';
"""


def test_shards(lab, folder):
    root, whole = os.path.join(folder, "archive"), os.path.join(folder, "whole.db")
    lab.archive(root, 120)
    lab.exits("whole", lab.batch(root, whole), 0)
    shards = [os.path.join(folder, f"{part}.db") for part in range(1, 9)]
    for part, shard in enumerate(shards, 1):
        lab.exits(f"shard {part}", lab.batch(root, shard, "--shard", f"{part}/8"), 0)
    sizes = [len(lab.jobs(shard)) for shard in shards]
    lab.check(sum(sizes) == 120 and max(sizes) < 40, f"shards are {sizes}")
    merged = os.path.join(folder, "merged.db")
    lab.exits("merge", lab.run("merge", *shards, shards[0], "-o", merged), 0)
    lab.same("rows of the merged and of the single run", lab.export(merged), lab.export(whole))
    for view in ("faults", "verdicts_over_time", "offenders", "lost"):
        query = f"SELECT * FROM {view}"
        lab.same(f"view {view}", lab.rows(merged, query), lab.rows(whole, query))
    lab.exits("merge onto an input", lab.run("merge", *shards, "-o", shards[0]), 2, says="one of the inputs")


def test_merge_takes_the_newest(lab, folder):
    root, old, new = (os.path.join(folder, name) for name in ("archive", "old.db", "new.db"))
    lab.put("--ranks 2 --steps 8", os.path.join(root, "job"))
    lab.exits("old", lab.batch(root, old), 0)
    shutil.rmtree(os.path.join(root, "job"))
    lab.put("--fault size --culprits 1 --ranks 4 --steps 12", os.path.join(root, "job"))
    lab.exits("new", lab.batch(root, new), 0)
    for order in ((old, new), (new, old)):
        to = os.path.join(folder, "merged.db")
        lab.exits("merge", lab.run("merge", *order, "-o", to), 0)
        lab.same("code", lab.jobs(to)["job"]["code"], "size-mismatch")
    job = lab.database(folder)
    lab.exits("a job among fleets", lab.run("merge", old, job, "-o", to), 2, says="is not a fleet")
    lab.exits("nowhere to", lab.run("merge", old, new), 2, says="where to")


LAYOUTS = [
    # files -> jobs
    ("one folder each", ["a/rank_0", "b/rank_0"], ["a", "b"]),
    ("a note beside them", ["README.md", "a/rank_0", "b/rank_0"], ["a", "b"]),
    ("by date", ["2026/11/a/rank_0", "2026/12/b/rank_0"], ["2026/11/a", "2026/12/b"]),
    ("parts", ["a/logs/0.log", "a/dumps/rank_0", "b/node-1/rank_0", "b/node-2/rank_1"], ["a", "b"]),
    ("attempts", ["run7/attempt_0/0/stderr.log"], ["run7"]),
    ("archives", ["a.tar.gz", "x/b.zip", "x/c.tar.zst"], ["a.tar.gz", "x/b.zip", "x/c.tar.zst"]),
    ("an archive among files belongs to them", ["a/out.log", "a/dumps.tar"], ["a"]),
    ("only files: ROOT is the job", ["rank_0", "rank_1"], ["ROOT"]),
    ("ROOT has parts", ["logs/0.log", "dumps/rank_0"], ["ROOT"]),
    ("hidden", [".git/config", "x/.cache/y", "x/a/rank_0", "x/.note"], ["x/a"]),
]


def test_what_a_job_is(lab, folder):
    for number, (what, files, jobs) in enumerate(LAYOUTS):
        root, fleet = os.path.join(folder, f"root{number}"), os.path.join(folder, f"{number}.db")
        for file in files:
            os.makedirs(os.path.dirname(os.path.join(root, file)), exist_ok=True)
            db_lab.write(os.path.join(root, file), b"text\n")
        lab.exits(what, lab.batch(root, fleet), 0)
        names = [os.path.basename(root) if name == "ROOT" else name for name in jobs]
        lab.same(what, sorted(lab.jobs(fleet)), sorted(names))
    root, fleet = os.path.join(folder, "root2"), os.path.join(folder, "glob.db")
    lab.exits("glob", lab.batch(root, fleet, "--job-glob", "2026/*"), 0)
    lab.same("glob", sorted(lab.jobs(fleet)), ["2026/11", "2026/12"])
    lab.exits("glob without match", lab.batch(root, fleet, "--job-glob", "no/*"), 2, says="no job")
    os.makedirs(os.path.join(folder, "empty", "x"))
    lab.exits("nothing", lab.batch(os.path.join(folder, "empty"), fleet), 2, says="no job")
    lab.exits("no ROOT", lab.batch(os.path.join(folder, "absent"), fleet), 2, says="cannot read")


def test_links_are_not_followed(lab, folder):
    root, fleet = os.path.join(folder, "root"), os.path.join(folder, "fleet.db")
    lab.put("--ranks 2 --steps 8", os.path.join(root, "a"))
    os.symlink("..", os.path.join(root, "loop"))
    os.symlink("a", os.path.join(root, "again"))
    lab.exits("batch", lab.batch(root, fleet), 0)
    lab.same("jobs", sorted(lab.jobs(fleet)), ["a"])


def test_output_inside_the_archive(lab, folder):
    lab.archive(folder, 4)
    fleet = os.path.join(folder, "out", "fleet.db")
    os.mkdir(os.path.dirname(fleet))
    for _ in range(2):
        lab.exits("batch", lab.batch(folder, fleet, "--keep", "db"), 0)
        lab.same("jobs", len(lab.jobs(fleet)), 4)


def test_kept_databases(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    names = lab.archive(root, 8)
    lab.exits("batch", lab.batch(root, fleet, "--keep", "db"), 0)
    kept = {row["name"]: row["kept_db"] for row in lab.rows(fleet, "SELECT * FROM kept")}
    lab.same("kept", sorted(kept), sorted(names))
    for name, path in kept.items():
        answer = lab.analyze(os.path.join(folder, path))
        lab.same(f"verdict of {name}", json.loads(answer.out)["verdict"]["code"], names[name])
    lab.same("nothing else", len(os.listdir(fleet + ".kept")), 8)


def test_kept_reports(lab, folder):
    """With a template of our own, so that it does not need the page that is built in."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    names = lab.archive(root, 4)
    page = os.path.join(folder, "page.html")
    db_lab.write(page, b"<title>hangscope</title>\n<!--hangscope:data-->\n")
    options = ("--keep", "db,report", "--template", page)
    lab.exits("batch", lab.batch(root, fleet, *options), 0)
    kept = lab.rows(fleet, "SELECT * FROM kept")
    lab.same("kept", sorted(row["name"] for row in kept), sorted(names))
    for row in kept:
        to = os.path.join(folder, "one.html")
        job = os.path.join(root, row["name"])
        lab.exits("report", lab.run("report", "-q", "--template", page, job, "-o", to), 0)
        lab.same(row["name"], db_lab.read(os.path.join(folder, row["kept_report"])), db_lab.read(to))
    half = os.path.join(folder, f"{kept[0]['kept_report']}.tmp-abcdef")
    db_lab.write(half, b"what a process that was ended has left")
    lab.exits("once more", lab.batch(root, fleet, "--restart", *options), 0)
    lab.same("nothing else", len(os.listdir(fleet + ".kept")), 8)
    absent = os.path.join(folder, "absent.html")
    answer = lab.batch(root, fleet, "--keep", "report", "--template", absent)
    lab.exits("no template", answer, 2, says="absent.html")


def test_stream(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.archive(root, 30)
    answer = lab.batch(root, fleet, "--jsonl")
    lab.exits("batch", answer, 0)
    lab.same("the stream is the export", sorted(answer.out.splitlines()), lab.export(fleet).splitlines())
    again = lab.batch(root, fleet, "--jsonl")
    lab.same("nothing new", again.out, b"")
    csv = lab.run("fleet", "export", fleet)
    lab.same("lines of CSV", len(csv.out.splitlines()), 31)
    for kind in ("csv", "jsonl"):
        to = os.path.join(folder, kind)
        for _ in range(2):
            lab.exits("to a file", lab.run("fleet", "export", fleet, "--format", kind, "-o", to), 0)
    db_lab.write(os.path.join(folder, "other"), b"mine\n")
    answer = lab.run("fleet", "export", fleet, "-o", os.path.join(folder, "other"))
    lab.exits("somebody else's file", answer, 2, says="--force")


def test_exit_status(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.put("--ranks 2 --steps 8", os.path.join(root, "a"))
    lab.exits("healthy", lab.batch(root, fleet, "--fail-on", "any"), 0)
    lab.put("--fault size --culprits 1 --ranks 4 --steps 12", os.path.join(root, "b"))
    for options, status in (
        ([], 0),
        (["--fail-on", "any"], 1),
        (["--fail-on", "high"], 0),
        (["--fail-on", "rank-missing"], 0),
        (["--fail-on", "rank-missing,size-mismatch"], 1),
    ):
        lab.exits(f"{options}", lab.batch(root, fleet, *options), status)
    lab.exits("only what is asked for", lab.batch(os.path.join(root, "a"), fleet, "--fail-on", "any"), 0)


def test_bad_use(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.put("--ranks 2 --steps 8", os.path.join(root, "a"))
    lab.exits("no output", lab.run("batch", root), 2, says="-o FLEET.db")
    lab.exits("no root", lab.run("batch", "-o", fleet), 2, says="ROOT")
    lab.exits("standard output", lab.run("batch", root, "-o", "-"), 2, says="--jsonl")
    for option, value in (
        ("--shard", "0/8"),
        ("--shard", "9/8"),
        ("--shard", "1"),
        ("--keep", "all"),
        ("--keep", "db,"),
        ("--timeout", "0"),
        ("--job-memory", "1K"),
        ("--job-memory", "99999999999T"),
        ("--job-memory", "many"),
        ("--job-glob", "/x"),
        ("--fail-on", "nonsense"),
    ):
        lab.exits(f"{option} {value}", lab.batch(root, fleet, option, value), 2, says=option)
    lab.check(not os.path.exists(fleet), "a fleet is there after wrong use")
    job = lab.database(folder)
    lab.exits("onto a job", lab.batch(root, job), 2, says="is not a fleet")
    lab.exits("not a fleet", lab.run("fleet", "export", job), 2, says="is not a fleet")
    lab.exits("fleet what", lab.run("fleet", "import", job), 2, says="what to do")
    lab.exits("no folder", lab.batch(root, os.path.join(folder, "no", "fleet.db")), 2)
    lab.exits("batch", lab.batch(root, fleet), 0)
    lab.exits("a fleet is no job", lab.run("analyze", fleet), 2)
    with db_lab.python_sqlite(fleet) as db:
        db.execute("PRAGMA user_version = 99")
    lab.exits("another version", lab.batch(root, fleet), 2, says="--restart")
    lab.exits("another version", lab.run("fleet", "export", fleet), 2, says="version 99")


def test_two_at_once(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.put("--ranks 2 --steps 8", os.path.join(root, "a"))
    lab.exits("first", lab.batch(root, fleet), 0)
    other = sqlite3.connect(fleet, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    lab.exits("while another writes", lab.batch(root, fleet), 2, says="another hangscope batch")
    other.execute("ROLLBACK")
    other.close()
    lab.exits("afterwards", lab.batch(root, fleet), 0)


def test_hostile_fleet(lab, folder):
    """A fleet of a stranger: a trigger does not run, a table that is a view is refused."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.put("--ranks 2 --steps 8", os.path.join(root, "a"))
    lab.exits("first", lab.batch(root, fleet), 0)
    with db_lab.python_sqlite(fleet) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON job BEGIN DELETE FROM fleet; END")
    lab.put("--ranks 2 --steps 12", os.path.join(root, "b"))
    lab.exits("trigger", lab.batch(root, fleet), 0)
    lab.same("rows", len(lab.rows(fleet, "SELECT * FROM fleet")), 1)
    with db_lab.python_sqlite(fleet) as db:
        db.execute("DROP TRIGGER t")
        db.execute("ALTER TABLE frame RENAME TO frame_kept")
        db.execute("CREATE VIEW frame AS SELECT * FROM frame_kept")
    lab.exits("a view", lab.batch(root, fleet), 4, says="damaged")
    lab.exits("a view", lab.run("merge", fleet, "-o", os.path.join(folder, "to.db")), 4, says="damaged")
    cut = db_lab.write(os.path.join(folder, "cut.db"), db_lab.read(fleet)[:-100])
    lab.exits("cut", lab.run("fleet", "export", cut), 4, says="damaged")


def test_views(lab, folder):
    """What operators ask: counted by hand for a small archive."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    day = 86400
    missing = "--fault missing --culprits 2 --ranks 4 --steps 12 --moment aged --hosts"
    for name, arguments in {
        "a": missing,
        "b": f"{missing} --epoch {20 * day}",
        "c": f"--fault size --culprits 1 --ranks 4 --steps 12 --hosts --epoch {21 * day}",
        "d": "--ranks 4 --steps 12",
    }.items():
        lab.put(arguments, os.path.join(root, name))
    lab.exits("batch", lab.batch(root, fleet), 0)
    jobs = lab.jobs(fleet)
    lab.same("recurring", [row["jobs"] for row in lab.rows(fleet, "SELECT * FROM recurring")], [2])
    lab.same(
        "codes",
        [jobs[name]["code"] for name in "abcd"],
        ["rank-missing", "rank-missing", "size-mismatch", "healthy"],
    )
    new = lab.rows(fleet, "SELECT code FROM new_faults")
    lab.check({"code": "rank-missing"} not in new, f"what was there before is new: {new}")
    offenders = lab.rows(fleet, "SELECT kind, what, jobs FROM offenders WHERE kind = 'host'")
    lab.same("hosts", [(row["what"], row["jobs"]) for row in offenders], [("gpu-node-01", 3)])
    lost = lab.rows(fleet, "SELECT * FROM lost")[0]
    lab.check(lost["jobs"] == 3 and lost["jobs_of_known_cost"] >= 2, f"lost: {lost}")
    # four GPUs wait until the watchdog's timeout of ten minutes
    lab.check(jobs["a"]["gpu_hours"] >= 0.66, f"GPU-hours of a: {jobs['a']['gpu_hours']}")
    days = lab.rows(fleet, "SELECT day, verdict, jobs FROM verdicts_over_time WHERE verdict != 'healthy'")
    lab.same("days", len({row["day"] for row in days}), 3)
