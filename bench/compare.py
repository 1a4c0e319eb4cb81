#!/usr/bin/env python3
"""compare.py HANGSCOPE [PYTHON_WITH_TORCH] [--update]: docs/comparison.md, torchfrtrace and hangscope on the
same dumps.

The samples, simulated jobs whose dumps look as NCCL's do, and the real sets of ../shared/real where they
are (summarised: their data stay there). torchfrtrace runs twice: on the files as they are, and with all the
help there is. What it prints depends on the order in which a folder lists its files, so it is kept in
bench/torchfrtrace.json and written by --update only, which needs a Python with torch 2.13 and tabulate.
Without --update: what stands in the page about hangscope must be what it prints now.
"""

import argparse
import csv
import glob
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile

import lab
import make_dumps

KEPT = os.path.join(lab.ROOT, "bench", "torchfrtrace.json")
PAGE = os.path.join(lab.ROOT, "docs", "comparison.md")
REAL = os.path.join(os.path.dirname(lab.ROOT), "shared", "real")
SIMULATED = (
    "healthy",
    "healthy-pipeline",
    "missing",
    "missing-tp-pp-dp",
    "missing-only-active",
    "other-size",
    "other-size-first-rank",
    "skipped-one-call",
    "two-groups-other-order",
    "pipeline-stage-stops",
)
LINES = 12  # of an output that are shown


class Set:
    """Dumps, and who is to blame."""

    def __init__(self, kind, name, folder, truth, told, words=""):
        self.kind, self.name, self.folder, self.words = kind, name, folder, words
        self.truth, self.told = set(truth), told


def samples():
    for dumps in sorted(glob.glob(os.path.join(lab.ROOT, "samples", "*", "dumps"))):
        folder = os.path.dirname(dumps)
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            expected = json.load(file)
        told = expected["truth"]["cause"] or expected["truth"]["code"]
        yield Set(
            "sample",
            os.path.basename(folder),
            dumps,
            expected["truth"]["culprits"],
            told,
        )


def simulated(root):
    with open(os.path.join(lab.ROOT, "tests", "dumps", "scenarios.tsv"), encoding="utf-8") as file:
        rows = {row[0]: row for row in csv.reader(file, delimiter="\t") if len(row) > 3}
    for name in SIMULATED:
        _, words, code, culprits = rows[name][:4]
        folder = os.path.join(root, name)
        make_dumps.write(words, folder)
        truth = {int(word) for word in culprits.split(",") if word.isdigit()}
        yield Set("simulated", "simulated-" + name, folder, truth, code.split()[0], words)


def real():
    for folder in sorted(glob.glob(os.path.join(REAL, "megatron-*"))):
        with open(os.path.join(folder, "fault_injection.log"), encoding="utf-8") as file:
            truth = {int(word) for word in re.findall(r"Rank (\d+), fault_type", file.read())}
        yield Set("real", os.path.basename(folder), folder, truth, "an injected fault")


# ---- torchfrtrace ----


def load(path):
    with open(path, "rb") as stream:
        data = stream.read()
    if data[:1] != b"{":
        return pickle.loads(data)
    dump = json.loads(data)
    for entry in dump["entries"]:
        entry["process_group"] = tuple(entry["process_group"])
    return dump


def repaired(folder, target):
    """Copies in which every group that a call names is configured, with the ranks that used it."""
    dumps, users = {}, {}
    for path in glob.glob(os.path.join(folder, "*_[0-9]*")):
        dumps[int(re.findall(r"\d+", os.path.basename(path).split(".")[0])[-1])] = load(path)
    for rank, dump in dumps.items():
        for entry in dump["entries"]:
            users.setdefault(entry["process_group"], set()).add(rank)
    for rank, dump in dumps.items():
        config = {name: row for name, row in dump["pg_config"].items() if name}
        whole = [row["ranks"] for name, row in dump["pg_config"].items() if not name and row["ranks"] != "[]"]
        for (name, description), ranks in users.items():
            if rank in ranks and name not in config:
                members = whole[0] if whole and description == "default_pg" else str(sorted(ranks))
                config[name] = {"name": name, "desc": description, "ranks": members}
        dump["pg_config"] = config
        with open(os.path.join(target, f"rank_{rank}"), "wb") as stream:
            stream.write(lab.dump_bytes.encode(dump))


def torchfrtrace(python, folder, options):
    words = [python, "-m", "torch.distributed.flight_recorder.fr_trace", *options, folder]
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    text = run.stdout.decode("utf-8", "replace")
    lines = [line.rstrip()[:110] for line in text.splitlines()]
    if lines and lines[0].startswith("Traceback"):
        lines = [lines[0], "  …", lines[-1]]
    elif len(lines) > LINES:
        lines = [*lines[:LINES], f"… {len(lines) - LINES} more lines"]
    return {
        "options": " ".join(options),
        "exit": run.returncode,
        "blamed": sorted(lab.blamed(text)),
        "aborted": "Too many mismatches" in text,
        "lines": lines,
    }


def ask_torch(python, item):
    found = {"as it is": torchfrtrace(python, item.folder, [])}
    with tempfile.TemporaryDirectory() as target:
        repaired(item.folder, target)
        options = ["-p", "rank_", "--allow-incomplete-ranks", "--mismatch_cap", "100000"]
        found["helped"] = torchfrtrace(python, target, options)
    if item.kind == "real":
        for answer in found.values():
            del answer["lines"]
    return found


