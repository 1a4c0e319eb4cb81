#!/usr/bin/env python3
"""run_shared.py HANGSCOPE SHARED: the scored scenarios and cases, and the real sets beside the repository."""

import concurrent.futures
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LOGS = Path(__file__).resolve().parent.parent / "logs"
sys.path[:0] = [str(LOGS), str(LOGS.parent / "replay")]

import check_real  # noqa: E402
import nccl_lab  # noqa: E402

RUNS_AT_ONCE = 4  # on communicators: they mostly wait
SMALL = "0.001"  # of the recorded sizes, which are of a large model
CULPRITS = [9, 14]  # of every set of the 16-rank job, by its labels


def score(hangscope, shared):
    done = subprocess.run(
        [shared / "tools" / "score-dumps", hangscope], check=False, capture_output=True, text=True
    )
    right = re.search(r"dumps right=(\d+)/(\d+)", done.stdout)
    return [] if right and right[1] == right[2] else [done.stdout + done.stderr]


BARS = {"exact": 0.85, "accepted": 0.95, "cited": 0.85, "culprit_p": 0.9, "culprit_r": 0.85}
NEVER = ("overclaims", "exit_mismatches", "crashes")
SURE_OF_CERTAIN = 0.4  # how often `high` is said where the truth is certain


def score_cases(hangscope, shared):
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "score.json"
        command = [shared / "score-cases", hangscope, shared / "cases", "--json", out]
        subprocess.run(command, check=False, capture_output=True)
        with open(out, encoding="utf-8") as stream:
            score = json.load(stream)
    total, bad = score["total"], []
    bad += [f"cases: {key} {total[key]:.3f} < {bar}" for key, bar in BARS.items() if total[key] < bar]
    bad += [f"cases: {total[name]} {name}" for name in NEVER if total[name]]
    certain = [row for row in score["cases"] if is_certain(shared / "cases" / row["case"])]
    sure = [row["confidence"] == "high" for row in certain]
    if sum(sure) < SURE_OF_CERTAIN * len(sure):
        bad.append(f"cases: high in {sum(sure)} of the {len(sure)} that are certain")
    return bad


def is_certain(folder):
    with open(folder / "truth.json", encoding="utf-8") as stream:
        truth = json.load(stream)
    return truth.get("scored", True) and truth["basis"] in "EL" and truth["best"] != "undetermined"


def properties(hangscope, shared):
    """What may happen to logs, over all cases."""
    command = [sys.executable, LOGS / "run_log_properties.py", hangscope, "--cases", shared / "cases"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return [] if done.returncode == 0 else [done.stdout + done.stderr]


def replay_of(hangscope, folder):
    """A program that replays what it is asked to analyze."""
    program = Path(folder) / "replay"
    program.write_text(
        f'#!/bin/sh\nshift\nexec {shlex.quote(str(hangscope))} replay "$@"\n', encoding="utf-8"
    )
    program.chmod(0o755)
    return program


def on_communicators(hangscope, shared):
    """Every scenario, folded to 8 ranks, ends against the NCCL double as its dry run does."""
    double = hangscope.parent / "tests" / "libnccl_double.so"
    if not double.exists():
        return ["no NCCL double: headers of NCCL and CUDA are not installed"]
    lab = nccl_lab.Lab(hangscope, hangscope.with_name("hangscope-replay"), double)

    def compare(row):
        name, arguments = row.split("\t")[:2]
        with tempfile.TemporaryDirectory() as folder:
            command = [shared / "tools" / "gen-dumps", folder, *arguments.split()]
            subprocess.run(command, check=True, capture_output=True)
            good, ends = lab.same(folder, "--fold", "8", nccl=["--scale", SMALL])
        return [] if good else [f"{name} on communicators: {ends}"]

    with open(shared / "tools" / "dump-scenarios.tsv", encoding="utf-8") as table:
        rows = [line for line in table if line.strip() and not line.startswith("#")]
    with concurrent.futures.ThreadPoolExecutor(RUNS_AT_ONCE) as pool:
        return sum(pool.map(compare, rows), [])


def name_culprits(hangscope, folder):
    command = [hangscope, "analyze", "--json", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        culprits = sorted(row["rank"] for row in json.loads(done.stdout)["verdict"]["culprits"])
    except ValueError:
        return [f"{folder.name}: {done.stderr}"]
    return [] if culprits == CULPRITS else [f"{folder.name}: culprits are {culprits}, not {CULPRITS}"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    hangscope, shared = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for program in (hangscope, replay_of(hangscope, folder)):
            bad += score(program, shared)
            for dumps in sorted(shared.glob("real/megatron-16rank-*")):
                bad += name_culprits(program, dumps)
    bad += check_real.check(hangscope, shared / "real")
    bad += score_cases(hangscope, shared)
    bad += on_communicators(hangscope, shared)
    bad += properties(hangscope, shared)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
