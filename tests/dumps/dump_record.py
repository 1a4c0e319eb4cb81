"""What the recorder of one rank writes about its steps at a moment: the dump as a Python object, by
version."""

import hashlib
import random
import struct

from dump_job import SECOND_NS

SITES = {
    "step": [("all_reduce", "torch/distributed/distributed_c10d.py", 2963), ("train_step", "train.py", 88)],
    "forward": [
        ("all_gather_into_tensor", "torch/distributed/distributed_c10d.py", 4042),
        ("forward", "model/layer.py", 41),
        ("train_step", "train.py", 84),
    ],
    "backward": [
        ("reduce_scatter_tensor", "torch/distributed/distributed_c10d.py", 4455),
        ("backward", "model/layer.py", 77),
        ("train_step", "train.py", 86),
    ],
    "pipeline": [
        ("batch_isend_irecv", "torch/distributed/distributed_c10d.py", 2680),
        ("exchange", "model/schedule.py", 129),
        ("train_step", "train.py", 82),
    ],
    "evaluate": [
        ("all_reduce", "torch/distributed/distributed_c10d.py", 2963),
        ("evaluate", "train.py", 140),
    ],
}
TAIL = [
    ("wrapper", "torch/distributed/c10d_logger.py", 81),
    ("main", "train.py", 203),
    ("<module>", "train.py", 230),
]


def version_key(version):
    """(major, minor); the bare list of the first release sorts before all."""
    return (0, 0) if version == "list" else tuple(int(part) for part in version.split("."))


class Style:
    """How dumps are written. One object per rank, so that ranks can differ."""

    def __init__(self, **settings):
        self.version = "2.10"
        self.frames = True
        self.code_at, self.lines_on, self.renamed = "", 0, ""
        self.only_active = False
        self.ring = 0
        self.timing = False
        self.backend = "nccl"
        self.hash_names = False
        self.torchcomms = False
        self.recorder_off = False
        self.extra_keys = False
        self.no_entries = False
        for name, value in settings.items():
            assert hasattr(self, name), name
            setattr(self, name, value)
        self.key = version_key(self.version)


