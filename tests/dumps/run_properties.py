#!/usr/bin/env python3
"""run_properties.py HANGSCOPE [--only GROUP] [--cuts N]: what holds whatever happens to the files of a job.

truncation   a file cut anywhere: no crash, a valid answer, never wrong and high; a later cut loses no entries
everywhere   a few of each of the others, over every scenario and every sample
written      with opcodes between that do nothing, and numbers that jump about: the same rows
order        order of arguments, number of threads, locale and time zone: the same bytes
metamorphic  renumbered ranks, an idle group, a healthy node, a file twice, a dump less: the same verdict
"""

import argparse
import contextlib
import glob
import json
import os
import pickle
import random
import re
import sqlite3
import subprocess
import sys
import tempfile

import dump_bytes
import hangscope_run
import make_dumps

GROUPS = ("truncation", "written", "order", "metamorphic", "everywhere")
CUT = [
    "healthy-two-ranks",
    "missing",
    "missing-zero-entries-tp-dp",
    "pipeline-stage-stops-batched",
    "other-size",
    "json",
    "pickle-protocol-0",
    "pickle-protocol-4",
    "extra-keys",
    "version-2.4",
]
ORDER = [
    "healthy-pipeline",
    "missing-tp-pp-dp",
    "missing-wrapped",
    "one-extra-call",
    "cycle-by-absence",
    "older-dump",
    "two-jobs-one-folder",
    "duplicate-files",
    "mixed-containers",
    "completions-not-seen",
    "other-size-half",
]
RENUMBER = [
    "healthy-mesh",
    "healthy-pipeline-batched",
    "missing",
    "missing-two",
    "missing-tp-pp-dp",
    "missing-tp-pp-dp-batched",
    "missing-wrapped",
    "missing-only-active",
    "pipeline-stage-stops",
    "skipped-one-call",
    "one-extra-call",
    "other-size",
    "other-dtype",
    "other-operation",
    "two-groups-other-order",
    "cycle-by-absence",
    "completions-not-seen",
    "all-joined",
    "send-send",
    "culprit-left-no-dump",
    "ring-smaller-than-backlog",
]
IDLE = [
    "healthy",
    "healthy-pipeline",
    "missing",
    "missing-tp-pp-dp",
    "missing-zero-entries",
    "missing-hash-names",
    "pipeline-stage-stops-batched",
    "other-size",
    "one-extra-call",
    "two-groups-other-order",
    "completions-not-seen",
    "all-joined",
]
BESIDE = [
    "missing --fault missing --culprits 3",
    "skipped --fault skip --culprits 5",
    "size --fault size --culprits 5",
    "deaf --fault deaf --culprits 3",
    "pipeline --program pipeline --steps 30 --fault missing --culprits 3",
    "mesh --program mesh --ranks 16 --steps 8 --fault missing --culprits 5",
    "swap --program two-groups --fault swap --culprits 3 --serial",
    "stuck --fault stuck --moment aged",
    "healthy --steps 40",
]
LESS = [
    "missing",
    "missing-aged",
    "missing-tp-pp-dp",
    "missing-tp-pp-dp-aged",
    "missing-only-active",
    "pipeline-stage-stops",
    "pipeline-stage-stops-batched",
    "skipped-one-call-aged",
    "other-size-aged",
    "other-operation-aged",
    "two-groups-other-order",
    "cycle-by-absence-aged",
    "completions-not-seen-aged",
    "unequal-timeouts",
    "busy-elsewhere",
    "send-send",
]


SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")


class Sample:
    """A sample as scenarios are: its files, and what may be said of them."""

    def __init__(self, folder):
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as stream:
            expected = json.load(stream)
        self.name = "sample " + os.path.basename(folder)
        self.codes = [expected["code"], *expected.get("accept", [])]
        self.culprits = [expected["culprits"]]
        self.files = {}
        for path in sorted(glob.glob(os.path.join(folder, "dumps", "*"))):
            with open(path, "rb") as stream:
                self.files[os.path.basename(path)] = stream.read()


