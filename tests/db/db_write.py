"""Writing a database: no space, no permission, other files in the way, two writers, signals at any moment."""

import os
import random
import resource
import shutil
import signal
import subprocess
import time

import db_lab

MOMENTS = 30
LARGE = "--ranks 16 --steps 400 --fault missing --culprits 3"


def leftovers(room):
    return [name for name in os.listdir(room) if ".tmp-" in name or name.startswith("hangscope-")]


def writers(lab, dumps, to):
    """Every way to write FILE: (what, words)."""
    yield "analyze --db", ("analyze", "--json", "--db", to, dumps)
    yield "ingest", ("ingest", dumps, "-o", to)


def test_full_device(lab):
    with db_lab.folder() as room:
        path = lab.database(room)
        dumps = os.path.join(room, "dumps-job.db")
        for what, words in [*writers(lab, dumps, "/dev/full"), ("merge", ("merge", path, "-o", "/dev/full"))]:
            lab.exits(f"{what} to /dev/full", lab.run(*words), 4, says="'/dev/full'")
        before = sorted(os.listdir(room))
        for words in (("ingest", dumps, "-o", "-"), ("merge", path, "-o", "-")):
            with open("/dev/full", "wb") as full:
                answer = lab.run(*words, stdout=full, env={"TMPDIR": room})
            lab.exits(f"{words[0]} to standard output", answer, 4, says="No space left on device")
        lab.same("nothing is left", sorted(os.listdir(room)), before)


class Disk:
    """A tiny file system with so much room left."""

    def __init__(self, room, left):
        self.path, self.left = os.path.join(room, "disk"), left

    def __enter__(self):
        os.mkdir(self.path)
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "hangscope-test", self.path]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            raise db_lab.Skip("a file system cannot be mounted here")
        db_lab.write(os.path.join(self.path, "ballast"), bytes((1 << 20) - self.left))
        return self.path

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.path], check=True)


def test_full_disk(lab):
    with db_lab.folder() as room:
        whole = lab.database(room)
        dumps = os.path.join(room, "dumps-job.db")
        for left in (0, 4096, 40960, 131072):
            with Disk(os.path.join(room), left) as disk:
                old = os.path.join(disk, "job.db")
                for what, words in [*writers(lab, dumps, old), ("merge", ("merge", whole, "-o", old))]:
                    answer = lab.run(*words)
                    lab.exits(f"{what}, {left} bytes left", answer, 4)
                    lab.check("o space left" in answer.err and old in answer.err, f"{what}: {answer.err}")
                    lab.same(f"{what}: nothing is left", os.listdir(disk), ["ballast"])
                answer = lab.run("ingest", dumps, "-o", "-", env={"TMPDIR": disk})
                lab.exits("ingest to standard output", answer, 4, says="o space left")
                lab.same("nothing is left there", os.listdir(disk), ["ballast"])
            os.rmdir(disk)


def test_full_disk_keeps_the_old(lab):
    with db_lab.folder() as room:
        dumps = lab.put("--fault missing --culprits 3", os.path.join(room, "dumps"))
        small = lab.database(room, "--ranks 2 --steps 6")
        with Disk(room, os.path.getsize(small) + 4096) as disk:
            old = shutil.copy(small, os.path.join(disk, "job.db"))
            for what, words in writers(lab, dumps, old):
                lab.exits(what, lab.run(*words), 4, says="o space left")
                lab.same(f"{what}: the old one stays", db_lab.digest(old), db_lab.digest(small))
                lab.same(f"{what}: nothing else", sorted(os.listdir(disk)), ["ballast", "job.db"])


def test_size_limit(lab):
    """ulimit -f: the system would end a process that writes too much."""
    with db_lab.folder() as room:
        dumps = lab.put("--fault missing --culprits 3", os.path.join(room, "dumps"))
        to = os.path.join(room, "job.db")
        for size in (0, 10000, 100000):
            for what, words in writers(lab, dumps, to):
                answer = lab.run(
                    *words,
                    preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
                )
                lab.exits(f"{what}, at most {size} bytes", answer, 4, says="cannot write")
                lab.same(f"{what}: nothing is left", os.listdir(room), ["dumps"])


