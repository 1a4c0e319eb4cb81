"""Fingerprints: the same fault in two jobs meets, two faults do not."""

import os
import re
import shutil

from batch_lab import db_lab

# Options of make_dumps.py for two jobs with the same fault.
SAME = [
    ("other ranks", "--fault missing --culprits 3", "--fault missing --culprits 5"),
    ("another world", "--fault missing --culprits 3", "--fault missing --culprits 1 --ranks 4"),
    (
        "another folder and other lines",
        "--fault missing --culprits 3 --code-at /home/a/job/",
        "--fault missing --culprits 3 --code-at /mnt/jobs/4711/src/ --lines-on 12",
    ),
    ("hosts in the names", "--fault size --culprits 2", "--fault size --culprits 6 --hosts"),
    ("other days", "--fault skip --culprits 5", "--fault skip --culprits 2 --epoch 900000 --seed 7"),
    ("another step", "--fault missing --culprits 3 --steps 60", "--fault missing --culprits 3 --steps 36"),
    ("durations", "--fault dtype --culprits 5", "--fault dtype --culprits 1 --timing --extra-keys"),
    ("another release", "--fault missing --culprits 3", "--fault missing --culprits 2 --version 2.4"),
    (
        "other names of groups",
        "--program mesh --ranks 16 --steps 8 --fault missing --culprits 5",
        "--program mesh --ranks 16 --steps 8 --fault missing --culprits 5 --split-names",
    ),
    (
        "renumbered ranks",
        "--program pipeline --steps 30 --fault missing --culprits 3",
        "--program pipeline --steps 30 --fault missing --culprits 3 --permute 3",
    ),
]
# And for two jobs with different faults.
DIFFERENT = [
    ("not there, another size", "--fault missing --culprits 3", "--fault size --culprits 3"),
    ("not there, another call", "--fault missing --culprits 3", "--fault skip --culprits 3"),
    ("another size, another type", "--fault size --culprits 3", "--fault dtype --culprits 3"),
    ("a call less, a call more", "--fault skip --culprits 3", "--fault extra --culprits 3"),
    ("another group", "--fault missing --culprits 3", "--fault missing --culprits 3 --sub"),
    (
        "another kind of group",
        "--program mesh --ranks 16 --steps 8 --fault missing --culprits 5 --stop-in tensor",
        "--program mesh --ranks 16 --steps 8 --fault missing --culprits 5 --stop-in data",
    ),
    (
        "another operation",
        "--program rooted --culprits 5",
        "--program rooted --op reduce --early --culprits 5",
    ),
    (
        "another function",
        "--fault size --culprits 3",
        "--fault size --culprits 3 --renamed train_step=validate",
    ),
    (
        "another program",
        "--fault missing --culprits 3",
        "--program pipeline --steps 30 --fault missing --culprits 3",
    ),
    (
        "a circle, a rank that stops",
        "--program exchange --fault swap --culprits 2 --serial",
        "--program pipeline --steps 30 --fault missing --culprits 3",
    ),
]
# Logs of a sample, and what is replaced in them.
LOGS = [
    ("invalid-rank-two-hosts", [(r"node", "machine")]),
    ("validation-barrier-mismatch", [(r"/workspace/", "/home/b/run7/"), (r"\.py:(\d+)", r".py:9\1")]),
    ("validation-rank0-only", [(r"1204 09:", "1117 14:"), (r"2025-12-04 09:", "2025-11-17 14:")]),
]


# Lines of a kernel's log that are one fault or two.
KERNEL = {
    "off": "Feb  2 22:42:45 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.",
    "off-elsewhere": "Mar  7 03:11:09 rack4-n3 kernel: NVRM: Xid (PCI:0001:da:00): 79, pid=77, name=python, "
    "GPU has fallen off the bus.",
    "firmware": "Feb  2 22:42:45 node-a kernel: NVRM: Xid (PCI:0000:3b:00): 119, pid=4101, name=python3, "
    "Timeout waiting for RPC from GSP!",
    "handle": "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error",
}


