"""Start a job by torch.multiprocessing: spawn.py RANKS SCRIPT [ARGUMENT...]."""

import importlib
import os
import sys
from pathlib import Path

import torch.multiprocessing


def work(rank, ranks, script, arguments):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks))
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    importlib.import_module(Path(script).stem).main()


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    torch.multiprocessing.spawn(work, (ranks, sys.argv[2], sys.argv[3:]), nprocs=ranks)
