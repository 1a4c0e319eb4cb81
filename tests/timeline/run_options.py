#!/usr/bin/env python3
"""run_options.py HANGSCOPE [--only NAME]: what `timeline` takes and refuses, and what it leaves behind.

Reads the traces with Python's json, and Perfetto's ones as protobuf's wire format, without its schema.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import gzip
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "dumps"))

import make_dumps  # noqa: E402 - lies in a folder of its own

HUNG = "--program flat --fault missing --culprits 3 --ranks 8 --steps 40"
MESH = "--program mesh --ranks 16 --steps 6 --fault missing --culprits 6"


class Failure(Exception):
    pass


def check(good, why):
    if not good:
        raise Failure(why)


class Lab:
    """A folder to work in, and the program."""

    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def job(self, words, name="job"):
        make_dumps.write(words, self.path(name))
        return self.path(name)

    def run(self, *words, status=0, **how):
        how.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([self.binary, "timeline", *words], stderr=subprocess.PIPE, check=False, **how)
        check(done.returncode == status, f"exit {done.returncode} of {words}: {done.stderr.decode()[-200:]}")
        return done

    def trace(self, *words):
        return json.loads(self.run(*words, "-o", "-").stdout)


def slices(trace, rank=None):
    """(rank, name, start, length) of each slice, in the file's order."""
    names = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "M" and event["name"] == "process_name":
            names[event["pid"]] = int(event["args"]["name"].split(" ")[1].strip(","))
    found = [
        (names[event["pid"]], event["name"], event["ts"], event["dur"], event["args"]["Seq"])
        for event in trace["traceEvents"]
        if event["ph"] == "X" and event["cat"] != "waited-for"
    ]
    return [row for row in found if rank is None or row[0] == rank]


def arrows(trace):
    ends = {"s": [], "f": []}
    for event in trace["traceEvents"]:
        if event["ph"] in ends:
            ends[event["ph"]].append(event["id"])
    check(sorted(ends["s"]) == sorted(ends["f"]), "an arrow lacks an end")
    return len(ends["s"])


# ---- protobuf's wire format ----


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """[(field, value)]: numbers and bytes, nothing else is written."""
    found, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        check(key & 7 in (0, 2), f"wire type {key & 7}")
        value, at = varint(data, at)
        if key & 7 == 2:
            check(at + value <= len(data), "a field is longer than its message")
            value, at = data[at : at + value], at + value
        found.append((key >> 3, value))
    return found


def packets(data):
    return [dict(fields(packet)) for _, packet in fields(data)]


def begun(data):
    """Names of the slices that begin."""
    events = [dict(fields(packet[11])) for packet in packets(data) if 11 in packet]
    return [event[23].decode() for event in events if event.get(9) == 1]


# ---- the tests ----


def test_bad_use(lab):
    job = lab.job(HUNG)
    logs = os.path.join(os.path.dirname(os.path.dirname(HERE)), "samples", "silent-rank0-rollout", "logs")
    target = lab.path("trace.json")
    for words in (
        (job,),
        ("-o", target),
        (job, "-o", target, "--format", "csv"),
        (job, "-o", target, "--window", "30"),
        (job, "-o", target, "--window", "#9..#3"),
        (job, "-o", target, "--window", "#"),
        (job, "-o", target, "--window", "5d"),
        (job, "-o", target, "--window", "#90000.."),
        (job, "-o", target, "--ranks", "77"),
        (job, "-o", target, "--ranks", "x"),
        (logs, "-o", target),
        (job, "-o", lab.path("no/such/folder/trace.json")),
    ):
        done = lab.run(*words, status=2)
        check(done.stderr.startswith(b"hangscope: "), f"{words}: {done.stderr}")
        check(not done.stdout, f"{words}: something on standard output")
    check(os.listdir(lab.folder) == ["job"], f"left behind: {os.listdir(lab.folder)}")


def test_the_same_bytes(lab):
    """Whatever the threads, the order of the files and the kind of input."""
    job = lab.job(MESH)
    files = sorted(os.path.join(job, name) for name in os.listdir(job))
    subprocess.run(
        [lab.binary, "ingest", job, "-o", lab.path("job.db"), "-q"], check=True, stderr=subprocess.DEVNULL
    )
    for form in ("chrome", "perfetto"):
        first = lab.run(job, "-o", "-", "--format", form).stdout
        for words in ((job, "-j", "1"), (job, "-j", "7"), files[::-1], (lab.path("job.db"),)):
            check(
                lab.run(*words, "-o", "-", "--format", form).stdout == first, f"{form}: {words[-1]} differs"
            )
        lab.run(job, "-o", lab.path("trace.gz"), "--format", form)
        with open(lab.path("trace.gz"), "rb") as stream:
            packed = stream.read()
        check(gzip.decompress(packed) == first, f"{form}: packed it is another")
        lab.run(job, "-o", lab.path("trace.gz"), "--format", form)
        with open(lab.path("trace.gz"), "rb") as stream:
            check(stream.read() == packed, f"{form}: packed twice")


