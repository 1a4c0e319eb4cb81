"""Rank 2 runs out of batches and ends with status 0. gloo notices: the waiting calls of the others raise.

Each of them saves its dump half a second later. By then gloo has retired the failed call like a finished one.
"""

import time

from common import average_gradients, compute_gradients, finish, log, new_model, save_dump, start

BATCHES = [6, 6, 4, 6]


def train(model, optimizer, batches):
    for step in range(batches):
        compute_gradients(model)
        average_gradients(model)
        optimizer.step()
        log.info("step %d of %d", step + 1, batches)


def main():
    rank, _ = start()
    model, optimizer = new_model()
    try:
        train(model, optimizer, BATCHES[rank])
    except RuntimeError:
        time.sleep(0.5)
        save_dump()
        raise
    finish()


if __name__ == "__main__":
    main()
