#!/usr/bin/env python3
"""run_db.py HANGSCOPE [--only NAME]: a job as a database - written, merged, read, asked, damaged.

NAME is a module (same, sql, write, read, shell) or a test in one. Tests of what this machine cannot do are
named as skipped.
"""

import sys

import db_lab
import db_read
import db_same
import db_shell
import db_sql
import db_write

MODULES = [db_same, db_sql, db_write, db_read, db_shell]


if __name__ == "__main__":
    sys.exit(db_lab.main(__doc__, MODULES, db_lab.Lab, lambda function, lab: function(lab)))
