"""What every job here shares: its place among the ranks, the default group, and one step of training."""

import ctypes
import logging
import os
import signal
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

RENDEZVOUS = 40.0  # seconds in which all ranks come together, on a busy machine too
TIMEOUT = float(os.environ.get("LIVE_TIMEOUT", "4"))  # seconds for each call of the group after that
STEPS = 8

log = logging.getLogger("train")


def end_with_launcher():
    """No process outlives its launcher, even a killed one."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def find_place():
    """RANK and its companions from the launcher's own variables, where it sets only those."""
    for prefix, names in (
        ("SLURM", ("PROCID", "LOCALID", "NTASKS")),
        ("OMPI_COMM_WORLD", ("RANK", "LOCAL_RANK", "SIZE")),
    ):
        for name, given in zip(("RANK", "LOCAL_RANK", "WORLD_SIZE"), names):
            if f"{prefix}_{given}" in os.environ:
                os.environ.setdefault(name, os.environ[f"{prefix}_{given}"])


def set_up():
    """All but the default group. Returns the rank."""
    end_with_launcher()
    find_place()
    torch.set_num_threads(1)
    rank = int(os.environ["RANK"])
    torch.manual_seed(rank)
    logging.basicConfig(
        level=logging.INFO, format=f"%(asctime)s rank {rank} %(message)s", stream=sys.stdout, force=True
    )
    return rank


def start(rendezvous=RENDEZVOUS):
    """Join the default group. Returns rank and world size."""
    rank = set_up()
    dist.init_process_group("gloo", timeout=timedelta(seconds=rendezvous))
    if os.environ.get("TORCH_DISTRIBUTED_DEBUG") != "DETAIL":  # there, the group is wrapped and cannot
        dist.distributed_c10d._set_pg_timeout(timedelta(seconds=TIMEOUT))
    log.info("ready, %d ranks", dist.get_world_size())
    return rank, dist.get_world_size()


def average(values):
    dist.all_reduce(values)
    return values / dist.get_world_size()


def step(number):
    """A bit of computing, then the gradients' all_reduce."""
    time.sleep(0.05)
    weights = torch.randn(16, 4, requires_grad=True)
    loss = (torch.randn(8, 16) @ weights).square().mean()
    loss.backward()
    average(weights.grad)
    log.info("step %d, loss %.3f", number, loss.item())


def finish():
    dist.barrier()
    dist.destroy_process_group()
    log.info("finished")
