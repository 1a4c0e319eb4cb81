#!/usr/bin/env python3
"""run_db.py HANGSCOPE [--only NAME]: a job as a database - written, merged, read, asked, damaged.

NAME is a module (same, sql, write, read, shell) or a test in one. Tests of what this machine cannot do are
named as skipped.
"""

import argparse
import inspect
import sys
import traceback

import db_lab
import db_read
import db_same
import db_shell
import db_sql
import db_write

MODULES = [db_same, db_sql, db_write, db_read, db_shell]


def tests(only):
    for module in MODULES:
        group = module.__name__[3:]
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
    lab = db_lab.Lab(option.binary)
    for name, function in tests(option.only):
        lab.name = name
        try:
            function(lab)
        except db_lab.Skip as reason:
            print(f"skipped {name}: {reason}")
        except Exception:
            lab.check(False, traceback.format_exc())
    return lab.tally.end()


if __name__ == "__main__":
    sys.exit(main())
