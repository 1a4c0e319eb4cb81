#!/usr/bin/env python3
"""run_circle.py HANGSCOPE [SAMPLE...]: the reproducer of every sample hangs as the job did.

Dumps of the job, its plan where a sample has one, or its COLL lines -> the smallest plan -> a PyTorch
script -> run for real (torchrun, gloo) -> its dumps -> the same code, and culprits out of the same ranks.
Exit 77 without PyTorch.
"""

import ast
import concurrent.futures
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import call_logs  # noqa: E402

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
AT_ONCE = 3
DEADLINE = 12  # seconds that a script waits before it says who hangs
LIMIT = 240  # seconds for one script
COLL_LINES = "--ranks 4 --steps 12 --fault skip --culprits 2"  # a job, and no sample: its lines alone


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def verdict_of(hangscope, paths, command="analyze"):
    done = subprocess.run([hangscope, command, "--json", *paths], capture_output=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise RuntimeError(done.stderr.decode())
    verdict = json.loads(done.stdout)["verdict"]
    return verdict["code"], sorted(row["rank"] for row in verdict["culprits"])


def run_script(script, dumps):
    processes = len(ranks_of(script))
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "TORCH_FR_DUMP_TEMP_FILE": f"{dumps}/rank_",
    }
    command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
    command += [f"--master-port={free_port()}", script, f"--deadline={DEADLINE}"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    return done.returncode, done.stdout + done.stderr


def told(output):
    return "\n".join(line[:300] for line in output.splitlines() if line.startswith("process "))


def ranks_of(script):
    """Which rank of the job each process stands for, as the script says."""
    return ast.literal_eval(re.search(r"^RANKS = (\[.*?\])", script.read_text(), re.M | re.S)[1])


def input_of(name):
    """What of a sample shows its calls, and the command that judges it; (None, None): nothing does."""
    for part, command in (("dumps", "analyze"), ("plan.json", "replay")):
        if (SAMPLES / name / part).exists():
            return SAMPLES / name / part, command
    return None, None


def close_circle(hangscope, name, *options, logs=None):
    """What is wrong with one sample, or empty."""
    job, command = (logs, "replay") if logs else input_of(name)
    code, culprits = verdict_of(hangscope, [job], command)
    with tempfile.TemporaryDirectory() as folder:
        script, dumps = Path(folder) / "repro.py", Path(folder) / "dumps"
        dumps.mkdir()
        emit = [hangscope, "emit", "-q", "torch", job, *options, "-o", script]
        subprocess.run(emit, check=True)
        status, output = run_script(script, dumps)
        if (status == 0) != (code == "healthy"):
            return f"{name}: ended with {status}: {told(output)}"
        if code not in ("healthy", "undetermined") and "waits in" not in output:
            return f"{name}: nobody says who waits: {told(output)}"
        again, named = verdict_of(hangscope, [dumps])
        named = [ranks_of(script)[process] for process in named]
    if again != code or bool(named) != bool(culprits) or not set(named) <= set(culprits):
        return f"{name}: {code} {culprits} became {again} {named}\n{told(output)}"
    return ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    has_torch = [sys.executable, "-c", "import torch"]
    if subprocess.run(has_torch, capture_output=True, check=False).returncode != 0:
        print("skipped: PyTorch cannot be imported")
        return 77
    names = sys.argv[2:] or sorted(path.name for path in SAMPLES.iterdir() if input_of(path.name)[0])
    hangscope = os.path.abspath(sys.argv[1])
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool, tempfile.TemporaryDirectory() as logs:
        jobs = [pool.submit(close_circle, hangscope, name, "--minimize") for name in names]
        if not sys.argv[2:]:
            jobs.append(pool.submit(close_circle, hangscope, "healthy"))
            call_logs.write(COLL_LINES, "coll", logs)
            jobs.append(pool.submit(close_circle, hangscope, "COLL lines", "--minimize", logs=logs))
        bad = [job.result() for job in jobs]
    bad = [line for line in bad if line]
    print("\n".join([*bad, f"{len(jobs) - len(bad)} passed, {len(bad)} failed"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
