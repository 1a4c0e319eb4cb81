"""What may happen to the logs of a job between the process that printed them and the one who reads them.

Each change takes {path: bytes} and gives {path: bytes}. What a log says stays the same.
"""

import datetime
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import tarfile

MONTHS = b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MONTH = b"|".join(MONTHS)
YEAR = 2025  # where a stamp has none
CLOCK = rb"(?P<H>[01]\d|2[0-3]):(?P<M>[0-5]\d):(?P<S>[0-5]\d)(?P<f>[.,]\d{1,9})?"
STAMPS = [
    re.compile(rb"(?P<Y>20\d\d)[-/](?P<m>[01]\d)[-/](?P<d>[0-3]\d)[ T]" + CLOCK),
    re.compile(rb"(?<=[EWIF])(?P<m>1[0-2]|0?[1-9])(?P<d>[0-3]\d) " + CLOCK),
    re.compile(rb"\b(?P<m>[01]\d)-(?P<d>[0-3]\d) " + CLOCK),
    re.compile(rb"\b(?P<b>" + MONTH + rb") (?P<d>[ 0-3]?\d) " + CLOCK + rb"(?: (?P<Y>20\d\d))?"),
]
RANK = re.compile(rb"^\[rank(\d+)\]:")
OF_RANK = re.compile(r"rank[_-]?(\d+)")


# -- time ---------------------------------------------------------------------


def stamp_of(line):
    """(match, time) of the first stamp of a line, or (None, None)."""
    found = [match for match in (pattern.search(line) for pattern in STAMPS) if match]
    for match in sorted(found, key=lambda match: (match.start(), -match.end())):
        part = match.groupdict()
        month = MONTHS.index(part["b"]) + 1 if part.get("b") else int(part["m"])
        fraction = float(b"0" + part["f"].replace(b",", b".")) if part["f"] else 0.0
        try:
            time = datetime.datetime(int(part.get("Y") or YEAR), month, int(part["d"]), int(part["H"]))
        except ValueError:
            continue
        seconds = 60 * int(part["M"]) + int(part["S"]) + fraction
        return match, time + datetime.timedelta(seconds=seconds)
    return None, None


def moved(match, time):
    """The text of a stamp that was found, for another time."""
    text = bytearray(match.group())
    start = match.start()
    width = len(match["d"])
    values = {
        "Y": b"%04d" % time.year,
        "m": b"%0*d" % (len(match.groupdict().get("m") or b""), time.month),
        "b": MONTHS[time.month - 1],
        "d": b"%*d" % (width, time.day) if match["d"][:1] == b" " else b"%0*d" % (width, time.day),
        "H": b"%02d" % time.hour,
        "M": b"%02d" % time.minute,
        "S": b"%02d" % time.second,
    }
    if match["f"]:
        digits = b"%06d000" % time.microsecond
        values["f"] = match["f"][:1] + digits[: len(match["f"]) - 1]
    for key in sorted(values, key=lambda key: -match.start(key) if key in match.groupdict() else 1):
        if match.groupdict().get(key):
            text[match.start(key) - start : match.end(key) - start] = values[key]
    return bytes(text)


def shift_line(line, seconds):
    match, time = stamp_of(line)
    if not match:
        return line
    return (
        line[: match.start()] + moved(match, time + datetime.timedelta(seconds=seconds)) + line[match.end() :]
    )


def shift(data, seconds, wanted=lambda _: True):
    """A log whose clock goes wrong: the first stamp of each wanted line, moved."""
    return b"".join(shift_line(line, seconds) if wanted(line) else line for line in lines_of(data))


def lines_of(data):
    """The lines of a file with their ends; only \\n ends one."""
    return re.findall(rb"[^\n]*\n|[^\n]+", data)


# -- files --------------------------------------------------------------------


def ranks_of(data):
    return sorted({int(match[1]) for match in map(RANK.match, lines_of(data)) if match})


def split_by_rank(data):
    """One file for each [rankN]: and one for the rest; a line without follows the one before it."""
    parts, name = {}, "launcher.log"
    for line in lines_of(data):
        match = RANK.match(line)
        if match:
            name = f"rank{int(match[1])}.log"
        elif not re.match(rb"\s|frame #|Exception raised", line):
            name = "launcher.log"
        parts.setdefault(name, []).append(line)
    return {name: b"".join(lines) for name, lines in parts.items()}


