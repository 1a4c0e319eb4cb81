#!/usr/bin/env python3
"""run_pickle_differential.py VALUE_DUMP [--objects N] [--documents N] [--seed N]: the value reader
against CPython.

VALUE_DUMP FILE... prints one line per file: the value it read. Random safe objects of all pickle
protocols and random JSON documents are written, and each line is compared with the value that Python
has. The canonical text: null true false · integers (`big` beyond 64 bit) · f: and 16 hex digits of a
float's bits · strings with every byte outside printable ASCII as \\xNN · bytes(N) · [..] (..)
{key:value} · an ellipsis below depth 64 · error: TEXT
"""

import argparse
import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
import tempfile

DEPTH = 64
BATCH = 250


def canonical(value, depth=0):
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if -(1 << 63) <= value < 1 << 63 else "big"
    if isinstance(value, float):
        return "f:" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (bytes, bytearray)):
        return f"bytes({len(value)})"
    if depth >= DEPTH:
        return "…"
    if isinstance(value, dict):
        pairs = (canonical(key, depth + 1) + ":" + canonical(item, depth + 1) for key, item in value.items())
        return "{" + ",".join(pairs) + "}"
    inside = ",".join(canonical(item, depth + 1) for item in value)
    return f"[{inside}]" if isinstance(value, list) else f"({inside})"


def quoted(text):
    out = []
    for byte in text.encode("utf-8", "surrogatepass"):
        if byte in b'"\\':
            out.append("\\" + chr(byte))
        elif 0x20 <= byte < 0x7F:
            out.append(chr(byte))
        else:
            out.append(f"\\x{byte:02x}")
    return '"' + "".join(out) + '"'


class Maker:
    """Random objects. `plain` leaves out what JSON has not; `raw` allows bytes."""

    def __init__(self, source, plain=False):
        self.source, self.plain, self.raw = source, plain, False
        self.shared = []

    def integer(self):
        source = self.source
        edge = 1 << source.choice((0, 7, 8, 15, 16, 31, 32, 62, 63))
        return source.choice(
            (
                source.randrange(300),
                -source.randrange(300),
                edge,
                edge - 1,
                -edge,
                -edge - 1,
                source.getrandbits(63),
                -source.getrandbits(63),
                source.getrandbits(200) if not self.plain else 7,
                -source.getrandbits(2100) if source.random() < 0.1 and not self.plain else 0,
            )
        )

    def real(self):
        source = self.source
        if self.plain:
            return source.choice(
                (0.0, -0.0, 0.5, 1e300, -2.5e-300, 5e-324, source.uniform(-1e6, 1e6), source.random())
            )
        bits = struct.unpack("<d", struct.pack("<Q", source.getrandbits(64)))[0]
        return source.choice(
            (
                0.0,
                -0.0,
                float("inf"),
                float("-inf"),
                float("nan"),
                5e-324,
                source.random(),
                1.5 if math.isnan(bits) else bits,
            )
        )

    def text(self):
        source = self.source
        kind = source.randrange(8)
        if kind == 0:
            return ""
        if kind == 1:
            return "x" * source.choice((255, 256, 257, 1000, 70_000 if source.random() < 0.05 else 300))
        if kind == 2:
            return source.choice(
                ("entries", "state", "nccl:all_reduce", 'a "quoted" \\ word', "line\nfeed\r\t\0")
            )
        if kind == 3 and not self.plain:
            return "a" + chr(source.randrange(0xD800, 0xE000)) + "b"
        top = source.choice((0x7F, 0xFF, 0x7FF, 0xD7FF, 0x10FFFF))
        return "".join(chr(self.codepoint(top)) for _ in range(source.randrange(12)))

    def codepoint(self, top):
        code = self.source.randrange(top + 1)
        return code if not 0xD800 <= code < 0xE000 else 0x41

    def scalar(self):
        source = self.source
        kind = source.randrange(10)
        if kind < 3:
            return self.integer()
        if kind < 6:
            return self.text()
        if kind == 6:
            return self.real()
        if kind == 7 and self.raw:
            return source.getrandbits(8 * 300).to_bytes(300, "big")[: source.choice((0, 1, 5, 255, 256, 300))]
        return source.choice((None, True, False))

    def key(self):
        if self.plain or self.source.random() < 0.7:
            return self.text()
        return self.source.choice((self.integer(), None, True, (1, "a"), (), self.real()))

    def value(self, depth):
        source = self.source
        if depth <= 0 or source.random() < 0.35:
            return self.scalar()
        if self.shared and not self.plain and source.random() < 0.2:
            return source.choice(self.shared)
        kind, size = source.randrange(4), source.choice((0, 1, 2, 3, 4, 6))
        if kind == 0 and not self.plain:
            made = tuple(self.value(depth - 1) for _ in range(size))
        elif kind < 2:
            made = [self.value(depth - 1) for _ in range(size)]
        else:
            made = {self.key(): self.value(depth - 1) for _ in range(size)}
        if source.random() < 0.3:
            self.shared.append(made)
        return made

    def top(self):
        self.shared = []
        if self.source.random() < 0.02:
            made = self.scalar()
            for _ in range(self.source.choice((20, 60, 70, 90))):
                made = [made] if self.plain or self.source.random() < 0.5 else (made,)
            return made
        return self.value(self.source.choice((1, 2, 3, 5)))


