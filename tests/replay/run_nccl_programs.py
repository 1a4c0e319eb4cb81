#!/usr/bin/env python3
"""run_nccl_programs.py PLAN_ENDS HANGSCOPE_REPLAY LIBNCCL_DOUBLE [--count N] [--seed N]: random programs.

What each rank of a random program finishes on communicators must be what the dry run says, and all
data that arrives must be right. Half of the programs make their groups by ncclCommSplit.

Only what the rules define: no gather and scatter, whose members get out early, and all_to_all, which
is sends and receives to NCCL, only in groups that have no other ones.
"""

import argparse
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from nccl_lab import SHORT_S, Lab
from random_programs import Program

AT_ONCE = 6  # runs that mostly wait for a deadline
OPERATIONS = ["all_reduce", "broadcast", "reduce", "_all_gather_base", "_reduce_scatter_base", "barrier"]


class NcclProgram(Program):
    """With more operations, streams, and calls of another size or type."""

    def plan(self, semantics="nccl"):
        document = json.loads(super().plan(semantics))
        paired = {group for units in self.units for group, _, peers in units if peers is not None}
        kinds = [
            self.random.choice(OPERATIONS + ["all_to_all_single"] * (group not in paired))
            for group in range(len(self.groups))
        ]
        streams = [self.random.randrange(2) for _ in self.groups]
        for rank, program in enumerate(document["programs"]):
            mine = document["ranks"][rank]["groups"]
            for unit in program:
                for call in unit.get("batch", [unit]):
                    self.change(call, mine[call["group"]], kinds, streams)
        if self.random.random() < 0.3:
            unit = self.random.choice([u for program in document["programs"] for u in program] or [{}])
            call = unit.get("batch", [unit])[-1]
            if call and self.random.random() < 0.5:
                call["dtype"] = "Half"
            elif call:
                call.update({side: [[2 * call[side][0][0]]] for side in ("in", "out") if side in call})
        return json.dumps(document)

    def change(self, call, group, kinds, streams):
        members = len(self.groups[group])
        if "peer" not in call:
            call["op"] = kinds[group]
            call["in"] = [[4 * members]]
            if call["op"] in ("broadcast", "reduce"):
                call["root"] = members - 1
            if call["op"] == "_all_gather_base":
                call["out"] = [[4 * members * members]]
            if call["op"] == "_reduce_scatter_base":
                call["out"] = [[4]]
        if streams[group]:
            call["stream"] = 1


def finished(document, run):
    """How many units of its program each rank has ended."""
    counts = []
    for rank, program in enumerate(document["programs"]):
        calls, at, count = run.ranks[rank]["calls"], 0, 0
        for unit in program:
            count += calls[at] == "E"
            at += len(unit.get("batch", [unit]))
        counts.append(count)
    return counts


def compare(lab, number, document, want):
    options = ["--check-data", "--split"] if number % 2 else ["--check-data"]
    run = lab.run(document, *options, deadline=SHORT_S)
    if not run.ranks or finished(document, run) != want or run.left:
        return f"the dry run ends {want}; {run}"
    if any("wrong" in row or "error" in row for row in run.ranks.values()):
        return f"wrong data or errors: {run.object['ranks']}"
    return ""


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("ends", "replay", "double"):
        arguments.add_argument(name)
    arguments.add_argument("--count", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=1)
    option = arguments.parse_args()
    texts = [NcclProgram(f"{option.seed}/{number}").plan() for number in range(option.count)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.json" for number in range(option.count)]
        for path, text in zip(paths, texts):
            path.write_text(text)
        done = subprocess.run([option.ends, *paths], capture_output=True, text=True, check=True)
    wants = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    lab, documents = Lab(None, option.replay, option.double), [json.loads(text) for text in texts]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        complaints = list(pool.map(compare, [lab] * option.count, range(option.count), documents, wants))
    for number, complaint in enumerate(complaints):
        if complaint:
            print(f"program {number}: {complaint}\n{texts[number]}")
    hanging = sum(want != [len(p) for p in d["programs"]] for want, d in zip(wants, documents))
    bad = sum(bool(complaint) for complaint in complaints)
    print(f"{option.count - bad} passed, {bad} failed; {hanging} of them hang")
    return 1 if bad or hanging * 5 < option.count or hanging == option.count else 0


if __name__ == "__main__":
    sys.exit(main())