def everything():
    """(what may be said, files) of every scenario and of every sample with dumps."""
    for scenario in hangscope_run.scenarios():
        yield scenario, make_dumps.files(scenario.arguments)
    for dumps in sorted(glob.glob(os.path.join(SAMPLES, "*", "dumps"))):
        sample = Sample(os.path.dirname(dumps))
        yield sample, sample.files


def unnamed(operation):
    """Without the group's name: more groups in a job move the numbers that serve as names."""
    return re.sub(r"\(\d+\)", "", operation)


class Suite:
    def __init__(self, binary, cuts, short):
        self.binary, self.cuts, self.short = binary, cuts, short
        self.tally = hangscope_run.Tally()
        self.table = {scenario.name: scenario for scenario in hangscope_run.scenarios()}

    def run(self, found, *options, env=None, order=None):
        """Analyses these files, as one folder or, with `order`, one by one."""
        with tempfile.TemporaryDirectory() as folder:
            make_dumps.put(found, folder)
            paths = [os.path.join(folder, path) for path in order] if order else [folder]
            return hangscope_run.Verdict(self.binary, paths, *options, env=env)

    def same(self, what, base, other, culprits=None, operation=True):
        """Whether the verdict stayed: code, culprits (or those given), operation and confidence."""
        want = base.culprits if culprits is None else culprits
        good = (
            not other.trouble
            and other.object is not None
            and other.code == base.code
            and other.culprits == want
            and other.confidence == base.confidence
            and (not operation or unnamed(other.operation) == unnamed(base.operation))
        )
        self.tally.check(good, f"{what}: got {other}, want as {base}, culprits {want}")

    def base(self, name, what):
        scenario = self.table[name]
        found = make_dumps.files(scenario.arguments)
        run = self.run(found)
        if not self.tally.check(
            run.object is not None and not run.trouble, f"{what} {name}: no verdict to start from: {run}"
        ):
            return scenario, found, None
        return scenario, found, run

    # -- truncation -----------------------------------------------------------

    def truncation(self):
        for name in CUT:
            scenario = self.table[name]
            found = make_dumps.files(scenario.arguments)
            for victim in self.victims(scenario, found):
                self.cut(name, scenario, found, victim)

    def victims(self, scenario, found):
        """One culprit's file and one innocent's."""
        truth = scenario.truth()
        paths = sorted(found)
        guilty = [path for path in paths if make_dumps.rank_of(path) in truth]
        innocent = [path for path in paths if path not in guilty]
        return guilty[:1] + innocent[:1]

    def cut(self, name, scenario, found, victim):
        data = found[victim]
        source = random.Random(f"{name} {victim}")
        edges = [0, 1, 2, 3, len(data) - 1, len(data) - 2, len(data)]
        offsets = sorted(set(edges + [source.randrange(len(data)) for _ in range(self.cuts)]))
        before = 0
        for offset in offsets:
            run = self.run(dict(found, **{victim: data[:offset]}))
            what = f"truncation {name}: {victim} cut at {offset} of {len(data)}"
            if not self.tally.check(run.object is not None and not run.trouble, f"{what}: {run}"):
                continue
            self.tally.check(
                not hangscope_run.wrong_and_high(run, scenario), f"{what}: wrong and high: {run}"
            )
            records = run.records(victim) or 0
            self.tally.check(records >= before, f"{what}: {records} records, {before} with an earlier cut")
            before = max(before, records)
        self.tally.check(
            before > 0 or not self.has_entries(data), f"truncation {name}: {victim} gave no records"
        )

    @staticmethod
    def has_entries(data):
        return b"profiling_name" in data

    # -- everywhere -----------------------------------------------------------

    def everywhere(self):
        for truth, found in everything():
            with tempfile.TemporaryDirectory() as folder:
                make_dumps.put(found, folder)
                paths = [os.path.join(folder, path) for path in sorted(found)]
                first = hangscope_run.Verdict(self.binary, paths, "-j", "1")
                if first.object is not None:
                    self.bytes(f"order {truth.name}", first, paths[::-1], "-j", "7")
            source = random.Random(truth.name)
            path = source.choice(sorted(found))
            data = found[path]
            for offset in sorted(source.randrange(len(data) + 1) for _ in range(3)):
                self.never_worse(
                    f"cut {truth.name}: {path} at {offset}", dict(found, **{path: data[:offset]}), truth
                )
            for gone in source.sample(sorted(found), min(2, len(found))):
                rest = {key: value for key, value in found.items() if key != gone}
                if rest:
                    self.never_worse(f"a dump less {truth.name}: without {gone}", rest, truth)
            if first.object is not None:
                folder, file = os.path.split(path)
                other = self.run(dict(found, **{os.path.join(folder, "again_" + file): data}))
                self.same(f"a file twice {truth.name}: {path}", first, other)

    def never_worse(self, what, found, truth):
        """An answer, or a clear refusal; never a wrong verdict that is sure of itself."""
        run = self.run(found)
        self.tally.check(run.status in (0, 1, 2, 3), f"{what}: {run}")
        self.tally.check(not hangscope_run.wrong_and_high(run, truth), f"{what}: wrong and high: {run}")

    # -- written --------------------------------------------------------------

    def written(self):
        """Entries that are written alike are read as one; with opcodes that do nothing, each is read."""
        for truth, found in everything():
            if any(data[:2] != b"\x80\x02" for data in found.values()):
                continue
            source = random.Random(truth.name)
            some = source.sample(sorted(found), min(3, len(found)))
            dumps = {path: pickle.loads(found[path]) for path in some}
            for dump in dumps.values():
                entries = dump if isinstance(dump, list) else dump.get("entries", [])
                self.jump(source, entries)
            rows = [self.rows(dumps, way) for way in (dump_bytes.TorchPickler, dump_bytes.RestlessPickler)]
            self.tally.check(rows[0] == rows[1], f"written {truth.name}: other rows")
            self.tally.check(rows[0][0] or not entries, f"written {truth.name}: no calls")

    @staticmethod
    def jump(source, entries):
        numbers = [3, 600000, 70000, -5, 1 << 40, 1 << 62, None, 2.5, True]
        for entry in source.sample(entries, len(entries) // 8):
            for key in source.sample(sorted(entry), 2):
                if isinstance(entry[key], (int, float)):
                    entry[key] = source.choice(numbers)

    def rows(self, dumps, way):
        with tempfile.TemporaryDirectory() as folder:
            encoded = {path: way().dumps(dump) for path, dump in dumps.items()}
            make_dumps.put(encoded, os.path.join(folder, "job"))
            database = os.path.join(folder, "job.db")
            command = [self.binary, "ingest", "-q", os.path.join(folder, "job"), "-o", database]
            subprocess.run(command, check=True, capture_output=True)
            with contextlib.closing(sqlite3.connect(database)) as db:
                calls = db.execute("SELECT * FROM calls ORDER BY id").fetchall()
                odd = db.execute("SELECT source, code, record, excerpt FROM diagnostic ORDER BY id")
                return calls, odd.fetchall()

    # -- order ----------------------------------------------------------------

    def order(self):
        zones = [
            {"LANG": "C", "LC_ALL": "C", "TZ": "UTC"},
            {"LANG": "tr_TR.UTF-8", "LC_ALL": "", "TZ": "Asia/Kolkata"},
            {"LANG": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8", "TZ": "America/St_Johns"},
        ]
        for name in ORDER:
            found = make_dumps.files(self.table[name].arguments)
            paths = sorted(found)
            with tempfile.TemporaryDirectory() as folder:
                make_dumps.put(found, folder)
                full = [os.path.join(folder, path) for path in paths]
                first = hangscope_run.Verdict(self.binary, full)
                if not self.tally.check(
                    first.object is not None and not first.trouble, f"order {name}: {first}"
                ):
                    continue
                for seed in (1, 2):
                    mixed = list(full)
                    random.Random(seed).shuffle(mixed)
                    self.bytes(f"order {name}, arguments shuffled", first, mixed)
                self.bytes(f"order {name}, arguments reversed", first, full[::-1])
                for threads in ("1", "2", "8"):
                    self.bytes(f"order {name}, -j {threads}", first, full, "-j", threads)
                for zone in zones:
                    self.bytes(f"order {name}, {zone}", first, full, env=zone)
                whole = hangscope_run.Verdict(self.binary, [folder])
                self.bytes(f"order {name}, the folder again", whole, [folder], "-j", "3")

    def bytes(self, what, first, paths, *options, env=None):
        run = hangscope_run.Verdict(self.binary, paths, *options, env=env)
        self.tally.check(
            run.stdout == first.stdout and run.status == first.status,
            f"{what}: other bytes; {run} instead of {first}",
        )

    # -- metamorphic ----------------------------------------------------------

    def metamorphic(self):
        self.renumbered()
        for name in IDLE:
            scenario, _, base = self.base(name, "idle group")
            if base:
                other = self.run(make_dumps.files(scenario.arguments + " --idle-group"))
                self.same(f"idle group {name}", base, other)
        for line in BESIDE:
            name, arguments = line.split(" ", 1)
            base = self.run(make_dumps.files(arguments + " --sub"))
            other = self.run(make_dumps.files(arguments + " --sub --bystanders 4"))
            if self.tally.check(base.object is not None and not base.trouble, f"healthy node {name}: {base}"):
                self.same(f"healthy node {name}", base, other)
        self.twice()
        self.less()

    def renumbered(self):
        for name in RENUMBER:
            scenario, _, base = self.base(name, "renumber")
            if not base:
                continue
            option = make_dumps.parser().parse_args(scenario.arguments.split())
            for seed in (1, 2):
                order = make_dumps.order_of(option.ranks + option.bystanders, seed)
                other = self.run(make_dumps.files(scenario.arguments + f" --permute {seed}"))
                culprits = sorted(order[rank] for rank in base.culprits)
                self.same(f"renumber {name}, seed {seed}", base, other, culprits, operation=False)

    def twice(self):
        for name in IDLE:
            _, found, base = self.base(name, "a file twice")
            if not base:
                continue
            for path in sorted(found)[:: max(1, len(found) // 3)]:
                folder, file = os.path.split(path)
                other = self.run(dict(found, **{os.path.join(folder, "again_" + file): found[path]}))
                self.same(f"a file twice {name}: {path}", base, other)

    def less(self):
        for name in LESS:
            scenario, found, base = self.base(name, "a dump less")
            if not base:
                continue
            truth = scenario.truth()
            for path in sorted(found)[:: 3 if self.short else 1]:
                other = self.run({key: data for key, data in found.items() if key != path})
                what = f"a dump less {name}: without {path}"
                if not self.tally.check(other.object is not None and not other.trouble, f"{what}: {other}"):
                    continue
                self.tally.check(
                    not hangscope_run.wrong_and_high(other, scenario), f"{what}: wrong and high: {other}"
                )
                if make_dumps.rank_of(path) in truth:
                    continue
                good = other.code == "undetermined" or (
                    other.code in scenario.codes and other.culprits in scenario.culprits
                )
                self.tally.check(good, f"{what}: got {other}, want {base} or undetermined")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", choices=GROUPS)
    arguments.add_argument("--cuts", type=int, default=40, help="random cuts per file")
    arguments.add_argument("--short", action="store_true", help="fewer dumps left out")
    option = arguments.parse_args()
    suite = Suite(option.binary, option.cuts, option.short)
    for name in GROUPS:
        if option.only in (None, name):
            getattr(suite, name)()
    return suite.tally.end()


if __name__ == "__main__":
    sys.exit(main())
