#!/usr/bin/env python3
"""run_nccl.py HANGSCOPE HANGSCOPE_REPLAY LIBNCCL_DOUBLE [--only NAME]: plans on communicators.

hangscope-replay runs against the NCCL double (tests/nccl_double), which stands beside two of older
versions. A line per failure, then `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import concurrent.futures
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from nccl_lab import HERE, LONG_S, SHORT_S, Lab, Leftovers, batch, call, hangscope_run, processes, world

SAMPLES = HERE.parents[1] / "samples"
ENDED, NOT_ENDED, CANNOT = 0, 1, 4
AT_ONCE = 4  # runs that mostly wait for a deadline
TYPES = ["Float", "Half", "BFloat16", "Double", "Int", "Long", "Char", "Byte", "Short", "Bool"]
TYPES += ["ComplexFloat", "ComplexDouble", "Float8_e4m3fn", "Float8_e5m2"]

# nccl-tests, doc/PERFORMANCE.md: what is called the size of a call, and bus over algorithm bandwidth.
WHOLE = {"_all_gather_base", "_reduce_scatter_base", "all_to_all_single", "gather", "scatter"}
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "broadcast": lambda n: 1, "reduce": lambda n: 1}
FACTORS.update({op: lambda n: (n - 1) / n for op in WHOLE}, send=lambda n: 1)


def every_operation(dtype, ranks=4):
    """A program with one call of each kind; all ranks run it, the root is rank 1."""
    return [
        call("all_reduce", [10], dtype),
        call("broadcast", [7], dtype, root=1),
        call("reduce", [9], dtype, root=1),
        call("_all_gather_base", [5], dtype, out=[[5 * ranks]]),
        call("_reduce_scatter_base", [6 * ranks], dtype, out=[[6]]),
        call("all_to_all_single", [3 * ranks], dtype),
        call("gather", [4], dtype, root=1),
        call("scatter", [4], dtype, root=1),
        call("barrier", [1]),
    ]


def exchange(rank, ranks, dtype):
    """With the neighbours of a ring, in one batch; then with one of them by itself."""
    after, before = (rank + 1) % ranks, (rank - 1) % ranks
    return [
        batch(call("send", [11], dtype, peer=after), call("recv", [11], dtype, peer=before)),
        call("send" if rank % 2 == 0 else "recv", [12], dtype, peer=rank ^ 1),
    ]


def full_plan(dtype, ranks=4):
    """Every operation on every rank."""
    same = every_operation(dtype, ranks)
    return world(ranks, *(same + exchange(rank, ranks, dtype) for rank in range(ranks)))


def test_healthy(lab, tally):
    for dtype in TYPES:
        run = lab.run(full_plan(dtype), "--check-data")
        good = run.status == ENDED and run.outcome == "ended" and not run.left
        good = good and run.calls() == ["E" * 12] * 4 and not any("wrong" in r for r in run.ranks.values())
        tally.check(good, f"{dtype}: {run}")
    for reduction in ("sum", "prod", "max", "min", "avg"):
        for dtype in TYPES if reduction == "avg" else ("Float8_e4m3fn", "BFloat16", "Int"):
            calls = [
                call("all_reduce", [10], dtype, reduce=reduction),
                call("reduce", [9], dtype, root=1, reduce=reduction),
                call("_reduce_scatter_base", [12], dtype, out=[[4]], reduce=reduction),
            ]
            run = lab.run(world(3, calls), "--check-data")
            good = run.status == ENDED and not any("wrong" in row for row in run.ranks.values())
            tally.check(good, f"{reduction} of {dtype}: {run}")
    run, traces = lab.traced(full_plan("Float"))
    ends = [(t["ncclCommDestroy"], t["ncclCommAbort"]) for t in traces]
    tally.check(all(destroyed and not aborted for destroyed, aborted in ends), f"who ends how: {ends}")
    # As c10d does it: exchanges of all are sends and receives, never NCCL's own.
    names = set().union(*traces)
    tally.check("ncclSend" in names and not names & {"ncclAlltoAll", "ncclGather", "ncclScatter"}, str(names))


def test_deadline(lab, tally):
    """A rank without its call: the others wait until the time is over, and all abort."""
    full, short = [call("all_reduce", [10])] * 3, [call("all_reduce", [10])] * 2
    begin = time.monotonic()
    run, traces = lab.traced(world(4, full, full, full, short), deadline=SHORT_S)
    took = time.monotonic() - begin
    good = run.status == NOT_ENDED and run.outcome == "hung" and not run.left
    good = good and run.calls() == ["EES"] * 3 + ["EE"] and run.states() == ["waits"] * 3 + ["ended"]
    waits_in = {"call": 2, "group": "default_pg", "seq": 3, "op": "all_reduce"}
    good = good and run.ranks[0]["waits_in"] == waits_in
    good = good and run.ranks[0]["busy_streams"] == 1 and run.ranks[3]["busy_streams"] == 0
    good = good and all(row["communicators"][0]["async"] == 0 for row in run.ranks.values())
    tally.check(good, str(run))
    tally.check(SHORT_S <= took < SHORT_S + 10, f"a deadline of {SHORT_S} s took {took:.1f} s")
    ends = [(t["ncclCommAbort"], t["ncclCommDestroy"]) for t in traces]
    tally.check(ends == [(1, 0)] * 4, f"aborts and destroys: {ends}")


def test_mismatch(lab, tally):
    right = [call("all_reduce", [10]), call("all_reduce", [10])]
    others = {
        "count": [call("all_reduce", [11])],
        "type": [call("all_reduce", [10], "Half")],
        "operation": [call("broadcast", [10], root=0)],
    }
    for name, wrong in others.items():
        plan = world(3, right, right, [right[0], *wrong])
        run = lab.run(plan, deadline=SHORT_S)
        good = run.status == NOT_ENDED and run.outcome == "hung" and run.calls() == ["ES"] * 3
        tally.check(good and not run.left, f"{name}: {run}")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.json"
            path.write_text(json.dumps(plan))
            good, ends = lab.same(path)
            tally.check(good, f"{name}: {ends}")
    run = lab.run(plan, deadline=LONG_S, env={"HS_DOUBLE_MISMATCH": "error"})
    failed = [row for row in run.ranks.values() if row["state"] == "failed"]
    good = run.status == NOT_ENDED and run.outcome == "failed" and failed and not run.left
    tally.check(good and all("mismatch" in row["error"] for row in failed), f"as an error: {run}")


def groups_plan():
    """Two halves and the whole, as a job with data and tensor parallel groups has them."""
    groups = [
        {"name": "0", "desc": "default_pg", "ranks": "0-3"},
        {"name": "1", "desc": "low", "ranks": "0-1"},
        {"name": "2", "desc": "high", "ranks": [3, 2]},
    ]
    program = [call("all_reduce", [6], group=1), call("broadcast", [6], group=1, root=0)]
    program.append(call("all_reduce", [5]))
    rows = [
        {"ranks": "0-1", "program": 0, "groups": [0, 1]},
        {"ranks": "2-3", "program": 0, "groups": [0, 2]},
    ]
    return world(4, program, groups=groups, rows=rows)


def test_split(lab, tally):
    for options, inits, splits in (([], 2, 0), (["--split"], 1, 2)):
        run, traces = lab.traced(groups_plan(), "--check-data", *options)
        good = run.status == ENDED and run.object["split"] == bool(splits) and not run.left
        good = good and not any("wrong" in row for row in run.ranks.values())
        tally.check(good, f"{options}: {run}")
        made = [(t["ncclCommInitRankConfig"], t["ncclCommSplit"]) for t in traces if t["ncclAllReduce"]]
        tally.check(made == [(inits, splits)] * 4, f"{options}: communicators made: {made}")
    run = lab.run(groups_plan(), "--split", library=lab.variant("old"))
    good = run.status == ENDED and run.object["split"] is False and "no ncclCommSplit" in run.stderr
    tally.check(good, f"without ncclCommSplit: {run}")


def test_pairs(lab, tally):
    ends = {
        "one way": ([call("send", [9], peer=1)], [call("recv", [9], peer=0)]),
        "both in a batch": (
            [batch(call("send", [9], peer=1), call("recv", [9], peer=1))],
            [batch(call("recv", [9], peer=0), call("send", [9], peer=0))],
        ),
    }
    for name, programs in ends.items():
        run = lab.run(world(2, *programs), "--check-data")
        tally.check(run.status == ENDED and run.outcome == "ended" and not run.left, f"{name}: {run}")
    hangs = {
        "both send first": (
            [call("send", [9], peer=1), call("recv", [9], peer=1)],
            [call("send", [9], peer=0), call("recv", [9], peer=0)],
            ["SQ", "SQ"],
        ),
        "nobody receives": ([call("send", [9], peer=1)], [], ["S", ""]),
        "other count": ([call("send", [9], peer=1)], [call("recv", [8], peer=0)], ["S", "S"]),
    }
    for name, (first, second, calls) in hangs.items():
        run = lab.run(world(2, first, second), deadline=SHORT_S)
        good = run.status == NOT_ENDED and run.outcome == "hung" and run.calls() == calls and not run.left
        tally.check(good, f"{name}: {run}")


def test_groups(lab, tally):
    """A batch ends as a whole: one receive without its send holds the other, and what follows."""
    first = [batch(call("send", [4], peer=1), call("recv", [4], peer=2)), call("all_reduce", [3])]
    second = [batch(call("recv", [4], peer=0)), call("all_reduce", [3])]
    run = lab.run(world(3, first, second, [call("all_reduce", [3])]), deadline=SHORT_S)
    good = run.outcome == "hung" and run.calls() == ["SSQ", "ES", "S"] and not run.left
    tally.check(good, str(run))


def test_streams(lab, tally):
    """Two groups in opposite order: a deadlock on one stream, none on two."""
    groups = [{"name": name, "desc": name, "ranks": "0-1"} for name in ("one", "two")]
    for stream, outcome in ((0, "hung"), (1, "ended")):
        one, two = call("all_reduce", [4]), call("all_reduce", [4], group=1, stream=stream)
        run = lab.run(world(2, [one, two], [two, one], groups=groups), deadline=SHORT_S)
        tally.check(run.outcome == outcome and not run.left, f"stream {stream}: {run}")


def test_record(lab, tally):
    """What the record says of calls: stalled, done, passed without a record."""
    calls = [call("all_reduce", [4]), call("all_reduce", [4])]
    stalled = [calls[0], dict(calls[1], stalled=True), calls[0]]
    run = lab.run(world(2, stalled), deadline=SHORT_S)
    good = run.outcome == "hung" and run.states() == ["held"] * 2 and run.calls() == ["ESQ"] * 2
    tally.check(good and not run.left, f"stalled: {run}")
    run = lab.run(world(2, [*calls[:1], dict(calls[1], done=True)], calls[:1]), deadline=SHORT_S)
    tally.check(run.outcome == "ended" and run.calls() == ["EE", "E"], f"done: {run}")
    run = lab.run(world(2, calls, [dict(calls[1], skip=1)]), deadline=LONG_S)
    tally.check(run.outcome == "ended" and run.calls() == ["EE", "E"], f"skip: {run}")


def test_fold(lab, tally):
    plan = world(4, [call("all_reduce", [10])])
    run = lab.run(plan, env={"HS_DOUBLE_DEVICES": "2"})
    good = run.status == ENDED and [run.ranks[r]["gpu"] for r in range(4)] == [0, 1, 0, 1]
    tally.check(good and run.object["gpus"] == 2 and not run.left, f"two on a GPU: {run}")
    refusals = {
        "old NCCL": ({"HS_DOUBLE_VERSION": "22907"}, "2.30.3"),
        "forbidden": ({"NCCL_MULTI_RANK_GPU_ENABLE": "0"}, "NCCL_MULTI_RANK_GPU_ENABLE"),
    }
    for name, (env, word) in refusals.items():
        run = lab.run(plan, env=dict(env, HS_DOUBLE_DEVICES="2"))
        good = run.status == CANNOT and word in run.stderr and "--fold 2" in run.stderr and not run.stdout
        tally.check(good and not run.left, f"{name}: {run}")
    alone = [{"name": str(rank), "desc": f"own{rank}", "ranks": str(rank)} for rank in range(4)]
    rows = [{"ranks": str(rank), "program": 0, "groups": [rank]} for rank in range(4)]
    plan = world(4, [call("all_reduce", [10])], groups=alone, rows=rows)
    run = lab.run(plan, "--check-data", env={"HS_DOUBLE_DEVICES": "1", "HS_DOUBLE_VERSION": "22907"})
    tally.check(run.status == ENDED and not run.left, f"groups of one rank on one GPU: {run}")
    run = lab.run(world(1, [call("all_reduce", [10])]), env={"HS_DOUBLE_DEVICES": "1"})
    tally.check(run.status == ENDED, f"one rank on one GPU: {run}")
    dumps, env = SAMPLES / "skipped-call" / "dumps", {"HS_DOUBLE_DEVICES": "3"}
    dry, run = lab.verdicts(dumps, "--fold", "3", env=env)
    good = run.object and run.object["run"]["gpus"] == 3 and len(run.object["run"]["ranks"]) == 3
    good = good and (dry.code, dry.culprits) == (run.code, run.culprits)
    tally.check(good, f"--fold: dry {dry}; nccl {run}")


def test_faults(lab, tally):
    """What happens to a rank, in its third call (the warm-up is the first)."""
    plan = world(3, [call("all_reduce", [10])] * 4)
    faults = {
        "rank 1 dies at call 3": ("died", "signal 9"),
        "rank 1 fails at call 3": ("failed", "remote process exited"),
        "rank 1 refuses call 3": ("failed", "internal error"),
    }
    for fault, (state, word) in faults.items():
        run = lab.run(plan, deadline=SHORT_S, env={"HS_DOUBLE_FAULT": fault})
        row = run.ranks.get(1, {"state": None})
        good = run.status == NOT_ENDED and run.outcome == "failed" and not run.left
        good = good and run.states() == ["waits", state, "waits"] and word in row["error"]
        others = {run.calls()[0], run.calls()[2]}
        if state == "died":  # perhaps within the call before, too
            good = good and others in ({"ESQQ"}, {"SQQQ"})
        else:
            good = good and not row["killed"] and others == {"ESQQ"} and row["calls"].startswith("E")
        tally.check(good, f"{fault}: {run}")
    run = lab.run(plan, deadline=SHORT_S, env={"HS_DOUBLE_FAULT": "rank 1 stalls at call 3"})
    good = run.outcome == "hung" and run.calls() == ["ESQQ"] * 3 and not run.left
    tally.check(good, f"a kernel that stalls: {run}")


def test_stuck(lab, tally):
    """Who hangs in NCCL, or in the abort, is killed, and the others end as they would."""
    plan = world(3, [call("all_reduce", [10])] * 3)
    for fault in ("rank 1 hangs at call 3", "rank 1 hangs in abort; rank 2 stalls at call 3"):
        run = lab.run(plan, deadline=SHORT_S, env={"HS_DOUBLE_FAULT": fault})
        killed = [run.ranks[rank]["killed"] for rank in sorted(run.ranks)]
        good = run.status == NOT_ENDED and killed == [False, True, False] and not run.left
        tally.check(good, f"{fault}: {run}")


def test_cannot(lab, tally):
    """What does not allow a run: one sentence, exit 4, nothing on standard output."""
    plan = world(2, [call("all_reduce", [10])])
    one_old = {"HS_DOUBLE_DEVICES": "1", "HS_DOUBLE_VERSION": "22700"}
    cases = {
        "no driver": ({"env": {"HS_DOUBLE_DEVICES": "-1"}}, "driver"),
        "no GPU": ({"env": {"HS_DOUBLE_DEVICES": "0"}}, "no CUDA-capable device"),
        "too few GPUs": ({"env": one_old}, "2 ranks and 1 GPU"),
        "old NCCL": ({"library": lab.variant("ancient")}, "2.14"),
        "no library": ({"library": "/nowhere/libnccl.so"}, "/nowhere/libnccl.so"),
        "no memory": ({"env": {"HS_DOUBLE_MEMORY": "16"}}, "--scale"),
        "dies in init": ({"env": {"HS_DOUBLE_FAULT": "rank 1 dies in init"}, "deadline": SHORT_S}, "rank 1"),
    }
    for name, (more, word) in cases.items():
        run = lab.run(plan, **more)
        good = run.status == CANNOT and word in run.stderr and not run.stdout and not run.left
        tally.check(good, f"{name}: {run}")


def test_real_library(lab, tally):
    """The real NCCL, where there is one and no driver: as far as it gets."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    library = packages / "nccl" / "lib" / "libnccl.so.2"
    runtime = packages / "cuda_runtime" / "lib"
    if not library.exists() or Path("/dev/nvidiactl").exists():
        print("no real NCCL without a driver here: not run against it")
        return
    env = {"LD_LIBRARY_PATH": str(runtime)}
    run = lab.run(world(2, [call("all_reduce", [10])]), library=library, env=env)
    good = run.status == CANNOT and not run.stdout and not run.left and "driver" in run.stderr
    tally.check(good, f"the real library: {run}")


