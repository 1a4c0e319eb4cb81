#!/usr/bin/env python3
"""check_fleet_doc.py HANGSCOPE [--update]: docs/fleet.md says what a fleet holds.

Tables and views come from the comments of schema/fleet.sql and from a fleet made of a sample, opened with
Python's sqlite3. --update writes them into the page. The last line is `N passed, N failed`. Exit 1 if one
failed.
"""

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "fleet.md")
SQL = os.path.join(ROOT, "schema", "fleet.sql")
SAMPLES = os.path.join(ROOT, "samples")
CREATE = re.compile(r"((?:^--.*\n)+)CREATE (TABLE|VIEW) (\w+)", re.M)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def described():
    """[(TABLE or VIEW, name, what the comment above says)] of fleet.sql."""
    found = CREATE.findall(read(SQL))
    return [(kind, name, " ".join(re.findall(r"^-- (.*)$", text, re.M))) for text, kind, name in found]


def listing(fleet, kind):
    lines = [f"| {kind.lower()} | what | columns |", "|---|---|---|"]
    for what, name, text in described():
        if what == kind:
            columns = [f"`{row[1]}`" for row in fleet.execute(f'PRAGMA table_info("{name}")')]
            lines.append(f"| `{name}` | {text} | {', '.join(columns)} |")
    return "\n".join(lines) + "\n"


def job_columns():
    """What the remarks behind columns of `job` say."""
    body = re.search(r"CREATE TABLE job \(\n(.*?)\n\) STRICT", read(SQL), re.S)[1]
    lines = ["| of `job` | what |", "|---|---|"]
    for columns, remark in re.findall(r"^ *(.*?),? +-- (.*)$", body, re.M):
        names = ", ".join(f"`{name}`" for name in re.findall(r'"?(\w+)"? (?:TEXT|INTEGER)', columns))
        lines.append(f"| {names} | {remark} |")
    return "\n".join(lines) + "\n"


def checks(fleet, page):
    """(whether it is so, what to say if not)."""
    made = {row[0] for row in fleet.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    known = {name for _, name, _ in described()}
    yield known == made, f"tables and views without a comment above: {sorted(known ^ made)}"
    version = fleet.execute("PRAGMA user_version").fetchone()[0]
    yield (
        f"`PRAGMA user_version` the version of this page, {version}" in page,
        f"a fleet has version {version}",
    )
    mark = fleet.execute("PRAGMA application_id").fetchone()[0]
    yield f"{mark:#x}" in page, f"a fleet has the application id {mark:#x}"
    for name in ("job", "finding", "frame", "jobs", "faults", "verdicts_over_time", "lost"):
        rows = len(fleet.execute(f"SELECT * FROM {name}").fetchall())
        yield rows > 0, f"{name} has no rows"


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--update", action="store_true")
    option = arguments.parse_args()
    page = read(PAGE)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "fleet.db")
        subprocess.run([option.binary, "batch", "-q", SAMPLES, "-o", path], check=True, capture_output=True)
        fleet = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        parts = {
            "fleet-tables": listing(fleet, "TABLE") + "\n" + job_columns(),
            "fleet-views": listing(fleet, "VIEW"),
        }
        for name, text in parts.items():
            there = re.search(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->\n)", page, re.S)
            if option.update and there:
                page = page[: there.start(2)] + text + page[there.end(2) :]
            good = option.update or (there and there[2] == text)
            found.append((good, f"docs/fleet.md: the part '{name}' is old; run with --update"))
        found += checks(fleet, page)
        fleet.close()
    if option.update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    for good, text in found:
        if not good:
            print(text)
    failed = sum(not good for good, _ in found)
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
