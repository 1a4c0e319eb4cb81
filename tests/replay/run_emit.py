#!/usr/bin/env python3
"""run_emit.py HANGSCOPE torch|c [LIBNCCL_DOUBLE]: programs of every sample and scenario are well formed.

torch: Python compiles them, and `ruff check` finds nothing where there is a ruff. c: gcc -Wall
-Werror compiles them with the real headers of NCCL and CUDA (packages nvidia-nccl-cu12,
nvidia-cuda-runtime-cu12, nvidia-cuda-nvcc-cu12, nvidia-cuda-cccl-cu12); exit 77 without those. With the
NCCL double those of the samples run, and who waits in the verdict waits there. Of the samples none has
more than 120 lines.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402
import make_dumps  # noqa: E402

SAMPLES = HERE.parents[1] / "samples"
LINES = 120
SECONDS, AT_ONCE = 3, 4  # a reproducer's deadline; programs that mostly wait for it
HEADERS = {"nccl": "nccl.h", "cuda_runtime": "cuda_runtime.h", "cuda_nvcc": "crt/host_config.h"}
HEADERS["cuda_cccl"] = "nv/target"


def include_options():
    """-isystem for each package, or None when one is not there."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    folders = [(packages / package / "include", header) for package, header in HEADERS.items()]
    if not all((folder / header).exists() for folder, header in folders):
        return None
    return [word for folder, _ in folders for word in ("-isystem", str(folder))]


def emit(tally, name, language, source, path, *options):
    command = [sys.argv[1], "emit", "-q", language, str(source), *options, "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return tally.check(done.returncode == 0, f"{name}: {done.stderr}")


def emit_all(tally, language, folder):
    suffix = "py" if language == "torch" else "c"
    for dumps in sorted(SAMPLES.glob("*/dumps")):
        name = dumps.parent.name
        path = folder / f"{name}.{suffix}"
        if emit(tally, name, language, dumps, path, "--minimize"):
            lines = len(path.read_text().splitlines())
            tally.check(lines <= LINES, f"{name}: {lines} lines")
    for scenario in hangscope_run.scenarios():
        with tempfile.TemporaryDirectory() as dumps:
            make_dumps.write(scenario.arguments, dumps)
            emit(tally, scenario.name, language, dumps, folder / f"scenario-{scenario.name}.{suffix}")


def check_python(tally, folder):
    for path in sorted(folder.iterdir()):
        try:
            compile(path.read_text(), path.name, "exec")
        except SyntaxError as error:
            tally.check(False, f"{path.name}: {error}")
    ruff = shutil.which("ruff", path=os.path.dirname(sys.executable)) or shutil.which("ruff")
    if ruff:
        command = [ruff, "check", "--isolated", "--quiet", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        tally.check(done.returncode == 0, done.stdout[-4000:])


def check_c(tally, folder, includes):
    for path in sorted(folder.glob("*.c")):
        command = ["gcc", "-Wall", "-Werror", "-fsyntax-only", *includes, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        tally.check(done.returncode == 0, f"{path.name}: {done.stderr[:2000]}")


def run_c(dumps, folder, includes, double):
    """Why a reproducer does not end as its verdict says, or empty."""
    source, program = folder / f"{dumps.parent.name}.c", folder / dumps.parent.name
    command = ["gcc", *includes, source, "-o", program, double, f"-Wl,-rpath,{Path(double).parent}"]
    subprocess.run(command, check=True, capture_output=True)
    verdict = hangscope_run.Verdict(sys.argv[1], [str(dumps)], "--minimize", "-q", command="replay")
    done = subprocess.run([program, str(SECONDS)], capture_output=True, text=True, check=False, timeout=60)
    waiting = {int(rank) for rank in re.findall(r"\(rank (\d+)\) waits", done.stdout)}
    good = verdict.object and done.returncode == (verdict.code != "healthy")
    if good and verdict.code != "undetermined":
        told = set(verdict.object["verdict"]["waiting_ranks"])
        good = told <= waiting <= told | set(verdict.culprits)
    return "" if good else f"exit {done.returncode}: {done.stdout}{done.stderr}; the verdict: {verdict}"


def run_all_c(tally, folder, includes, double):
    samples = sorted(SAMPLES.glob("*/dumps"))
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        ends = pool.map(lambda dumps: run_c(dumps, folder, includes, double), samples)
        for dumps, complaint in zip(samples, ends):
            tally.check(not complaint, f"{dumps.parent.name}: {complaint}")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    tally, language = hangscope_run.Tally(), sys.argv[2]
    includes = include_options()
    with tempfile.TemporaryDirectory() as name:
        emit_all(tally, language, Path(name))
        if language == "torch":
            check_python(tally, Path(name))
        elif includes:
            check_c(tally, Path(name), includes)
            if len(sys.argv) == 4:
                run_all_c(tally, Path(name), includes, sys.argv[3])
    status = tally.end()
    if status == 0 and language == "c" and not includes:
        print("skipped: headers of NCCL and CUDA are not installed")
        return 77
    return status


if __name__ == "__main__":
    sys.exit(main())
