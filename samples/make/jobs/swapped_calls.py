"""A step averages gradients, then sends the loss scale from rank 0. On rank 2 an overflow swaps the two."""

import torch
import torch.distributed as dist
from common import average_gradients, compute_gradients, finish, log, new_model, start

STEPS = 6


def sync_loss_scale(scale):
    dist.broadcast(scale, src=0)


def overflow(rank, step):
    return rank == 2 and step == 3


def train(model, optimizer, rank):
    scale = torch.tensor([1024.0])
    for step in range(STEPS):
        compute_gradients(model)
        if overflow(rank, step):
            log.info("step %d: overflow, loss scale first", step)
            sync_loss_scale(scale)
            average_gradients(model)
        else:
            average_gradients(model)
            sync_loss_scale(scale)
        optimizer.step()
        log.info("step %d done", step)


def main():
    rank, _ = start()
    train(*new_model(), rank)
    finish()


if __name__ == "__main__":
    main()
