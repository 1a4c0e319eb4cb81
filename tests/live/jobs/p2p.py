"""A pipeline of sends and receives in which one stage stops sending: p2p.py."""

import time
from datetime import timedelta

import torch
import torch.distributed as dist
from common import STEPS, TIMEOUT, finish, log, start


def main():
    rank, world = start()
    for number in range(1, STEPS + 1):
        values = torch.full((256,), float(number))
        if rank > 0:
            dist.irecv(values, src=rank - 1).wait(timedelta(seconds=TIMEOUT))
        if rank == 1 and number == 4:
            log.info("waiting for a lock")
            time.sleep(9)
        if rank < world - 1:
            dist.send(values, dst=rank + 1)
        log.info("micro-batch %d of %d", number, STEPS)
    finish()


if __name__ == "__main__":
    main()
