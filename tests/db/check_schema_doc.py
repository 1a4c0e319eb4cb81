#!/usr/bin/env python3
"""check_schema_doc.py HANGSCOPE SCHEMA_DOCUMENT [--update]: docs/schema.md says what a database holds.

The tables come from schema/tables.def (printed by SCHEMA_DOCUMENT), the other tables and the views from
the comments of schema/views.sql and from a database made of a sample, opened with Python's sqlite3.
--update writes them into the page. The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join("docs", "schema.md")
SAMPLE = os.path.join("samples", "two-groups-opposite-order", "dumps")
CREATE = re.compile(r"((?:^--.*\n)+)CREATE (TABLE|VIEW) (\w+)", re.M)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def sample(binary, folder):
    """A connection to the database of a sample."""
    path = os.path.join(folder, "job.db")
    command = [binary, "ingest", "-q", os.path.join(ROOT, SAMPLE), "-o", path]
    subprocess.run(command, check=True)
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def described():
    """[(TABLE or VIEW, name, what the comment above says)] of views.sql."""
    found = CREATE.findall(read("schema", "views.sql"))
    return [(kind, name, " ".join(re.findall(r"^-- (.*)$", text, re.M))) for text, kind, name in found]


def columns(job, name):
    return [row[1] for row in job.execute(f'PRAGMA table_info("{name}")')]


def listing(job, kind):
    lines = [f"| {kind.lower()} | what | columns |", "|---|---|---|"]
    for what, name, text in described():
        if what == kind:
            lines.append(f"| `{name}` | {text} | {', '.join(f'`{c}`' for c in columns(job, name))} |")
    return "\n".join(lines) + "\n"


def parts(job, schema_document):
    tables = subprocess.run([schema_document], check=True, capture_output=True, text=True).stdout
    return {
        "tables": re.sub(r"^\n", "", tables),
        "others": listing(job, "TABLE"),
        "views": listing(job, "VIEW"),
    }


def checks(job, page):
    """(whether it is so, what to say if not)."""
    known = set(re.findall(r"^### (\w+)$|^\| `(\w+)` \| .* \| `", page, re.M))
    known = {name for pair in known for name in pair if name}
    made = {row[0] for row in job.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    yield known == made, f"{PAGE}: other tables and views than a database has: {sorted(known ^ made)}"
    version = job.execute("PRAGMA user_version").fetchone()[0]
    stated = re.search(r"`PRAGMA user_version` the version of this page, (\d+)", page)
    yield stated and int(stated[1]) == version, f"{PAGE}: a database has version {version}"
    mark = job.execute("PRAGMA application_id").fetchone()[0]
    yield f"{mark:#x}" in page, f"{PAGE}: a database has the application id {mark:#x}"
    for name in sorted(made):
        rows = len(job.execute(f'SELECT * FROM "{name}"').fetchall())
        told = ("text_block", "args", "speaker", "event", "communicator", "link", "fact")
        derived = ("voice", "heard", "comm", "comm_end")
        empty = ("place", "diagnostic", "mismatch", "mismatches", *told, *derived)  # not in this sample
        yield rows > 0 or name in empty, f"{name} has no rows"


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("schema_document", metavar="SCHEMA_DOCUMENT")
    arguments.add_argument("--update", action="store_true")
    option = arguments.parse_args()
    page = read(PAGE)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        job = sample(option.binary, folder)
        for name, text in parts(job, option.schema_document).items():
            pattern = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->\n)", re.S)
            there = pattern.search(page)
            if option.update and there and there[2] != text:
                page = page[: there.start(2)] + text + page[there.end(2) :]
                print(f"{PAGE}: the part '{name}' is rewritten")
            good = option.update or (there and there[2] == text)
            found.append((good, f"{PAGE}: the part '{name}' is old; run with --update"))
        found += checks(job, page)
        job.close()
    if option.update:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(page)
    for good, text in found:
        if not good:
            print(text)
    failed = sum(not good for good, _ in found)
    print(f"{len(found) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
