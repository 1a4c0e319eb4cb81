#!/usr/bin/env python3
"""run_agreement.py HANGSCOPE [--only NAME]: the dry run of a recorded job ends where the job did.

For every scenario of tests/dumps and every sample: `replay` gives the code and the ranks of
`analyze`, for the job and for its plan, and a plan that is read and written again has the same
bytes. A line per failure, then `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402
import make_dumps  # noqa: E402

SAMPLES = HERE.parents[1] / "samples"


def write_plan(binary, source, target):
    """The bytes of the plan of a source, which may be a plan."""
    command = [binary, "plan", "-q", source, "-o", target]
    done = subprocess.run(command, capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        return b""
    return done.stdout if target == "-" else Path(target).read_bytes()


def compare(binary, folder, name, tally, verbose):
    """One job, analysed and run again."""
    judged = hangscope_run.Verdict(binary, [folder])
    again = hangscope_run.Verdict(binary, [folder], command="replay")
    same = (
        judged.object
        and again.object
        and not again.trouble
        and (judged.code, judged.culprits) == (again.code, again.culprits)
    )
    good = tally.check(bool(same), f"{name}: analyze gives {judged}; replay gives {again}")
    with tempfile.TemporaryDirectory() as temporary:
        plan = os.path.join(temporary, "plan.json")
        first = write_plan(binary, folder, plan)
        second = write_plan(binary, plan, "-")
        tally.check(first == second and first != b"", f"{name}: reading a plan and writing it changes it")
        planned = hangscope_run.Verdict(binary, [plan], command="replay")
    same = planned.object and (judged.code, judged.culprits) == (planned.code, planned.culprits)
    good &= tally.check(bool(same), f"{name}: analyze gives {judged}; the plan gives {planned}")
    if verbose and good:
        print(f"{name}: {again}")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", default="")
    arguments.add_argument("-v", "--verbose", action="store_true")
    option = arguments.parse_args()
    tally = hangscope_run.Tally()
    for scenario in hangscope_run.scenarios():
        if option.only not in scenario.name:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(temporary, scenario.name)
            os.makedirs(folder)
            make_dumps.write(scenario.arguments, folder)
            compare(option.binary, folder, scenario.name, tally, option.verbose)
    for dumps in sorted(SAMPLES.glob("*/dumps")):
        if option.only in dumps.parent.name:
            folder = str(dumps)
            compare(option.binary, folder, dumps.parent.name, tally, option.verbose)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