def test_ranks(lab):
    """A file for each rank holds what the file of all does of it, on the same clock."""
    job = lab.job(MESH)
    whole = lab.trace(job)
    for rank in (0, 6, 11):
        part = lab.trace(job, "--ranks", str(rank))
        check(part["distributedInfo"]["rank"] == rank, "distributedInfo is of another rank")
        check(part["distributedInfo"]["world_size"] == 16, "the world is smaller")
        check(part["baseTimeNanoseconds"] == whole["baseTimeNanoseconds"], "another clock")
        check(slices(part) == slices(whole, rank), f"rank {rank} has other slices")
        groups = part["distributedInfo"]["pg_config"]
        check(all(rank in group["ranks"] for group in groups), "a group without the rank")
        check(0 < len(groups) < len(whole["distributedInfo"]["pg_config"]), "groups of all ranks")
        check(arrows(part) == 0, "an arrow to nowhere")
        text = lab.run(job, "--ranks", str(rank), "-o", "-").stdout.decode()
        found = re.search(r'"rank":\s+(\d+)', text)  # how HTA learns whose file it is
        check(found and int(found.group(1)) == rank, "HTA takes it for another rank's")
    some = lab.trace(job, "--ranks", "4-7,12")
    check({row[0] for row in slices(some)} == {4, 5, 6, 7, 12}, "other ranks than were asked for")
    check(0 < arrows(some) < arrows(whole), "arrows between these ranks alone")


def test_window(lab):
    job = lab.job(HUNG)
    whole = lab.trace(job)
    rows = slices(whole)
    for text, low, high in (("#10..#20", 10, 20), ("#30..", 30, 1 << 32), ("#7", 7, 7)):
        part = lab.trace(job, "--window", text)
        check(slices(part) == [row for row in rows if low <= row[4] <= high], f"--window {text}")
    since = [event["ts"] for event in whole["traceEvents"] if event["ph"] == "i"]
    check(len(since) == 1, "no verdict in the trace")
    for text, span in (("1ms", 1_000), ("1s", 1_000_000), ("2m", 120_000_000)):
        part = lab.trace(job, "--window", text)
        want = [row for row in rows if row[2] + row[3] >= since[0] - span]
        check(slices(part) == want, f"--window {text}: {len(slices(part))} slices, {len(want)} expected")
    check(0 < len(slices(lab.trace(job, "--window", "1ms"))) < len(rows), "a window of everything")
    check(arrows(lab.trace(job, "--window", "#1..#5")) == 0, "arrows of calls that are not shown")


def test_language(lab):
    job = lab.job(HUNG)
    english, chinese = lab.trace(job)["hangscope"], lab.trace(job, "--lang", "zh")["hangscope"]
    check(english["verdict"] == chinese["verdict"] == "rank-missing", "another verdict")
    check(english["summary"].startswith("Rank 3 has not entered"), english["summary"])
    check("尚未进入" in chinese["summary"], chinese["summary"])


def test_files(lab):
    """What is there and is not ours stays, whatever it is packed in; what is ours is replaced."""
    job = lab.job(HUNG)
    for name, form in (
        ("a.json", "chrome"),
        ("a.json.gz", "chrome"),
        ("a.pb", "perfetto"),
        ("b.gz", "perfetto"),
    ):
        lab.run(job, "-o", lab.path(name), "--format", form)
        lab.run(job, "-o", lab.path(name), "--format", form)
    with open(lab.path("other.gz"), "wb") as stream:
        stream.write(gzip.compress(b"something else"))
    with tarfile.open(lab.path("traces.tar.gz"), "w:gz") as archive:
        archive.add(lab.path("a.json"), "a.json")
    with open(lab.path("text"), "w") as stream:
        stream.write("notes")
    for name in ("other.gz", "traces.tar.gz", "text"):
        with open(lab.path(name), "rb") as stream:
            before = stream.read()
        lab.run(job, "-o", lab.path(name), status=2)
        with open(lab.path(name), "rb") as stream:
            check(stream.read() == before, f"{name} has changed")
        lab.run(job, "-o", lab.path(name), "--force")
    lab.run(job, "-o", job, status=2)


def test_full_device(lab):
    job = lab.job(HUNG)
    for form in ("chrome", "perfetto"):
        with open("/dev/full", "wb") as full:
            lab.run(job, "-o", "-", "--format", form, status=4, stdout=full)


def hostile(name):
    """A job whose texts are not what they should be."""
    found = make_dumps.files(f"{HUNG} --container json")
    for path, data in found.items():
        dump = json.loads(data)
        for entry in dump["entries"]:
            entry["process_group"] = ["0", name]
            entry["input_dtypes"] = [name]
        for entry in dump["entries"][5:9]:
            entry["profiling_name"] = name
        for group in dump["pg_config"].values():
            group["desc"] = name
        found[path] = json.dumps(dump).encode()
    return found