def pickles(source, number):
    maker = Maker(source)
    for index in range(number):
        protocol = index % 6
        maker.raw = protocol >= 3
        value = maker.top()
        yield f"{index}.pickle", pickle.dumps(value, protocol), canonical(value)


def documents(source, number):
    maker = Maker(source, plain=True)
    for index in range(number):
        value = maker.top()
        if not isinstance(value, (dict, list)):
            value = [value]
        style = source.choice(({}, {"indent": 1}, {"separators": (",", ":")}, {"ensure_ascii": False}))
        data = json.dumps(value, **style).encode()
        yield f"{index}.json", data, canonical(value)


def compare(binary, cases):
    """-> (equal, lines about what differs)"""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, data, _ in cases:
            paths.append(os.path.join(folder, name))
            with open(paths[-1], "wb") as stream:
                stream.write(data)
        run = subprocess.run([binary, *paths], capture_output=True, timeout=120, check=False)
    lines = run.stdout.decode("utf-8", "replace").split("\n")[:-1]
    if len(lines) != len(cases):
        error = run.stderr.decode("utf-8", "replace")[-300:]
        return 0, [f"{len(lines)} lines for {len(cases)} files, exit {run.returncode}: {error}"] + [""] * (
            len(cases) - 1
        )
    different = []
    for line, (name, data, want) in zip(lines, cases):
        if line != want:
            at = next((i for i, (a, b) in enumerate(zip(line, want)) if a != b), min(len(line), len(want)))
            shown = data if len(data) <= 120 else data[:120] + b"..."
            different.append(
                f"{name}: at {at}: got {line[max(0, at - 20) : at + 60]!r}, "
                f"want {want[max(0, at - 20) : at + 60]!r}; {shown!r}"
            )
    return len(cases) - len(different), different


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="VALUE_DUMP")
    arguments.add_argument("--objects", type=int, default=10_000)
    arguments.add_argument("--documents", type=int, default=3_000)
    arguments.add_argument("--seed", type=int, default=1)
    option = arguments.parse_args()
    sys.setrecursionlimit(10_000)
    passed, failed = 0, 0
    source = random.Random(option.seed)
    for cases in (pickles(source, option.objects), documents(source, option.documents)):
        cases = list(cases)
        for start in range(0, len(cases), BATCH):
            good, lines = compare(os.path.abspath(option.binary), cases[start : start + BATCH])
            passed += good
            for line in lines:
                failed += 1
                if failed <= 20 and line:
                    print(line)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
