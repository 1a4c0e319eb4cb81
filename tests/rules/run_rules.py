#!/usr/bin/env python3
"""run_rules.py SYMPTOM_DUMP [--update]: every rule fires where it should and is silent where it should not.

tests/rules/RULE.txt holds cases: `== fires NAME` or `== silent NAME`, then lines of a log (`-- file
NAME` begins another file), and behind a case that fires what the rule finds, as `=> ` with the
columns of symptom_dump behind the first, separated by ` | `. --update writes those lines anew: read
them before they are committed. Besides: every rule has both kinds of cases, is complete in both
languages, and never scans what is large; a known defect is found in the first and the last of its
versions and in no other; SELECTs that are wrong are refused.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# SELECTs that are refused, and what is said of them.
REFUSED = (
    ("SELECT id AS evnt FROM event", "a rule returns no such column: evnt"),
    ("SELECT 12345 AS event", "a number of no row: 12345"),
    ("SELECT -1 AS fact", "a number of no row: -1"),
    ("SELECT 'rot' AS role", "this is no role: rot"),
    ("SELECT 'very' AS strength", "this is no strength: very"),
    ("SELECT 'oops' AS code", "this is no code or cause: oops"),
    ("SELECT 'rank-died' AS cause", "this is no code or cause: rank-died"),
    ("SELECT id AS event FROM evnt", "no such table: evnt"),
    ("SELEC 1", "syntax error"),
    ("SELECT 1 AS rank; SELECT 2 AS rank", "it is not one SELECT"),
    ("DELETE FROM event", "it is not one SELECT"),
    ("PRAGMA table_list", "it is not one SELECT"),
    ("ATTACH 'other.db' AS other", "it is not one SELECT"),
)
OWN = "-- id: an-own-rule\n-- code: misconfigured\n-- title: T\n"
TEXTS = ("title", "means", "remedy")
HEADER = ("id", "code", "role", "severity", "see", *TEXTS, *(f"{key}.zh" for key in TEXTS))


class Case:
    def __init__(self, kind, name):
        self.kind, self.name, self.lines, self.found = kind, name, [], []

    def files(self):
        """-> {name: text}"""
        name, files = "job.log", {}
        for line in self.lines:
            if line.startswith("-- file "):
                name = line[len("-- file ") :]
            else:
                files.setdefault(name, []).append(line)
        return {name: "".join(f"{line}\n" for line in lines) for name, lines in files.items()}


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            head = re.fullmatch(r"== (fires|silent) ([a-z0-9-]+)", line)
            if head:
                cases.append(Case(head[1], head[2]))
            elif line.startswith("=> "):
                cases[-1].found.append(line[3:])
            elif line:
                cases[-1].lines.append(line)
    return cases


def write_cases(path, cases):
    with open(path, "w", encoding="utf-8") as file:
        for case in cases:
            file.write(f"== {case.kind} {case.name}\n")
            file.writelines(f"{line}\n" for line in case.lines)
            file.writelines(f"=> {line}\n" for line in case.found)


def symptoms(binary, files):
    """-> [[rule, code, ...], ...] or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([binary, folder], capture_output=True, check=False)
    if run.returncode:
        return run.stderr.decode()
    return [line.split("\t") for line in run.stdout.decode().splitlines()]


class Tally:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, line):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(line)


def check_case(tally, binary, rule, case, update):
    rows = symptoms(binary, case.files())
    if isinstance(rows, str):
        tally.check(False, f"{rule}, {case.name}: {rows}")
        return
    found = [" | ".join(row[1:]) for row in rows if row[0] == rule]
    if update and case.kind == "fires" and found:
        case.found = found
    differ = "" if found == case.found else f"found {found}, not {case.found}"
    fires = case.kind == "fires"
    tally.check(found == case.found and bool(found) == fires, f"{rule}, {case.name}: {differ}")


