#!/usr/bin/env python3
"""Run a job that really hangs, then ask hangscope about the dumps it left.

usage: run_live.py HANGSCOPE_BINARY VENV_PYTHON [SAMPLE]

Compares code, culprits and operation with samples/SAMPLE/expected.json (rank0-evaluation unless given).
Exit status: 0 equal, 1 different or failed, 77 PyTorch cannot be imported.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SKIPPED = 77


def has_torch(python):
    command = [python, "-c", "import torch"]
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


def analyze(hangscope, folder):
    """The verdict part of the JSON, or None with the reason on standard error."""
    command = [hangscope, "analyze", "--json", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=30)
    if done.returncode not in (0, 1, 3):
        print(f"hangscope ended with {done.returncode}: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["verdict"]


def differences(verdict, expected):
    codes = [expected["code"], *expected["accept"]]
    if verdict["code"] not in codes:
        yield f"code is {verdict['code']}, expected {' or '.join(codes)}"
    culprits = sorted(c["rank"] for c in verdict["culprits"])
    if culprits != expected["culprits"]:
        yield f"culprits are {culprits}, expected {expected['culprits']}"
    operation = verdict.get("operation") or {}
    for key, value in (expected["operation"] or {}).items():
        if operation.get(key) != value:
            yield f"operation.{key} is {operation.get(key)}, expected {value}"


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 1
    hangscope, python = sys.argv[1:3]
    sample = sys.argv[3] if len(sys.argv) == 4 else "rank0-evaluation"
    if not has_torch(python):
        print(f"skipped: {python} cannot import torch")
        return SKIPPED
    expected = json.loads((SAMPLES / sample / "expected.json").read_text())
    with tempfile.TemporaryDirectory() as out:
        job = [python, SAMPLES / "make" / "run", sample, out]
        if subprocess.run(job, check=False, timeout=120).returncode != 0:
            print("the job did not leave the dumps it should", file=sys.stderr)
            return 1
        verdict = analyze(hangscope, Path(out) / sample / "dumps")
    found = ["no verdict"] if verdict is None else list(differences(verdict, expected))
    for line in found:
        print(f"{sample}: {line}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
