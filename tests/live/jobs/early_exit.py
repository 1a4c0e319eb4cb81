"""Rank 3 runs out of batches and ends with status 0 while the others wait for it."""

import sys

from common import STEPS, finish, log, start, step


def main():
    rank, _ = start()
    for number in range(1, STEPS + 1):
        if rank == 3 and number == 5:
            log.info("no more batches")
            sys.exit(0)
        step(number)
    finish()


if __name__ == "__main__":
    main()
