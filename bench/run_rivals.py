#!/usr/bin/env python3
"""run_rivals.py HANGSCOPE [PYTHON_WITH_TORCH] [--ranks 64,256,1024,4096] [--check] [--update]

One run, the same files: CPython's pickle.load, torchfrtrace of PyTorch (where it may finish, up to 256
ranks), and hangscope with and without a database; wall and CPU time, peak memory, and whether the culprit
is named and nobody else. Jobs of one group, with and without frames, and for torchfrtrace of tensor and data
groups, too. Then rows written in a second, beside what SQLite does with rows that cost nothing. Each number
is the least of some runs; what takes long runs once. --update writes docs/PERFORMANCE.md. --check exits 1
when a bar is missed:

  with a database at most 1/4 of pickle.load at 256 ranks, and at most 1/200 of torchfrtrace;
  time an entry from 256 ranks to the most within 15 %;
  1.2 million rows a second, or within 1.5 times the bare insert.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lab import CULPRIT, LOAD, ROOT, TENSOR, Cost, blamed, make, make_mesh, named, write_figures

TORCH_RANKS = 256  # more takes an hour
ROW = "| {:>5} | {:<14} | {:<16} | {:>7} | {:>7} | {:>7} | {:<9} |"
HEAD = ROW.format("ranks", "dumps", "program", "wall s", "CPU s", "peak MB", "culprit")
LINE = re.sub(r"[^|]", "-", HEAD)
RATES = "| ranks | dumps | rows | million a second | bare insert | the one by the other |"
PLAIN, FRAMES, MESH = KINDS = "no frames", "frames", "frames, groups"


def judge(ranks):
    wrong = len(ranks - {CULPRIT})
    right = "right" if CULPRIT in ranks else "missing"
    return right + (f", {wrong} wrong" if wrong else "")


def printed(words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def free_memory():
    with open("/proc/meminfo") as stream:
        return int(re.search(r"MemAvailable: +(\d+)", stream.read())[1]) * 1024


class Bench:
    def __init__(self, option, root):
        self.option, self.root = option, root
        self.lines, self.bars, self.missed = [], [], 0
        self.per_entry, self.rates = {}, []
        self.insert = os.path.join(root, "vtab_insert")
        self.bare = os.path.join(root, "bare.db")
        library = printed(["pkg-config", "--cflags", "--libs", "sqlite3"]).split()
        source = os.path.join(ROOT, "bench", "vtab_insert.c")
        subprocess.run(["cc", "-O2", "-o", self.insert, source, *library], check=True)

    def bar(self, good, text):
        line = f"{'met' if good else '**missed**'}: {text}"
        print("  " + line, flush=True)
        self.bars.append(f"- {line}")
        self.missed += not good

    def row(self, ranks, kind, what, cost, culprit=""):
        late = cost.status is None
        wall, user = (f"> {self.option.limit}", "") if late else (f"{cost.wall:.3f}", f"{cost.user:.3f}")
        line = ROW.format(ranks, kind, what, wall, user, f"{cost.rss / 1e6:.0f}", culprit)
        print(line, flush=True)
        self.lines.append(line)

    def ours(self, what, database=None):
        words = [self.option.binary, "analyze", "--json", "-q", what]
        return Cost(words + (["--db", database] if database else []), self.option.runs, keep=True)

    def job(self, ranks, kind):
        folder, database = os.path.join(self.root, "job"), os.path.join(self.root, "job.db")
        need = ranks * self.option.entries * 220
        if shutil.disk_usage(self.root).free < 2 * need or free_memory() < 2 * need:
            print(
                f"{ranks} ranks, {kind}: left out, this needs {2 * need / 1e9:.1f} GB of disk and of memory"
            )
            return
        (make_mesh if kind == MESH else make)(folder, ranks, self.option.entries, kind != PLAIN)
        few = self.option.runs if ranks <= 256 else 1
        load = Cost([sys.executable, "-c", LOAD, folder], few, warm=ranks <= 256)
        self.row(ranks, kind, "pickle.load", load)
        torch = self.torch(ranks, kind, folder)
        plain = self.ours(folder)
        self.row(ranks, kind, "hangscope", plain, judge(named(plain.text)))
        kept = self.ours(folder, database)
        self.row(ranks, kind, "hangscope --db", kept, judge(named(kept.text)))
        again = self.ours(database)
        self.row(ranks, kind, "hangscope job.db", again, judge(named(again.text)))
        self.compare(f"{ranks} ranks, {kind}", ranks == 256, plain, kept, load, torch)
        self.write(ranks, kind, kept.wall - plain.wall, database)
        self.per_entry[ranks, kind] = plain.wall / ranks, kept.wall / ranks
        shutil.rmtree(folder)
        os.remove(database)

    def torch(self, ranks, kind, folder):
        """What torchfrtrace costs, or None where it is not asked or does not end."""
        if not self.option.python or ranks > TORCH_RANKS:
            return None
        words = [self.option.python, "-m", "torch.distributed.flight_recorder.fr_trace", folder]
        cost = Cost(words, 1, statuses=None, warm=False, keep=True, limit=self.option.limit)
        self.row(ranks, kind, "torchfrtrace", cost, judge(blamed(cost.text)))
        return cost if cost.status == 0 else None

    def compare(self, where, has_bar, plain, kept, load, torch):
        if has_bar:
            ratio = load.wall / kept.wall
            self.bar(ratio >= 4, f"{where}: with a database 1/{ratio:.1f} of pickle.load (at most 1/4)")
        for ours, how in ((plain, "without a database"), (kept, "with one")) if torch else ():
            ratio = torch.wall / ours.wall
            self.bar(ratio >= 200, f"{where}: {how} 1/{ratio:.0f} of torchfrtrace (at most 1/200)")

    def write(self, ranks, kind, seconds, database):
        """Rows a second, by what --db adds; and the bare insert of as many."""
        tables = ("operation", "arrival", "frontier", "wait", "member", "source", "dump")
        query = f"SELECT {' + '.join(f'(SELECT count(*) FROM {table})' for table in tables)} AS rows"
        words = [self.option.binary, "sql", database, query, "--format", "csv"]
        rows = int(printed(words).split()[1])
        words = [self.insert, self.bare, str(ranks), str(self.option.entries)]
        bare = min(float(printed(words)) for _ in range(self.option.runs))
        os.remove(self.bare)
        ours, theirs = rows / seconds, ranks * self.option.entries / bare
        self.rates.append(
            f"| {ranks} | {kind} | {rows:,} | {ours / 1e6:.2f} | {theirs / 1e6:.2f} | {theirs / ours:.2f} |"
        )
        if ranks >= 256:
            text = f"{ranks} ranks, {kind}: {ours / 1e6:.2f} million rows a second (at least 1.2)"
            self.bar(ours >= 1.2e6 or theirs / ours <= 1.5, f"{text}, the bare insert {theirs / 1e6:.2f}")

    def scaling(self, kind):
        sizes = sorted(ranks for ranks, other in self.per_entry if other == kind and ranks >= 256)
        for number, what in enumerate(("without a database", "with one")):
            if len(sizes) > 1:
                small, large = (self.per_entry[size, kind][number] for size in (sizes[0], sizes[-1]))
                growth = (large / small - 1) * 100
                text = f"{kind}, {what}: time an entry {growth:+.0f} % from {sizes[0]} to {sizes[-1]} ranks"
                self.bar(growth <= 15, f"{text} (at most +15 %)")


def update(bench):
    parts = {
        "rivals": "\n".join([HEAD, LINE, *bench.lines]),
        "rows": "\n".join([RATES, re.sub(r"[^|]+", "---", RATES), *bench.rates]),
        "bars": "\n".join(bench.bars),
    }
    write_figures(parts)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("python", metavar="PYTHON_WITH_TORCH", nargs="?", help="without: no torchfrtrace")
    arguments.add_argument(
        "--ranks", default="64,256,1024,4096", type=lambda text: [int(word) for word in text.split(",")]
    )
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument(
        "--patience", type=int, default=0, help="seconds to wait for a quiet machine, in all"
    )
    arguments.add_argument("--limit", type=int, default=300, help="seconds for torchfrtrace")
    arguments.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    arguments.add_argument("--folder", help="where to put the dumps, which are removed; up to 3 GB")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    arguments.add_argument("--update", action="store_true", help="write docs/PERFORMANCE.md")
    option = arguments.parse_args()
    option.binary = os.path.abspath(option.binary)
    Cost.patience = option.patience
    load = os.getloadavg()[0]
    if load > 1:
        print(f"others are at work here (load {load:.1f}): this makes the numbers worse")
    print(HEAD + "\n" + LINE)
    with tempfile.TemporaryDirectory(dir=option.folder) as root:
        bench = Bench(option, root)
        for kind in option.kinds:
            for ranks in option.ranks:
                if kind != MESH or (option.python and 2 * TENSOR <= ranks <= TORCH_RANKS):
                    bench.job(ranks, kind)
            bench.scaling(kind)
    if option.update:
        update(bench)
    print(f"{bench.missed} bars missed")
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
