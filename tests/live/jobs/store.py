"""The store is asked for what does not come: store.py key|late|world."""

import sys
import time
from datetime import timedelta

import torch.distributed as dist
from common import finish, log, set_up, start

WAIT = 10.0  # seconds, for what does not come


def wait_for_key(rank):
    """Rank 0 forgets to publish what the others read."""
    store = dist.distributed_c10d._get_default_store()
    store.set_timeout(timedelta(seconds=WAIT / 3))
    if rank == 0:
        time.sleep(WAIT + 2)
    else:
        log.info("checkpoint is %s", store.get("checkpoint/latest"))


def main():
    rank, what = set_up(), sys.argv[1]
    if what == "late" and rank == 3:
        log.info("preparing the data set")
        time.sleep(2 * WAIT + 4)
    if what == "key":
        start()
        wait_for_key(rank)
    else:
        start(rendezvous=WAIT)
    finish()


if __name__ == "__main__":
    main()
