#!/usr/bin/env python3
"""run_log_properties.py HANGSCOPE [--only GROUP] [--cases FOLDER]: what holds whatever happens to logs.

cases       the folders in tests/logs/cases: code, culprits, confidence, who waits and what is cited are right
order       order of arguments and number of threads: the same bytes
containers  .gz, .zst, .tar, .tar.gz: the same verdict
database    a file at a time, merged: the same as all at once, byte for byte
wraps       what launchers and container runtimes put around lines
clocks      the clock of one host is wrong
files       logs split by rank or joined, a file twice, a healthy node more, a file less
cuts        logs that end anywhere, with garbage behind
hostile     lines of 256 KB and of 30 MB, NULs, UTF-16
samples     logs only, dumps only, both: both is at least as sure

A change that loses nothing keeps code and culprits, or makes the verdict less sure. Whatever is lost: never
wrong and high. --cases takes folders with input/ and truth.json instead of our own jobs.
"""

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import log_changes
import log_jobs

import hangscope_run  # isort: skip  log_jobs has put its folder on the path

SURE = hangscope_run.RANKS
SHIFTS = (3.7, -90)
HEALTHY_NODE = b"""\
node-z:4100:4100 [0] NCCL INFO Bootstrap : Using eth0:10.0.9.9<0>
node-z:4101:4101 [1] NCCL INFO Bootstrap : Using eth0:10.0.9.9<0>
node-z:4100:4163 [0] NCCL INFO Setting affinity for GPU 0 to ffff
node-z:4101:4164 [1] NCCL INFO Setting affinity for GPU 1 to ffff0000
"""


class Verdict(hangscope_run.Verdict):
    """Of logs: a culprit may have no rank, only a host or device."""

    @property
    def culprits(self):
        ranks = [culprit["rank"] for culprit in self.object["verdict"]["culprits"]]
        return sorted(rank for rank in ranks if rank is not None)


