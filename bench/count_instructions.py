#!/usr/bin/env python3
"""count_instructions.py HANGSCOPE [--check] [--update] [--where]: instructions an entry or line, counted.

The same on a busy machine as on an idle one: four ranks of 2,000 entries, one thread, with and without
frames, with and without a database, and logs of 4 MB (run_logs.py); what the start of the program takes is
left out. --update writes them
to bench/instructions.json, --check compares with what stands there and exits 1 if more than 5 % are between
them: fewer is a reason to update, too. They depend on the compiler and on SQLite; with others than in the
file the status is 77, and nothing is compared. --where shows what they are spent on, of 64 such ranks
(with --update in docs/PERFORMANCE.md).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import run_logs
from lab import ROOT, make, write_figures

FILE = os.path.join(ROOT, "bench", "instructions.json")
RANKS, ENTRIES = 4, 2000
LOG_BYTES = 4_000_000
TOLERANCE = 5
PARTS = {
    "reading": "hs_read_job",
    "  bytes to values": "hs_pickle_read",
    "  values to operations": "hs_dump_entry",
    "analysis": "hs_judge_job",
    "writing": "hs_write_job",
    "  SQLite and the rows": "sqlite3_step",
}


def count(words):
    """Instructions of a command, in all its threads."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words]
    run = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode not in (0, 1, 3) or not found:
        raise SystemExit(f"count_instructions.py: {' '.join(command)}: {run.stderr[-500:]}")
    return int(found[1])


def where(binary, root):
    """The parts of a run, as lines of a table."""
    folder, out = os.path.join(root, "many"), os.path.join(root, "callgrind")
    make(folder, 64, ENTRIES, True)
    words = [binary, "analyze", "--json", "-q", "-j", "1", folder, "--db", os.path.join(root, "job.db")]
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *words]
    subprocess.run(command, capture_output=True)
    command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", out]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    costs = re.findall(r"^ *([\d,]+) \([ \d.]+%\) +(?:\S*:)?([\w ]+?)(?: \[.*)?$", text, re.M)
    spent = {function: int(cost.replace(",", "")) for cost, function in reversed(costs)}
    total = spent["PROGRAM TOTALS"]
    yield "| part | instructions an entry | % |"
    yield "|---|---|---|"
    for part, function in PARTS.items():
        share = f"{spent[function] / 64 / ENTRIES:,.0f} | {spent[function] / total * 100:.0f}"
        yield f"| {part.replace('  ', '– ')} | {share} |"


def measure(binary, root):
    """{what: instructions an entry, or a line of a log}."""
    found, start = {}, count([binary, "--version"])
    for frames in (False, True):
        folder = os.path.join(root, "frames" if frames else "plain")
        make(folder, RANKS, ENTRIES, frames)
        for database in (False, True):
            words = [binary, "analyze", "--json", "-q", "-j", "1", folder]
            if database:
                words += ["--db", os.path.join(root, "job.db")]
            what = ("frames" if frames else "no frames") + (", --db" if database else "")
            found[what] = round((count(words) - start) / (RANKS * ENTRIES))
    path = os.path.join(root, "a.log")
    words = [binary, "analyze", "--json", "-q", "-j", "1", path]
    for kind in run_logs.KINDS:
        _, start_lines = run_logs.write(path, kind, 1)
        start = count(words)
        _, lines = run_logs.write(path, kind, LOG_BYTES)
        found[f"log, {kind}"] = round((count(words) - start) / (lines - start_lines))
    return found


def made_with(binary):
    with open(binary, "rb") as stream:
        compiler = re.search(rb"GCC: \([^)]*\) (\d+)|clang version (\d+)", stream.read())
    version = subprocess.run(["pkg-config", "--modversion", "sqlite3"], capture_output=True, text=True)
    name = compiler[0].decode().split("(")[0].strip(": ") if compiler else "unknown"
    number = (compiler[1] or compiler[2]).decode() if compiler else ""
    return {
        "compiler": f"{name} {number}".strip(),
        "sqlite": version.stdout.strip(),
        "machine": os.uname().machine,
    }


def compare(found, stored):
    """-> how many are off."""
    off = 0
    for what, number in found.items():
        before = stored.get(what)
        change = f"{(number / before - 1) * 100:+.1f} %" if before else "new"
        bad = not before or abs(number / before - 1) * 100 > TOLERANCE
        off += bad
        print(f"{'off' if bad else 'ok ':3} {what:<16} {number:>6} instructions ({change})")
    return off


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument(
        "--check", action="store_true", help="exit 1 when a count is off by more than 5 %%"
    )
    arguments.add_argument("--update", action="store_true", help="write bench/instructions.json")
    arguments.add_argument("--where", action="store_true", help="show what they are spent on, and stop")
    option = arguments.parse_args()
    if not shutil.which("valgrind"):
        print("valgrind is not installed")
        return 77
    with open(FILE, encoding="utf-8") as file:
        stored = json.load(file)
    tools = made_with(option.binary)
    if option.check and tools != stored["made_with"]:
        print(f"the counts are of {stored['made_with']}, this is {tools}")
        return 77
    with tempfile.TemporaryDirectory() as root:
        if option.where:
            table = "\n".join(where(os.path.abspath(option.binary), root))
            print(table)
            if option.update:
                write_figures({"where": table})
            return 0
        found = measure(os.path.abspath(option.binary), root)
    off = compare(found, stored["instructions"])
    if option.update:
        with open(FILE, "w", encoding="utf-8") as file:
            json.dump({"made_with": tools, "instructions": found}, file, indent=2)
            file.write("\n")
        return 0
    return 1 if option.check and off else 0


if __name__ == "__main__":
    sys.exit(main())
