#!/usr/bin/env python3
"""call_logs.py FOLDER coll|call MAKE_DUMPS_ARGUMENTS: the logs that NCCL leaves of a simulated job.

With NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,COLL (coll) or TRACE and CALL (call): a file per rank, the
communicators as they are made, then a line per call when it is enqueued. Unbatched sends and receives have
a communicator per pair, as PyTorch makes them. Standard library only.
"""

import math
import os
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "dumps"))

import make_dumps  # noqa: E402

PER_NODE = 8
TYPES = {"Char": 0, "Byte": 1, "Int": 2, "Long": 4, "Half": 6, "Float": 7, "Double": 8, "BFloat16": 9}
# recorded name: NCCL's, and which side has NCCL's count
OPERATIONS = {
    "all_reduce": ("AllReduce", "ins"),
    "all_reduce_barrier": ("AllReduce", "ins"),
    "_all_gather_base": ("AllGather", "ins"),
    "all_gather": ("AllGather", "ins"),
    "_reduce_scatter_base": ("ReduceScatter", "outs"),
    "reduce_scatter": ("ReduceScatter", "outs"),
    "broadcast": ("Broadcast", "ins"),
    "reduce": ("Reduce", "ins"),
    "gather": ("Gather", "ins"),
    "scatter": ("Scatter", "outs"),
}


class Process:
    """What one rank prints."""

    def __init__(self, rank, kind, streams):
        self.rank, self.kind, self.streams = rank, kind, streams
        self.lines, self.counts = [], {}

    def say(self, text):
        place = f"node-{chr(ord('a') + self.rank // PER_NODE)}:{4000 + self.rank}:{4000 + self.rank}"
        if self.kind == "call":
            self.lines.append(f"{place} NCCL CALL {text}")
        else:
            self.lines.append(f"{place} [{self.rank % PER_NODE}] NCCL INFO {text}")

    def make(self, number, place, size):
        """A communicator; its numbers are the same on all ranks, its pointer is not."""
        comm, device = f"0x7f{self.rank:04x}{number:04x}00", self.rank % PER_NODE
        if self.kind == "call":
            self.say(f"ncclCommInitRank({comm}, {size}, 0x{0xC0DE0000 + number:x}, {place}, {device})")
            return comm
        for phase in ("START", "COMPLETE"):
            self.say(
                f"ncclCommInitRankConfig comm {comm} rank {place} nranks {size} cudaDev {device} "
                f"nvmlDev {device} busId {(device + 1) * 0x1000:x} "
                f"commId 0x{0xC0DE0000 + number:x} - Init {phase}"
            )
        return comm

    def call(self, name, comm, size, count, dtype, root):
        stream = f"0x5500{self.streams.get(comm, 0):04x}"
        sends, receives = name != "Recv", name != "Send"
        if self.kind == "call":
            buffers = ("7f0000000000" if side else "0" for side in (sends, receives))
            self.say(f"nccl{name}({','.join(buffers)},{count},{TYPES[dtype]},0,{root},{comm},{stream})")
            return
        buffers = ["0x7f0000000000" if side else "(nil)" for side in (sends, receives)]
        self.say(
            f"{name}: opCount {self.counts.get(comm, 0):x} sendbuff {buffers[0]} recvbuff {buffers[1]} "
            f"count {count} datatype {TYPES[dtype]} op 0 root {root} "
            f"comm {comm} [nranks={size}] stream {stream}"
        )

    def bracket(self, which):
        if self.kind == "call":
            self.say(f"ncclGroup{which}()")

    def launched(self, comm):
        self.counts[comm] = self.counts.get(comm, 0) + 1


class Printer:
    def __init__(self, job, steps, kind, serial):
        self.numbers = {}
        for group in job.groups:
            self.numbers[group.name] = (len(self.numbers), group.ranks)
        self.processes = []
        for rank, made in enumerate(steps):
            self.processes.append(Process(rank, kind, {}))
            self.comms = {}
            for step in made:
                self.put(self.processes[-1], step.call, serial)

    def comm_of(self, process, key, ranks, serial):
        if key not in self.comms:
            number, _ = self.numbers.setdefault(key, (len(self.numbers), ranks))
            comm = process.make(number, ranks.index(process.rank), len(ranks))
            process.streams[comm] = 1 if serial else 1 + len(process.streams)
            self.comms[key] = comm
        return self.comms[key]

    def put(self, process, call, serial):
        messages = call.messages()
        if call.kind in ("send", "recv"):
            pair = tuple(sorted((process.rank, call.peer)))
            comm, ranks = self.comm_of(process, (call.group.name, pair), pair, serial), pair
        else:
            ranks = call.group.ranks
            comm = self.comm_of(process, call.group.name, ranks, serial)
        if messages:
            process.bracket("Start")
            for direction, peer, shape, dtype in messages:
                process.call(
                    direction.capitalize(), comm, len(ranks), math.prod(shape), dtype, ranks.index(peer)
                )
            process.bracket("End")
        else:
            name, side = OPERATIONS[call.op]
            shapes = getattr(call, side)
            root = 0 if call.root is None else ranks.index(call.root)
            process.call(
                name, comm, len(ranks), math.prod(shapes[0]) if shapes else 1, call.in_dtypes[0], root
            )
        process.launched(comm)


def can_print(job):
    return all(
        call.messages()
        or (call.kind == "coll" and call.op in OPERATIONS and not call.uneven and call.in_dtypes)
        for program in job.programs
        for call in program
    )


def logs(words, kind):
    """{file name: text} of a job; None when it makes calls that NCCL has no lines for, or is several."""
    words = shlex.split(words) if isinstance(words, str) else list(words)
    if "+" in words:
        return None
    option = make_dumps.parser().parse_args(words)
    job, steps, _ = make_dumps.build(option)
    if not can_print(job):
        return None
    processes = Printer(job, steps, kind, option.serial).processes
    return {f"rank{one.rank}.log": "".join(line + "\n" for line in one.lines) for one in processes}


def write(words, kind, folder):
    for name, text in (logs(words, kind) or {}).items():
        Path(folder, name).write_text(text, encoding="utf-8")


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("coll", "call"):
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    write(sys.argv[3:], sys.argv[2], sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
