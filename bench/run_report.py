#!/usr/bin/env python3
"""run_report.py HANGSCOPE [--ranks 1024,4096] [--runs 3] [--keep FOLDER] [--check] [--update]

What a page costs beside the verdict alone: `hangscope report` and `hangscope analyze` of the same dumps,
wall and CPU time, peak memory, and the size of the file with and without what it is put into. *flat* is one
group whose rank 3 does not come, *mesh* tensor and data groups; their ranks come at the same moments, as far
as they come at all. In *late* every rank of *flat* comes to every call at a time of its own: by 3 ms in the
median, by 10 ms and more in one of six. No real job is that uneven, and none compresses worse.

Jobs are made in a folder that is removed, or kept in FOLDER and found there again (16,384 ranks: 7 GB).
--check exits 1 when a bar is missed: flat and mesh in 500 kB up to 1,024 ranks, in 3 MB up to 16,384; a page
takes at most twice the CPU time of the verdict. --update writes docs/PERFORMANCE.md.
"""

import argparse
import os
import random
import re
import struct
import sys
import tempfile

from lab import Cost, make, make_mesh, write_figures

HEAD = "| ranks | job | analyze CPU s | report CPU s | report wall s | peak MB | data kB | page kB |"
TIME = re.compile(rb"\x8a\x08(.{8})", re.S)  # of a pickle: a number of eight bytes
STEP_NS, FINISH_NS = 1_500_000, 1_200_000_000


def uneven(data, seed):
    """The same dump, its calls made later, each by a time of its own; all end together, long after."""
    chance = random.Random(seed)
    parts = TIME.split(data)
    created = False
    for i in range(1, len(parts), 2):
        when = struct.unpack("<q", parts[i])[0]
        created = not created if when % STEP_NS == 0 else False
        later = min(chance.lognormvariate(15, 1.2), 1e9) if created else FINISH_NS + chance.randrange(10**5)
        parts[i] = b"\x8a\x08" + struct.pack("<q", when + int(later))
    return b"".join(parts)


def make_late(folder, ranks, entries, frames):
    make(folder, ranks, entries, frames)
    for rank in range(ranks):
        path = os.path.join(folder, f"nccl_trace_rank_{rank}")
        with open(path, "rb") as stream:
            data = stream.read()
        with open(path, "wb") as stream:
            stream.write(uneven(data, rank))


KINDS = {"flat": make, "mesh": make_mesh, "late": make_late}


class Bench:
    def __init__(self, option, root):
        self.option, self.root = option, root
        self.lines, self.missed = [], 0

    def bar(self, good, text):
        self.missed += not good
        print(f"    {'ok    ' if good else 'MISSED'} {text}")

    def job(self, kind, ranks):
        folder = os.path.join(self.root, f"{kind}-{ranks}")
        if not os.path.isdir(folder):
            KINDS[kind](folder, ranks, self.option.entries, True)
        return folder

    def row(self, kind, ranks):
        folder = self.job(kind, ranks)
        out = os.path.join(self.root, "job.html")
        runs = self.option.runs if ranks <= 1024 else 1
        alone = Cost([self.option.binary, "analyze", folder], runs)
        page = Cost([self.option.binary, "report", folder, "-o", out], runs, (0,))
        with open(out, "rb") as stream:
            html = stream.read()
        data = re.search(rb'<script id="data"[^>]*>([^<]*)<', html)
        size, packed = len(html), len(data[1])
        self.lines.append(
            f"| {ranks:,} | {kind} | {alone.user:.2f} | {page.user:.2f} | {page.wall:.2f} "
            f"| {page.rss / 1e6:.0f} | {packed / 1e3:,.0f} | {size / 1e3:,.0f} |"
        )
        print(self.lines[-1])
        if kind != "late":
            bound = 500_000 if ranks <= 1024 else 3_000_000
            self.bar(size <= bound, f"{ranks} ranks, {kind}: at most {bound / 1e3:.0f} kB")
        good = page.user <= 2 * alone.user + 0.1
        self.bar(good, f"{ranks} ranks, {kind}: at most twice the CPU time of the verdict")
        os.remove(out)

    def run(self):
        print(HEAD)
        for ranks in self.option.ranks:
            for kind in KINDS:
                self.row(kind, ranks)


def update(bench):
    table = "\n".join([HEAD, re.sub(r"[^|]+", "---", HEAD), *bench.lines])
    write_figures({"report": table})


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--ranks", default="1024,4096")
    arguments.add_argument("--entries", type=int, default=2000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--patience", type=float, default=0, help="seconds to wait for a quiet machine")
    arguments.add_argument("--keep", help="folder where jobs are kept, and found again")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    arguments.add_argument("--update", action="store_true", help="write docs/PERFORMANCE.md")
    option = arguments.parse_args()
    option.ranks = [int(word) for word in option.ranks.split(",")]
    Cost.patience = option.patience
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(option, option.keep or folder)
        bench.run()
    if option.update:
        update(bench)
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