def test_old_types(lab, tally):
    """fp8 on an NCCL without it goes as bytes, so that it runs."""
    run = lab.run(full_plan("Float"), "--check-data", library=lab.variant("old"))
    tally.check(run.status == ENDED and run.object["nccl"] == "2.14.3", f"2.14.3: {run}")
    plan = world(2, [call("_all_gather_base", [8], "Float8_e4m3fn", out=[[16]])])
    run = lab.run(plan, "--check-data", library=lab.variant("old"))
    tally.check(run.status == ENDED and not any("wrong" in row for row in run.ranks.values()), f"fp8: {run}")


def test_data(lab, tally):
    """A wrong element is found, where it is looked for."""
    plans = {
        "all_reduce": world(2, [call("all_reduce", [10])] * 3),
        "broadcast": world(2, [call("broadcast", [10], "Half", root=0)] * 3),
        "gathered": world(2, [call("_all_gather_base", [10], "Long", out=[[20]])] * 3),
        "scattered": world(2, [call("_reduce_scatter_base", [20], "Byte", out=[[10]])] * 3),
        **{
            f"averaged {dtype}": world(2, [call("all_reduce", [10], dtype, reduce="avg")] * 3)
            for dtype in ("Float", "BFloat16", "Float8_e5m2", "Int")
        },
    }
    for name, plan in plans.items():
        for check in (True, False):
            options = ["--check-data"] if check else []
            run = lab.run(plan, *options, env={"HS_DOUBLE_FAULT": "rank 1 corrupts call 3"})
            wrong = {rank: row["wrong"] for rank, row in run.ranks.items() if "wrong" in row}
            expected = {1: {"calls": 1, "call": 1, "element": 0}} if check else {}
            good = run.status == (NOT_ENDED if check else ENDED) and wrong == expected and not run.left
            tally.check(good, f"{name}, check {check}: {run} {wrong}")


