#!/usr/bin/env python3
"""check_schema.py HANGSCOPE [NCCL_DOUBLE]: every verdict fits docs/verdict.schema.json, in both languages.

Verdicts of all samples, of the lines of tests/rules, of every scenario of tests/dumps, of some broken
input, and with the double of NCCL of runs on it. What the schema cannot say is checked here: lists are
sorted, times agree, findings and exit status fit the code.
The last line is `N passed, N failed`. Exit 1 if one failed, 77 without the package jsonschema.
"""

import glob
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "dumps"))

try:
    import jsonschema
except ImportError:
    print("check_schema: the Python package jsonschema is not installed")
    sys.exit(77)

import hangscope_run  # noqa: E402
import make_dumps  # noqa: E402


def rank_key(culprit):
    """Of whom only the host is known comes last."""
    return float("inf") if culprit["rank"] is None else culprit["rank"]


def complaints(verdict):
    """What is wrong with an object beyond the schema."""
    head, coverage = verdict["verdict"], verdict["coverage"]
    lists = [head["waiting_ranks"]] + [finding["ranks"] for finding in verdict["findings"]]
    lists += [coverage[key] for key in ("ranks_with_dumps", "ranks_with_logs", "ranks_silent")]
    lists += [[rank_key(culprit) for culprit in head["culprits"]]]
    lists += [[rank_key(culprit) for culprit in other["culprits"]] for other in verdict["alternatives"]]
    lists += [[source["path"] for source in coverage["sources"]]]
    for items in lists:
        if items != sorted(items):
            yield f"not sorted: {items}"
    if (head["hang_began"] or "").endswith("Z") != (head["hang_began_ns"] is not None):
        yield "nanoseconds since the epoch belong to a time with a zone"
    if set(head["waiting_ranks"]) & {culprit["rank"] for culprit in head["culprits"]}:
        yield "a culprit among the waiting ranks"
    if set(coverage["ranks_with_dumps"]) & set(coverage["ranks_silent"]):
        yield "a rank with a dump among the silent ones"
    told = {finding["code"] for finding in verdict["findings"]} | {"healthy", "undetermined"}
    if head["code"] not in told:
        yield "no finding for the code"
    for source in coverage["sources"]:
        if os.path.isabs(source["path"]):
            yield f"an absolute path: {source['path']}"
        if source["format"] is None and source["standing"] not in ("unread", "duplicate"):
            yield f"{source['path']}: no format, but {source['standing']}"


class Checker:
    def __init__(self, binary):
        with open(os.path.join(ROOT, "docs", "verdict.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)
        self.binary = binary
        self.tally = hangscope_run.Tally()
        self.codes = set()

    def check(self, name, paths, *options, **more):
        run = hangscope_run.Verdict(self.binary, paths, *options, **more)
        if not self.tally.check(run.object is not None, f"{name}: no verdict, exit {run.status}"):
            return None
        self.codes.add(run.code)
        errors = sorted(self.validator.iter_errors(run.object), key=str)
        found = [f"{error.json_path}: {error.message}" for error in errors[:3]]
        found += list(complaints(run.object))
        self.tally.check(not found, f"{name}: " + "; ".join(found))
        return run.object


def same_but_words(english, chinese):
    """Two languages of one verdict differ in sentences alone."""

    def bare(verdict):
        copy = json.loads(json.dumps(verdict))
        copy["next_steps"] = len(copy["next_steps"])
        del copy["verdict"]["summary"]
        for other in copy["alternatives"]:
            del other["why"]
        for finding in copy["findings"]:
            del finding["title"], finding["detail"], finding["remedy"]
        return copy

    return bare(english) == bare(chinese)


def check_samples(checker):
    """The dumps of each, its logs, and both together."""
    folders = glob.glob(os.path.join(ROOT, "samples", "*", "dumps"))
    folders += glob.glob(os.path.join(ROOT, "samples", "*", "logs"))
    folders += {os.path.dirname(folder) for folder in folders}
    for folder in sorted(folders):
        name = os.path.relpath(folder, os.path.join(ROOT, "samples"))
        english = checker.check(name, [folder])
        chinese = checker.check(name + " in Chinese", [folder], "--lang", "zh")
        if english and chinese:
            checker.tally.check(same_but_words(english, chinese), f"{name}: the languages differ")
            different = english["verdict"]["summary"] != chinese["verdict"]["summary"]
            checker.tally.check(different, f"{name}: the summary is not translated")


def check_lines(checker):
    """The lines that rules are tested with, as logs: every code that lines can have."""
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "rules", "*.txt"))):
        checker.check("lines of " + os.path.basename(path), [path])


def check_scenarios(checker):
    for scenario in hangscope_run.scenarios():
        with tempfile.TemporaryDirectory() as folder:
            make_dumps.write(scenario.arguments, folder)
            checker.check(scenario.name, [folder])


def check_odd_input(checker):
    """Files that are empty, cut, foreign, doubled or unsafe beside good ones; a rank map."""
    with tempfile.TemporaryDirectory() as folder:
        make_dumps.write("--fault missing --culprits 3 --duplicate 1", folder)
        dumps = sorted(glob.glob(os.path.join(folder, "**", "*rank_*"), recursive=True))
        with open(dumps[0], "rb") as file:
            whole = file.read()
        odd = {
            "cut_rank_40": whole[: len(whole) // 2],
            "empty_rank_41": b"",
            "notes.txt": b"hello\n",
            "unsafe_rank_42": b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.",
            "trailing_rank_43": whole + b"more",
            "nameless": whole,
            "other_rank_44.json": b'{"pg_config": 3, "entries": [1, {"record_id": -4}], "pg_status": []}',
            "not_rank_45.json": b'{"record_id": 1}',
        }
        for name, content in odd.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        os.mkfifo(os.path.join(folder, "pipe_rank_46"))
        os.symlink("/etc/passwd", os.path.join(folder, "link_rank_47"))
        ranks = os.path.join(folder, "ranks.txt")
        with open(ranks, "w", encoding="utf-8") as file:
            file.writelines(f"{rank} node-{rank // 4} {rank % 4}\n" for rank in range(8))
        checker.check("odd input", [folder], "--rank-map", ranks)
        checker.check("odd input in Chinese", [folder], "--rank-map", ranks, "--lang", "zh")
        checker.check("a larger world", [folder], "--world-size", "64")
        checker.check("one file", [dumps[0]])


def check_runs(checker, double):
    """A run on communicators that hangs, one with a rank that dies, one that gives wrong data."""
    folder = os.path.join(ROOT, "samples", "skipped-call", "dumps")
    options = ["--backend", "nccl", "--nccl-lib", double, "--deadline", "2", "--check-data"]
    faults = {"": "hung", "rank 1 dies at call 3": "failed", "rank 1 corrupts call 3": "failed"}
    for fault, outcome in faults.items():
        name = f"run on the double, {fault or 'no fault'}"
        verdict = checker.check(name, [folder], *options, command="replay", env={"HS_DOUBLE_FAULT": fault})
        if verdict:
            good = verdict.get("run", {}).get("outcome") == outcome and verdict["run"]["timings"]
            checker.tally.check(good, f"{name}: {verdict.get('run')}")


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    checker = Checker(sys.argv[1])
    check_samples(checker)
    check_lines(checker)
    check_scenarios(checker)
    check_odd_input(checker)
    if len(sys.argv) == 3:
        check_runs(checker, sys.argv[2])
    print("codes met: " + " ".join(sorted(checker.codes)))
    return checker.tally.end()


if __name__ == "__main__":
    sys.exit(main())
