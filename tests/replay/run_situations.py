#!/usr/bin/env python3
"""run_situations.py HANGSCOPE: the situations of docs/situations/ as plans, and the edits that cure them.

Their logs show the failure and no calls, so the plans were written by hand after them. Each ends with a code
and the culprits that expected.json accepts, or with what a run can see of it; each edit makes it healthy, and
half of an edit of several does not. Where a job fails before its first call there is no plan.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402

SAMPLES = HERE.parents[1] / "samples"
NO_CALLS = ["invalid-rank-two-hosts", "unequal-cluster"]
# sample: what the run is where it has no clock to see that a rank is at work; the edits, each a list
SITUATIONS = {
    "silent-rank0-rollout": (
        "rank-missing",
        [["rank 0: insert all_reduce in unknown before #943 like rank 1"]],
    ),
    "validation-rank0-only": (
        "rank-missing",
        [["rank 0: insert all_reduce in default_pg before #1208 like rank 1"]],
    ),
    "validation-uneven-lengths": (
        "rank-missing",
        [
            ["rank 3: insert _all_gather_base in default_pg before #804 like rank 0"],
            [f"rank {rank}: drop default_pg#804" for rank in (0, 1, 2)],
        ],
    ),
    "validation-barrier-mismatch": (
        "size-mismatch",
        [
            ["rank 2: insert all_reduce in default_pg before #2471 like rank 0"],
            [f"rank {rank}: drop default_pg#2471" for rank in (0, 1, 3)],
        ],
    ),
}


def replay(binary, plan, edits=()):
    options = [word for edit in edits for word in ("--what-if", edit)]
    return hangscope_run.Verdict(binary, [str(plan)], *options, command="replay")


def check(binary, name, code, cures, tally):
    plan = SAMPLES / name / "plan.json"
    expected = json.loads((SAMPLES / name / "expected.json").read_text(encoding="utf-8"))
    call, run = expected["operation"], replay(binary, plan)
    if not tally.check(run.object, f"{name}: {run}"):
        return
    operation = run.object["verdict"]["operation"]
    good = run.code == code and run.culprits == expected["culprits"]
    good = good and (operation["seq"], operation["op"]) == (call["seq"], call["op"])
    tally.check(good, f"{name}: {run}, but the logs say {expected['code']} {expected['culprits']} {call}")
    for edits in cures:
        cured = replay(binary, plan, edits)
        tally.check(cured.object and cured.code == "healthy", f"{name}: {edits} gives {cured}")
        half = replay(binary, plan, edits[:-1])
        tally.check(half.object and half.code != "healthy", f"{name}: {edits[:-1]} already gives {half}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary, tally = sys.argv[1], hangscope_run.Tally()
    for name, (code, cures) in SITUATIONS.items():
        check(binary, name, code, cures, tally)
    for name in NO_CALLS:
        run = replay(binary, SAMPLES / name / "logs")
        tally.check(run.status == 2 and "recorded its calls" in run.stderr, f"{name}: {run}")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
