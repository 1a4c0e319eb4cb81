"""What every sample job shares: the start, a toy model, and the watch that saves the recorder's dump."""

import ctypes
import json
import logging
import os
import signal
import sys
import threading
import time
from datetime import timedelta

import torch
import torch._dynamo  # an optimizer loads it, for seconds: not in the middle of a job
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json

GROUP_TIMEOUT = timedelta(seconds=15)  # after this long in one call, gloo raises
QUIET = 4.0  # seconds without a new record before a rank saves its dump

log = logging.getLogger("train")


def end_with_runner():
    """No process outlives the runner, even a killed one."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != int(os.environ["SAMPLE_RUNNER"]):
        sys.exit("the runner is gone")


def start():
    """Join the default group; from here on the watch runs. Returns rank and world size."""
    end_with_runner()
    torch.set_num_threads(1)
    torch.manual_seed(int(os.environ["RANK"]))
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {os.environ['RANK']} %(message)s")
    dist.init_process_group("gloo", timeout=GROUP_TIMEOUT)
    rank, world = dist.get_rank(), dist.get_world_size()
    log.info("ready, %d ranks", world)
    threading.Thread(target=watch, name="watch", daemon=True).start()
    return rank, world


def save_dump():
    """Write the recorder's own bytes, unchanged, where PyTorch would put them: prefix and rank."""
    path = os.environ["TORCH_FR_DUMP_TEMP_FILE"] + os.environ["RANK"]
    dump = _dump_fr_trace
    if os.environ["SAMPLE_FORMAT"] == "json":
        path, dump = path + ".json", _dump_fr_trace_json
    with open(path + ".part", "wb") as out:
        out.write(dump())
    os.rename(path + ".part", path)


def newest_record():
    entries = json.loads(_dump_fr_trace_json()).get("entries") or [{"record_id": -1}]
    return entries[-1]["record_id"]


def watch():
    """gloo has no watchdog that dumps. This one does so once, when nothing new was recorded for a while."""
    newest, since = None, time.monotonic()
    while time.monotonic() - since < QUIET:
        time.sleep(0.25)
        record = newest_record()
        if record != newest:
            newest, since = record, time.monotonic()
    save_dump()
    log.info("nothing recorded for %.0f s, flight recorder saved", QUIET)


def finish():
    """The normal end of a job: the last thing it leaves is its dump."""
    save_dump()
    dist.destroy_process_group()
    log.info("finished")


def new_model():
    """The same weights on all ranks: rank 0's."""
    model = torch.nn.Linear(8, 4)
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    dist.broadcast(weights, src=0)
    torch.nn.utils.vector_to_parameters(weights, model.parameters())
    return model, torch.optim.SGD(model.parameters(), lr=0.05)


def compute_gradients(model, batch_size=8):
    """Forward and backward of one batch. Returns the loss of each sample."""
    inputs = torch.randn(batch_size, 8)
    losses = (model(inputs) - inputs[:, :4]).square().mean(dim=1)
    model.zero_grad()
    losses.mean().backward()
    return losses.detach()


def average_gradients(model):
    """One bucket, one all_reduce."""
    bucket = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(bucket)
    bucket /= dist.get_world_size()
    offset = 0
    for p in model.parameters():
        p.grad.copy_(bucket[offset : offset + p.numel()].view_as(p))
        offset += p.numel()
