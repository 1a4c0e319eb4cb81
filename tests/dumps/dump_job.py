"""A small model of a distributed job: groups, one program of calls per rank, and a simulator of who
waits where.

The CPU of a rank enqueues its calls up to `ahead` unfinished ones. Calls of one group run in order on
the group's stream; unbatched send/recv run on a stream of their pair; with `serial` everything of a
rank runs on one stream. A collective completes when every member has launched it with the same
signature. What the simulator leaves behind is therefore a state that a real job can be in.
"""

import collections
import heapq
import random

GAP_NS = 60_000  # between two calls of one CPU
DURATION_NS = 300_000  # of a call once everybody is in it
SECOND_NS = 1_000_000_000
EPOCH_NS = 1_758_610_500 * SECOND_NS


class Group:
    def __init__(self, name, desc, ranks, timeout_ms=600_000, used=False):
        self.name, self.desc, self.ranks, self.timeout_ms = name, desc, tuple(ranks), timeout_ms
        self.shown = name  # the name in dumps; groups of other ranks may have the same
        self.used = used  # its communicator exists even if no call was made


class Call:
    """One call of one rank: coll, coalesced, send, recv or batch. Parts are (kind, peer, size, dtype)."""

    def __init__(self, kind, group, op="", ins=(), outs=(), dtype="Float", site="step", **more):
        self.kind, self.group, self.op, self.site = kind, group, op, site
        self.ins, self.outs = [list(size) for size in ins], [list(size) for size in outs]
        self.in_dtypes = [dtype] * len(self.ins)
        self.out_dtypes = [dtype] * len(self.outs)
        self.peer = more.pop("peer", None)
        self.parts = more.pop("parts", [])
        self.root = more.pop("root", None)
        self.uneven = more.pop("uneven", False)  # members may pass different sizes
        self.duration_ns = more.pop("duration_ns", DURATION_NS)
        assert not more, more

    def signature(self):
        sizes = None if self.uneven else (tuple(map(tuple, self.ins)), tuple(map(tuple, self.outs)))
        parts = (
            tuple((part[0], tuple(part[2]), part[3]) for part in self.parts)
            if self.kind == "coalesced"
            else ()
        )
        return self.op, sizes, tuple(sorted(set(self.in_dtypes + self.out_dtypes))), self.root, parts

    def messages(self):
        """[(direction, peer, size, dtype)] of a point-to-point call."""
        if self.kind in ("send", "recv"):
            return [(self.kind, self.peer, self.ins[0], self.in_dtypes[0])]
        return self.parts if self.kind == "batch" else []


class Job:
    def __init__(self, size):
        self.size = size
        self.groups = []
        self.programs = [[] for _ in range(size)]
        self.stop = {}  # rank -> index of the first call that it never makes
        self.deaf = {}  # rank -> index of the first call whose completion it never sees
        self.broken = set()  # (group name, ordinal) of collectives that nobody finishes
        self.early = False  # rooted operations let members go as soon as the data allow
        self.eager = 0  # this many sends of a pair may finish before their receive

    def group(self, desc, ranks, **more):
        group = Group(str(len(self.groups)), desc, ranks, **more)
        self.groups.append(group)
        return group

    def add(self, rank, *call, **more):
        self.programs[rank].append(Call(*call, **more))

    def everyone(self, group, op, ins=(), outs=(), dtype="Float", **more):
        for rank in group.ranks:
            self.add(rank, "coll", group, op, ins, outs, dtype, **more)

    def renumber(self, order):
        """Gives rank r the number order[r]; group members stay sorted, as new_group sorts them."""
        programs = [None] * self.size
        for rank, program in enumerate(self.programs):
            programs[order[rank]] = program
            for call in program:
                call.peer = None if call.peer is None else order[call.peer]
                call.root = None if call.root is None else order[call.root]
                if call.kind == "batch":
                    call.parts = [(kind, order[peer], size, dtype) for kind, peer, size, dtype in call.parts]
        self.programs = programs
        for group in self.groups:
            group.ranks = tuple(sorted(order[rank] for rank in group.ranks))
        self.stop = {order[rank]: index for rank, index in self.stop.items()}
        self.deaf = {order[rank]: index for rank, index in self.deaf.items()}


class Step:
    """What became of one enqueued call."""

    __slots__ = ("call", "created", "done", "index", "keys", "launched", "rank", "seen")

    def __init__(self, call, rank, index, keys, created):
        self.call, self.rank, self.index, self.keys, self.created = call, rank, index, keys, created
        self.launched = self.done = None
        self.seen = True  # whether the rank notices the completion