def test_places(lab):
    """Folders that are missing or closed, and things that are no files."""
    with db_lab.folder() as room:
        whole = lab.database(room)
        dumps = os.path.join(room, "dumps-job.db")
        closed = os.path.join(room, "closed")
        os.mkdir(closed)
        os.mkfifo(os.path.join(room, "fifo"))
        os.symlink("gone/away.db", os.path.join(room, "dangling"))
        before = sorted(os.listdir(room))

        def refuse(name, status, says, **more):
            to = os.path.join(room, name)
            for what, words in [*writers(lab, dumps, to), ("merge", ("merge", whole, "-o", to))]:
                answer = lab.run(*words, timeout=20, **more)
                lab.exits(f"{what} to {name[:40]}", answer, status, says=says)

        refuse("missing/job.db", 2, "No such file or directory")
        refuse("job.db/job.db", 2, "Not a directory")
        refuse("closed", 2, "not a regular file")
        refuse(".", 2, "not a regular file")
        refuse("fifo", 4, "not a regular file")
        refuse("new/", 2, "")
        refuse("n" * 300, 4, "File name too long")
        refuse("n/" * 3000 + "job.db", 2, "too long")
        if os.getuid() == 0:
            os.chmod(room, 0o755)
            refuse("closed/job.db", 4, "Permission denied", user=db_lab.NOBODY)
        else:
            os.chmod(closed, 0o555)
            refuse("closed/job.db", 4, "Permission denied")
        lab.same("nothing is left", sorted(os.listdir(room)), before)
        lab.exits("no FILE", lab.run("ingest", dumps), 2, says="-o FILE")
        lab.exits("no PATH", lab.run("merge", "-o", os.path.join(room, "x")), 2, says="PATH")


def test_read_only(lab):
    """A file system that is mounted read-only."""
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 2 --steps 6", os.path.join(room, "dumps"))
        with Disk(room, 0) as disk:
            remount = ["mount", "-o", "remount,ro", disk]
            if subprocess.run(remount, capture_output=True, check=False).returncode != 0:
                raise db_lab.Skip("a file system cannot be mounted read-only here")
            for what, words in writers(lab, dumps, os.path.join(disk, "job.db")):
                lab.exits(what, lab.run(*words), 4, says="Read-only file system")


def test_existing(lab):
    """What is there is replaced when it is a database of ours or empty; else by --force alone."""
    others = {
        "a text": b"my notes\n",
        "a foreign database": None,
        "a dump": b"\x80\x02}q\x00.",
        "half a database of ours": b"SQLite format 3\0" + bytes(50),
    }
    with db_lab.folder() as room:
        whole = lab.database(room)
        dumps = os.path.join(room, "dumps-job.db")
        to = os.path.join(room, "target")
        for what, data in others.items():
            if data is None:
                os.unlink(to)
                with db_lab.python_sqlite(to) as db:
                    db.execute("CREATE TABLE operation (id INTEGER PRIMARY KEY)")
                data = db_lab.read(to)
            for how, words in [*writers(lab, dumps, to), ("merge", ("merge", whole, "-o", to))]:
                db_lab.write(to, data)
                lab.exits(f"{how} over {what}", lab.run(*words), 2, says="--force replaces it")
                lab.same(f"{how}: {what} stays", db_lab.read(to), data)
                lab.exits(f"{how} --force over {what}", lab.run(*words, "--force"), 0, 1)
                lab.same(f"{how}: a database", db_lab.digest(to), db_lab.digest(whole))
        for how, words in writers(lab, dumps, to):
            db_lab.write(to, b"")
            lab.exits(f"{how} over nothing", lab.run(*words), 0, 1)
            lab.same(f"{how}: a database there", db_lab.digest(to), db_lab.digest(whole))
            lab.exits(f"{how} over an older one", lab.run(*words), 0, 1)
        lab.check("wrote" in lab.run("ingest", dumps, "-o", to).err, "it says what it wrote")
        lab.same("silent with -q", lab.run("ingest", "-q", dumps, "-o", to), (0, b"", ""))


def test_target_is_input(lab):
    with db_lab.folder() as room:
        first, second = lab.database(room), lab.database(room, "--ranks 2 --steps 6", "second.db")
        os.symlink("job.db", os.path.join(room, "link.db"))
        os.link(first, os.path.join(room, "hard.db"))
        before = db_lab.digest(first)
        want = lab.analyze(first, second).out
        for to in (
            first,
            os.path.join(room, ".", "job.db"),
            os.path.join(room, "link.db"),
            os.path.join(room, "hard.db"),
        ):
            for words in (
                ("merge", first, second, "-o", to),
                ("merge", second, first, "-o", to),
                ("ingest", first, "-o", to),
                ("analyze", first, second, "--db", to),
            ):
                lab.exits(f"{words[0]} onto its input", lab.run(*words), 2, says="is one of the inputs")
        lab.same("the input stays", db_lab.digest(first), before)
        dump = os.path.join(room, "dumps-job.db", "nccl_trace_rank_0")
        lab.exits("ingest onto its dump", lab.run("ingest", dump, "-o", dump), 2, says="is one of the inputs")
        lab.exits("by force", lab.run("merge", first, second, "-o", first, "--force"), 0)
        lab.same("both are in it", lab.analyze(first).out, want)


