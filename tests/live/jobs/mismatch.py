"""One rank makes another call than the others: mismatch.py RANK shape|op|dtype|sequence."""

import sys

import torch
import torch.distributed as dist
from common import finish, start, step

ODD = {
    "shape": lambda: dist.all_reduce(torch.ones(20, 11)),
    "large-shape": lambda: dist.all_reduce(torch.ones(4096)),
    "op": lambda: dist.broadcast(torch.ones(20, 10), src=0),
    "dtype": lambda: dist.all_reduce(torch.ones(20, 10, dtype=torch.float64)),
    "nothing": lambda: None,
}


def main():
    rank, _ = start()
    step(1)
    step(2)
    if rank == int(sys.argv[1]):
        ODD[sys.argv[2]]()
    else:
        dist.all_reduce(torch.ones(20, 10))
    dist.all_gather([torch.zeros(5) for _ in range(4)], torch.ones(5))
    step(3)
    finish()


if __name__ == "__main__":
    main()