class Suite:
    def __init__(self, binary, jobs, cuts):
        self.binary, self.jobs, self.cuts_made = os.path.abspath(binary), jobs, cuts
        self.tally = hangscope_run.Tally()

    def put(self, files, folder):
        for path, data in files.items():
            full = os.path.join(folder, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as stream:
                stream.write(data)

    def run(self, files, *options):
        with tempfile.TemporaryDirectory() as folder:
            self.put(files, folder)
            return Verdict(self.binary, [folder], *options)

    def base(self, job):
        run = self.run(job.files)
        good = run.object is not None and not run.trouble
        if not self.tally.check(good, f"{job.name}: no verdict to start from: {run}"):
            return None
        if not job.codes:
            job.codes, job.culprits = {run.code, "undetermined"}, run.culprits
        return run

    def answers(self, what, job, files):
        """A valid answer, or a clear refusal; never wrong and high."""
        run = self.run(files)
        if not self.tally.check(run.status in (0, 1, 2, 3) and not run.trouble, f"{what}: {run}"):
            return None
        self.tally.check(not job.wrong_and_high(run), f"{what}: wrong and high: {run}")
        return run if run.object is not None else None

    def stays(self, what, job, base, files, surer=True):
        """Code and culprits stay, or the verdict is less sure, or right."""
        run = self.answers(what, job, files)
        if run is None:
            self.tally.check(False, f"{what}: no verdict, want as {base}")
            return
        same = run.code == base.code and run.culprits == base.culprits
        fewer = run.code == base.code and set(run.culprits) < set(base.culprits)
        less = fewer or SURE[run.confidence] < SURE[base.confidence]
        # Without times it may be missing, with the times that a change adds it is slow: both are right.
        right = job.known and job.right(run) and run.confidence != "high" and run.culprits == base.culprits
        found = SURE[base.confidence] == 0 and job.known and job.right(run)
        self.tally.check(same or less or right or found, f"{what}: got {run}, want as {base}")
        if same and not surer:
            self.tally.check(
                SURE[run.confidence] <= SURE[base.confidence], f"{what}: surer, {run} after {base}"
            )

    def each(self, check):
        """check(job, base) for every job, two at a time."""
        with ThreadPoolExecutor(2) as pool:
            bases = list(pool.map(self.base, self.jobs))
            for _ in pool.map(lambda pair: pair[1] and check(*pair), zip(self.jobs, bases)):
                pass

    # -- the same bytes -------------------------------------------------------

    def order(self):
        self.each(self.order_of)

    def order_of(self, job, _):
        with tempfile.TemporaryDirectory() as folder:
            self.put(job.files, folder)
            first = Verdict(self.binary, [folder], "-j", "1")
            for threads in ("2", "5"):
                self.bytes(f"{job.name}: -j {threads}", first, [folder], threads)
            paths = [os.path.join(folder, path) for path in sorted(job.files)]
            if len(paths) > 1:
                first = Verdict(self.binary, paths, "-j", "1")
                mixed = list(paths)
                random.Random(job.name).shuffle(mixed)
                self.bytes(f"{job.name}: arguments reversed", first, paths[::-1], "2")
                self.bytes(f"{job.name}: arguments shuffled", first, mixed, "5")

    def bytes(self, what, first, paths, threads):
        run = Verdict(self.binary, paths, "-j", threads)
        same = (run.stdout, run.status) == (first.stdout, first.status)
        self.tally.check(same, f"{what}: other bytes: {run} instead of {first}")

    def containers(self):
        self.each(self.containers_of)

    def containers_of(self, job, base):
        for pack in log_changes.CONTAINERS:
            files = pack(job.files)
            if files is not None:
                run = self.run(files)
                same = run.object is not None and run.object["verdict"] == base.object["verdict"]
                self.tally.check(same, f"{job.name}, {pack.__name__}: got {run}, want {base}")

    def database(self):
        self.each(self.database_of)

    def database_of(self, job, base):
        with tempfile.TemporaryDirectory() as room:
            folder = os.path.join(room, "job")
            self.put(job.files, folder)
            whole, parts = os.path.join(room, "whole.db"), []
            self.made(job, "ingest", folder, "-o", whole)
            self.of_database(f"{job.name}: its database", base, [whole])
            # A path below the argument names a source: what lies in a folder is kept with it.
            for number, path in enumerate(sorted(job.files)):
                alone = os.path.join(room, f"part{number}")
                self.put({path: job.files[path]}, alone)
                parts.append(os.path.join(room, f"part{number}.db"))
                self.made(job, "ingest", alone, "-o", parts[-1])
            if len(parts) > 1:
                merged = os.path.join(room, "merged.db")
                self.made(job, "merge", *parts[::-1], "-o", merged)
                self.of_database(f"{job.name}: its merged parts", base, [merged])
                self.of_database(f"{job.name}: its parts, not merged", base, parts)
                self.tally.check(tables(whole) == tables(merged), f"{job.name}: merged tables differ")

    def made(self, job, *words):
        run = subprocess.run([self.binary, words[0], "-q", *words[1:]], capture_output=True, check=False)
        self.tally.check(
            run.returncode == 0, f"{job.name}: {words[0]}: {run.returncode} {run.stderr.decode()}"
        )

    def of_database(self, what, base, paths):
        run = Verdict(self.binary, paths)
        self.tally.check(
            (run.stdout, run.status) == (base.stdout, base.status),
            f"{what}: got {run}, want {base}, or other bytes",
        )

    # -- nothing is lost ------------------------------------------------------

    def wraps(self):
        self.each(self.wraps_of)

    def wraps_of(self, job, base):
        tasks = log_changes.TASKS if log_changes.has_tasks(job.files) else []
        for make in log_changes.WRAPS + tasks:
            self.stays(f"{job.name}, {make.__name__}", job, base, log_changes.wrap(job.files, make))

    def clocks(self):
        self.each(self.clocks_of)

    def clocks_of(self, job, base):
        for path in sorted(job.files):
            for seconds in SHIFTS:
                ranks = log_changes.ranks_of(job.files[path])
                if len(job.files) > 1:
                    files = dict(job.files, **{path: log_changes.shift(job.files[path], seconds)})
                    self.stays(f"{job.name}: {path} {seconds:+} s", job, base, files)
                elif len(ranks) > 1:
                    for rank in sorted({ranks[0], ranks[-1]}):
                        tag = b"[rank%d]:" % rank
                        data = log_changes.shift(
                            job.files[path], seconds, lambda line, tag=tag: line.startswith(tag)
                        )
                        self.stays(f"{job.name}: rank {rank} {seconds:+} s", job, base, {path: data})

    def files(self):
        self.each(self.files_of)

    def files_of(self, job, base):
        for path, data in sorted(job.files.items()):
            where, name = os.path.split(path)
            self.stays(
                f"{job.name}: {path} twice",
                job,
                base,
                dict(job.files, **{os.path.join(where, "z-" + name): data}),
                False,
            )
            rest = {key: value for key, value in job.files.items() if key != path}
            if rest:
                run = self.answers(f"{job.name}: without {path}", job, rest)
                if run is not None:
                    self.lesser(f"{job.name}: without {path}", job, base, run)
        self.stays(
            f"{job.name}: a healthy node more",
            job,
            base,
            dict(job.files, **{"node-z.log": HEALTHY_NODE}),
            False,
        )
        if len(job.files) == 1:
            ((_, data),) = job.files.items()
            if len(log_changes.ranks_of(data)) > 1:
                self.stays(f"{job.name}: split by rank", job, base, log_changes.split_by_rank(data))
        else:
            self.stays(f"{job.name}: joined", job, base, {"job.log": log_changes.joined(job.files, False)})
            self.stays(
                f"{job.name}: joined, tagged", job, base, {"job.log": log_changes.joined(job.files, True)}
            )

    def lesser(self, what, job, base, run):
        """After a loss: as before, less sure, or right."""
        same = run.code == base.code and set(run.culprits) <= set(base.culprits)
        good = same or SURE[run.confidence] < SURE[base.confidence] or SURE[run.confidence] == 0
        self.tally.check(
            good or (job.known and job.right(run)), f"{what}: got {run}, want as {base}, or less sure"
        )

    # -- something is lost ----------------------------------------------------

    def cuts(self):
        self.each(self.cuts_of)

    def cuts_of(self, job, _):
        garbage = random.Random(job.name).randbytes(3000)
        for path, data in sorted(job.files.items()):
            for part in range(1, self.cuts_made):
                end = len(data) * part // self.cuts_made
                self.answers(f"{job.name}: {path} cut at {end}", job, dict(job.files, **{path: data[:end]}))
            self.answers(
                f"{job.name}: {path}, garbage behind", job, dict(job.files, **{path: data + garbage})
            )
            self.answers(
                f"{job.name}: {path}, garbage before", job, dict(job.files, **{path: garbage + b"\n" + data})
            )

    def hostile(self):
        for job in self.jobs[:: max(1, len(self.jobs) // 8)]:
            base = self.base(job)
            if base:
                self.hostile_of(job, base)

    def hostile_of(self, job, base):
        path, data = sorted(job.files.items())[0]
        lines = log_changes.lines_of(data)
        middle = len(lines) // 2

        def beside(line):
            return dict(
                job.files, **{path: b"".join(lines[:middle]) + line + b"\n" + b"".join(lines[middle:])}
            )

        long = b"x=1, " * 52429
        hole = bytes(4000)
        self.stays(f"{job.name}: a line of 256 KB", job, base, beside(long))
        self.stays(f"{job.name}: a line of NULs", job, base, beside(hole))
        holes = {name: hole + text + hole for name, text in job.files.items()}
        self.stays(f"{job.name}: holes before and behind", job, base, holes)
        self.answers(f"{job.name}: all behind 256 KB", job, {path: long + data})
        self.answers(f"{job.name}: a line of 30 MB", job, beside(b"a [rank1]: b" * 2500000))
        run = self.run(
            {name: text.decode("utf-8", "replace").encode("utf-16") for name, text in job.files.items()}
        )
        good = run.status in (2, 3) or (
            run.object is not None and (run.code, run.culprits) == (base.code, base.culprits)
        )
        self.tally.check(good and not run.trouble, f"{job.name}: UTF-16: {run}")

    # -- logs and dumps -------------------------------------------------------

    def samples(self):
        for folder in log_jobs.sample_folders():
            if not os.path.isdir(os.path.join(folder, "dumps")):
                continue  # a sample of logs alone
            runs = {}
            for parts in (("logs",), ("dumps",), ("dumps", "logs")):
                job = log_jobs.sample(folder, parts)
                runs[parts] = self.answers(f"{job.name}, {' and '.join(parts)}", job, job.files)
            if all(runs.values()):
                both = runs.pop(("dumps", "logs"))
                for (part,), run in runs.items():
                    self.fused(f"{os.path.basename(folder)}: both after {part}", job, run, both)

    def fused(self, what, job, one, both):
        """Two sources that agree are at least as sure as one; a right answer is not lost."""
        if both.code == one.code:
            good = SURE[both.confidence] >= SURE[one.confidence]
        else:
            good = not (job.right(one) and one.code != "undetermined") or job.right(both)
        self.tally.check(good, f"{what}: got {both} after {one}")

    def cases(self):
        for job, expected in log_jobs.own_cases():
            run = self.base(job)
            if run:
                good = run.code == expected["code"] and run.culprits == expected["culprits"]
                good = good and expected.get("waiting") in (None, run.object["verdict"]["waiting_ranks"])
                good = good and set(expected.get("cites", ())) <= cited(run.object)
                self.tally.check(
                    good and run.confidence == expected["confidence"], f"{job.name}: {run}, want {expected}"
                )


def cited(verdict):
    """The lines that findings point at."""
    return {f"{e['source']}:{e['line']}" for finding in verdict["findings"] for e in finding["evidence"]}


def tables(path):
    db = sqlite3.connect(path)
    db.text_factory = bytes
    names = [row[0].decode() for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    content = {name: db.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall() for name in names}
    db.close()
    return content


GROUPS = (
    "cases",
    "order",
    "containers",
    "database",
    "wraps",
    "clocks",
    "files",
    "cuts",
    "hostile",
    "samples",
)
OF_OURS = ("cases", "samples")  # these know their own folders


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binary", metavar="HANGSCOPE")
    parser.add_argument("--only", choices=GROUPS, action="append")
    parser.add_argument("--cases", metavar="FOLDER")
    parser.add_argument("--cuts", type=int, default=20, help="parts that each log is cut in")
    parser.add_argument("--goldens", type=int, default=7, help="every how manieth case of tests/rules")
    option = parser.parse_args()
    if option.cases:
        jobs = log_jobs.shared_cases(option.cases)
    else:
        jobs = log_jobs.samples() + [job for job, _ in log_jobs.own_cases()]
        if option.only != ["cuts"]:
            jobs += log_jobs.goldens(option.goldens)
    suite = Suite(option.binary, jobs, option.cuts)
    for name in option.only or GROUPS:
        if not (option.cases and name in OF_OURS):
            getattr(suite, name)()
    return suite.tally.end()


if __name__ == "__main__":
    sys.exit(main())
