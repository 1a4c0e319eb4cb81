#!/usr/bin/env python3
"""run_batch.py HANGSCOPE [--only NAME]: many jobs as a fleet - found, judged, resumed, put together.

NAME is a module (many, fleet, poison, finger) or a test in one. Tests of what this machine cannot do are
named as skipped.
"""

import argparse
import inspect
import sys
import traceback

import batch_finger
import batch_fleet
import batch_lab
import batch_many
import batch_poison

MODULES = [batch_many, batch_fleet, batch_poison, batch_finger]


def tests(only):
    for module in MODULES:
        group = module.__name__[6:]
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and only in (None, group, name[5:], f"{group}/{name[5:]}"):
                yield f"{group}/{name[5:]}", function


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", metavar="NAME")
    option = arguments.parse_args()
    lab = batch_lab.Lab(option.binary)
    for name, function in tests(option.only):
        lab.name = name
        try:
            with batch_lab.folder() as folder:
                function(lab, folder)
        except batch_lab.Skip as reason:
            print(f"skipped {name}: {reason}")
        except Exception:
            lab.check(False, traceback.format_exc())
    return lab.tally.end()


if __name__ == "__main__":
    sys.exit(main())
