"""A setting is wrong on one rank or on all: settings.py WHICH."""

import argparse
import os
import sys

import torch.distributed as dist
from common import STEPS, finish, set_up, start, step


def interface(rank):
    """Rank 2 is told an interface that the machine does not have."""
    if rank == 2:
        os.environ["GLOO_SOCKET_IFNAME"] = "ib7"


def wrong_rank(rank):
    """Rank 3 counts from 1."""
    if rank == 3:
        os.environ["RANK"] = "4"


def same_rank(rank):
    """Rank 3 says it is rank 2."""
    if rank == 3:
        os.environ["RANK"] = "2"


def world_size(rank):
    """All say 5, and 4 are started."""
    os.environ["WORLD_SIZE"] = "5"


def other_world(rank):
    """Rank 3 believes in 3 ranks."""
    if rank == 3:
        os.environ["WORLD_SIZE"] = "3"


def address(rank):
    """Rank 1 looks for the store at a port where nobody listens."""
    if rank == 1:
        os.environ["MASTER_PORT"] = "9"


def no_variables(rank):
    del os.environ["MASTER_ADDR"]


def nccl(rank):
    dist.init_process_group("nccl")


def missing_module(rank):
    import flash_attn_of_another_environment  # noqa: F401


def arguments(rank):
    argparse.ArgumentParser(prog="train.py").parse_args([f"--local-rank={rank}"])


def main():
    rank = set_up()
    globals()[sys.argv[1].replace("-", "_")](rank)
    start(rendezvous=15.0)
    for number in range(1, STEPS + 1):
        step(number)
    finish()


if __name__ == "__main__":
    main()