def sample(name):
    return os.path.join(db_lab.SAMPLES, name, "logs")


def copy_logs(name, folder, changes):
    shutil.copytree(sample(name), folder)
    for file in os.listdir(folder):
        path = os.path.join(folder, file)
        text = db_lab.read(path).decode()
        for old, new in changes:
            text = re.sub(old, new, text)
        db_lab.write(path, text.encode())


def test_pairs(lab, folder):
    root, fleet = os.path.join(folder, "jobs"), os.path.join(folder, "fleet.db")
    for kind, pairs in (("same", SAME), ("different", DIFFERENT)):
        for number, (_, first, second) in enumerate(pairs):
            lab.put(first, os.path.join(root, f"{kind}-{number}-a"))
            lab.put(second, os.path.join(root, f"{kind}-{number}-b"))
    for name, changes in LOGS:
        copy_logs(name, os.path.join(root, f"{name}-a"), [])
        copy_logs(name, os.path.join(root, f"{name}-b"), changes)
    lab.exits("batch", lab.batch(root, fleet), 0)
    jobs = lab.jobs(fleet)

    def two(name):
        return [(jobs[f"{name}-{side}"]["fingerprint"], sketch(f"{name}-{side}")) for side in "ab"]

    rows = lab.rows(fleet, "SELECT name, sketch FROM job")
    sketches = {row["name"]: row["sketch"] for row in rows}
    sketch = sketches.get
    names = [(f"same-{n}", pair[0]) for n, pair in enumerate(SAME)] + [(name, name) for name, _ in LOGS]
    for name, what in names:
        a, b = two(name)
        lab.check(a[0] and a == b, f"{what}: the same fault does not meet: {a} {b}")
    for number, (what, _, _) in enumerate(DIFFERENT):
        a, b = two(f"different-{number}")
        lab.check(a[0] and b[0] and a[0] != b[0], f"{what}: different faults meet: {a} {b}")
    told = " ".join(text for text in sketches.values() if text)
    lab.check(
        not re.search(r"\.py:\d|/home|/mnt|node-|rank \d", told), "a sketch tells lines, folders or hosts"
    )


def test_hardware(lab, folder):
    """Without a call, a stack or a cause: the number of an Xid, or the rule, tells two faults apart."""
    root, fleet = os.path.join(folder, "jobs"), os.path.join(folder, "fleet.db")
    for name, line in KERNEL.items():
        os.makedirs(os.path.join(root, name))
        db_lab.write(os.path.join(root, name, "dmesg.txt"), line.encode() + b"\n")
    lab.exits("batch", lab.batch(root, fleet), 0)
    rows = lab.rows(fleet, "SELECT name, code, cause, fingerprint, sketch FROM job ORDER BY name")
    by_name = {row["name"]: row for row in rows}
    lab.same("codes", {row["code"] for row in rows}, {"gpu-fault"})
    lab.same("causes", {row["cause"] for row in rows}, {None})
    same = [by_name[name]["fingerprint"] for name in ("off", "off-elsewhere")]
    lab.check(same[0] and same[0] == same[1], f"the same fault does not meet: {rows}")
    lab.same("different faults", len({row["fingerprint"] for row in rows}), len(KERNEL) - 1)
    lab.same("in words", by_name["firmware"]["sketch"], "gpu-fault (-) by gpu-error-hardware: Xid 119")


def test_none_without_a_fault(lab, folder):
    root, fleet = os.path.join(folder, "jobs"), os.path.join(folder, "fleet.db")
    lab.put("", os.path.join(root, "healthy"))
    shutil.copytree(os.path.join(db_lab.SAMPLES, "early-exit"), os.path.join(root, "open"))
    lab.exits("batch", lab.batch(root, fleet), 0)
    for row in lab.jobs(fleet).values():
        lab.check(row["fingerprint"] is None, f"{row['name']} has a fingerprint: {row['code']}")
