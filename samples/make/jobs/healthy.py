"""A job that ends well: DistributedDataParallel, a metric each step, a closing barrier."""

import torch
import torch.distributed as dist
from common import finish, log, start
from torch.nn.parallel import DistributedDataParallel

STEPS = 8


def mean_loss(loss):
    losses = [torch.empty(1) for _ in range(dist.get_world_size())]
    dist.all_gather(losses, loss.detach().view(1))
    return torch.cat(losses).mean().item()


def train(model, optimizer):
    for step in range(STEPS):
        inputs = torch.randn(16, 8)
        loss = (model(inputs) - inputs[:, :4]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.info("step %d loss %.4f", step, mean_loss(loss))


def main():
    start()
    model = DistributedDataParallel(torch.nn.Linear(8, 4))
    train(model, torch.optim.SGD(model.parameters(), lr=0.05))
    dist.barrier()
    finish()


if __name__ == "__main__":
    main()
