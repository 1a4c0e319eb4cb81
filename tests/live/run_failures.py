#!/usr/bin/env python3
"""Let real jobs fail as failures.py says, started as launchers.py says, and check the verdicts.

usage: run_failures.py HANGSCOPE PYTHON [--only NAME...] [--more] [--every] [--keep DIR] [--again]
                       [--list] [--logs-only] [--strict]

PYTHON has PyTorch. NAME is a failure, a launcher or FAILURE/LAUNCHER. The ordinary run is a choice that takes
two minutes; --more takes every failure, --every all launchers of each, and NAMEs are looked for in these.
--keep leaves DIR/FAILURE/LAUNCHER/logs and, beside them, expect.json with what is known; --again checks what
was left so, and runs nothing. --logs-only asks nobody for a verdict. --strict counts as failed what could run
here if it were installed.
Exit status: 0 all as expected, 1 not, 77 nothing could run.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import slurm
from failures import FAILURES, NCCL_ALONE, ORDINARY
from launchers import LAUNCHERS, NCCL_MODULE, NEEDS, PRELUDE, lacking

HERE = Path(__file__).resolve().parent
NOTHING_RAN = 77
TOGETHER = 4  # jobs at a time: much of their time they wait


@dataclass(frozen=True)
class Lab:
    """What all jobs of one call share."""

    hangscope: str
    python: str
    out: Path
    variables: dict  # of the environment
    again: bool  # the logs are there


class OtherProgram(socketserver.ThreadingTCPServer):
    """It has the port that a job takes for its own, and ends what it does not understand."""

    daemon_threads = True

    class Refuse(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(100)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Refuse)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *error):
        self.shutdown()
        super().__exit__(*error)


class Run:
    """One failure under one launcher."""

    def __init__(self, name, launcher, lab):
        self.failure, self.name = FAILURES[name].under(launcher), name
        self.launcher, self.lab = launcher, lab
        self.folder = lab.out / name / launcher
        self.logs = self.folder / "logs"

    def __str__(self):
        return f"{self.name}/{self.launcher}"

    def go(self):
        """Run and check. Returns what is wrong, line by line."""
        if not self.lab.again and not self.run():
            return [f"the job had not ended after {self.failure.seconds:.0f} s"]
        for known in (self.failure.line, self.failure.shown):
            if not any(re.search(known, line) for line in self.lines()):
                return [f"the job went otherwise: no line matches {known}"]
        return list(self.wrong_in_verdict()) if self.lab.hangscope else []

    def run(self):
        """Leave logs and what is known. Returns false if the job took too long."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.logs.mkdir(parents=True)
        self.keep_expectation()
        with OtherProgram() as other:
            return self.launch(other.server_address[1] if self.failure.port_taken else slurm.free_port())

    def environment(self, port):
        fixed = {
            "PYTHON": self.lab.python,
            "BIN": Path(self.lab.python).parent,
            "HERE": HERE,
            "N": len(self.failure.ranks.split()),
            "RANKS": self.failure.ranks,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
            "WORLD_SIZE": 4,
            "GLOO_SOCKET_IFNAME": "lo",
            "OMP_NUM_THREADS": 1,
            "PYTHONUNBUFFERED": 1,
            "PYTHONDONTWRITEBYTECODE": 1,
            "TZ": "UTC",
            **self.lab.variables,
            **self.failure.environment,
        }
        return {**os.environ, **{key: str(value) for key, value in fixed.items()}}

    def launch(self, port):
        """Until all has ended. Returns false if it took too long."""
        script, *arguments = self.failure.job.split()
        job = subprocess.Popen(
            ["bash", "-c", PRELUDE + LAUNCHERS[self.launcher], "run.sh", HERE / "jobs" / script, *arguments],
            cwd=self.logs,
            env=self.environment(port),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + self.failure.seconds
        try:
            if self.failure.stop:
                self.wait_for_steps(end)
                os.killpg(job.pid, self.failure.stop)
            job.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        return True

    def lines(self):
        for path in sorted(self.logs.rglob("*")):
            if path.is_file():
                yield from path.read_text(errors="replace").split("\n")

    def wait_for_steps(self, end):
        """All four ranks tell of step 9, or it is time to end."""
        while time.monotonic() < end and sum("step 9" in line for line in self.lines()) < 4:
            time.sleep(0.1)

    def keep_expectation(self):
        f = self.failure
        known = {
            "failure": self.name,
            "launcher": self.launcher,
            "truth": f.truth,
            "codes": f.codes,
            "causes": f.causes,
            "culprits": f.culprits,
            "must_cite": f.line or None,
        }
        (self.folder / "expect.json").write_text(json.dumps(known, indent=2) + "\n")

    def wrong_in_verdict(self):
        command = [self.lab.hangscope, "analyze", "--json", self.logs]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        if done.returncode not in (0, 1, 3):
            yield f"hangscope ended with {done.returncode}: {done.stderr.strip()}"
            return
        answer = json.loads(done.stdout)
        verdict, f = answer["verdict"], self.failure
        status = {"healthy": 0, "undetermined": 3}.get(verdict["code"], 1)
        if done.returncode != status:
            yield f"the exit status is {done.returncode}, for {verdict['code']} it is {status}"
        if verdict["code"] not in f.codes:
            yield f"the code is {verdict['code']}, expected {' or '.join(f.codes)}: {verdict['summary']}"
        culprits = sorted((c["rank"] for c in verdict["culprits"]), key=lambda rank: (rank is None, rank))
        if f.culprits is not None and culprits != list(f.culprits):
            yield f"the culprits are {culprits}, expected {list(f.culprits)}"
        if f.causes and verdict["cause"] not in f.causes:
            yield f"the cause is {verdict['cause']}, expected {' or '.join(f.causes)}"
        yield from self.wrong_in_evidence(answer["findings"])

    def wrong_in_evidence(self, findings):
        """Each cited line is there, and the line that tells is among them."""
        cited = []
        for evidence in (e for finding in findings for e in finding["evidence"] if e["line"] is not None):
            lines = (self.logs / evidence["source"]).read_bytes().split(b"\n")
            if not 1 <= evidence["line"] <= len(lines):
                yield f"{evidence['source']} has no line {evidence['line']}"
            else:
                cited.append(lines[evidence["line"] - 1].decode(errors="replace"))
                cited.append(evidence["excerpt"])
        if (
            self.failure.line
            and self.name != "healthy"
            and not any(re.search(self.failure.line, c) for c in cited)
        ):
            yield f"no evidence matches {self.failure.line}"


def select(args):
    if not (args.only or args.more or args.every):
        yield from (tuple(pair.split("/")) for pair in ORDINARY)
        return
    for name, failure in FAILURES.items():
        ordinary = {pair.split("/")[1] for pair in ORDINARY if pair.startswith(f"{name}/")}
        others = failure.others if args.every else sorted(ordinary) if args.only else ()
        for launcher in dict.fromkeys((*failure.launchers, *others)):
            if not args.only or {name, launcher, f"{name}/{launcher}"} & set(args.only):
                yield name, launcher


def needs_of(name, launcher):
    return [*NEEDS.get(launcher, []), *([NCCL_MODULE] if name in NCCL_ALONE else [])]


def run_all(pairs, lab):
    """Run and tell. Returns how many were not as expected."""

    def go(pair):
        begun = time.monotonic()
        run = Run(*pair, lab)
        return run, run.go(), time.monotonic() - begun

    bad = 0
    pool = ThreadPoolExecutor(TOGETHER)
    try:
        for run, wrong, seconds in pool.map(go, pairs):
            print(f"{'failed' if wrong else 'ok'} {run} ({seconds:.0f} s)", flush=True)
            for line in wrong:
                print(f"    {line}")
            bad += bool(wrong)
    finally:
        pool.shutdown(cancel_futures=True)
    return bad


def run_in(scratch, pairs, args):
    """With what the jobs share: a table of hosts and, if a launcher needs it, Slurm.

    Returns how many were not as expected, and how many Slurm did not take.
    """
    os.chmod(scratch, 0o755)  # munge asks for it
    hosts = scratch / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {os.uname().nodename} {' '.join(slurm.NODES)}\n")
    cluster = slurm.Cluster(scratch / "slurm", hosts)
    variables = {"HOSTS": hosts, "RAY_TMPDIR": scratch / "r"}
    refused = 0
    try:
        if not args.again and any("slurm" in needs_of(*pair) for pair in pairs):
            try:
                cluster.start()
                variables["SLURM_CONF"] = cluster.conf
            except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"skipped what needs Slurm, which does not start here: {error}")
                refused = len(pairs)
                pairs = [pair for pair in pairs if "slurm" not in needs_of(*pair)]
                refused -= len(pairs)
        out = (args.keep or scratch / "out").resolve()
        asked = None if args.logs_only else args.hangscope
        return run_all(pairs, Lab(asked, args.python, out, variables, args.again)), refused
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("hangscope")
    parser.add_argument("python")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--keep", type=Path)
    for flag in ("--again", "--more", "--every", "--list", "--logs-only", "--strict"):
        parser.add_argument(flag, action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    pairs = list(select(args))
    if args.again:
        pairs = [pair for pair in pairs if args.keep.joinpath(*pair, "logs").exists()]
    if args.list:
        print("\n".join(f"{name}/{launcher}: {FAILURES[name].truth}" for name, launcher in pairs))
        return 0
    needs = set() if args.again else {"module torch", *(need for pair in pairs for need in needs_of(*pair))}
    missing = {need: why for need in sorted(needs) if (why := lacking(need, args.python))}
    can_run = [pair for pair in pairs if not missing.keys() & {"module torch", *needs_of(*pair)}]
    for need, why in missing.items():
        print(f"skipped what needs {need}: {why}")
    if not can_run:
        return NOTHING_RAN
    with tempfile.TemporaryDirectory() as scratch:
        bad, refused = run_in(Path(scratch), can_run, args)
    skipped = len(pairs) - len(can_run)
    print(f"{len(can_run) - refused - bad} passed, {bad} failed, {skipped + refused} skipped")
    lacks = any("installed" in why for why in missing.values())
    return 1 if bad or (args.strict and lacks) else 0


if __name__ == "__main__":
    sys.exit(main())
