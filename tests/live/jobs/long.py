"""Trains until somebody stops it: long.py SECONDS."""

import sys
import time

from common import finish, log, start, step


def main():
    start()
    end = time.monotonic() + float(sys.argv[1])
    number = 0
    while time.monotonic() < end:
        number += 1
        step(number)
        time.sleep(0.2)
    log.info("time is over")
    finish()


if __name__ == "__main__":
    main()
