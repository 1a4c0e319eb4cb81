#!/usr/bin/env python3
"""check_docs.py HANGSCOPE [--update]: what the pages repeat from the sources is what stands there.

The tables of operations, diagnostics and limits in docs/formats/flight-recorder.md, the codes, rows,
roles and actions in docs/verdict.md and its schema, the commands and options in docs/hangscope.1.
--update writes the two generated tables into the page.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORMAT_PAGE = os.path.join("docs", "formats", "flight-recorder.md")
COUNTS = {"SAME": "equal", "ANY": "free"}
PROOFS = {"ALL": "all", "ROOT": "the root", "NONE": "nothing", "PEER": "the sender"}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, line):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(line)


def operations_table():
    table = re.search(r"kinds\[\] = \{(.*?)\n\};", read("schema", "operation.c"), re.S)[1]
    lines = ["| recorded as | c10d | input | output | proves | element types |", "|---|---|---|---|---|---|"]
    row = r"\{\s*(\"\w+\"|NULL),\s*(\"\w+\"|NULL),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+)\s*\}"
    for name, op, count_in, count_out, proof, _, _, typed in re.findall(row, table):
        recorded = "anything else" if name == "NULL" else f"`{name[1:-1]}`"
        spelling = "its name in capitals" if op == "NULL" else f"`{op[1:-1]}`"
        types = "equal" if typed == "true" else "free"
        cells = (recorded, spelling, COUNTS[count_in], COUNTS[count_out], PROOFS[proof], types)
        lines.append("| " + " | ".join(cells) + " |")
    assert len(lines) - 2 == len(re.findall(r"^\s*\{", table, re.M)), "a row of operation.c is not understood"
    return "\n".join(lines) + "\n"


def diagnostics_table(binary):
    command = [binary, "explain", "--list", "--json"]
    topics = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    rows = [topic for topic in topics if topic["kind"] == "diagnostic"]
    lines = [f"| `{row['code']}` | {row['severity']} | {row['title']} |\n" for row in rows]
    return "| code | severity | title |\n|---|---|---|\n" + "".join(lines)


def check_generated(tally, name, table, update):
    page = read(FORMAT_PAGE)
    pattern = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->\n)", re.S)
    there = pattern.search(page)
    if update and there and there[2] != table:
        new = pattern.sub(lambda match: match[1] + table + match[3], page)
        with open(os.path.join(ROOT, FORMAT_PAGE), "w", encoding="utf-8") as file:
            file.write(new)
        print(f"{FORMAT_PAGE}: the table of {name} is rewritten")
        return
    tally.check(there and there[2] == table, f"{FORMAT_PAGE}: the table of {name} is old; run with --update")


def limit_values():
    """base/limits.h by name, as numbers."""
    values = {}
    define = re.compile(r"#define (HS_\w+) \(?([^/\n]+?)\)?\s*(?:/\*.*)?$", re.M)
    for name, text in define.findall(read("base", "limits.h")):
        match = re.fullmatch(r"(\d+)(?:u|ull)?(?: << (\d+))?", text.strip())
        if match:
            values[name] = int(match[1]) << int(match[2] or 0)
    return values


def check_limits(tally):
    page = read(FORMAT_PAGE).split("## Limits")[1].split("## ")[0]
    shown = set()
    for cell in re.findall(r"\| ([\d,]+(?: GiB)?)(?: : 1)? \|$", page, re.M):
        number = int(cell.split()[0].replace(",", ""))
        shown.add(number << 30 if cell.endswith("GiB") else number)
    known = limit_values()
    for name, value in known.items():
        hidden = name in ("HS_PROBE_BYTES", "HS_VALUE_MEMO_MAX", "HS_EXCERPT_BYTES", "HS_WORKERS_MAX")
        hidden = hidden or name.startswith(("HS_TEXT_", "HS_ARGS_", "HS_LINE", "HS_EVENT"))  # of log lines
        tally.check(hidden or value in shown, f"{FORMAT_PAGE}: {name} = {value} is not among the limits")
    for value in sorted(shown - set(known.values())):
        tally.check(False, f"{FORMAT_PAGE}: no limit of base/limits.h is {value}")


def check_verdict_page(tally):
    page, schema = read("docs", "verdict.md"), json.loads(read("docs", "verdict.schema.json"))["$defs"]
    decide = read("analyzer", "decide.c")
    rows = dict(re.findall(r'\{ "([a-z0-9-]+)", \'([a-z])\', "[a-z-]+" \}', decide))
    tally.check(sorted(rows) == sorted(schema["code"]["enum"]), "decide.c and the schema have other codes")
    shown = dict(re.findall(r"^\| `([a-z0-9-]+)` \| .* \| ([a-z]) \|$", page, re.M))
    reserved = page.split("Reserved for evidence from logs")[1].split("\n\n")[0]
    for part in re.findall(r"((?:`[a-z-]+`,?\s+)+)\((?:row )?([a-z])\)", reserved):
        shown.update(dict.fromkeys(re.findall(r"`([a-z-]+)`", part[0]), part[1]))
    differ = sorted(set(shown.items()) ^ set(rows.items()))
    tally.check(not differ, f"docs/verdict.md: codes or rows differ: {differ}")
    actions = set(re.findall(r"'[a-z]', \"([a-z-]+)\" \}", decide))
    tally.check(actions <= set(schema["verdict"]["properties"]["action"]["enum"]), f"actions {actions}")
    sources = "".join(read("analyzer", name) for name in ("claims.c", "verdict.c"))
    roles = set(re.findall(r'add_claim\([^;]*?"([a-z-]+)"\);', sources)) | {"missing"}
    tally.check(roles <= set(schema["culprit"]["properties"]["role"]["enum"]), f"roles {roles}")
    coverage = read("analyzer", "coverage.c").split("put_sources")[1].split("put_attempts")[0]
    standings = set(re.findall(r'"([a-z-]+)"', coverage))
    known = set(schema["source"]["properties"]["standing"]["enum"]) | {"duplicate-file"}
    tally.check(standings <= known, f"standings {standings - known}")


def check_manual(tally, binary):
    page = read("docs", "hangscope.1")
    overview = subprocess.run([binary, "help"], capture_output=True, check=True).stdout.decode()
    commands = re.findall(r"^  ([a-z]+) {2,}", overview.split("Commands:")[1].split("\n\n")[0], re.M)
    tally.check(commands, "no commands in the help")
    for command in commands:
        tally.check(f".It Cm {command}\n" in page, f"hangscope.1 lacks {command}")
        text = subprocess.run([binary, "help", command], capture_output=True, check=True).stdout.decode()
        for flag in re.findall(r"(--[a-z-]+)", text.split("Options:")[1]):
            known = re.search(rf"(?:Fl|,) -{flag[2:]}\b", page)
            tally.check(known, f"hangscope.1 lacks {flag} of {command}")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--update", action="store_true")
    option = arguments.parse_args()
    tally = Tally()
    check_generated(tally, "operations", operations_table(), option.update)
    check_generated(tally, "diagnostics", diagnostics_table(option.binary), option.update)
    check_limits(tally)
    check_verdict_page(tally)
    check_manual(tally, option.binary)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