# ---- hangscope ----


def ask_hangscope(binary, item):
    words = [binary, "analyze", "--color", "never", "--progress", "never", item.folder]
    shown = subprocess.run([*words, "-q"], capture_output=True, text=True, timeout=60)
    told = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=60).stdout
    verdict = json.loads(told)["verdict"]
    lines = [re.sub(r"· \d+\.\d\d s$", "· 0.00 s", line) for line in shown.stdout.splitlines()]
    return {
        "exit": shown.returncode,
        "blamed": sorted(lab.named(told)),
        "code": verdict["code"],
        "confidence": verdict["confidence"],
        "lines": lines if item.kind != "real" else [],
    }


# ---- the page ----


def ranks(numbers):
    return ", ".join(map(str, sorted(numbers))) or "nobody"


def judged(answer, truth):
    """In a word: is it right?"""
    guess = set(answer["blamed"])
    wrong = len(guess - truth)
    if answer["exit"] not in (0, 1, 3) or answer.get("lines", [""])[:1] == [
        "Traceback (most recent call last):"
    ]:
        return "**fails**"
    if answer.get("code") == "undetermined":
        return "open"
    if guess == truth:
        return "right"
    if wrong:
        return f"**{wrong} innocent**" + (", misses " + ranks(truth - guess) if truth - guess else "")
    return f"**misses {ranks(truth - guess)}**"


def theirs_in_short(answer, truth):
    if answer["exit"]:
        return f"**fails**: `{answer['lines'][-1]}`"
    said = f"names {ranks(answer['blamed'])}"
    return f"{said}{'; aborts' if answer['aborted'] else ''}: {judged(answer, truth)}"


def ours_in_short(answer, truth):
    said = f"`{answer['code']}` {ranks(answer['blamed'])}, {answer['confidence']}, exit {answer['exit']}"
    return f"{said}: {judged(answer, truth)}"


def summary(sets, theirs, ours):
    lines = ["| dumps | to blame | torchfrtrace | with help | hangscope |", "|---|---|---|---|---|"]
    for item in sets:
        answers = theirs[item.name]
        cells = [theirs_in_short(answers[how], item.truth) for how in ("as it is", "helped")]
        name = f"[{item.name}](#{item.name})" if item.kind != "real" else item.name
        cells = [name, ranks(item.truth), *cells, ours_in_short(ours[item.name], item.truth)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def section(item, theirs, ours):
    lines = ["", f"### {item.name}", "", f"{item.told}; to blame: {ranks(item.truth)}."]
    if item.words:
        lines[-1] += f" `make_dumps.py OUT {item.words}`"
    lines += ["", "```text"]
    for how in ("as it is", "helped"):
        answer = theirs[how]
        words = " ".join(word for word in ("torchfrtrace", answer["options"], "dumps") if word)
        lines += [f"$ {words}", *(answer["lines"] or ["(nothing)"]), f"exit {answer['exit']}"]
    lines += ["$ hangscope -q dumps", *ours["lines"], f"exit {ours['exit']}", "```"]
    return lines


def parts_of(sets, theirs, ours):
    found = {}
    for kind in ("sample", "simulated", "real"):
        found[kind] = "\n".join(summary([item for item in sets if item.kind == kind], theirs, ours))
    shown = [item for item in sets if item.kind != "real"]
    found["printed"] = "\n".join(
        line for item in shown for line in section(item, theirs[item.name], ours[item.name])
    )
    return found


def keep(found):
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1, ensure_ascii=False, sort_keys=True)
        file.write("\n")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("python", metavar="PYTHON_WITH_TORCH", nargs="?")
    arguments.add_argument(
        "--update", action="store_true", help="write the page; with PYTHON, ask torchfrtrace"
    )
    option = arguments.parse_args()
    with open(KEPT, encoding="utf-8") as file:
        kept = json.load(file)
    with tempfile.TemporaryDirectory() as root:
        sets = [*samples(), *simulated(root), *real()]
        if option.update and option.python:
            kept["torchfrtrace"] = {item.name: ask_torch(option.python, item) for item in sets}
        ours = {item.name: ask_hangscope(option.binary, item) for item in sets}
    here = {item.name for item in sets}
    for name, row in kept["real"].items():  # where the files are not, what was found where they were
        if name not in here:
            sets.append(Set("real", name, None, row["truth"], ""))
            ours[name] = row["hangscope"]
    if option.update:
        kept["real"] = {
            item.name: {"truth": sorted(item.truth), "hangscope": ours[item.name]}
            for item in sets
            if item.kind == "real"
        }
        keep(kept)
    with open(PAGE, encoding="utf-8") as file:
        there = file.read()
    page = lab.with_parts(there, parts_of(sets, kept["torchfrtrace"], ours))
    if option.update:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
        return 0
    for old, new in zip(there.splitlines(), page.splitlines()):
        if old != new:
            print(f"docs/comparison.md is old; run bench/compare.py --update\n- {old}\n+ {new}")
            break
    print("1 passed, 0 failed" if there == page else "0 passed, 1 failed")
    return 0 if there == page else 1


if __name__ == "__main__":
    sys.exit(main())
