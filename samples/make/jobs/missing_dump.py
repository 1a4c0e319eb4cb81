"""Rank 1 is caught in a regular expression that never ends. So its watch cannot dump."""

import re

from common import average_gradients, compute_gradients, finish, log, new_model, start

STEPS = 6
TRAILING_WORDS = re.compile(r"(\w+\s?)+$")


def clean(document):
    log.info("cleaning a document of %d characters", len(document))
    return TRAILING_WORDS.sub("", document)


def next_document(rank, step):
    return "a" * 64 + "!" if rank == 1 and step == 4 else "some words!"


def train(model, optimizer, rank):
    for step in range(STEPS):
        clean(next_document(rank, step))
        compute_gradients(model)
        average_gradients(model)
        optimizer.step()
        log.info("step %d done", step)


def main():
    rank, _ = start()
    train(*new_model(), rank)
    finish()


if __name__ == "__main__":
    main()
