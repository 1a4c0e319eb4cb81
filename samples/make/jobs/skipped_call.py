"""Rank 1 throws a bad batch away and with it one all_gather; from there on its calls are one ahead."""

import torch
import torch.distributed as dist
from common import average_gradients, compute_gradients, finish, log, new_model, start

STEPS = 6


def bad_batch(rank, step):
    return rank == 1 and step == 3


def gather_losses(loss):
    losses = [torch.empty(1) for _ in range(dist.get_world_size())]
    dist.all_gather(losses, loss.view(1))
    return torch.cat(losses).mean().item()


def train(model, optimizer, rank):
    for step in range(STEPS):
        loss = compute_gradients(model).mean()
        average_gradients(model)
        if bad_batch(rank, step):
            log.info("step %d: bad batch, skipped", step)
            continue
        optimizer.step()
        log.info("step %d loss %.4f", step, gather_losses(loss))


def main():
    rank, _ = start()
    train(*new_model(), rank)
    finish()


if __name__ == "__main__":
    main()
