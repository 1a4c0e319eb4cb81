"""What lines of real jobs say, counted twice: by hangscope, and by plain patterns over the raw text."""

import collections
import json
import re
import subprocess
import tempfile
from pathlib import Path

SPEAKER = r"(\S+):(\d+):\d+ \[\d+\] NCCL INFO "
INIT = re.compile(SPEAKER + r"comm 0x([0-9a-f]+) rank (\d+) nranks (\d+) cudaDev (\d+) busId (\w+) - Init")
PATH = re.compile(r"NCCL INFO Channel (\d+) : (\d+)\[\w+\] -> (\d+)\[\w+\](?: \[\w+\])? via (\S+)")
RING = re.compile(r"NCCL INFO Channel (\d+)/\d+ : +(\d[\d ]*)")
DEVICE = re.compile(r"\[\d+\]([\w.]+:\d+/\w+)")
USING = re.compile(SPEAKER + r"NET/\w+ : Using (.*?) ;")
RING_PRINTED_MAX = 20  # NCCL prints so many ranks of a ring

QUESTIONS = {
    "communicators": """
        SELECT t.text, s.pid, printf('%x', c.pointer), c.rank, c.size, c.device, b.text, 1
        FROM communicator c JOIN speaker s ON s.id = c.speaker JOIN string t ON t.id = s.host
             JOIN string b ON b.id = c.bus_id""",
    "transports": """
        SELECT l.channel, l.from_rank, l.to_rank, v.text, l.count
        FROM link l JOIN string k ON k.id = l.kind JOIN string v ON v.id = l.via WHERE k.text = 'path'""",
    "rings": """
        SELECT l.channel, l.from_rank, l.to_rank, l.count
        FROM link l JOIN string k ON k.id = l.kind WHERE k.text = 'ring'""",
    "devices": """
        SELECT t.text, s.pid, v.text, 1
        FROM fact f JOIN string n ON n.id = f.name JOIN string v ON v.id = f.value
             JOIN speaker s ON s.id = f.speaker JOIN string t ON t.id = s.host WHERE n.text = 'net.device'""",
}


def ring_links(text):
    """Neighbours in each ring; the way back only where all ranks are printed."""
    for channel, ranks in RING.findall(text):
        ring = ranks.split()
        back = ring[1:] + ring[:1] if len(ring) < RING_PRINTED_MAX else ring[1:]
        yield from ((channel, a, b) for a, b in zip(ring, back))


def grep(text):
    """{what: how often each, every value as text without leading zeros}"""
    found = {
        "communicators": INIT.findall(text),
        "transports": PATH.findall(text),
        "rings": ring_links(text),
        "devices": [
            (host, pid, name) for host, pid, line in USING.findall(text) for name in DEVICE.findall(line)
        ],
    }
    return {what: collections.Counter(tuple(map(plain, row)) for row in rows) for what, rows in found.items()}


def plain(value):
    return str(int(value)) if re.fullmatch(r"\d{1,9}", str(value)) else str(value)


def ask(hangscope, database, query):
    run = subprocess.run(
        [hangscope, "sql", database, query, "--format", "jsonl"], capture_output=True, check=True
    )
    counts = collections.Counter()
    for line in run.stdout.splitlines():
        *row, count = json.loads(line).values()
        counts[tuple(map(plain, row))] += count
    return counts


def count_log(hangscope, path):
    """What a log of NCCL says that is not in the database, or only there."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "job.db")
        subprocess.run([hangscope, "ingest", "-q", path, "-o", database], check=True)
        for what, want in grep(path.read_text(encoding="utf-8", errors="replace")).items():
            query = re.sub(r"\s+", " ", QUESTIONS[what])
            got = ask(hangscope, database, named(query))
            if not want or got != want:
                lost, more = want - got, got - want
                wrong.append(
                    f"{path.name}: {what}: {want.total()} in the log, {got.total()} in the database;"
                    f" lost {lost.most_common(2)}, invented {more.most_common(2)}"
                )
    return wrong


def named(query):
    """A name for each column: JSON keeps only one of a name."""
    columns, rest = re.match(r" ?SELECT (.*?) (FROM .*)", query).groups()
    parts = re.split(r", (?![^(]*\))", columns)
    return f"SELECT {', '.join(f'{part} AS c{number}' for number, part in enumerate(parts))} {rest}"


def verdict_of(hangscope, path):
    run = subprocess.run([hangscope, "analyze", "--json", path], capture_output=True, check=False)
    return json.loads(run.stdout)["verdict"]


def quiet(hangscope, path, codes):
    """Nothing in it is a fault."""
    verdict = verdict_of(hangscope, path)
    return [] if verdict["code"] in codes else [f"{path.name}: {verdict['code']}: {verdict['summary']}"]


def kernel(hangscope, path):
    """Every Xid with its device and process."""
    xid = re.compile(r"Xid \((?:PCI:)?([0-9a-f:.]+)\): (\d+)(?:, pid='?([^',]+))?")
    want = {
        (bus, int(code), pid)
        for bus, code, pid in xid.findall(path.read_text(encoding="utf-8", errors="replace"))
    }
    query = (
        "SELECT (SELECT json_group_array(s.text) FROM json_each(a.strings) j JOIN string s"
        " ON s.id = j.value) AS words"
        " FROM event e JOIN string n ON n.id = e.family JOIN args a ON a.id = e.args WHERE n.text = 'XID'"
    )
    got = set()
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "job.db")
        subprocess.run([hangscope, "ingest", "-q", path, "-o", database], check=True)
        run = subprocess.run(
            [hangscope, "sql", database, query, "--format", "jsonl"], capture_output=True, check=True
        )
    for line in run.stdout.splitlines():
        words = json.loads(json.loads(line)["words"])
        value = dict(zip(words[::2], words[1::2]))
        got.add((value["bdf"], int(value["xid"]), value.get("pid", "")))
    return (
        [] if got == want else [f"{path.name}: Xids {sorted(want - got)} lost, {sorted(got - want)} invented"]
    )


def check(hangscope, real):
    """Complaints about the folder of real logs."""
    bad = []
    for path in sorted(real.glob("nccl-info-64gpu/*.log")):
        bad += count_log(hangscope, path)
        bad += quiet(hangscope, path, ("healthy", "undetermined"))
    for path in sorted(real.glob("nccl-tests/*.log")):
        bad += quiet(hangscope, path, ("healthy",))
    for path in sorted(real.glob("kernel-logs/*")):
        bad += kernel(hangscope, path)
    return bad
