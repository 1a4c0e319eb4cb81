"""Lightning starts the other ranks itself, and one is lost: lightning.py RANK sigkill|exception."""

import os
import signal
import sys

import pytorch_lightning
import torch
from common import end_with_launcher


class Model(pytorch_lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(16, 4)

    def training_step(self, batch, number):
        if self.global_rank == int(sys.argv[1]) and number == 4:
            if sys.argv[2] == "sigkill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError(f"batch {number} has NaN")
        return self.layer(batch).square().mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    end_with_launcher()
    trainer = pytorch_lightning.Trainer(
        accelerator="cpu",
        devices=4,
        strategy="ddp",
        max_epochs=1,
        logger=False,
        enable_checkpointing=False,
    )
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.randn(64, 16), batch_size=2))


if __name__ == "__main__":
    main()
