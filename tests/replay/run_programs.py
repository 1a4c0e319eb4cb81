#!/usr/bin/env python3
"""run_programs.py PLAN_ENDS [--count N] [--seed N]: the dry run against real gloo, on random programs.

Programs (random_programs.py) whose outcome gloo's rules define. Every rank of every program is a thread
of this process with process groups of its own. What each finishes must be what the dry run says.
Exit 77 without PyTorch.
"""

import argparse
import datetime
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

from random_programs import Program

try:
    import torch
    import torch.distributed as dist
except ImportError:
    print("skipped: PyTorch cannot be imported")
    sys.exit(77)

TIMEOUT = datetime.timedelta(seconds=6)  # gloo gives up a call that hangs
AT_ONCE = 25  # programs


class Run:
    """A program on real gloo."""

    def __init__(self, program):
        self.program = program
        self.store = dist.HashStore()
        self.finished = [0] * program.size
        self.ready = threading.Barrier(program.size)
        self.trouble = []
        self.threads = [
            threading.Thread(target=self.rank, args=(rank,), daemon=True) for rank in range(program.size)
        ]

    def rank(self, rank):
        try:
            handles = {}
            for number, members in enumerate(self.program.groups):
                if rank in members:
                    store = dist.PrefixStore(str(number), self.store)
                    handles[number] = dist.ProcessGroupGloo(store, members.index(rank), len(members), TIMEOUT)
            self.ready.wait(60)
        except (RuntimeError, threading.BrokenBarrierError) as error:
            self.trouble.append(str(error))
            return
        try:
            for group, operation, what in self.program.units[rank]:
                for work in self.start(handles[group], self.program.groups[group], operation, what):
                    work.wait()
                self.finished[rank] += 1
        except RuntimeError:
            pass  # it hung, and gloo gave it up
        self.handles = handles  # none goes away while others may still hang

    @staticmethod
    def start(handle, members, operation, what):
        def one(kind, peer):
            return getattr(handle, kind)([torch.ones(4)], peer, 0)

        if operation == "batch":
            return [one(kind, peer) for kind, peer in what]
        if operation in ("send", "recv"):
            return [one(operation, what)]
        if operation == "all_reduce":
            return [handle.allreduce([torch.ones(4)])]
        return [handle.allgather([[torch.ones(4) for _ in members]], [torch.ones(4)])]


def dry_runs(binary, programs):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, program in enumerate(programs):
            paths.append(Path(folder) / f"{number}.json")
            paths[-1].write_text(program.plan())
        done = subprocess.run([binary, *paths], capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def compare(binary, programs):
    """-> how many disagree"""
    bad = 0
    for first in range(0, len(programs), AT_ONCE):
        some = programs[first : first + AT_ONCE]
        runs = [Run(program) for program in some]
        for run in runs:
            for thread in run.threads:
                thread.start()
        for run in runs:
            for thread in run.threads:
                thread.join(120)
        for number, (run, want) in enumerate(zip(runs, dry_runs(binary, some)), first):
            if run.trouble or run.finished != want:
                bad += 1
                print(f"program {number}: gloo finishes {run.finished}, the dry run {want} {run.trouble}")
                print(run.program.plan())
    return bad


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="PLAN_ENDS")
    arguments.add_argument("--count", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    option = arguments.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    programs = [Program(f"{option.seed}/{number}") for number in range(option.count)]
    bad = compare(option.binary, programs)
    hanging = sum(
        ends != [len(units) for units in program.units]
        for program, ends in zip(programs, dry_runs(option.binary, programs))
    )
    print(f"{option.count - bad} passed, {bad} failed; {hanging} of them hang")
    sys.stdout.flush()
    return 1 if bad or hanging * 5 < option.count or hanging == option.count else 0


if __name__ == "__main__":
    import os

    os._exit(main())  # threads that hang are not waited for
