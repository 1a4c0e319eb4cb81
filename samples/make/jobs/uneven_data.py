"""One rank has fewer batches, leaves the loop early, and waits for the job to end in another way than all.

uneven_data.py store     waits in the store for the exported model: no collective
uneven_data.py barrier   enters the closing barrier
"""

import sys
from datetime import timedelta

import torch.distributed as dist
from common import average_gradients, compute_gradients, finish, log, new_model, start

SHARDS = {"store": [6, 6, 6, 4], "barrier": [6, 6, 5, 6]}  # batches of each rank


def train(model, optimizer, batches):
    for step in range(batches):
        compute_gradients(model)
        average_gradients(model)
        optimizer.step()
        log.info("step %d of %d", step + 1, batches)


def export(rank):
    store = dist.distributed_c10d._get_default_store()
    if rank == 0:
        store.set("exported", "1")
    log.info("no batches left, waiting for the exported model")
    store.wait(["exported"], timedelta(minutes=5))


def close():
    log.info("no batches left, waiting at the closing barrier")
    dist.barrier()


def main():
    closing = sys.argv[1]
    rank, _ = start()
    model, optimizer = new_model()
    train(model, optimizer, SHARDS[closing][rank])
    if closing == "store":
        export(rank)
    else:
        close()
    finish()


if __name__ == "__main__":
    main()
