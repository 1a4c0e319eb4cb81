#!/usr/bin/env python3
"""make_fleet.py FLEET.db JOBS|hostile: more jobs in a fleet that `hangscope batch` made, to test its page.

The jobs of a year: healthy ones, faults of which one is frequent and one new, a host that is often named;
some could not be judged, some do not tell when they happened or what they cost. In the hostile fleet every
text is markup, control bytes or marks that turn text around, and numbers are beyond all bounds.
"""

import random
import sqlite3
import sys

import make_jobs

DAY_NS = 86_400_000_000_000
NEWEST_NS = 1_795_000_000_000_000_000
FAULTS = [  # code, cause, operation, kind of group, culprit's frames, how frequent
    ("rank-missing", None, "ALLREDUCE", "world", ["train.py evaluate", "train.py main"], 30),
    ("rank-missing", "data-loading", "ALLREDUCE", "data", ["loader.py next_batch", "train.py main"], 14),
    ("size-mismatch", None, "ALL_GATHER", "tensor", ["layers.py forward", "train.py step"], 9),
    ("dtype-mismatch", None, "ALLREDUCE", "data", ["optim.py reduce", "train.py step"], 4),
    ("order-mismatch", None, "ALLREDUCE", "pipeline", ["schedule.py run", "train.py step"], 7),
    ("gpu-fault", "xid-79", None, None, [], 12),
    ("network-fault", "ib-link-down", "REDUCE_SCATTER", "shard", ["fsdp.py backward"], 11),
    ("rank-died", "out-of-memory", "BROADCAST", "world", ["checkpoint.py load"], 10),
    ("p2p-mismatch", None, "SEND", "pipeline", ["schedule.py send_forward"], 3),
]
OF_BAD_HOST, NEW = 5, len(FAULTS) - 1
STATES = [  # state, exit, signal, limit, trouble
    ("crashed", None, 11, None, "its process was ended by signal 11"),
    ("timeout", None, 9, "time", "it took longer than 300 s"),
    ("unreadable", 2, None, None, "nothing readable was found under it"),
]


class Fleet:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.id = self.db.execute("SELECT max(id) FROM job").fetchone()[0]

    def add(self, row, culprits=(), frames=()):
        """A job; culprits are (rank, host, gpu), frames "file function", innermost first."""
        self.id += 1
        row = {"id": self.id, "tool": "test", "tries": 1, "files": 8, "bytes": 1 << 20, **row}
        names = ", ".join(f'"{name}"' for name in row)
        places = ", ".join("?" * len(row))
        self.db.execute(f"INSERT INTO job ({names}) VALUES ({places})", list(row.values()))
        self.db.executemany(
            "INSERT INTO culprit VALUES (?, ?, ?, ?, 'late')", [(self.id, *each) for each in culprits]
        )
        self.db.executemany(
            "INSERT INTO frame VALUES (?, 'culprit', ?, ?, ?)",
            [(self.id, depth, *place.split(" ", 1)) for depth, place in enumerate(frames)],
        )


def failed(chance, row):
    """-> the row of a job that failed, its culprits, its frames"""
    which = chance.choices(range(len(FAULTS)), [each[-1] for each in FAULTS])[0]
    code, cause, operation, group, frames, _ = FAULTS[which]
    if which == NEW:
        row["happened_ns"] = NEWEST_NS - int(chance.random() * 6 * DAY_NS)
    host = 7 if which == OF_BAD_HOST and chance.random() < 0.4 else chance.randrange(200)
    size = row["world_size"]
    rank = chance.randrange(size)
    row.update(code=code, cause=cause, operation=operation, group_kind=group, action="restart")
    row.update(confidence=chance.choice(["high", "medium"]), sketch=f"{code} in {operation} of {group}")
    row["fingerprint"] = f"{(which + 1) * 0x9E3779B97F4A7C15 % 2**64:016x}"
    row["summary"] = f"Rank {rank} did not join {operation}; {size - 1} ranks wait for it."
    if chance.random() < 0.7:
        row.update(gpus=size, idle_ns=int(chance.random() * 1800e9))
    return row, [(rank, f"node-{host}.example", rank % 8)], frames


def one(chance, at):
    name = f"2026-{at % 12 + 1:02}/job-{at:05}"
    row = {"path": f"/archive/{name}", "name": name, "state": "judged"}
    row["world_size"] = 8 << chance.randrange(7)
    row["happened_ns"] = NEWEST_NS - int(chance.random() ** 1.4 * 365 * DAY_NS)
    row["happened_from"] = chance.choice(["hang", "hang", "last"])
    kind = chance.random()
    if kind < 0.02:
        state, code, signal, limit, why = chance.choice(STATES)
        row.update(state=state, exit=code, signal=signal, limit=limit, trouble=why, tries=2)
        row["happened_from"] = "files"
    elif kind < 0.35:
        row.update(code="healthy", confidence="high", summary="All ranks finished.")
    elif kind < 0.4:
        row.update(code="undetermined", confidence="low", summary="It cannot be told.")
        row.update(happened_ns=None, happened_from=None)
    else:
        return failed(chance, row)
    return (row,)


def hostile(fleet):
    texts = [make_jobs.MARKUP, make_jobs.TURNED, make_jobs.CONTROL, "javascript:window.harm=3"]
    texts += ["</script><b>x</b>", "a'b\"c`d", "__proto__"]
    columns = ["name", "cause", "operation", "group_kind", "fingerprint", "sketch", "summary", "trouble"]
    for at, text in enumerate(texts * 3):
        row = dict.fromkeys([*columns, "happened_from"], f"{text}{at % len(texts)}")
        row.update(path=f"/archive/{text}/{at}", state="judged", code="rank-missing" if at % 2 else text)
        row.update(confidence=text, action=text, kept_db=text, world_size=8, gpus=8, idle_ns=60_000_000_000)
        row["happened_ns"] = NEWEST_NS - at * DAY_NS
        kept = [f"javascript:window.harm={at}", "//elsewhere.example/x", "../../up.html", f"{text}.html"]
        row["kept_report"] = kept[at % 4]
        fleet.add(row, [(at % 4, f"<b>{text}", at)], [f"{text.replace(' ', '')}.py {text}"])
    most = {"happened_ns": 2**62, "signal": 2**62, "idle_ns": 2**62, "gpus": 2**62}
    fleet.add({"path": "/archive/numbers", "name": "numbers", "state": "crashed", **most})
    least = {"happened_ns": -(2**62), "exit": -1, "trouble": "\x1b[2J" * 2000}
    fleet.add({"path": "/archive/past", "name": "past", "state": texts[-1], **least})


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    path, kind = sys.argv[1:]
    fleet, chance = Fleet(path), random.Random(20261129)
    if kind == "hostile":
        hostile(fleet)
    else:
        for at in range(int(kind)):
            fleet.add(*one(chance, at))
    fleet.db.commit()


if __name__ == "__main__":
    main()