def test_timings(lab, tally):
    """The figures are times of the device, and bandwidths by the formulas of nccl-tests."""
    program = every_operation("Half")[:-2] + [call("all_reduce", [10], "Half")] * 2
    rings = [program + [call("send" if rank % 2 == 0 else "recv", [12], peer=rank ^ 1)] for rank in range(4)]
    run = lab.run(world(4, *rings), env={"HS_DOUBLE_CALL_US": "20000"})
    if not tally.check(run.status == ENDED and run.object["timings"], str(run)):
        return
    rows = {row["op"]: row for row in run.object["timings"]}
    for op, row in rows.items():
        factor = FACTORS["send" if op in ("send", "recv") else op](row["ranks"])
        algorithm = row["bytes"] / row["median_us"] / 1000
        whole = row["ranks"] if op in WHOLE else 1
        width = 4 if op in ("send", "recv") else 2
        good = 20000 <= row["min_us"] <= row["median_us"] <= row["max_us"]
        good = good and row["bytes"] == row["count"] * width * whole
        good = good and abs(row["algbw_gbs"] / algorithm - 1) < 1e-3
        good = good and abs(row["busbw_gbs"] / (algorithm * factor) - 1) < 1e-3
        tally.check(good, f"{op}: {row}")
    counts = {op: (row["count"], row["calls"]) for op, row in rows.items() if op not in ("send", "recv")}
    expected = {"all_reduce": (10, 3), "broadcast": (7, 1), "reduce": (9, 1), "_all_gather_base": (5, 1)}
    expected.update({"_reduce_scatter_base": (6, 1), "all_to_all_single": (3, 1), "gather": (4, 1)})
    tally.check(counts == expected, f"counts and calls: {counts}")
    half = lab.run(world(2, [call("all_reduce", [1000])]), "--scale", "0.5").object["timings"][0]
    tally.check((half["count"], half["bytes"]) == (500, 2000), f"--scale: {half}")


