#!/usr/bin/env python3
"""check_docs.py HANGSCOPE [--update]: what the pages repeat from the sources is what stands there.

The tables of operations, diagnostics and limits in docs/formats/flight-recorder.md, the kinds of lines
of parsers/families/ in the other pages of docs/formats/, the codes, rows, roles and actions in
docs/verdict.md and its schema, the rules and the tables that they ask in docs/rules.md, the commands
and options in docs/hangscope.1.
--update writes the generated tables into the pages.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORMAT_PAGE = os.path.join("docs", "formats", "flight-recorder.md")
LINES_PAGE = os.path.join("docs", "formats", "lines.md")
RULES_PAGE = os.path.join("docs", "rules.md")
COMMON_FAMILIES = 4  # a value that so many families have is explained on LINES_PAGE
EXAMPLE_COLUMNS = 120
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


def check_generated(tally, page, name, table, update):
    """Between `<!-- name -->` and `<!-- end -->` of a page stands this table."""
    pattern = re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- end -->\n)", re.S)
    text = read(page)
    there = pattern.search(text)
    if update and there and there[2] != table:
        new = pattern.sub(lambda match: match[1] + table + match[3], text)
        with open(os.path.join(ROOT, page), "w", encoding="utf-8") as file:
            file.write(new)
        print(f"{page}: the table of {name} is rewritten")
        return
    tally.check(there and there[2] == table, f"{page}: the table of {name} is old; run with --update")


def read_families(path):
    """The stanzas of a file as dicts: what may stand once as text, `example` as a list."""
    rows = []
    for line in read(path).splitlines():
        head = re.fullmatch(r"\[(\w+)\]", line)
        row = re.fullmatch(r"(\w+) +(.*?)\s*", line)
        if head:
            rows.append({"name": head[1], "example": []})
        elif row and not line.startswith("#"):
            key, value = row[1], row[2]
            if len(value) > 2 and value[0] == value[-1] == '"':
                value = value[1:-1]
            if key == "example":
                rows[-1]["example"].append(value)
            else:
                rows[-1][key] = value
    return rows


def value_names(family):
    """The names of what a family captures, in the order of its pattern."""
    found = re.findall(r"\(\?<([A-Za-z_]\w*)>", family.get("pattern", ""))
    return list(dict.fromkeys(found + family.get("fields", "").split()))


def code(text):
    """Text as it stands, in a cell of a table."""
    text = text.replace("\t", " ").strip().replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def families_table(families):
    lines = ["| name | versions | means | values | example |", "|---|---|---|---|---|"]
    for family in families:
        example = family["example"][0] if family["example"] else ""
        if len(example) > EXAMPLE_COLUMNS:
            example = example[: EXAMPLE_COLUMNS - 1].rstrip() + "…"
        names = " ".join(f"`{name}`" for name in value_names(family))
        cells = (f"`{family['name']}`", family["versions"], family["means"], names, code(example))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def check_families(tally, update):
    """Every group of parsers/families/ has its table in one page; common values are explained."""
    pages = sorted(glob.glob(os.path.join(ROOT, "docs", "formats", "*.md")))
    pages = [os.path.relpath(path, ROOT) for path in pages]
    users = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "parsers", "families", "*.families"))):
        families = read_families(os.path.relpath(path, ROOT))
        mark = f"families: {os.path.basename(path)[: -len('.families')]}"
        found = [page for page in pages if f"<!-- {mark} -->\n" in read(page)]
        tally.check(len(found) == 1, f"{mark} stands in {len(found)} pages of docs/formats/")
        if len(found) == 1:
            check_generated(tally, found[0], mark, families_table(families), update)
        for family in families:
            for name in value_names(family):
                users.setdefault(name, []).append(family["name"])
    explained = re.findall(r"^\| `(\w+)` \|", read(LINES_PAGE), re.M)
    for name, families in sorted(users.items()):
        known = name in explained or len(families) < COMMON_FAMILIES
        tally.check(known, f"{LINES_PAGE}: the value {name} of {', '.join(families[:4])} is not explained")
    for name in explained:
        tally.check(name in users, f"{LINES_PAGE}: no family has a value {name}")


def rule_tables():
    """The tables of schema/rules_tables.sql that have a comment of their own."""
    lines = ["| table | what | columns |", "|---|---|---|"]
    create = r"((?:^--[^\n]*\n)+)CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;"
    for comment, name, body in re.findall(create, read("schema", "rules_tables.sql"), re.M | re.S):
        what = " ".join(line.lstrip("- ") for line in comment.splitlines())
        columns = [
            part.split()[0].strip('"') for part in re.sub(r"--[^\n]*", "", body).split(",") if part.strip()
        ]
        if not name.endswith("_kind"):
            lines.append(f"| `{name}` | {what} | {' '.join(f'`{column}`' for column in columns)} |")
    return "\n".join(lines) + "\n"


def read_rules():
    """The headers of analyzer/rules/*.sql as dicts."""
    rules = []
    for path in sorted(glob.glob(os.path.join(ROOT, "analyzer", "rules", "*.sql"))):
        keys, key = {}, ""
        for line in read(path).splitlines():
            head = re.match(r"-- ([a-z.]+): *(.*)", line)
            if head:
                key = head[1]
                keys[key] = head[2]
            elif line.startswith("--   "):
                keys[key] = f"{keys[key]} {line[5:]}".strip()
            else:
                break
        rules.append(keys)
    return rules


def rules_catalog():
    """All rules by the code that they speak for; known defects are a list of their own."""
    rules, lines = read_rules(), []
    for title in sorted({rule["code"] for rule in rules}, key=lambda name: (name == "-", name)):
        lines += ["### Findings that never change the code" if title == "-" else f"### {title}", ""]
        for rule in rules:
            if rule["code"] != title:
                continue
            kind = ", ".join(part for part in (rule["role"], rule.get("cause")) if part)
            if "product" in rule:
                versions = dict.fromkeys((rule["from"], rule["to"]))
                kind += f", {rule['product']} {' to '.join(versions)}"
            lines.append(f"- **`{rule['id']}`** ({kind}): {rule['title']}. {rule['means']}")
            lines.append(f"  *To do:* {rule['remedy']} [More]({rule['see']})")
        lines.append("")
    return "\n".join(lines)


# Limits by the beginning of their names that stand in other pages of docs/formats/.
PAGES_OF_LIMITS = {"HS_PLAN_": "plan.md", "HS_REPORT_": "report-data.md", "HS_PAGE_": "report-data.md"}
OF_OTHER_PAGES = (*PAGES_OF_LIMITS, "HS_EDITS_", "HS_MINIMIZE_", "HS_FLEET_")


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
    """Each limit stands in one of the two pages, and each number there is a limit."""
    shown = set()
    for page in (FORMAT_PAGE, LINES_PAGE):
        section = read(page).split("## Limits")[1].split("## ")[0]
        for cell in re.findall(r"\| ([\d,]+(?: GiB)?)(?: : 1)? \|$", section, re.M):
            number = int(cell.split()[0].replace(",", ""))
            shown.add(number << 30 if cell.endswith("GiB") else number)
    known = limit_values()
    hidden = {"HS_PROBE_BYTES", "HS_VALUE_MEMO_MAX", "HS_EXCERPT_BYTES", "HS_WORKERS_MAX"}
    hidden |= {"HS_CHUNKS_AHEAD", "HS_LOOKS_MAX", "HS_RULES_MAX", "HS_RULES_BYTES", "HS_SYMPTOMS_MAX"}
    for name, value in known.items():
        good = name in hidden or name.startswith(OF_OTHER_PAGES) or value in shown
        tally.check(good, f"{FORMAT_PAGE}, {LINES_PAGE}: {name} = {value} is not among the limits")
    for value in sorted(shown - set(known.values())):
        tally.check(False, f"{FORMAT_PAGE}, {LINES_PAGE}: no limit of base/limits.h is {value}")


def check_verdict_page(tally):
    page, schema = read("docs", "verdict.md"), json.loads(read("docs", "verdict.schema.json"))["$defs"]
    decide = read("analyzer", "decide.c")
    rows = dict(re.findall(r'\{ "([a-z0-9-]+)", \'([a-z])\', "[a-z-]+" \}', decide))
    tally.check(sorted(rows) == sorted(schema["code"]["enum"]), "decide.c and the schema have other codes")
    shown = dict(re.findall(r"^\| `([a-z0-9-]+)` \| .* \| ([a-z]) \|$", page, re.M))
    differ = sorted(set(shown.items()) ^ set(rows.items()))
    tally.check(not differ, f"docs/verdict.md: codes or rows differ: {differ}")
    actions = set(re.findall(r"(?:'[a-z]'|\"[a-z0-9-]+\"), \"([a-z-]+)\" \}", decide))
    tally.check(actions <= set(schema["verdict"]["properties"]["action"]["enum"]), f"actions {actions}")
    sources = "".join(read("analyzer", name) for name in ("claims.c", "verdict.c"))
    roles = set(re.findall(r'add_claim\([^;]*?"([a-z-]+)"\);', sources)) | {"missing"}
    tally.check(roles <= set(schema["culprit"]["properties"]["role"]["enum"]), f"roles {roles}")
    coverage = read("analyzer", "coverage.c").split("judge_texts")[1].split("put_attempts")[0]
    standings = set(re.findall(r'"([a-z-]+)"', coverage))
    standings -= {"duplicate-file", "text"}  # a diagnostic's code and a format, which are compared there
    known = set(schema["source"]["properties"]["standing"]["enum"])
    tally.check(standings <= known, f"standings {standings - known}")


def check_limits_of_pages(tally):
    for name, value in limit_values().items():
        text = f"{value >> 30} GiB" if value % (1 << 30) == 0 else f"{value:,}"
        for head, page in PAGES_OF_LIMITS.items():
            if name.startswith(head):
                tally.check(text in read("docs", "formats", page), f"{page}: {name} = {text}")


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
    check_generated(tally, FORMAT_PAGE, "operations", operations_table(), option.update)
    check_generated(tally, FORMAT_PAGE, "diagnostics", diagnostics_table(option.binary), option.update)
    check_families(tally, option.update)
    check_generated(tally, RULES_PAGE, "tables of rules", rule_tables(), option.update)
    check_generated(tally, RULES_PAGE, "rules", rules_catalog(), option.update)
    check_limits_of_pages(tally)
    check_limits(tally)
    check_verdict_page(tally)
    check_manual(tally, option.binary)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