def header_of(path):
    keys, key = {}, ""
    with open(path, encoding="utf-8") as file:
        for line in file:
            head = re.match(r"-- ([a-z.]+): *(.*)", line)
            if head:
                key = head[1]
                keys[key] = head[2]
            elif line.startswith("--   "):
                keys[key] += line[5:].strip()
            else:
                break
    return keys


def check_header(tally, path, rule):
    keys = header_of(path)
    tally.check(keys.get("id") == rule, f"{rule}: its id is not the name of its file")
    for key in HEADER:
        tally.check(keys.get(key), f"{rule}: the header lacks {key}")
    for key in ("title.zh", "means.zh", "remedy.zh"):
        tally.check(re.search("[\u4e00-\u9fff]", keys.get(key, "")), f"{rule}: {key} is not Chinese")
    tally.check(not keys.get("title", ".").endswith("."), f"{rule}: a title has no full stop")


def check_range(tally, path, rule, cases):
    """A known defect is found in the first and the last version that have it, and in no version it is not."""
    keys = header_of(path)
    if "product" not in keys:
        return
    firing = [line for case in cases if case.kind == "fires" for line in case.found]
    silent = {case.name for case in cases if case.kind == "silent"}
    for version in (keys["from"], keys["to"]):
        fires = any(f" | {version} | " in line for line in firing)
        tally.check(fires, f"{rule}: no case fires in version {version}")
    for name in ("a-version-before", "the-next-version", "no-version"):
        tally.check(name in silent, f"{rule}: no silent case {name}")


def check_plans(tally, binary):
    """No rule reads all events, or an array of the job (hs_...) at all."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "job.log"), "w", encoding="utf-8") as file:
            file.write("Killed\n")
        run = subprocess.run([binary, "--plans", folder], capture_output=True, check=False)
    plans = [line.split("\t") for line in run.stdout.decode().splitlines()]
    tally.check(run.returncode == 0 and plans, f"--plans: {run.stderr.decode()}")
    for rule, step in plans:
        tally.check(not re.match(r"SCAN (event|fact|hs_)", step), f"{rule}: {step}")


def check_refused(tally, binary):
    """What a SELECT of the user's may not be; the message names file and line of the rule."""
    with tempfile.TemporaryDirectory() as folder:
        log, own = os.path.join(folder, "job.log"), os.path.join(folder, "own.sql")
        with open(log, "w", encoding="utf-8") as file:
            file.write("Killed\n")
        for select, message in REFUSED:
            with open(own, "w", encoding="utf-8") as file:
                file.write(f"-- not a rule yet\n{OWN}{select};\n")
            run = subprocess.run([binary, "--rules", own, log], capture_output=True, check=False, cwd=folder)
            said = run.stderr.decode()
            tally.check(run.returncode == 2 and "own.sql:2" in said and message in said, f"{select}: {said}")
        tally.check(sorted(os.listdir(folder)) == ["job.log", "own.sql"], "a rule wrote a file")


def by_name(pattern):
    return {os.path.basename(path)[:-4]: path for path in glob.glob(pattern)}


def main():
    plain = argparse.RawDescriptionHelpFormatter
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    arguments.add_argument("binary", metavar="SYMPTOM_DUMP")
    arguments.add_argument("--update", action="store_true")
    option = arguments.parse_args()
    tally, binary = Tally(), os.path.abspath(option.binary)
    rules = by_name(os.path.join(ROOT, "analyzer", "rules", "*.sql"))
    cases = by_name(os.path.join(HERE, "*.txt"))
    for name in sorted(set(cases) - set(rules)):
        tally.check(False, f"{name}.txt: there is no such rule")
    for rule in sorted(rules):
        check_header(tally, rules[rule], rule)
        listed = read_cases(cases[rule]) if rule in cases else []
        kinds = {case.kind for case in listed}
        tally.check(kinds == {"fires", "silent"}, f"{rule}: one case that fires and a silent one are needed")
        for case in listed:
            check_case(tally, binary, rule, case, option.update)
        check_range(tally, rules[rule], rule, listed)
        if option.update and listed:
            write_cases(cases[rule], listed)
    check_plans(tally, binary)
    check_refused(tally, binary)
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