def test_permissions(lab):
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 2 --steps 6", os.path.join(room, "dumps"))
        for mask, mode in ((0o022, 0o644), (0o077, 0o600), (0o002, 0o664)):
            to = os.path.join(room, f"{mask}.db")
            lab.run("ingest", dumps, "-o", to, umask=mask)
            lab.same(f"mode with umask {mask:o}", os.stat(to).st_mode & 0o777, mode)


def test_two_writers(lab):
    """Whoever comes last wins, and what is there is always one whole database."""
    with db_lab.folder() as room:
        jobs = [
            lab.put(arguments, os.path.join(room, f"job{n}"))
            for n, arguments in enumerate((LARGE, "--ranks 4 --fault skip --culprits 2"))
        ]
        whole = [os.path.join(room, f"{n}.db") for n in range(2)]
        for dumps, to in zip(jobs, whole):
            lab.ingest(dumps, to)
        wanted = {db_lab.digest(to) for to in whole}
        to = os.path.join(room, "both.db")
        for _ in range(10):
            runs = [
                subprocess.Popen([lab.binary, "ingest", "-q", dumps, "-o", to], stderr=subprocess.PIPE)
                for dumps in jobs * 2
            ]
            while any(run.poll() is None for run in runs):
                if os.path.exists(to):
                    lab.check(db_lab.digest(to) in wanted, "another database while both write")
            lab.same("both end well", [(run.returncode, run.stderr.read()) for run in runs], [(0, b"")] * 4)
            for run in runs:
                run.stderr.close()
            lab.check(db_lab.digest(to) in wanted, "another database")
        lab.same("nothing is left", leftovers(room), [])


def run_until(words, number, delay, room, environment):
    """Start; send the signal after a delay, or as soon as a file is written aside and so much later."""
    run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    after, seconds = delay
    end = time.monotonic() + 20
    while after == "aside" and not leftovers(room) and run.poll() is None and time.monotonic() < end:
        pass
    time.sleep(seconds)
    run.send_signal(number)
    run.communicate(timeout=60)
    return run.returncode


def test_signals(lab):
    """SIGKILL, SIGTERM and SIGINT at random moments: the old file is whole, and no other is left."""
    source = random.Random(6)
    with db_lab.folder() as room:
        dumps = lab.put(LARGE, os.path.join(room, "dumps"))
        outer, room = room, os.path.join(room, "out")
        os.mkdir(room)
        to, other = os.path.join(room, "job.db"), os.path.join(outer, "new.db")
        small = lab.database(outer, "--ranks 2 --steps 6", "old.db")
        started = time.monotonic()
        lab.ingest(dumps, other)
        seconds = time.monotonic() - started
        whole, old = db_lab.digest(other), db_lab.digest(small)
        environment = dict(os.environ, TMPDIR=room)
        ended = 0
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for moment in range(MOMENTS):
                delay = ("start", source.uniform(0, seconds * 1.2))
                if moment % 2:
                    delay = ("aside", source.uniform(0, seconds / 4))
                name = to if moment % 5 else "-"
                is_old = moment % 4 == 1
                if is_old:
                    shutil.copy(small, to)
                words = [lab.binary, "ingest", "-q", dumps, "-o", name]
                status = run_until(words, number, delay, room, environment)
                what = f"{number.name} at {delay[0]} + {delay[1] * 1000:.2f} ms"
                lab.check(status in (0, -number), f"{what}: exit status {status}")
                ended += status == -number
                found = db_lab.digest(to) if os.path.exists(to) else None
                if name == "-" or status != 0:
                    lab.check(found in (whole, old if is_old else None), f"{what}: another file")
                else:
                    lab.same(f"{what}: written", found, whole)
                if number != signal.SIGKILL:
                    lab.same(f"{what}: left", leftovers(room), [])
                for file in os.listdir(room):
                    os.unlink(os.path.join(room, file))
        lab.check(ended > MOMENTS, f"only {ended} runs were ended by a signal")


def test_signals_two_files(lab):
    """A database and a page: both get their names, or none does."""
    source = random.Random(8)
    with db_lab.folder() as room:
        dumps = lab.put(LARGE, os.path.join(room, "dumps"))
        page, out = os.path.join(room, "page.template"), os.path.join(room, "out")
        db_lab.write(page, b"<title>hangscope</title>\n<!--hangscope:data-->\n")
        os.mkdir(out)
        files = ["--db", os.path.join(out, "job.db"), "--report", os.path.join(out, "job.html")]
        words = [lab.binary, "analyze", "-q", dumps, *files, "--template", page]
        started = time.monotonic()
        subprocess.run(words, capture_output=True, check=False)
        seconds = time.monotonic() - started
        both = sorted(os.listdir(out))
        lab.same("both", both, ["job.db", "job.html"])
        for moment in range(2 * MOMENTS):
            for name in os.listdir(out):
                os.unlink(os.path.join(out, name))
            delay = ("start", source.uniform(0.5, 1.1) * seconds)
            if moment % 2:
                delay = ("aside", source.uniform(0, seconds / 4))
            status = run_until(words, signal.SIGTERM, delay, out, dict(os.environ))
            lab.check(status in (1, -signal.SIGTERM), f"exit status {status}")
            found = sorted(os.listdir(out))
            lab.check(found in ([], both) and (status < 0 or found), f"exit status {status}: {found}")


