"""Nothing goes wrong."""

from common import STEPS, finish, start, step


def main():
    start()
    for number in range(1, STEPS + 1):
        step(number)
    finish()


if __name__ == "__main__":
    main()