class Simulator:
    def __init__(self, job, ahead, serial=False, seed=1, epoch_ns=EPOCH_NS):
        self.job, self.ahead, self.serial, self.epoch_ns = job, ahead, serial, epoch_ns
        self.random = random.Random(seed)
        self.steps = [[] for _ in range(job.size)]
        self.pending = [0] * job.size
        self.asleep = [False] * job.size
        self.counters = collections.defaultdict(int)  # (rank, group, kind of counter) -> ordinal
        self.streams = collections.defaultdict(collections.deque)
        self.launched = collections.defaultdict(dict)  # key -> {rank or direction: step}
        self.events = []
        self.number = 0
        self.now = self.end = epoch_ns

    def run(self):
        for rank in range(self.job.size):
            self._at(self.epoch_ns + self.random.randrange(GAP_NS), self._cpu, rank)
        while self.events:
            self.now, _, action, argument = heapq.heappop(self.events)
            self.end = self.now
            action(argument)
        return self.steps

    def _at(self, when, action, argument):
        self.number += 1
        heapq.heappush(self.events, (when, self.number, action, argument))

    def _cpu(self, rank):
        program = self.job.programs[rank]
        index = len(self.steps[rank])
        if index >= min(len(program), self.job.stop.get(rank, len(program))):
            return
        if self.pending[rank] >= self.ahead[rank]:
            self.asleep[rank] = True
            return
        call = program[index]
        step = Step(call, rank, index, self._keys(rank, call), self.now)
        step.seen = index < self.job.deaf.get(rank, len(program))
        self.steps[rank].append(step)
        self.pending[rank] += 1
        stream = self.streams[self._stream(rank, call)]
        stream.append(step)
        if len(stream) == 1:
            self._launch(step)
        self._at(self.now + GAP_NS + self.random.randrange(GAP_NS), self._cpu, rank)

    def _keys(self, rank, call):
        def ordinal(*key):
            self.counters[(rank,) + key] += 1
            return self.counters[(rank,) + key]

        name = call.group.name
        if call.kind in ("coll", "coalesced"):
            return [(name, ordinal(name))]
        keys = []
        for direction, peer, _, _ in call.messages():
            pair = (rank, peer) if direction == "send" else (peer, rank)
            keys.append((name, pair, ordinal(name, pair, direction)))
        return keys

    def _stream(self, rank, call):
        if self.serial:
            return rank
        if call.kind in ("send", "recv"):
            return rank, call.group.name, call.peer
        return rank, call.group.name

    def _launch(self, step):
        step.launched = self.now
        touched = {id(step): step}
        for key, message in zip(step.keys, step.call.messages() or [None]):
            self.launched[key][message[0] if message else step.rank] = step
            touched.update((id(other), other) for other in self.launched[key].values())
            if message and message[0] == "recv" and self.job.eager:  # frees the sender's buffer
                later = self.launched.get(key[:2] + (key[2] + self.job.eager,), {})
                touched.update((id(other), other) for other in later.values())
        for other in touched.values():
            if other.done is None and self._ready(other):
                other.done = self.now + other.call.duration_ns
                self._at(other.done, self._finish, other)

    def _ready(self, step):
        if step.call.kind in ("coll", "coalesced"):
            return self._collective_ready(step)
        return all(
            self._message_ready(step, key, message) for key, message in zip(step.keys, step.call.messages())
        )

    def _message_ready(self, step, key, message):
        sides = self.launched[key]
        if message[0] == "send" and self.job.eager:
            before = key[2] - self.job.eager
            return before < 1 or "recv" in self.launched.get(key[:2] + (before,), {})
        if len(sides) < 2:
            return False
        shapes = [
            [m[2:] for m, k in zip(side.call.messages(), side.keys) if k == key] for side in sides.values()
        ]
        return shapes[0] == shapes[1]

    def _collective_ready(self, step):
        key = step.keys[0]
        present, members = self.launched[key], step.call.group.ranks
        if key in self.job.broken or len({other.call.signature() for other in present.values()}) > 1:
            return False
        root = step.call.root
        if not self.job.early or root is None:
            return len(present) == len(members)
        turn = members.index(root)
        ring = members[turn:] + members[:turn]
        place = ring.index(step.rank)
        kind = step.call.op
        if "broadcast" in kind or kind == "scatter":  # data flow away from the root
            return all(rank in present for rank in ring[: place + 1])
        return len(present) == len(members) if step.rank == root else True  # and into its buffers

    def _finish(self, step):
        stream = self.streams[self._stream(step.rank, step.call)]
        stream.popleft()
        if stream:
            self._launch(stream[0])
        if not step.seen:
            step.done = None
            return
        self.pending[step.rank] -= 1
        if self.asleep[step.rank]:
            self.asleep[step.rank] = False
            self._at(self.now + GAP_NS, self._cpu, step.rank)


def waiting(steps):
    """For a look by eye: per rank the number of calls made and the first unfinished one."""
    lines = []
    for rank, made in enumerate(steps):
        head = next((step for step in made if step.done is None), None)
        what = (
            "idle"
            if head is None
            else f"{head.call.kind} {head.call.op} group {head.call.group.name} {head.keys}"
        )
        lines.append(f"rank {rank}: {len(made)} calls, {what}")
    return "\n".join(lines)
