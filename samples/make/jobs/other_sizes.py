"""Losses are summed sample by sample over the ranks; the last batch of rank 2 is smaller."""

import torch.distributed as dist
from common import average_gradients, compute_gradients, finish, log, new_model, start

BATCH_SIZES = [8, 8, 8, 8]
LAST_OF_RANK_2 = 5


def sum_losses(losses):
    dist.all_reduce(losses)
    return losses.mean().item() / dist.get_world_size()


def train(model, optimizer, rank):
    for step, size in enumerate(BATCH_SIZES):
        if rank == 2 and step == len(BATCH_SIZES) - 1:
            size = LAST_OF_RANK_2
        losses = compute_gradients(model, size)
        loss = sum_losses(losses)
        average_gradients(model)
        optimizer.step()
        log.info("step %d, %d samples, loss %.4f", step, size, loss)


def main():
    rank, _ = start()
    train(*new_model(), rank)
    finish()


if __name__ == "__main__":
    main()