def joined(files, tagged):
    """All files as one, by the times of their lines; `tagged` as torchrun's --tee does."""
    rows = []
    for number, path in enumerate(sorted(files)):
        time = datetime.datetime(YEAR, 1, 1)
        rank = OF_RANK.search(os.path.basename(path))
        tag = b"[default%d]:" % int(rank[1]) if tagged and rank else b""
        for place, line in enumerate(lines_of(files[path])):
            found = stamp_of(line)[1]
            time = max(time, found) if found else time
            rows.append((time, number, place, tag + line.rstrip(b"\n") + b"\n"))
    return b"".join(row[3] for row in sorted(rows))


# -- what a launcher or a container runtime puts around each line ---------------


def wrap(files, make):
    """make(line, time, rank of the file, path) around each line; times never go back within a file."""
    changed = {}
    for path, data in files.items():
        rank = task_of(path, data)
        time = next((t for t in (stamp_of(line)[1] for line in lines_of(data)) if t), None)
        time = time or datetime.datetime(YEAR, 3, 1, 12)
        out = []
        for line in lines_of(data):
            time = max(time, stamp_of(line)[1] or time)
            out.append(make(line.rstrip(b"\n"), time, rank, path) + b"\n")
        changed[path] = b"".join(out)
    return changed


def iso(time, places=9):
    return (time.strftime("%Y-%m-%dT%H:%M:%S.%f") + "000")[: 20 + places].encode() + b"Z"


def docker_json(line, time, _rank, _path):
    text = line.decode("utf-8", "replace") + "\n"
    return json.dumps({"log": text, "stream": "stderr", "time": iso(time).decode()}).encode()


def cri(line, time, _rank, _path):
    return iso(time) + b" stderr F " + line


def kubectl(line, _time, rank, _path):
    return b"[pod/train-worker-%d/pytorch] " % rank + line


def srun(line, _time, task, _path):
    return b"%d: " % task + line


def mpirun(line, _time, task, _path):
    return b"[1,%d]<stderr>:" % task + line


def stamped(line, time, _rank, _path):
    return b"[%s] " % time.strftime("%Y-%m-%d %H:%M:%S.%f").encode() + line


def stamped_iso(line, time, _rank, _path):
    return iso(time, 3) + b" " + line


def crlf(line, _time, _rank, _path):
    return line + b"\r"


def kubectl_of_cri(line, time, rank, path):
    return kubectl(cri(line, time, rank, path), time, rank, path)


def kubectl_of_stamped(line, time, rank, path):
    return kubectl(stamped_iso(line, time, rank, path), time, rank, path)


WRAPS = [docker_json, cri, kubectl, stamped, stamped_iso, crlf, kubectl_of_cri, kubectl_of_stamped]
TASKS = [srun, mpirun]  # they add who speaks: only where the log tells that already


def has_tasks(files):
    """Whether each file is one rank's, or tells ranks apart by itself."""
    return all(OF_RANK.search(os.path.basename(path)) or ranks_of(data) for path, data in files.items())


def task_of(path, data):
    """The task that prints a file: the rank, or of a launcher's lines the first on its node."""
    rank = OF_RANK.search(os.path.basename(path))
    ranks = ranks_of(data)
    return int(rank[1]) if rank else ranks[0] if len(ranks) == 1 else 0


# -- containers ---------------------------------------------------------------


def gzipped(files):
    return {path + ".gz": gzip.compress(data, mtime=0) for path, data in files.items()}


def zstd(files):
    """None where no zstd is installed."""
    if not shutil.which("zstd"):
        return None
    changed = {}
    for path, data in files.items():
        run = subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True)
        changed[path + ".zst"] = run.stdout
    return changed


def tar(files, mode="w", name="logs.tar"):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:
        for path, data in sorted(files.items()):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return {name: packed.getvalue()}


def tar_gz(files):
    return tar(files, "w:gz", "logs.tar.gz")


CONTAINERS = [gzipped, zstd, tar, tar_gz]
