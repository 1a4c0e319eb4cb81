"""Rank 2 is killed in the first attempt only."""

import os
import signal

from common import STEPS, finish, start, step


def leave_old_store():
    """The agent's store still has the addresses of the first attempt, which gloo would take for new ones."""
    attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    if attempt > 0:
        os.environ["TORCHELASTIC_USE_AGENT_STORE"] = "False"
        os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + attempt)


def main():
    leave_old_store()
    rank, _ = start()
    for number in range(1, STEPS + 1):
        if rank == 2 and number == 4 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        step(number)
    finish()


if __name__ == "__main__":
    main()
