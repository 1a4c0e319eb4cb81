#!/usr/bin/env python3
"""run_call_logs.py HANGSCOPE [--only NAME] [-v]: COLL and CALL lines become plans that end as the job did.

The job of every scenario of tests/dumps that NCCL has lines for is printed as logs (call_logs.py). COLL and
CALL lines of it give the same plan, byte for byte; the plan ends like the logs it is from; where the lines
show that calls differ, the run says what `analyze` says of the lines; and it is never wrong: what it names
is the fault that was put in. Some of them are made smaller and emitted, too.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "dumps"), str(HERE)]

import call_logs  # noqa: E402
import hangscope_run  # noqa: E402
from run_agreement import write_plan  # noqa: E402

MISMATCHES = ("order-mismatch", "size-mismatch", "dtype-mismatch")
# Nothing is printed when a call ends: so nobody can tell from these lines who did not come.
SILENT = ("undetermined", "healthy")
# scenario: what the run of its lines finds though each communicator alone shows nothing odd
FOUND = {
    "send-send": "p2p-mismatch",
    "send-send-batched": "p2p-mismatch",
    "two-groups-other-order": "group-deadlock",
}


def ends(run):
    return run.object and (run.code, run.culprits)


def check(binary, scenario, tally, verbose):
    plans = {}
    for kind in ("coll", "call"):
        with tempfile.TemporaryDirectory() as temporary:
            logs, plan = os.path.join(temporary, "logs"), os.path.join(temporary, "plan.json")
            os.makedirs(logs)
            call_logs.write(scenario.arguments, kind, logs)
            told = hangscope_run.Verdict(binary, [logs])
            run = hangscope_run.Verdict(binary, [logs], command="replay")
            plans[kind] = write_plan(binary, logs, plan)
            if scenario.name in FOUND:
                database = os.path.join(temporary, "job.db")
                subprocess.run([binary, "ingest", "-q", logs, "-o", database], check=True)
                good = write_plan(binary, database, "-") == plans[kind]
                tally.check(good, f"{scenario.name}, {kind}: the database gives another plan")
            planned = run if kind == "call" else hangscope_run.Verdict(binary, [plan], command="replay")
        name = f"{scenario.name}, {kind}"
        tally.check(plans[kind], f"{name}: no plan")
        if not tally.check(
            ends(run) and ends(run) == ends(planned), f"{name}: logs give {run}, their plan {planned}"
        ):
            continue
        if told.code in MISMATCHES:
            tally.check(ends(run) == ends(told), f"{name}: analyze gives {told}, replay {run}")
        elif scenario.name in FOUND:
            good = run.code == FOUND[scenario.name] and set(run.culprits) <= scenario.truth()
            tally.check(good, f"{name}: {run} is not {FOUND[scenario.name]}")
        else:
            good = run.code in SILENT or not scenario.complaint(run)
            tally.check(good, f"{name}: {run}, but it is {scenario.codes}")
        if verbose:
            print(f"{name}: analyze {told}; replay {run}")
    tally.check(plans["coll"] == plans["call"], f"{scenario.name}: COLL and CALL lines give two plans")


def check_cases(binary, tally):
    """The folders of tests/logs that hold such lines."""
    for folder in sorted((HERE.parent / "logs" / "cases").glob("calls-*")):
        expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
        run = hangscope_run.Verdict(binary, [str(folder / "input")], command="replay")
        tally.check(
            ends(run) == (expected["code"], expected["culprits"]), f"{folder.name}: {run}, want {expected}"
        )


def check_roots(binary, tally):
    """One rank names another root in its last broadcast: it differs, whoever reads it."""
    patterns = {"coll": r"(Broadcast: .* root )0( )", "call": r"(ncclBroadcast\((?:\w+,){5})0(,)"}
    for kind, pattern in patterns.items():
        logs = call_logs.logs("--program rooted --ranks 4 --steps 12", kind)
        last = list(re.finditer(pattern, logs["rank2.log"]))[-1]
        logs["rank2.log"] = logs["rank2.log"][: last.start()] + re.sub(
            pattern, r"\g<1>1\2", logs["rank2.log"][last.start() :]
        )
        with tempfile.TemporaryDirectory() as folder:
            for name, text in logs.items():
                Path(folder, name).write_text(text, encoding="utf-8")
            for command in ("analyze", "replay"):
                run = hangscope_run.Verdict(binary, [folder], command=command)
                tally.check(ends(run) == ("order-mismatch", [2]), f"another root, {kind}, {command}: {run}")


def check_reductions(binary, tally):
    """How elements are put together is in the lines, stays in a database, and gets into the plan."""
    call_of = {
        "coll": "node-a:{p}:1 [0] NCCL INFO {name}: opCount {n:x} sendbuff 0x7f recvbuff 0x7f count 64 "
        "datatype 7 op {op} root 0 comm 0xa{p} [nranks=2] stream 0x77\n",
        "call": "node-a:{p}:1 NCCL CALL nccl{name}(7f,7f,64,7,{op},0,0xa{p},0x77)\n",
    }
    init_of = {
        "coll": "node-a:{p}:1 [0] NCCL INFO ncclCommInitRank comm 0xa{p} rank {r} nranks 2 cudaDev {r} "
        "busId 1000 commId 0xc1 - Init COMPLETE\n",
        "call": "node-a:{p}:1 NCCL CALL ncclCommInitRank(0xa{p}, 2, 0xc1, {r}, {r})\n",
    }
    # 7 is a reduction that the program made; an AllGather has none, whatever stands there
    made = [("AllReduce", op) for op in (0, 1, 2, 3, 4, 7)]
    made += [("ReduceScatter", 4), ("Reduce", 2), ("AllGather", 2)]
    want = ["sum", "prod", "max", "min", "avg", "sum", "avg", "max", "sum"]
    for kind, call in call_of.items():
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                p = 100 + rank
                text = init_of[kind].format(p=p, r=rank)
                text += "".join(call.format(p=p, n=n, name=name, op=op) for n, (name, op) in enumerate(made))
                Path(folder, f"rank{rank}.log").write_text(text, encoding="utf-8")
            database = os.path.join(folder, "job.db")
            subprocess.run([binary, "ingest", "-q", folder, "-o", database], check=True)
            for path in (folder, database):
                plan = json.loads(write_plan(binary, path, "-"))
                got = [one.get("reduce", "sum") for one in plan["programs"][0]]
                tally.check(got == want, f"reductions, {kind}, {path}: {got}, want {want}")


def check_brackets(binary, tally):
    """Exchanges over two communicators in one pair of brackets, on one stream, meet; without brackets, no."""
    calls = "".join(
        f"node-a:{{pid}}:1 NCCL CALL nccl{op}({buffers},64,7,0,{{peer}},{comm},0x77)\n"
        for op, buffers in (("Send", "1,0"), ("Recv", "0,1"))
        for comm in ("0xa0", "0xb0")
    )
    inits = "".join(
        f"node-a:{{pid}}:1 NCCL CALL ncclCommInitRank({comm}, 2, {name}, {{rank}}, {{rank}})\n"
        for comm, name in (("0xa0", "0xc1"), ("0xb0", "0xc2"))
    )
    start, end = (f"node-a:{{pid}}:1 NCCL CALL ncclGroup{which}()\n" for which in ("Start", "End"))
    for lines, code in ((inits + start + calls + end, "healthy"), (inits + calls, "p2p-mismatch")):
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                text = lines.format(pid=100 + rank, rank=rank, peer=1 - rank)
                Path(folder, f"rank{rank}.log").write_text(text, encoding="utf-8")
            run = hangscope_run.Verdict(binary, [folder], command="replay")
            tally.check(run.object and run.code == code, f"brackets: {run}, want {code}")


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", default="")
    arguments.add_argument("-v", "--verbose", action="store_true")
    option = arguments.parse_args()
    tally, seen = hangscope_run.Tally(), set()
    for scenario in hangscope_run.scenarios():
        if option.only not in scenario.name:
            continue
        logs = call_logs.logs(scenario.arguments, "coll")
        key = logs and hash(tuple(logs.items()))
        if key and key not in seen:  # scenarios of one job differ in how its dumps are written
            seen.add(key)
            check(option.binary, scenario, tally, option.verbose)
    if not option.only:
        check_cases(option.binary, tally)
        check_roots(option.binary, tally)
        check_brackets(option.binary, tally)
        check_reductions(option.binary, tally)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