class Recorder:
    def __init__(self, job, rank, style):
        self.job, self.rank, self.style = job, rank, style
        self.local_ids = {}
        for group in job.groups:
            if rank in group.ranks:
                self.local_ids[group.name] = len(self.local_ids)
        self.collective, self.p2p, self.op_id = {}, {}, {}
        self.status = {}
        self.finished = {}
        self.entries = []
        self.frame_dicts = {}
        self.random = random.Random(rank)
        self.record_id = 0

    def dump(self, steps, when):
        """The dump of this rank at `when`, from its own steps."""
        timed_out = set()
        for step in steps:
            if step.created <= when:
                self._record(step, when, timed_out)
        entries = self.entries
        if self.style.ring:
            entries = entries[-self.style.ring :]
        if self.style.only_active:
            entries = [entry for entry in entries if entry["state"] != "completed"]
        return self._top(entries)

    def name(self, group):
        if not self.style.hash_names:
            return group.shown
        return hashlib.sha1(f"{group.name} {group.desc}".encode()).hexdigest()

    def _top(self, entries):
        key, style = self.style.key, self.style
        if style.version == "list":
            return entries
        used = [
            group
            for group in self.job.groups
            if self.rank in group.ranks and (group.name in self.status or group.used)
        ]
        if style.recorder_off:
            used, entries = [], []
        if style.no_entries:
            entries = []
        if key < (2, 0):
            dump = {"entries": entries, "version": style.version}
            if key >= (1, 2):
                dump["pg_config"] = {self.local_ids[group.name]: list(group.ranks) for group in used}
            return self._with_extras(dump)
        comma = "," if style.torchcomms else ", "
        config = {}
        for group in sorted(used, key=self.name):
            config[self.name(group)] = {
                "name": self.name(group),
                "desc": group.desc,
                "ranks": "[" + comma.join(map(str, group.ranks)) + "]",
            }
        dump = {"version": style.version, "pg_config": config}
        library = "" if style.recorder_off else "2.27.3"
        if key >= (2, 10):
            dump["comm_lib_version"] = library
        elif key >= (2, 6):
            dump["nccl_version"] = library
        if key >= (2, 3):
            dump["pg_status"] = {}
            for group in used:
                if style.backend == "gloo":
                    break
                enqueued, completed = self.status.get(group.name, (-1, -1))
                dump["pg_status"][str(self.local_ids[group.name])] = {
                    "last_enqueued_collective": enqueued,
                    "last_started_collective": completed if style.timing else -1,
                    "last_completed_collective": completed,
                }
        dump["entries"] = entries
        return self._with_extras(dump)

    def _with_extras(self, dump):
        if not self.style.extra_keys:
            return dump
        for entry in dump["entries"]:
            entry["process_group_ranks"] = [0, 1]
            entry["later_invention"] = {"deep": [[], {"er": (None, True, 1.5)}], "state": "completed"}
        for config in dump.get("pg_config", {}).values():
            if isinstance(config, dict):
                config["entries"] = "not these"
        dump["nccl_comm_state"] = {"0xabc": {"rank": "3", "CT_pastColls": "[]"}}
        dump["health_check_results"] = [1, [2, {"record_id": 0}]]
        return dict({"a_first_key": {"entries": [{"record_id": 7}]}}, **dump)

    def _record(self, step, when, timed_out):
        call, name = step.call, step.call.group.name
        done = step.done is not None and step.done <= when
        if not done and name not in timed_out and step.created + call.group.timeout_ms * 1_000_000 <= when:
            timed_out.add(name)
            late = True
        else:
            late = False
        value = self._count(call)
        if call.kind == "batch":
            for kind, peer, size, dtype in call.parts:
                self._add_op(name)
                self._entry(
                    step, self._p2p_name(call.group, kind, peer), [size], [size], [dtype], [dtype], p2p=True
                )
            self._entry(step, "coalesced", [], [], [], [], done=done, late=late, when=when)
        elif call.kind == "coalesced":
            if call.parts and self.style.key >= (2, 6):
                for op, _, size, dtype in call.parts:
                    self._add_op(name)
                    self._entry(step, op, [size], [size], [dtype], [dtype])
            else:
                self._add_op(name, len(call.parts) or 1)
            self._entry(
                step,
                call.op,
                call.ins,
                call.outs,
                call.in_dtypes,
                call.out_dtypes,
                done=done,
                late=late,
                when=when,
            )
        else:
            self._add_op(name)
            p2p = call.kind in ("send", "recv")
            op = self._p2p_name(call.group, call.kind, call.peer) if p2p else call.op
            self._entry(
                step,
                op,
                call.ins,
                call.outs,
                call.in_dtypes,
                call.out_dtypes,
                done=done,
                late=late,
                when=when,
                p2p=p2p,
            )
        enqueued, completed = value, self.status.get(name, (-1, -1))[1]
        if done and step.done >= self.finished.get(name, 0):
            self.finished[name] = step.done
            completed = value
        self.status[name] = (enqueued, completed)

    def _count(self, call):
        """Moves the counters on; gives the one that the group's status shows."""
        name = call.group.name
        if self.style.torchcomms:
            self.collective[None] = self.collective.get(None, 0) + 1
            return self.collective[None]
        if call.kind in ("coll", "coalesced"):
            self.collective[name] = self.collective.get(name, 0) + 1
            return self.collective[name]
        self.p2p[name] = self.p2p.get(name, 0) + 1
        if call.kind == "batch" and self.style.key <= (2, 4):  # these versions counted a batch twice
            self.collective[name] = self.collective.get(name, 0) + 1
        return self.p2p[name]

    def _add_op(self, name, number=1):
        self.op_id[name] = self.op_id.get(name, 0) + number

    def _p2p_name(self, group, kind, peer):
        arrow = "->" if kind == "send" else "<-"
        return f"{kind} {group.ranks.index(self.rank)}{arrow}{group.ranks.index(peer)}"

    def _frame(self, name, file, line):
        style = self.style
        if not file.startswith("torch/"):
            old, _, new = style.renamed.partition("=")
            name, file, line = new if name == old else name, style.code_at + file, line + style.lines_on
        return self.frame_dicts.setdefault((name, file, line), {"name": name, "filename": file, "line": line})

    def _frames(self, site):
        frames = SITES.get(site, SITES["step"])
        return [self._frame(*frame) for frame in [frames[0], TAIL[0]] + frames[1:] + TAIL[1:]]

    def _entry(self, step, op, ins, outs, in_dtypes, out_dtypes, done=None, late=False, when=None, p2p=False):
        """One entry; `done` is None for a member of a batch, whose state is never kept."""
        style, key, group = self.style, self.style.key, step.call.group
        entry = {}
        frames = self._frames(step.call.site) if style.frames else None
        if frames and key >= (2, 0):
            entry["frames"] = frames
        if key >= (1, 2):
            entry["record_id"] = self.record_id
        self.record_id += 1
        entry["pg_id"] = self.local_ids[group.name]
        if key >= (2, 0):
            entry["process_group"] = (self.name(group), group.desc)
        if key >= (2, 8):
            entry["thread_name"] = "pt_autograd_0" if step.call.site == "backward" else "python3"
            entry["thread_id"] = str(139_600_000_000_000 + self.rank * 4096)
        counter = None if style.torchcomms else group.name
        collective, pair = self.collective.get(counter, 0), self.p2p.get(counter, 0)
        if key >= (2, 1):
            entry["collective_seq_id"], entry["p2p_seq_id"] = collective, pair
        else:
            entry["seq_id"] = pair if p2p else collective
        if key >= (1, 3):
            entry["op_id"] = self.op_id[group.name]
        entry["profiling_name"] = f"{style.backend}:{op}"
        entry["time_created_ns"] = step.created
        if style.timing and done:
            entry["duration_ms"] = struct.unpack("<f", struct.pack("<f", self.random.uniform(0.05, 4)))[0]
        entry["input_sizes"] = ins
        if key >= (2, 2):
            entry["input_dtypes"] = in_dtypes
        entry["output_sizes"] = outs
        if key >= (2, 2):
            entry["output_dtypes"] = out_dtypes
        self._state(entry, step, done, late, when)
        if key >= (2, 2):
            entry["timeout_ms"] = group.timeout_ms
            entry["is_p2p"] = p2p and not style.torchcomms
        if frames and key < (2, 0):
            entry["frames"] = frames
        self.entries.append(entry)

    def _state(self, entry, step, done, late, when):
        started = completed = None
        state, retired = "scheduled", False
        if self.style.backend == "gloo":
            retired = bool(done)
        elif done:
            state, completed = "completed", min(step.done + self.random.randrange(SECOND_NS // 10), when)
            started = completed - 200_000 if self.style.timing else None
            retired = step.done + SECOND_NS // 10 <= when
        elif done is not None:
            retired = late
            if self.style.timing and step.launched is not None and step.launched <= when:
                state, started = "started", step.launched + 100_000
        entry["state"] = state
        if self.style.key >= (1, 1):
            entry["time_discovered_started_ns"], entry["time_discovered_completed_ns"] = started, completed
        entry["retired"] = retired
