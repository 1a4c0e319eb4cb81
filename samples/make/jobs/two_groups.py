"""Gradients go through the default group, expert load through the group of the expert ranks, in this order.

At one step rank 4 rebalances its experts and enters the two groups the other way round.
"""

import torch
import torch.distributed as dist
from common import GROUP_TIMEOUT, average_gradients, compute_gradients, finish, log, new_model, start

STEPS = 5
EXPERT_RANKS = [2, 3, 4, 5]


def sync_expert_load(experts):
    dist.all_reduce(torch.ones(16), group=experts)


def train(model, optimizer, rank, experts):
    for step in range(STEPS):
        compute_gradients(model)
        rebalance = rank == 4 and step == 3
        if rebalance:
            log.info("step %d: rebalancing experts before the gradients", step)
            sync_expert_load(experts)
        average_gradients(model)
        optimizer.step()
        if rank in EXPERT_RANKS and not rebalance:
            sync_expert_load(experts)
        log.info("step %d done", step)


def main():
    rank, _ = start()
    experts = dist.new_group(EXPERT_RANKS, timeout=GROUP_TIMEOUT, group_desc="experts")
    model, optimizer = new_model()
    train(model, optimizer, rank, experts)
    finish()


if __name__ == "__main__":
    main()
