#!/usr/bin/env python3
"""run_rivals.py HANGSCOPE [PYTHON_WITH_TORCH] [--ranks 64,256,1024,4096] [--check] [--update]

One run, the same files: CPython's pickle.load, torchfrtrace of PyTorch (where it may finish, up to 256
ranks), and hangscope with and without a database; wall and CPU time, peak memory, and whether the culprit
is named and nobody else. Then rows written in a second, beside what SQLite does with rows that cost nothing.
Each number is the least of some runs; those that take long run once. --update writes the tables into
docs/PERFORMANCE.md. --check exits 1 when a bar is missed:

  with a database at most 1/4 of pickle.load at 256 ranks, and at most 1/200 of torchfrtrace;
  time an entry from 256 ranks to the most within 15 %;
  1.2 million rows a second, or within 1.5 times the bare insert.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lab import CULPRIT, LOAD, Cost, make, size_of

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(HERE), "docs", "PERFORMANCE.md")
TORCH_RANKS = 256  # more takes an hour
ROW = "| {:>5} | {:<6} | {:<22} | {:>9} | {:>9} | {:>9} | {:<28} |"
HEAD = ROW.format("ranks", "frames", "program", "wall s", "CPU s", "peak MB", "culprit")
LINE = re.sub(r"[^|]", "-", HEAD)


def blamed(text):
    """Ranks that torchfrtrace names: those that lack a call, and those that differ."""
    ranks = {int(word) for word in re.findall(r"Culprit rank (\d+)", text)}
    for group in re.findall(r"^missing ranks: \{([\d, ]*)\}", text, re.M):
        ranks.update(int(word) for word in group.split(",") if word.strip())
    return ranks


def named(text):
    return {row["rank"] for row in json.loads(text)["verdict"]["culprits"]}


def judge(ranks):
    wrong = len(ranks - {CULPRIT})
    right = "named" if CULPRIT in ranks else "not named"
    return right + (f", {wrong} innocent too" if wrong else "")


def free_memory():
    with open("/proc/meminfo") as stream:
        return int(re.search(r"MemAvailable: +(\d+)", stream.read())[1]) * 1024


class Bench:
    def __init__(self, option, root):
        self.option, self.root = option, root
        self.lines, self.bars, self.missed = [], [], 0
        self.per_entry, self.rates = {}, []
        self.insert = os.path.join(root, "vtab_insert")
        words = subprocess.run(
            ["pkg-config", "--cflags", "--libs", "sqlite3"], check=True, capture_output=True, text=True
        )
        source = os.path.join(HERE, "vtab_insert.c")
        subprocess.run(["cc", "-O2", "-o", self.insert, source, *words.stdout.split()], check=True)

    def bar(self, good, text):
        line = f"{'met' if good else '**missed**'}: {text}"
        print("  " + line, flush=True)
        self.bars.append(f"- {line}")
        self.missed += not good

    def row(self, ranks, frames, what, cost, culprit=""):
        wall = f"{cost.wall:.3f}"
        if cost.status is None:
            wall = f"> {self.option.limit}"
        user = "" if cost.status is None else f"{cost.user:.3f}"
        line = ROW.format(
            ranks, "with" if frames else "no", what, wall, user, f"{cost.rss / 1e6:.0f}", culprit
        )
        print(line, flush=True)
        self.lines.append(line)

    def ours(self, folder, database, what):
        words = [self.option.binary, "analyze", "--json", "-q", what]
        return Cost(words + (["--db", database] if database else []), self.option.runs, keep=True)

    def job(self, ranks, frames):
        """-> whether there was room for it."""
        folder, database = os.path.join(self.root, "job"), os.path.join(self.root, "job.db")
        need = ranks * self.option.entries * 220
        if shutil.disk_usage(self.root).free < 2 * need or free_memory() < 2 * need:
            print(f"{ranks} ranks: left out, this needs {need / 1e9:.1f} GB of disk and of memory")
            return
        make(folder, ranks, self.option.entries, frames)
        few = self.option.runs if ranks <= 256 else 1
        load = Cost([sys.executable, "-c", LOAD, folder], few, warm=ranks <= 256)
        self.row(ranks, frames, "pickle.load", load)
        torch = self.torch(ranks, frames, folder)
        plain = self.ours(folder, None, folder)
        self.row(ranks, frames, "hangscope", plain, judge(named(plain.text)))
        kept = self.ours(folder, database, folder)
        self.row(ranks, frames, "hangscope --db", kept, judge(named(kept.text.split("\nhangscope:")[0])))
        again = self.ours(folder, None, database)
        self.row(ranks, frames, "hangscope job.db", again, judge(named(again.text)))
        self.compare(ranks, frames, kept, load, torch)
        self.write(ranks, frames, plain, kept, database)
        self.per_entry[ranks, frames] = [cost.wall / ranks for cost in (plain, kept)]
        shutil.rmtree(folder)
        os.remove(database)

    def torch(self, ranks, frames, folder):
        """What torchfrtrace costs, or None where it is not asked or does not end."""
        if not self.option.python or ranks > TORCH_RANKS:
            return None
        words = [self.option.python, "-m", "torch.distributed.flight_recorder.fr_trace", folder]
        cost = Cost(words, 1, statuses=None, warm=False, keep=True, limit=self.option.limit)
        self.row(ranks, frames, "torchfrtrace", cost, judge(blamed(cost.text)))
        return cost if cost.status == 0 else None

    def compare(self, ranks, frames, kept, load, torch):
        where = f"{ranks} ranks, {'with' if frames else 'no'} frames"
        if ranks == 256:
            ratio = load.wall / kept.wall
            self.bar(ratio >= 4, f"{where}: with a database 1/{ratio:.1f} of pickle.load (at most 1/4)")
        if torch:
            ratio = torch.wall / kept.wall
            self.bar(ratio >= 200, f"{where}: with a database 1/{ratio:.0f} of torchfrtrace (at most 1/200)")

    def write(self, ranks, frames, plain, kept, database):
        """Rows a second, by what --db adds; and the bare insert of as many."""
        query = "SELECT sum(rows) FROM (SELECT count(*) AS rows FROM operation UNION ALL SELECT count(*) FROM arrival)"
        words = [self.option.binary, "sql", database, query, "--format", "csv"]
        rows = int(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[1])
        bare = min(
            float(
                subprocess.run(
                    [self.insert, os.path.join(self.root, "bare.db"), str(ranks), str(self.option.entries)],
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout
            )
            for _ in range(self.option.runs)
        )
        os.remove(os.path.join(self.root, "bare.db"))
        ours, theirs = rows / (kept.wall - plain.wall), ranks * self.option.entries / bare
        self.rates.append(
            f"| {ranks} | {'with' if frames else 'no'} | {rows:,} | {ours / 1e6:.2f} | {theirs / 1e6:.2f} "
            f"| {theirs / ours:.2f} |"
        )
        if ranks >= 256:
            text = f"{ranks} ranks, {'with' if frames else 'no'} frames: {ours / 1e6:.2f} million rows a second"
            text += f" (1.2, or 1.5 times the bare insert's time; is {theirs / ours:.2f})"
            self.bar(ours >= 1.2e6 or theirs / ours <= 1.5, text)

    def scaling(self, frames):
        sizes = sorted(ranks for ranks, framed in self.per_entry if framed == frames and ranks >= 256)
        for number, what in enumerate(("without a database", "with one")):
            if len(sizes) > 1:
                small, large = (self.per_entry[size, frames][number] for size in (sizes[0], sizes[-1]))
                growth = (large / small - 1) * 100
                text = f"{'with' if frames else 'no'} frames, {what}: time an entry {growth:+.0f} % from"
                self.bar(growth <= 15, f"{text} {sizes[0]} to {sizes[-1]} ranks (at most +15 %)")


def update(bench):
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    parts = {
        "rivals": "\n".join([HEAD, LINE, *bench.lines]),
        "rows": "| ranks | frames | rows | million a second | bare insert | bare / ours |\n|---|---|---|---|---|---|\n"
        + "\n".join(bench.rates),
        "bars": "\n".join(bench.bars),
    }
    for name, text in parts.items():
        found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.S)
        page = page[: found.start(1)] + text + "\n" + page[found.end(1) :]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


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
    arguments.add_argument("--limit", type=int, default=300, help="seconds for torchfrtrace")
    arguments.add_argument("--frames", choices=("both", "with", "without"), default="both")
    arguments.add_argument("--folder", help="where to put the dumps, which are removed; up to 3 GB")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    arguments.add_argument("--update", action="store_true", help="write docs/PERFORMANCE.md")
    option = arguments.parse_args()
    option.binary = os.path.abspath(option.binary)
    load = os.getloadavg()[0]
    if load > 1:
        print(f"others are at work here (load {load:.1f}): the numbers will be worse than they are")
    print(HEAD + "\n" + LINE)
    with tempfile.TemporaryDirectory(dir=option.folder) as root:
        bench = Bench(option, root)
        for frames in {"both": (False, True), "with": (True,), "without": (False,)}[option.frames]:
            for ranks in option.ranks:
                bench.job(ranks, frames)
            bench.scaling(frames)
    if option.update:
        update(bench)
    print(f"{bench.missed} bars missed")
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
