"""The model of rank 1 is not that of the others: ddp.py shapes|count|unused."""

import sys

import torch
import torch._dynamo  # DistributedDataParallel loads it, for seconds: not in the middle of a job
from common import finish, log, start
from torch.nn.parallel import DistributedDataParallel


def new_model(rank, how):
    width = 5 if rank == 1 and how == "shapes" else 4
    layers = [torch.nn.Linear(8, width), torch.nn.Linear(width, 2)]
    if rank == 1 and how == "count":
        layers.append(torch.nn.Linear(2, 2))
    return torch.nn.Sequential(*layers)


class Branch(torch.nn.Module):
    """Half of its parameters never get a gradient."""

    def __init__(self):
        super().__init__()
        self.used, self.unused = torch.nn.Linear(8, 2), torch.nn.Linear(8, 2)

    def forward(self, inputs):
        return self.used(inputs)


def main():
    rank, _ = start()
    how = sys.argv[1]
    model = DistributedDataParallel(Branch() if how == "unused" else new_model(rank, how))
    for number in range(1, 4):
        model(torch.randn(4, 8)).sum().backward()
        log.info("step %d", number)
    finish()


if __name__ == "__main__":
    main()
