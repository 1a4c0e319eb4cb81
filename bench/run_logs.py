#!/usr/bin/env python3
"""run_logs.py HANGSCOPE [--megabytes 200] [--runs 3] [--stream-gigabytes 4] [--check] [--update]

How fast logs are read: the whole of `hangscope analyze` against `grep -E` with five literals on the same
file, and packed files against `gzip -dc`, in one run on this machine. The logs are made here: the start of
a job of 64 ranks as NCCL prints it, over and over, as it is (*same*) and with other hosts and pids each
time (*new*); a training log, exceptions with tracebacks, and lines of watchdogs. --check exits 1 when a
bar is missed: 4 times grep for *same* and *new*; .gz 1.2 times the longer of `gzip -dc` and the plain
file; .zst 1.2 times the plain file; a stream of 4 GB in 256 MB. --update writes docs/PERFORMANCE.md.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from lab import Cost, write_figures

HOSTS, LOCALS, CHANNELS = 16, 4, 12
LITERALS = "Timeout|Traceback|CUDA error|NCCL WARN|Segmentation fault"
BARRED = ("same", "new")
HEAD = "| log | MB | lines | grep -E s | hangscope s | CPU s | peak MB | times grep |"
PACKED_HEAD = "| log | packed | unpacking alone s | hangscope s | plain s |"


def rank_line(copy, rank, text, vary):
    host, pid = f"node{rank // LOCALS:02}", 4000 + rank * 7
    if vary:
        host, pid = f"{host}x{copy}", pid + copy
    return f"{host}:{pid}:{pid + 60} [{rank % LOCALS}] NCCL INFO {text}"


def nccl_start(rank):
    """What a rank prints of one communicator."""
    address = f"10.0.{rank // LOCALS}.1"
    yield f"Bootstrap : Using [0]ib0:{address}<0> [1]ib1:{address}<0>"
    yield "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"
    yield f"NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ; OOB ib0:{address}<0>"
    yield "Using network IB"
    yield "threadThresholds 8/8/64 | 512/8/64 | 8/8/64"
    up, down = (rank - 1) // 2 if rank else -1, 2 * rank + 1
    down = down if down < HOSTS * LOCALS else -1
    yield f"Trees [0] {down}/-1/-1->{rank}->{up}|{up}->{rank}->{down}/-1/-1 [1] {down}/-1/-1->{rank}->{up}"
    yield "Setting affinity for GPU 0 to ff,ffffffff"
    for channel in range(CHANNELS):
        for before, after in ((rank, rank + 1), (rank - 1, rank)):
            ends = before % (HOSTS * LOCALS), after % (HOSTS * LOCALS)
            via = "P2P/IPC" if ends[0] // LOCALS == ends[1] // LOCALS else "[send] via NET/IB/0"
            yield f"Channel {channel:02} : {ends[0]}[1a000] -> {ends[1]}[1b000] via {via}"
    yield "24 coll channels, 32 p2p channels, 4 p2p channels per peer"
    yield (
        f"comm 0x7f{rank:04x}001000 rank {rank} nranks {HOSTS * LOCALS} cudaDev {rank % LOCALS} "
        "busId 1a000 - Init COMPLETE"
    )


def startup(copy, vary):
    lines = ["+ export NCCL_DEBUG=INFO", "++ module purge", "NCCL version 2.7.8+cuda10.2"]
    ranks = [list(nccl_start(rank)) for rank in range(HOSTS * LOCALS)]
    for number in range(len(ranks[0])):
        lines += [rank_line(copy, rank, texts[number], vary) for rank, texts in enumerate(ranks)]
    for rank in range(HOSTS * LOCALS):
        for size in range(6):
            time = 1.16 + rank / 5000 + size / 7
            lines += [f"{rank}:", f" duration: {time:.4f} sec", f" busbw: {63 / time:.4f}  Gbps"]
            lines += ["ignore me 546037696"]
    return lines


def training(copy):
    for step in range(copy * 100, copy * 100 + 100):
        loss, seconds = 2 + 3 / (1 + step / 1000), f"{step // 60 % 60:02}:{step % 60:02}"
        yield (
            f"[2025-11-18 20:{seconds},{step % 1000:03}] [INFO] [logging.py:96:log_dist] [Rank 0] "
            f"step={step}, skipped=0, lr=[0.0001], mom=[(0.9, 0.95)]"
        )
        yield (
            f"[default0]: iteration {step:8}/ 500000 | elapsed time per iteration (ms): "
            f"{400 + step % 37}.3 | lm loss: {loss:.6E} | grad norm: 1.{step % 999:03} |"
        )
        bar = "#" * (step % 100 // 10)
        yield (
            f"Epoch 1:  {step % 100:3}%|{bar:10}| {step}/500000 [{seconds}<01:10, "
            f"2.{step % 9}it/s, loss={loss:.3f}]"
        )


def tracebacks(copy):
    for rank in range(HOSTS * LOCALS):
        tag = f"[rank{rank}]: "
        yield tag + "Traceback (most recent call last):"
        for depth in range(6):
            yield f'{tag}  File "/opt/train/part_{depth}.py", line {100 + depth + copy}, in stage_{depth}'
            yield f"{tag}    output = self.stage_{depth}(batch, step={copy})"
        yield f"{tag}ValueError: batch {copy} of rank {rank} has no labels"


def watchdogs(copy):
    for rank in range(HOSTS * LOCALS):
        when = f"1218 01:{copy // 60 % 60:02}:{copy % 60:02}.{rank:06}"
        yield (
            f"[rank{rank}]:[E{when} ProcessGroupNCCL.cpp:685] [Rank {rank}] Watchdog caught collective "
            f"operation timeout: WorkNCCL(SeqNum={copy}, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, "
            f"Timeout(ms)=600000) ran for 600{rank:03} milliseconds before timing out."
        )


KINDS = {
    "same": lambda copy: startup(copy, False),
    "new": lambda copy: startup(copy, True),
    "training": training,
    "tracebacks": tracebacks,
    "watchdogs": watchdogs,
}


def chunks(kind):
    """The log, without end, by pieces."""
    copy = 0
    same = None
    while True:
        text = same or "".join(line + "\n" for line in KINDS[kind](copy)).encode()
        same = text if kind == "same" else None
        yield text
        copy += 1


def write(path, kind, size):
    """-> bytes and lines."""
    written = lines = 0
    pieces = chunks(kind)
    with open(path, "wb") as file:
        while written < size:
            text = next(pieces)
            written += file.write(text)
            lines += text.count(b"\n")
    return written, lines


class Bench:
    def __init__(self, option, root):
        self.option, self.root = option, root
        self.lines, self.packed, self.bars = [], [], []
        self.missed = 0

    def bar(self, good, text):
        self.missed += not good
        self.bars.append(f"- {'met' if good else '**missed**'}: {text}")
        print(self.bars[-1])

    def ours(self, path):
        return Cost([self.option.binary, "analyze", "--json", path], self.option.runs, statuses=(0, 1, 3))

    def log(self, kind):
        path = os.path.join(self.root, f"{kind}.log")
        size, lines = write(path, kind, self.option.megabytes * 1_000_000)
        # grep stops at the first line when nobody reads them
        words = ["sh", "-c", 'LC_ALL=C.UTF-8 grep -E "$0" "$1" | cat', LITERALS, path]
        grep, plain = Cost(words, self.option.runs), self.ours(path)
        ratio = plain.wall / grep.wall
        cells = [kind, f"{size / 1e6:.0f}", f"{lines:,}", f"{grep.wall:.3f}", f"{plain.wall:.3f}"]
        cells += [f"{plain.user:.3f}", f"{plain.rss / 1e6:.0f}", f"{ratio:.1f}"]
        self.lines.append(f"| {' | '.join(cells)} |")
        print(self.lines[-1])
        if kind in BARRED:
            self.bar(ratio <= 4, f"a log, {kind}: {ratio:.1f} times grep (at most 4)")
        if kind == BARRED[0]:
            for tool, ending in (("gzip", "gz"), ("zstd", "zst")):
                self.pack(kind, path, plain, tool, ending)
        os.remove(path)

    def pack(self, kind, path, plain, tool, ending):
        if not shutil.which(tool):
            print(f"{tool} is not installed")
            return
        name = f"{path}.{ending}"
        subprocess.run([tool, "-q", "-k", "-f", path, *([] if ending == "gz" else ["-o", name])], check=True)
        alone = Cost([tool, "-q", "-dc", name], self.option.runs)
        cost = self.ours(name)
        self.packed.append(f"| {kind} | {ending} | {alone.wall:.3f} | {cost.wall:.3f} | {plain.wall:.3f} |")
        print(self.packed[-1])
        most = max(alone.wall, plain.wall) if ending == "gz" else plain.wall
        text = f"a log, {kind}, as .{ending}: {cost.wall / most:.2f} of "
        text += "the longer of gzip -dc and the plain log" if ending == "gz" else "the plain log"
        self.bar(cost.wall <= 1.2 * most, text + " (at most 1.2)")
        os.remove(name)

    def stream(self, kind, size):
        """The peak of a stream on standard input."""
        words = [self.option.binary, "analyze", "-q", "-"]
        written = 0
        pieces = chunks(kind)
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as run:
            while written < size:
                written += run.stdin.write(next(pieces))
            run.stdin.close()
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
        peak = usage.ru_maxrss * 1024
        text = f"{written / 1e9:.0f} GB of standard input, {kind}: {peak / 1e6:.0f} MB (at most 256)"
        self.bar(peak <= 256e6, text)


def rule(head):
    return "|" + "---|" * (head.count("|") - 1)


def update(bench):
    parts = {
        "logs": "\n".join([HEAD, rule(HEAD), *bench.lines]),
        "packed logs": "\n".join([PACKED_HEAD, rule(PACKED_HEAD), *bench.packed]),
        "log bars": "\n".join(bench.bars),
    }
    write_figures(parts)


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--megabytes", type=int, default=200)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    arguments.add_argument("--stream-gigabytes", type=int, default=4, help="0: no stream")
    arguments.add_argument(
        "--patience", type=int, default=0, help="seconds to wait for a quiet machine, in all"
    )
    arguments.add_argument("--folder", help="where to put the logs, which are removed; 250 MB")
    arguments.add_argument("--check", action="store_true", help="exit 1 when a bar is missed")
    arguments.add_argument("--update", action="store_true", help="write docs/PERFORMANCE.md")
    option = arguments.parse_args()
    option.binary = os.path.abspath(option.binary)
    Cost.patience = option.patience
    print(HEAD)
    with tempfile.TemporaryDirectory(dir=option.folder) as root:
        bench = Bench(option, root)
        for kind in option.kinds:
            bench.log(kind)
        if option.stream_gigabytes:
            bench.stream("new", option.stream_gigabytes * 1_000_000_000)
    if option.update:
        update(bench)
    print(f"{bench.missed} bars missed")
    return 1 if option.check and bench.missed else 0


if __name__ == "__main__":
    sys.exit(main())
