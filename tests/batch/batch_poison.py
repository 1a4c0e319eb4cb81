"""Jobs that harm only themselves: bombs, endless files, no permission, crashes; and a full disk."""

import io
import lzma
import os
import shutil
import signal
import subprocess
import tarfile
import threading
import time

import batch_lab
from batch_lab import db_lab


def good_jobs(lab, root, count=5):
    return sorted(lab.archive(root, count))


def only_bad(lab, fleet, good, bad):
    """All good jobs are judged, and `bad` is named; -> its row."""
    jobs = lab.jobs(fleet)
    states = {name: row["state"] for name, row in jobs.items()}
    lab.same("good jobs", {name: states.get(name) for name in good}, dict.fromkeys(good, "judged"))
    named = lab.rows(fleet, "SELECT * FROM not_judged")
    lab.same("named", [row["name"] for row in named], [bad])
    return named[0] if named else {}


def test_archive_bomb(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    good = good_jobs(lab, root)
    packer = lzma.LZMACompressor(preset=0)
    with open(os.path.join(root, "bomb.tar.xz"), "wb") as out:
        head = tarfile.TarInfo("nccl_trace_rank_0")
        head.size = 3 << 30
        out.write(packer.compress(head.tobuf()))
        zeros = bytes(1 << 20)
        for _ in range(192):
            out.write(packer.compress(zeros))
        out.write(packer.flush())
    lab.exits("batch", lab.batch(root, fleet, "--timeout", "60"), 0)
    row = only_bad(lab, fleet, good, "bomb.tar.xz")
    lab.check("limit" in (row.get("trouble") or ""), f"the bomb: {row}")


def endless(path):
    """Writes into a FIFO until its reader goes away, for every reader."""
    line = b"2026-11-29 12:00:00 worker is alive\n" * 1000

    def write():
        while True:
            try:
                with open(path, "wb", buffering=0) as pipe:
                    while True:
                        pipe.write(line)
            except (BrokenPipeError, FileNotFoundError):
                if not os.path.exists(path):
                    return

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_endless_fifo(lab, folder):
    root, fleet, pipe = (os.path.join(folder, name) for name in ("archive", "fleet.db", "pipe"))
    good = good_jobs(lab, root)
    os.mkfifo(os.path.join(root, good[0], "pipe"))  # in a folder it is passed over
    os.mkfifo(pipe)
    endless(pipe)
    lab.exits("batch", lab.batch([root, pipe], fleet, "--timeout", "2"), 0)
    row = only_bad(lab, fleet, good, "pipe")
    lab.same("why", (row.get("state"), row.get("limit"), row.get("tries")), ("timeout", "time", 2))
    before = lab.rows(fleet, "SELECT judged_ns FROM job WHERE name = 'pipe'")
    os.unlink(pipe)
    lab.exits("again, without it", lab.batch(root, fleet), 0)
    lab.same("not tried again", lab.rows(fleet, "SELECT judged_ns FROM job WHERE name = 'pipe'"), before)


def test_no_permission(lab, folder):
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "out", "fleet.db")
    good = good_jobs(lab, root)
    os.mkdir(os.path.dirname(fleet))
    lab.put("--ranks 2 --steps 8", os.path.join(root, "secret"))
    os.chmod(os.path.join(root, "secret"), 0)
    more = {}
    if os.geteuid() == 0:
        os.chown(os.path.dirname(fleet), db_lab.NOBODY, db_lab.NOBODY)
        more = {"user": db_lab.NOBODY, "group": db_lab.NOBODY, "extra_groups": []}
        if lab.run("--version", **more).status != 0:
            raise batch_lab.Skip("this user may not run the program")
    lab.exits("batch", lab.batch(root, fleet, **more), 0)
    row = only_bad(lab, fleet, good, "secret")
    lab.check("Permission denied" in (row.get("trouble") or ""), f"why: {row}")
    os.chmod(os.path.join(root, "secret"), 0o755)
    lab.exits("now it may be read", lab.batch(root, fleet, **more), 0)
    lab.same("judged", lab.jobs(fleet)["secret"]["state"], "judged")


def children(pid):
    try:
        return db_lab.read(f"/proc/{pid}/task/{pid}/children").split()
    except OSError:
        return []


