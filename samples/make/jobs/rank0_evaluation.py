"""Rank 0 evaluates alone after each epoch; the others are in the next all_reduce long before it is back."""

import time

import torch
import torch.distributed as dist
from common import average_gradients, compute_gradients, finish, log, new_model, start

EPOCHS, STEPS, BATCHES = 2, 3, 40


def score_batch(model):
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        model(torch.randn(2048, 8)).softmax(dim=1).argmax(dim=1)


def evaluate(model):
    for batch in range(BATCHES):
        log.info("evaluating, batch %d of %d (%d %%)", batch + 1, BATCHES, 100 * batch // BATCHES)
        score_batch(model)


def train(model, optimizer, rank):
    for epoch in range(EPOCHS):
        for step in range(STEPS):
            loss = compute_gradients(model).mean()
            average_gradients(model)
            optimizer.step()
            dist.all_reduce(loss)
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item() / dist.get_world_size())
        if rank == 0:
            evaluate(model)


def main():
    rank, _ = start()
    train(*new_model(), rank)
    finish()


if __name__ == "__main__":
    main()
