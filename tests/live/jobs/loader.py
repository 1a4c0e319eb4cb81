"""A worker of rank 1's DataLoader is lost: loader.py killed|shm|raises."""

import os
import signal
import sys

import torch
from common import finish, log, start, step


class Samples(torch.utils.data.Dataset):
    def __init__(self, how):
        self.how = how

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if index == 24 and self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if index == 24 and self.how == "raises":
            raise OSError(f"cannot read image {index}")
        return torch.zeros(1 << 20 if self.how == "shm" else 64)


def main():
    rank, _ = start()
    samples = Samples(sys.argv[1] if rank == 1 else "well")
    batches = torch.utils.data.DataLoader(samples, batch_size=8, num_workers=1)
    for number, _ in enumerate(batches, 1):
        step(number)
    log.info("all batches read")
    finish()


if __name__ == "__main__":
    main()