def test_signals(lab, tally):
    """Whoever ends the program ends the processes of all ranks."""
    plan = json.dumps(world(3, [call("all_reduce", [10])], []))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        left = Leftovers()
        command = [lab.replay, "--nccl-lib", str(lab.double), "--deadline", "60", "-"]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=left.environment({}),
        ) as run:
            run.stdin.write(plan.encode())
            run.stdin.close()
            end = time.monotonic() + 20
            while len(processes(left.mark)) < 4 and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(0.5)
            run.send_signal(number)
            status = run.wait(timeout=30)
        found = left.find()
        tally.check(status == -number and not found, f"signal {number}: ended with {status}, {found}")


def test_progress(lab, tally):
    """On a terminal it says how far the run is; elsewhere, and with -q, nothing."""
    plan = json.dumps(world(2, [call("all_reduce", [10])] * 2, [call("all_reduce", [10])]))
    command = [lab.replay, "--nccl-lib", lab.double, "--deadline", str(SHORT_S), "-"]
    for options in ([], ["-q"]):
        ours, theirs = pty.openpty()
        subprocess.run(
            [*command, *options], input=plan.encode(), stdout=subprocess.PIPE, stderr=theirs, check=False
        )
        os.write(theirs, b".")  # so that there is something to read
        os.close(theirs)
        text = os.read(ours, 65536).decode()
        os.close(ours)
        told = "2 of 3 calls" in text and "no progress for 1 s" in text
        tally.check(told if not options else text == ".", f"{options}: {text!r}")
    piped = subprocess.run(command, input=plan.encode(), capture_output=True, check=False)
    tally.check(not piped.stderr, f"not a terminal: {piped.stderr}")


