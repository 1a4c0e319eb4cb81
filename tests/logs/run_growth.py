#!/usr/bin/env python3
"""run_growth.py HANGSCOPE [--megabytes 2] [--times 60] [--only TEXT]: no kind of line makes a long log slow.

Every example of the families and every text of tests/rules is repeated until it fills a log, with other
numbers each time (examples also with the last number only: one speaker says it all), and analyzed. It may
take at most so many times the CPU time of a log of the same size that says nothing, both measured here: a
rule that looks through all lines for each line takes hundreds of times as much.
"""

import argparse
import os
import re
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "dumps"))

import hangscope_run  # noqa: E402

CALM = "a step of the training went well, 17 of them so far, in 12 seconds\n"
# Numbers by themselves, and the places in tags of launchers.
EVERY = re.compile(r"(?<![\w.])\d{1,14}(?![\w.])|(?<=\[rank)\d+|(?<=\[default)\d+")
LAST = re.compile(r"(?<![\w.])\d{1,14}(?![\w.])(?=\D*$)", re.M)
LIMIT_S = 60


def examples():
    """Name and text of what is repeated, and which of its numbers change."""
    for file in sorted((ROOT / "parsers" / "families").glob("*.families")):
        family = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("["):
                family, count = line[1:].split("]")[0], 0
            elif line.startswith("example"):
                text = line[len("example") :].strip() + "\n"
                yield f"{family} {count}", text, EVERY
                if len(EVERY.findall(text)) > 1 and LAST.search(text):
                    yield f"{family} {count}, one speaker", text, LAST
                count += 1
    for file in sorted((HERE.parent / "rules").glob("*.txt")):
        for case in re.split(r"^== ", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
            head, _, text = case.partition("\n")
            lines = [line for line in text.splitlines(True) if not line.startswith("=>")]
            if lines:
                yield f"{file.stem}: {head}", "".join(lines), EVERY


def repeat(text, numbers, size):
    """The text with other numbers each time, together `size` bytes and a little."""
    parts, at = [], 0
    for number in numbers.finditer(text):
        parts.append((text[at : number.start()], int(number[0]), len(number[0])))
        at = number.end()
    pieces, written = [], 0
    while written < size:
        more = len(pieces)
        varied = "".join(f"{before}{value + more:0{width}}" for before, value, width in parts)
        pieces.append((varied + text[at:]).encode())
        written += len(pieces[-1])
    return b"".join(pieces)


class Growth:
    def __init__(self, binary, size, times, folder):
        self.binary, self.size, self.times, self.folder = os.path.abspath(binary), size, times, folder
        self.tally = hangscope_run.Tally()
        self.calm = min(self.cost("calm", CALM, EVERY) for _ in range(3))

    def cost(self, name, text, numbers):
        """CPU seconds of one analysis."""
        path = os.path.join(self.folder, re.sub(r"\W+", "-", name) + ".log")
        Path(path).write_bytes(repeat(text, numbers, self.size))
        words = ["timeout", str(LIMIT_S), self.binary, "analyze", "--json", "-q", path]
        silent = os.open(os.devnull, os.O_WRONLY)
        actions = [(os.POSIX_SPAWN_DUP2, silent, 1), (os.POSIX_SPAWN_DUP2, silent, 2)]
        child = os.posix_spawnp(words[0], words, os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        os.close(silent)
        os.remove(path)
        ended = os.waitstatus_to_exitcode(status) in (0, 1, 2, 3)
        return usage.ru_utime + usage.ru_stime if ended else LIMIT_S

    def check(self, example):
        ratio = self.cost(*example) / self.calm
        if ratio > self.times:  # the machine may have been busy
            ratio = min(ratio, self.cost(*example) / self.calm)
        return example[0], ratio

    def run(self, only):
        chosen = [example for example in examples() if only in example[0]]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for name, ratio in pool.map(self.check, chosen):
                self.tally.check(ratio <= self.times, f"{name}: {ratio:.0f} times a calm log")
        return self.tally.end()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--times", type=float, default=60)
    parser.add_argument("--only", default="")
    option = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return Growth(option.binary, int(option.megabytes * 1e6), option.times, folder).run(option.only)


if __name__ == "__main__":
    sys.exit(main())