def test_crash(lab, folder):
    """A process that dies, whatever it does, costs its own job alone; it is tried once more."""
    if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise batch_lab.Skip("this kernel does not list the children of a process")
    deadly = signal.SIGABRT if lab.is_sanitized() else signal.SIGSEGV  # which the sanitizer catches
    root, fleet, pipe = (os.path.join(folder, name) for name in ("archive", "fleet.db", "pipe"))
    good = good_jobs(lab, root)
    os.mkfifo(pipe)  # its reader waits until we end it
    command = [lab.binary, "batch", "-q", "-j", "1", root, pipe, "-o", fleet]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        killed, end = set(), time.monotonic() + 60
        while run.poll() is None and time.monotonic() < end:
            for child in children(run.pid):
                if child not in killed and stands_still(child.decode()):
                    killed.add(child)
                    os.kill(int(child), deadly)
            time.sleep(0.05)
        lab.same("status", run.wait(10), 0)
    lab.same("processes", len(killed), 2)
    row = only_bad(lab, fleet, good, "pipe")
    lab.same("how", (row.get("state"), row.get("signal"), row.get("tries")), ("crashed", deadly, 2))


def stands_still(pid):
    """Whether a process sleeps for a while, as the one does that opens the FIFO."""
    try:
        first = db_lab.read(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
        time.sleep(0.3)
        second = db_lab.read(f"/proc/{pid}/stat").rsplit(b")", 1)[1].split()
    except OSError:
        return False
    return first[0] == b"S" and first[11:13] == second[11:13]


def test_memory(lab, folder):
    if lab.is_sanitized():
        raise batch_lab.Skip("the sanitizers need more memory than there is")
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    good = good_jobs(lab, root)
    lab.put("--ranks 2 --steps 8", os.path.join(root, "large"))
    os.truncate(os.path.join(root, "large", "nccl_trace_rank_0"), 900 << 20)
    lab.exits("batch", lab.batch(root, fleet, "--job-memory", "512M"), 0)
    row = only_bad(lab, fleet, good, "large")
    lab.same("why", (row.get("state"), row.get("limit"), row.get("tries")), ("memory", "memory", 2))


def test_full_device(lab, folder):
    """The stream cannot be written: what was judged is kept, and is not judged again."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    good_jobs(lab, root, 12)
    if not os.path.exists("/dev/full"):
        raise batch_lab.Skip("there is no /dev/full")
    with open("/dev/full", "wb") as full:
        answer = lab.batch(root, fleet, "--jsonl", stdout=full)
    lab.same("status", answer.status, 4)
    lab.check("No space left" in answer.err, f"says: {answer.err}")
    lab.exits("resume", lab.batch(root, fleet), 0)
    lab.same("jobs", len(lab.jobs(fleet)), 12)


def test_full_disk(lab, folder):
    """The fleet cannot grow: it stays good, and the rest is judged when there is room."""
    root, small, whole = (os.path.join(folder, name) for name in ("archive", "small", "whole.db"))
    lab.archive(root, 600)
    os.mkdir(small)
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", small]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        raise batch_lab.Skip("a small file system cannot be mounted here")
    try:
        fleet = os.path.join(small, "fleet.db")
        lab.exits("no room", lab.batch(root, fleet), 4, says="space")
        larger = ["mount", "-o", "remount,size=16m", small]
        subprocess.run(larger, check=True, capture_output=True)
        with db_lab.python_sqlite(fleet) as db:
            before = dict(db.execute("SELECT path, judged_ns FROM job"))
        lab.exits("room again", lab.batch(root, fleet), 0)
        with db_lab.python_sqlite(fleet) as db:
            after = dict(db.execute("SELECT path, judged_ns FROM job"))
        lab.same("done twice", [path for path in before if after.get(path) != before[path]], [])
        lab.exits("elsewhere", lab.batch(root, whole), 0)
        lab.same("as with room", lab.export(fleet), lab.export(whole))
    finally:
        subprocess.run(["umount", small], check=False, capture_output=True)


def test_archives_as_jobs(lab, folder):
    """An archive is a job as its folder is."""
    root, fleet = os.path.join(folder, "archive"), os.path.join(folder, "fleet.db")
    lab.put("--fault size --culprits 1 --ranks 4 --steps 12", os.path.join(folder, "one"))
    os.mkdir(root)
    with tarfile.open(os.path.join(root, "one.tar.gz"), "w:gz") as pack:
        pack.add(os.path.join(folder, "one"), "one")
    shutil.copytree(os.path.join(folder, "one"), os.path.join(root, "one"))
    db_lab.write(os.path.join(root, "torn.tar.gz"), db_lab.read(os.path.join(root, "one.tar.gz"))[:300])
    db_lab.write(os.path.join(root, "none.zip"), io.BytesIO(b"PK\x05\x06" + bytes(18)).getvalue())
    lab.exits("batch", lab.batch(root, fleet), 0)
    jobs = lab.jobs(fleet)
    lab.same("fingerprints", jobs["one"]["fingerprint"], jobs["one.tar.gz"]["fingerprint"])
    lab.same("an archive of nothing", jobs["none.zip"]["state"], "unreadable")
    lab.check(jobs["torn.tar.gz"]["state"] in ("judged", "unreadable"), f"torn: {jobs['torn.tar.gz']}")
