#!/usr/bin/env python3
"""make_seeds.py HANGSCOPE OUT: tiny databases to start fuzzing from (tests/fuzz/corpus/store).

To be run again when the tables of schema/tables.def change. Views are left out and pages are small, so that
most of the bytes are rows.
"""

import os
import shutil
import sqlite3
import sys

import db_lab

SEEDS = {
    "hung": ("--ranks 2 --steps 3 --fault missing --culprits 1", {}, []),
    "pairs_and_places": (
        "--program pipeline --ranks 2 --steps 3 --meet 1 --no-frames",
        {},
        ["--world-size", "4"],
    ),
    "odd_files": ("--ranks 2 --steps 2 --duplicate 0 --no-frames", {"notes.txt": b"no dump\n"}, []),
}
PLACES = b"0 host-a 0\n1 host-b\n"


def shrink(path):
    db = sqlite3.connect(path)
    for (view,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
        db.execute(f"DROP VIEW {view}")
    db.commit()
    db.execute("PRAGMA page_size = 512")
    db.execute("VACUUM")
    db.close()


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    lab = db_lab.Lab(sys.argv[1])
    for name, (arguments, more, options) in SEEDS.items():
        with db_lab.folder() as room:
            dumps = lab.put(arguments, os.path.join(room, "dumps"))
            for file, data in more.items():
                db_lab.write(os.path.join(dumps, file), data)
            places = db_lab.write(os.path.join(room, "places"), PLACES)
            path = os.path.join(room, name)
            lab.ingest(dumps, path, *options, *(["--rank-map", places] if options else []))
            shrink(path)
            shutil.copyfile(path, os.path.join(sys.argv[2], name))
    return lab.tally.end()


if __name__ == "__main__":
    sys.exit(main())
