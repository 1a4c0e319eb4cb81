#!/usr/bin/env python3
"""run_replay.py HANGSCOPE [--ranks 1024] [--entries 2000] [--runs 3] [--patience S] [--check]

How long a job is run again, without hardware: dry from a database and from a plan, and made as small as
it goes. Two jobs: one group of all ranks (`flat`), and groups of a tensor and a data dimension (`mesh`);
in both, rank 3 does not come to a call near the end, and has to be named. Each number is the least of
some runs, after one that warms the cache; --patience waits for a quiet machine. --check exits 1 when a
bar is missed, at 1,024 ranks of 2,000 calls and by the clock: 1 s from a database, 1.5 s from a plan,
15 s to minimise.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from lab import CULPRIT, Cost, make, make_mesh, named

BARS = {"dry from a database": 1.0, "dry from a plan": 1.5, "minimise": 15.0}


class Bench:
    def __init__(self, option, root):
        self.option, self.root, self.missed = option, root, []

    def row(self, what, command):
        cost = Cost([self.option.binary, *command], self.option.runs, keep="--json" in command)
        bar = BARS[what]
        good = cost.wall <= bar
        print(
            f"  {what:<24}{cost.wall * 1000:10.1f} ms wall {cost.user * 1000:10.1f} ms cpu "
            f"{cost.rss / 1e6:9.1f} MB  {'ok' if good else 'MISSED'}: at most {bar:g} s"
        )
        if not good:
            self.missed.append(what)
        if "--json" in command and named(cost.text) != {CULPRIT}:
            raise SystemExit(f"{what}: rank {CULPRIT} is to be named, not {named(cost.text)}")

    def job(self, name, writer):
        folder, option = os.path.join(self.root, name), self.option
        database, plan, small = (
            os.path.join(self.root, f"{name}{end}") for end in (".db", ".json", "-small.json")
        )
        writer(folder, option.ranks, option.entries, True)
        for command in (
            ["ingest", folder, "-o", database],
            ["plan", database, "--window", str(option.entries), "-o", plan],
        ):
            subprocess.run([option.binary, *command, "-q"], check=True)
        shutil.rmtree(folder)
        sizes = (
            f"database {os.path.getsize(database) / 1e6:.1f} MB, plan {os.path.getsize(plan) / 1e6:.1f} MB"
        )
        print(f"{name}: {option.ranks} ranks x {option.entries} calls, {sizes}")
        self.row("dry from a database", ["replay", "--json", database])
        self.row("dry from a plan", ["replay", "--json", plan])
        self.row("minimise", ["plan", "-q", "--minimize", plan, "-o", small])


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--ranks", type=int, default=1024)
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--patience", type=float, default=0, help="seconds to wait for a quiet machine")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    option = arguments.parse_args()
    option.binary = os.path.abspath(option.binary)
    Cost.patience = option.patience
    with tempfile.TemporaryDirectory() as root:
        bench = Bench(option, root)
        bench.job("flat", make)
        bench.job("mesh", make_mesh)
    print(f"{len(bench.missed)} bars missed")
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
