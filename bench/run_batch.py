#!/usr/bin/env python3
"""run_batch.py HANGSCOPE [--jobs N]: an archive of jobs by `batch`, and by a shell loop over `analyze`.

Jobs of two kinds: dumps of 2 to 4 ranks as tests/batch makes them, and the dumps and logs of samples/.
Prints a table: milliseconds a job, wall and CPU; for `batch` with one job at a time and with one per CPU.
"""

import argparse
import glob
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "batch"))

import batch_lab  # noqa: E402

LOOP = 'for job; do "$HANGSCOPE" analyze -q "$job" >/dev/null; done; true'
LOOP_JOBS = 200


def dumps(lab, folder, count):
    return [os.path.join(folder, name) for name in lab.archive(folder, count)]


def samples(_, folder, count):
    found = sorted(os.path.dirname(path) for path in glob.glob(os.path.join(ROOT, "samples", "*", "logs")))
    made = [os.path.join(folder, f"job-{number:05d}") for number in range(count)]
    for number, job in enumerate(made):
        shutil.copytree(found[number % len(found)], job)
    return made


def measure(command, env, count):
    """(wall, CPU) in milliseconds a job."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000 / count, cpu * 1000 / count


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--jobs", type=int, default=2000)
    option = arguments.parse_args()
    lab = batch_lab.Lab(option.binary)
    env = dict(os.environ, HANGSCOPE=lab.binary)
    print("| jobs | program | wall ms | CPU ms |\n|---|---|---|---|")
    for kind, make, count in (("dumps", dumps, option.jobs), ("dumps and logs", samples, option.jobs // 4)):
        with batch_lab.folder() as folder, tempfile.TemporaryDirectory() as out:
            jobs = make(lab, folder, count)
            loop = ["bash", "-c", LOOP, "loop", *jobs[:LOOP_JOBS]]
            batch = [lab.binary, "batch", "-q", "--restart", folder, "-o", os.path.join(out, "fleet.db")]
            for name, command, n in (
                ("a shell loop", loop, min(count, LOOP_JOBS)),
                ("batch -j 1", [*batch, "-j", "1"], count),
                ("batch", batch, count),
            ):
                wall, cpu = min(measure(command, env, n) for _ in range(3))
                print(f"| {count} of {kind} | {name} | {wall:.1f} | {cpu:.1f} |", flush=True)


if __name__ == "__main__":
    main()
