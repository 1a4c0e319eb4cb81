"""One rank does something else for long while the others wait for it: late.py RANK WHAT."""

import faulthandler
import io
import queue
import sys
import time

import torch
from common import STEPS, TIMEOUT, finish, log, start, step
from tqdm import tqdm

SECONDS = 2.5 * TIMEOUT


def tokenize():
    """A progress bar, as tokenizers show it: on standard error, by carriage returns."""
    for _ in tqdm(range(100), desc="Tokenizing train split", unit=" examples", mininterval=0.5):
        time.sleep(SECONDS / 100)


def save_checkpoint():
    end = time.monotonic() + SECONDS
    shard = 0
    while time.monotonic() < end:
        log.info("saving checkpoint shard %d to /checkpoints/step-3", shard)
        torch.save(torch.randn(1 << 16), io.BytesIO())
        time.sleep(1)
        shard += 1


def wait_for_queue():
    """Silent: a queue that nobody fills."""
    queue.Queue().get(timeout=SECONDS)


def wait_watched():
    """As above; Python prints where it is after 3 seconds."""
    faulthandler.dump_traceback_later(3)
    wait_for_queue()


WAYS = {
    "tokenizing": tokenize,
    "checkpoint": save_checkpoint,
    "queue": wait_for_queue,
    "watched": wait_watched,
}


def main():
    rank, _ = start()
    victim, what = int(sys.argv[1]), sys.argv[2]
    for number in range(1, STEPS + 1):
        if rank == victim and number == 4:
            WAYS[what]()
        step(number)
    finish()


if __name__ == "__main__":
    main()
