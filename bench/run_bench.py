#!/usr/bin/env python3
"""run_bench.py HANGSCOPE [--ranks 64,256,1024] [--entries 2000] [--runs 3] [--check]

Speed and memory of `hangscope analyze` against CPython's pickle.load of the same files, in one run on
this machine, and how the time grows with the ranks. Each number is the least of some runs, after one
that warms the cache. --check exits 1 when a bar is missed: at 256 ranks an eighth of pickle.load, a
sixteenth with frames; from 256 to 1024 ranks linear within 15 %; one file in 15 ms; at most 64 MB and
64 bytes an entry.
"""

import argparse
import os
import shutil
import sys
import tempfile

from lab import LOAD, Cost, make, size_of


class Bench:
    def __init__(self, option, root):
        self.option, self.root = option, root
        self.missed = []
        self.per_entry = {}

    def bar(self, good, text):
        print(f"    {'ok    ' if good else 'MISSED'} {text}")
        if not good:
            self.missed.append(text)

    def row(self, what, cost, ratio=""):
        print(
            f"  {what:<24}{cost.wall * 1000:10.1f} ms wall {cost.user * 1000:10.1f} ms cpu "
            f"{cost.rss / 1e6:9.1f} MB {ratio}"
        )

    def job(self, ranks, frames):
        entries = self.option.entries
        folder = os.path.join(self.root, "job")
        make(folder, ranks, entries, frames)
        total = ranks * entries
        print(
            f"{ranks} ranks x {entries} entries, {'with' if frames else 'no'} frames, "
            f"{size_of(folder) / 1e6:.1f} MB"
        )
        runs = self.option.runs
        ours = Cost([self.option.binary, "analyze", "--json", folder], runs)
        one = Cost([self.option.binary, "analyze", "--json", "-j", "1", folder], runs)
        self.row("analyze", ours, f"{ours.wall / total * 1e9:8.1f} ns an entry")
        self.row("analyze -j 1", one, f"{one.wall / total * 1e9:8.1f} ns an entry")
        if ranks <= 256:  # more would only take long
            theirs = Cost([sys.executable, "-c", LOAD, folder], runs)
            ratio = theirs.wall / ours.wall
            self.row("pickle.load", theirs, f"{theirs.wall / total * 1e9:8.1f} ns an entry")
            print(f"  analyze takes 1/{ratio:.1f} of pickle.load, with -j 1 1/{theirs.wall / one.wall:.1f}")
        if ranks == 256:
            share = 16 if frames else 8
            self.bar(ratio >= share, f"at most 1/{share} of pickle.load, is 1/{ratio:.1f}")
        bound = 64e6 + 64 * total
        self.bar(ours.rss <= bound, f"memory at most {bound / 1e6:.0f} MB, is {ours.rss / 1e6:.0f} MB")
        self.per_entry[ranks, frames] = ours.wall / total
        shutil.rmtree(folder)

    def scaling(self, frames):
        small, large = self.per_entry.get((256, frames)), self.per_entry.get((1024, frames))
        if small and large:
            growth = f"{(large / small - 1) * 100:+.1f} %"
            text = f"time an entry from 256 to 1024 ranks {growth} ({'with' if frames else 'no'} frames)"
            self.bar(large <= small * 1.15, text + ", at most +15 %")

    def single(self):
        folder = os.path.join(self.root, "one")
        make(folder, 8, self.option.entries, True)
        path = os.path.join(folder, "nccl_trace_rank_0")
        cost = Cost([self.option.binary, "analyze", "--json", path], max(10, self.option.runs), (0, 1, 3))
        print(f"one file, {os.path.getsize(path) / 1e3:.0f} kB")
        self.row("analyze", cost)
        self.bar(cost.wall <= 0.015, f"one file in 15 ms, is {cost.wall * 1000:.1f} ms")
        shutil.rmtree(folder)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument(
        "--ranks", default="64,256,1024", type=lambda text: [int(word) for word in text.split(",")]
    )
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--frames", choices=("both", "with", "without"), default="both")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    option = arguments.parse_args()
    option.binary = os.path.abspath(option.binary)
    with tempfile.TemporaryDirectory() as root:
        bench = Bench(option, root)
        for frames in {"both": (False, True), "with": (True,), "without": (False,)}[option.frames]:
            for ranks in option.ranks:
                bench.job(ranks, frames)
            bench.scaling(frames)
        bench.single()
    print(f"{len(bench.missed)} bars missed")
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
