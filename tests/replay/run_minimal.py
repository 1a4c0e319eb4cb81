#!/usr/bin/env python3
"""run_minimal.py HANGSCOPE: what --minimize leaves cannot be smaller, and is the same each time.

Of every sample and some scenarios: each rank, group and call of the smallest plan is taken out
alone, and then the verdict is another one; two runs give the same bytes; at most 200 dry runs.
Folding keeps culprits and code, and leaves at most so many ranks, or says otherwise. A smaller window
keeps the verdict, and as many finished calls as it is wide.
"""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402
import make_dumps  # noqa: E402

SAMPLES = HERE.parents[1] / "samples"
SCENARIOS = [
    "missing-majority",
    "missing-tp-pp-dp",
    "pipeline-stage-stops-batched-meets",
    "skipped-three-calls",
    "other-size-three",
    "other-dtype",
    "send-send",
    "two-groups-other-order",
    "cycle-by-absence",
    "completions-not-seen",
    "culprit-left-no-dump",
]


class Job:
    def __init__(self, binary, name, folder):
        self.binary, self.name, self.folder = binary, name, folder
        self.plan = os.path.join(folder, "plan.json")
        self.changed = os.path.join(folder, "changed.json")

    def run(self, *words):
        return subprocess.run([self.binary, *words], capture_output=True, text=True, check=False)

    def ends(self, *words):
        """Code, culprits, roles and end of the sentence of a replay; None when the plan is no plan."""
        done = self.run("replay", "--json", *words)
        if done.returncode not in (0, 1, 3):
            return None
        verdict = json.loads(done.stdout)["verdict"]
        culprits = {row["rank"] for row in verdict["culprits"]}
        roles = {row["role"] for row in verdict["culprits"]}
        sentence = verdict["summary"][-30:] if verdict["code"] == "undetermined" else ""
        return verdict["code"], culprits, roles, sentence

    def same(self, first, second):
        return (
            second is not None
            and first[0] == second[0]
            and bool(first[1]) == bool(second[1])
            and second[1] <= first[1]
            and second[2] <= first[2]
            and first[3] == second[3]
        )

    def smaller(self):
        """(what, ends) of the plan without each rank, group and call."""
        with open(self.plan, encoding="utf-8") as file:
            plan = json.load(file)
        ranks = [rank for row in plan["ranks"] for rank in expand(row["ranks"])]
        for gone in ranks if len(ranks) > 1 else []:
            left = ",".join(str(rank) for rank in ranks if rank != gone)
            yield f"rank {gone}", self.ends(self.plan, "--ranks", left)
        names = [group["name"] for group in plan["groups"]]
        for gone in names if len(names) > 1 and len(set(names)) == len(names) else []:
            left = ",".join(name for name in names if name != gone)
            yield f"group {gone}", self.ends(self.plan, "--groups", left)
        rows = [{**row, "ranks": str(rank)} for row in plan["ranks"] for rank in expand(row["ranks"])]
        for number, row in enumerate(rows):
            for at in range(len(plan["programs"][row["program"]])):
                alone = copy.deepcopy(plan["programs"][row["program"]])
                del alone[at]
                own = {**row, "program": len(plan["programs"])}
                programs = [*plan["programs"], alone]
                changed = {**plan, "programs": programs, "ranks": [*rows[:number], own, *rows[number + 1 :]]}
                with open(self.changed, "w", encoding="utf-8") as file:
                    json.dump(changed, file)
                yield f"call {at} of rank {row['ranks']}", self.ends(self.changed)


def expand(ranks):
    for run in ranks.split(","):
        first, _, last = run.partition("-")
        yield from range(int(first), int(last or first) + 1)


def check(job, source, tally):
    whole = job.ends(source)
    done = job.run("plan", source, "--minimize", "-o", job.plan)
    told = re.search(r"minimized: .* -> .*; (\d+) dry runs; nothing more can go", done.stderr)
    if not tally.check(told and int(told[1]) <= 200, f"{job.name}: {done.stderr}"):
        return
    tally.check(job.same(whole, job.ends(job.plan)), f"{job.name}: another verdict when minimized")
    again = job.run("plan", "-q", source, "--minimize", "-o", "-").stdout
    tally.check(again == Path(job.plan).read_text(encoding="utf-8"), f"{job.name}: differs when repeated")
    first = job.ends(job.plan)
    for what, ends in job.smaller():
        tally.check(not job.same(first, ends), f"{job.name}: {what} can go as well")
    folded = job.run("replay", "--json", source, "--fold", "3")
    verdict = json.loads(folded.stdout)["verdict"]
    kept = {row["rank"] for row in verdict["culprits"]}
    left = re.search(r"folded: .* -> (\d+) ranks", folded.stderr)
    good = left and (int(left[1]) <= 3 or "fewer ranks would lose one" in folded.stderr)
    tally.check(good, f"{job.name}: --fold 3: {folded.stderr}")
    tally.check(
        verdict["code"] == whole[0] or "another one now" in folded.stderr,
        f"{job.name}: folding gives {verdict['code']}, and does not say so",
    )
    tally.check(kept <= whole[1] or "another one now" in folded.stderr, f"{job.name}: folding names {kept}")
    check_window(job, source, whole, tally)


def check_window(job, source, whole, tally):
    """The longest program has `window` calls more than what had not ended."""
    longest = {}
    for window in ("4", "6"):
        job.run("plan", "-q", source, "--window", window, "-o", job.changed)
        with open(job.changed, encoding="utf-8") as file:
            longest[window] = max(len(program) for program in json.load(file)["programs"])
        ends = job.ends(job.changed)
        tally.check(ends == whole, f"{job.name}: --window {window} gives {ends} instead of {whole}")
    tally.check(longest["4"] < longest["6"] <= longest["4"] + 2, f"{job.name}: windows of {longest}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tally = hangscope_run.Tally()
    for dumps in sorted(SAMPLES.glob("*/dumps")):
        with tempfile.TemporaryDirectory() as folder:
            check(Job(sys.argv[1], dumps.parent.name, folder), str(dumps), tally)
    for scenario in hangscope_run.scenarios():
        if scenario.name in SCENARIOS:
            with tempfile.TemporaryDirectory() as folder:
                dumps = os.path.join(folder, "dumps")
                os.makedirs(dumps)
                make_dumps.write(scenario.arguments, dumps)
                check(Job(sys.argv[1], scenario.name, folder), dumps, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
