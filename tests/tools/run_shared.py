#!/usr/bin/env python3
"""run_shared.py HANGSCOPE SHARED: the scored scenarios and the real job sets beside the repository."""

import json
import re
import subprocess
import sys
from pathlib import Path

CULPRITS = [9, 14]  # of every set of the 16-rank job, by its labels


def score(hangscope, shared):
    done = subprocess.run(
        [shared / "tools" / "score-dumps", hangscope], check=False, capture_output=True, text=True
    )
    right = re.search(r"dumps right=(\d+)/(\d+)", done.stdout)
    return [] if right and right[1] == right[2] else [done.stdout + done.stderr]


def name_culprits(hangscope, folder):
    command = [hangscope, "analyze", "--json", folder]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    try:
        culprits = sorted(row["rank"] for row in json.loads(done.stdout)["verdict"]["culprits"])
    except ValueError:
        return [f"{folder.name}: {done.stderr}"]
    return [] if culprits == CULPRITS else [f"{folder.name}: culprits are {culprits}, not {CULPRITS}"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    hangscope, shared = Path(sys.argv[1]), Path(sys.argv[2])
    bad = score(hangscope, shared)
    for folder in sorted(shared.glob("real/megatron-16rank-*")):
        bad += name_culprits(hangscope, folder)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