def test_ignored_signals(lab):
    """nohup, and shells that run a command in the background: what they had ignored stays ignored."""
    with db_lab.folder() as room:
        path = lab.database(room)
        count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 3000000)"
        query = f"{count} SELECT max(n) AS n FROM c"
        for number in (signal.SIGHUP, signal.SIGINT):
            run = subprocess.Popen(
                [lab.binary, "sql", path, query],
                stdout=subprocess.PIPE,
                preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN),
            )
            time.sleep(0.1)
            run.send_signal(number)
            out = run.communicate(timeout=60)[0]
            lab.same(f"{number.name} ignored", (run.returncode, out), (0, b"      n\n3000000\n"))


def test_reader_goes_away(lab):
    """A pipe whose reader ends early: quiet, and no file is left."""
    with db_lab.folder() as room:
        dumps = lab.put(LARGE, os.path.join(room, "dumps"))
        before = sorted(os.listdir(room))
        script = '"$0" ingest "$1" -o - | head -c 10000 >/dev/null; echo ${PIPESTATUS[0]}'
        run = subprocess.run(
            ["bash", "-c", script, lab.binary, dumps],
            capture_output=True,
            env=dict(os.environ, TMPDIR=room),
            timeout=60,
            check=False,
        )
        lab.same("SIGPIPE", (run.stdout, run.stderr), (b"141\n", b""))
        lab.same("nothing is left", sorted(os.listdir(room)), before)


def test_verdict_not_printed(lab):
    """A verdict that cannot be printed is exit status 4, or a signal: no file is left or replaced."""
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 2 --steps 6", os.path.join(room, "dumps"))
        page = os.path.join(room, "page.template")
        db_lab.write(page, b"<title>hangscope</title>\n<!--hangscope:data-->\n")
        old = lab.database(room, "--ranks 4 --steps 4", "job.db")
        to = os.path.join(room, "job.html")
        files = ["--db", old, "--report", to, "--template", page]
        before, digest = sorted(os.listdir(room)), db_lab.digest(old)
        for options in (files, files[:2], files[2:]):
            words = ("analyze", "--json", dumps, *options)
            with open("/dev/full", "wb") as full:
                lab.exits("to a full device", lab.run(*words, stdout=full), 4, says="No space left")
            answer = lab.run(*words, preexec_fn=lambda: os.close(1))
            lab.exits("with standard output closed", answer, 4, says="Bad file descriptor")
            reader, writer = os.pipe()
            os.close(reader)
            answer = lab.run(*words, stdout=writer)
            os.close(writer)
            lab.same("a reader that is gone", (answer.status, answer.err), (-signal.SIGPIPE, ""))
            lab.same("nothing is left", sorted(os.listdir(room)), before)
            lab.same("the old one stays", db_lab.digest(old), digest)
        lab.exits("then all is written", lab.run("analyze", "--json", dumps, *files), 0)
        lab.check(db_lab.digest(old) != digest and os.path.exists(to), "both files are there")


def test_standard_output_is_taken(lab):
    """`-` is no name of a file, and one file is not written twice."""
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 2 --steps 6", os.path.join(room, "dumps"))
        before = sorted(os.listdir(room))
        lab.exits("--db -", lab.run("analyze", dumps, "--db", "-", cwd=room), 2, says="verdict's")
        both = ("--db", "job", "--report", os.path.join(room, "job"))
        lab.exits("one name for both", lab.run("analyze", dumps, *both, cwd=room), 2, says="one file")
        lab.same("nothing is left", sorted(os.listdir(room)), before)
        shutil.move(lab.database(room, "--ranks 2 --steps 6", "job.db"), os.path.join(room, "-"))
        lab.exits("a file that is called so", lab.run("analyze", "-", cwd=room), 2, says="in '-'")
        answer = lab.run("sql", "./-", "SELECT count(*) AS n FROM verdict", cwd=room)
        lab.same("./- is that file", (answer.status, answer.out), (0, b"n\n1\n"))


def test_terminal(lab):
    """A database is not for a terminal."""
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 2 --steps 6", os.path.join(room, "dumps"))
        leader, follower = os.openpty()
        answer = lab.run("ingest", dumps, "-o", "-", stdout=follower)
        os.close(follower)
        os.close(leader)
        lab.exits("ingest to a terminal", answer, 2, says="not for a terminal")
