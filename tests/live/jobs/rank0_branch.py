"""Only rank 0 evaluates, and its evaluation makes a collective call."""

import torch
import torch.distributed as dist
from common import STEPS, finish, log, start, step


def evaluate():
    log.info("evaluating")
    gathered = [torch.zeros(1000) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, torch.rand(1000))


def main():
    rank, _ = start()
    for number in range(1, STEPS + 1):
        if rank == 0 and number == 4:
            evaluate()
        step(number)
    finish()


if __name__ == "__main__":
    main()
