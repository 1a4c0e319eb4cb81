#!/usr/bin/env python3
"""run_scenarios.py HANGSCOPE [--only NAME]: makes the dumps of every scenario and checks the verdict.

A line per failure, then `N passed, N failed`. Exit 1 if one failed. --only takes a part of a name;
--keep FOLDER leaves the dumps there.
"""

import argparse
import os
import sys
import tempfile

import hangscope_run
import make_dumps


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", default="")
    arguments.add_argument("--table", default=hangscope_run.TABLE)
    arguments.add_argument("--keep", default="")
    arguments.add_argument("-v", "--verbose", action="store_true")
    option = arguments.parse_args()
    tally = hangscope_run.Tally()
    for scenario in hangscope_run.scenarios(option.table):
        if option.only not in scenario.name:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = os.path.join(option.keep or temporary, scenario.name)
            os.makedirs(folder, exist_ok=True)
            make_dumps.write(scenario.arguments, folder)
            run = hangscope_run.Verdict(option.binary, [folder])
        complaint = scenario.complaint(run)
        tally.check(not complaint, f"{scenario.name}: {complaint}; got {run}   [{scenario.arguments}]")
        if option.verbose and not complaint:
            print(f"{scenario.name}: {run}")
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