def test_verdicts(lab, tally):
    """Every sample gives the verdict of its dry run."""
    names = sorted(SAMPLES.glob("*/dumps"))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for dumps, (good, ends) in zip(names, pool.map(lab.same, names)):
            tally.check(good, f"{dumps.parent.name}: {ends}")
    tally.check(len(names) > 5, f"{len(names)} samples")


def test_findings(lab, tally):
    """What the verdict says of a rank that died, and of wrong data."""
    faults = {
        "rank 1 dies at call 3": ("replay-failed", [], [1]),
        "rank 2 corrupts call 2": ("replay-wrong-data", ["--check-data"], [2]),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(world(3, [call("all_reduce", [10])] * 3)))
        for fault, (code, options, ranks) in faults.items():
            _, run = lab.verdicts(path, nccl=options, env={"HS_DOUBLE_FAULT": fault})
            found = {row["code"]: row["ranks"] for row in run.object["findings"]} if run.object else {}
            good = run.status == NOT_ENDED and found.get(code) == ranks
            tally.check(good, f"{fault}: {run.status} {run.trouble} {found} {run.stderr}")


def print_replay(lab, plan, *options, hangscope=None, env=None):
    """`hangscope replay --backend nccl` in words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan))
        command = [hangscope or lab.hangscope, "replay", path, "--backend", "nccl", *options]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=env)


def test_text(lab, tally):
    """The verdict and the times; where it cannot run, nothing but a sentence."""
    options = ["--nccl-lib", lab.double, "--deadline", str(SHORT_S)]
    hung = print_replay(lab, world(2, [call("all_reduce", [1000])], []), *options)
    good = hung.returncode == 1 and "rank-missing" in hung.stdout
    tally.check(good, f"exit {hung.returncode}: {hung.stdout}")
    plan = world(2, [call("all_reduce", [1000])])
    healthy = print_replay(lab, plan, *options)
    good = healthy.returncode == 0 and all(w in healthy.stdout for w in ("healthy", "all_reduce", "busbw"))
    tally.check(good, f"exit {healthy.returncode}: {healthy.stdout} {healthy.stderr}")
    absent = print_replay(lab, plan, "--nccl-lib", "/nowhere/libnccl.so")
    good = absent.returncode == CANNOT and not absent.stdout and "/nowhere/libnccl.so" in absent.stderr
    tally.check(good, f"no library: exit {absent.returncode}: {absent.stderr}")
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(lab.hangscope, folder)
        lost = print_replay(lab, plan, *options, hangscope=alone, env={"PATH": folder})
    good = lost.returncode == CANNOT and not lost.stdout and "hangscope-replay" in lost.stderr
    tally.check(good, f"no hangscope-replay: exit {lost.returncode}: {lost.stderr}")


def run_test(lab, name, test):
    """The counts of one test. Most of them wait, so several run at once."""
    tally = hangscope_run.Tally()
    try:
        test(lab, tally)
    except (subprocess.TimeoutExpired, KeyError, TypeError) as error:
        tally.check(False, f"{name}: {error!r}")
    return tally


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("hangscope", "replay", "double"):
        arguments.add_argument(name)
    arguments.add_argument("--only", default="")
    option = arguments.parse_args()
    lab = Lab(option.hangscope, option.replay, option.double)
    tests = [(n, t) for n, t in globals().items() if n.startswith("test_") and option.only in n]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        tallies = list(pool.map(lambda named: run_test(lab, *named), tests))
    tally = hangscope_run.Tally()
    tally.passed = sum(one.passed for one in tallies)
    tally.failed = sum(one.failed for one in tallies)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