def test_hostile_names(lab):
    for number, name in enumerate(
        ('"}]', "\\", "</script><b>", "\x00\x01\x1b[31m", "\u202egnp", "\ud800", "x" * 5000, "a\nb\tc", "")
    ):
        folder = lab.path(f"job{number}")
        make_dumps.put(hostile(name), folder)
        trace = lab.trace(folder)
        check(len(slices(trace)) > 100, f"{name!r}: slices are missing")
        data = lab.run(folder, "-o", "-", "--format", "perfetto").stdout
        check(
            len(begun(data)) == len([e for e in trace["traceEvents"] if e["ph"] == "X"]), f"{name!r}: slices"
        )


def test_times(lab):
    """Calls without a time, before the epoch and beyond all time are shown all the same."""
    for number, stamp in enumerate((None, 0, -5, 1, 2**62, 2**63 - 1)):
        found = make_dumps.files(f"{HUNG} --container json")
        for path, data in found.items():
            dump = json.loads(data)
            for entry in dump["entries"][10:13] if number % 2 else dump["entries"]:
                entry["time_created_ns"] = stamp
            found[path] = json.dumps(dump).encode()
        folder = lab.path(f"job{number}")
        make_dumps.put(found, folder)
        trace = lab.trace(folder)
        rows = slices(trace)
        check(
            len(rows) == sum(len(json.loads(data)["entries"]) for data in found.values()), f"{stamp}: slices"
        )
        check(all(row[2] >= 0 and row[3] >= 0 for row in rows), f"{stamp}: a time below zero")


ODD = ("", None, 0, -1, 1, 7, 2**32 - 1, 2**63 - 1, -(2**63), 1e300, True, [], [[1, 2]], ["0", "default_pg"])
ODD += ("scheduled", "completed", "nccl:send 0->1", "nccl:recv 1<-0", "nccl:send 9->8", "nccl:coalesced")


def made_odd(chance, dump):
    """Fields of some calls hold something else, calls stand elsewhere or twice."""
    entries = dump.get("entries", [])
    for _ in range(chance.randrange(1, 12)):
        entry = chance.choice(entries)
        name, stamp = chance.choice(sorted(entry)), entry.get("time_created_ns")
        times = [stamp, stamp - 10**12, stamp + 10**13] if isinstance(stamp, int) else []
        entry[name] = chance.choice([*ODD, *times])
    if chance.random() < 0.2:
        chance.shuffle(entries)
    if chance.random() < 0.2:
        entries += entries[: chance.randrange(len(entries))]


def check_whole(trace):
    """Slices of a lane follow each other, arrows begin and end in one, and go forward."""
    lanes, ends = {}, {"s": {}, "f": {}}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            check(event["ts"] >= 0 and event["dur"] >= 0, f"{event}")
            lanes.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] in ends:
            ends[event["ph"]][event["id"]] = event
    close = 0.001  # microseconds, and what is lost of them in a sum
    for lane in lanes.values():
        lane.sort()
        check(all(a[1] <= b[0] + close for a, b in zip(lane, lane[1:])), f"slices overlap: {lane}")
    for event in [*ends["s"].values(), *ends["f"].values()]:
        inside = any(a <= event["ts"] + close and event["ts"] <= b + close for a, b in lanes[event["tid"]])
        check(inside, f"an arrow beside its slice: {event}")
    check(ends["s"].keys() == ends["f"].keys(), "an arrow lacks an end")
    check(all(ends["s"][i]["ts"] <= ends["f"][i]["ts"] for i in ends["s"]), "an arrow goes back in time")
    return len(ends["s"])


def test_odd_calls(lab):
    jobs = (
        "--program pipeline --steps 12 --fault missing --culprits 2",
        "--program pipeline --steps 12 --batched --fault missing --culprits 2",
        "--program mesh --ranks 16 --steps 3 --fault missing --culprits 6",
        "--program coalesced --steps 10",
    )
    total = 0
    for seed in range(16):
        chance = random.Random(seed)
        found = make_dumps.files(f"{jobs[seed % len(jobs)]} --container json")
        for path, data in found.items():
            dump = json.loads(data)
            if chance.random() < 0.5:
                made_odd(chance, dump)
            found[path] = json.dumps(dump).encode()
        folder = lab.path(f"job{seed}")
        make_dumps.put(found, folder)
        trace = lab.trace(folder)
        total += check_whole(trace)
        names = begun(lab.run(folder, "-o", "-", "--format", "perfetto").stdout)
        check(
            len(names) == len([event for event in trace["traceEvents"] if event["ph"] == "X"]),
            f"{seed}: slices",
        )
    check(total > 100, f"{total} arrows in all")


def test_archive_and_pipe(lab):
    job = lab.job(HUNG)
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.add(job, "job")
    piped = lab.run("-", "-o", "-", input=data.getvalue()).stdout
    check(slices(json.loads(piped)) == slices(lab.trace(job)), "an archive gives other slices")


TESTS = [value for name, value in sorted(globals().items()) if name.startswith("test_")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary")
    p.add_argument("--only", default="")
    option = p.parse_args()
    failed = 0
    tests = [test for test in TESTS if not option.only or test.__name__ == f"test_{option.only}"]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(Lab(os.path.abspath(option.binary), folder))
            except Failure as failure:
                failed += 1
                print(f"FAIL {test.__name__}: {failure}")
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
