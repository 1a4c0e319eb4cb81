"""Rank 1 raises, and the script asks elastic to record the traceback."""

from common import STEPS, finish, start, step
from torch.distributed.elastic.multiprocessing.errors import record


@record
def main():
    rank, _ = start()
    for number in range(1, STEPS + 1):
        if rank == 1 and number == 4:
            raise ValueError("sample 1337 has 3 channels, expected 1")
        step(number)
    finish()


if __name__ == "__main__":
    main()
