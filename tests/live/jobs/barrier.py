"""Rank 2 does not come to a monitored_barrier: barrier.py first|all."""

import sys
import time
from datetime import timedelta

import torch.distributed as dist
from common import finish, log, start, step


def main():
    rank, _ = start()
    step(1)
    if rank == 2:
        log.info("waiting for a file")
        time.sleep(9)
    dist.monitored_barrier(timeout=timedelta(seconds=3), wait_all_ranks=sys.argv[1] == "all")
    finish()


if __name__ == "__main__":
    main()
