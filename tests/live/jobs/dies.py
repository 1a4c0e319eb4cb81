"""One rank ends in the middle of the job: dies.py RANK HOW."""

import ctypes
import faulthandler
import os
import signal
import sys

import numpy
import torch
from common import STEPS, finish, log, start, step


def read_sample():
    """A bad sample: the label is not among the classes."""
    labels = {"cat": 0, "dog": 1}
    return labels["horse"]


def dereference_null():
    faulthandler.enable()
    ctypes.string_at(0)


def be_killed(sent):
    os.kill(os.getpid(), sent)


def grow():
    """Until the kernel ends the process: only where its memory is limited."""
    while True:
        HOARD.append(b"x" * (1 << 24))


HOARD = []
WAYS = {
    "memory-limit": grow,
    "sigkill": lambda: be_killed(signal.SIGKILL),
    "sigterm": lambda: be_killed(signal.SIGTERM),
    "sigabrt": lambda: be_killed(signal.SIGABRT),
    "exception": read_sample,
    "segfault": dereference_null,
    "numpy-memory": lambda: numpy.ones((1 << 45,)),
    "torch-memory": lambda: torch.ones((1 << 45,)),
    "exit-3": lambda: sys.exit(3),
    "assertion": lambda: exec("assert torch.tensor(float('nan')) == 0, 'loss is NaN'"),
}


def main():
    rank, _ = start()
    victim, how = int(sys.argv[1]), sys.argv[2]
    for number in range(1, STEPS + 1):
        if rank == victim and number == 4:
            log.info("loading sample 1337")
            WAYS[how]()
        step(number)
    finish()


if __name__ == "__main__":
    main()
