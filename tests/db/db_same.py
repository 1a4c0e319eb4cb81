"""One verdict, byte for byte: from a folder, from its database, from shards merged in any way."""

import os
import pickle
import random
import sqlite3
import subprocess

import db_lab
import make_dumps

SCENARIOS = [
    "healthy",
    "healthy-mesh",
    "healthy-pipeline-batched",
    "healthy-timing",
    "missing",
    "missing-aged",
    "missing-tp-pp-dp",
    "missing-wrapped",
    "missing-only-active",
    "missing-hash-names",
    "pipeline-stage-stops",
    "skipped-one-call",
    "other-size-half",
    "two-groups-other-order",
    "cycle-by-absence-aged",
    "completions-not-seen",
    "all-joined",
    "older-dump",
    "generations-hung-twice",
    "duplicate-files",
    "two-jobs-in-folders",
    "two-jobs-one-folder",
    "recorder-off",
    "recorder-off-one",
    "no-entries-anywhere",
    "culprit-left-no-dump",
    "mixed-containers",
    "mixed-versions",
    "extra-keys",
    "host-names-suffix",
    "json-only-active",
    "version-list",
    "gloo",
    "torchcomms",
]


def shards_of(found, seed):
    """2 to 5 parts of a job, each with at least one dump."""
    source = random.Random(seed)
    count = min(source.randint(2, 5), len(found))
    paths = sorted(found)
    source.shuffle(paths)
    parts = [{} for _ in range(count)]
    for number, path in enumerate(paths):
        parts[number if number < count else source.randrange(count)][path] = found[path]
    return parts


def tables_of(path):
    """Everything in a database, to compare."""
    db = sqlite3.connect(path)
    db.text_factory = bytes
    names = [row[0].decode() for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    content = {name: db.execute(f'SELECT * FROM "{name}" ORDER BY 1').fetchall() for name in names}
    db.close()
    return content


def differing(a, b):
    x, y = tables_of(a), tables_of(b)
    return [name for name in sorted(x) if x[name] != y.get(name)]


class Same:
    """All the ways to one verdict, for one job."""

    def __init__(self, lab, name, room, options=()):
        self.lab, self.name, self.room, self.options = lab, name, room, options
        self.base = None

    def path(self, name):
        return os.path.join(self.room, name)

    def verdict(self, what, *paths, options=()):
        answer = self.lab.analyze(*paths, options=options)
        self.lab.check(
            answer.status == self.base.status and answer.out == self.base.out,
            f"{self.name}: {what}: another verdict: {db_lab.short(answer.out.decode())} {answer.err}",
        )

    def merge(self, what, parts, to):
        answer = self.lab.run("merge", "-q", *parts, "-o", self.path(to))
        if self.lab.exits(f"{self.name}: merge {what}", answer, 0):
            self.lab.same(f"{self.name}: {what}: tables", differing(self.path("whole.db"), self.path(to)), [])
            self.verdict(what, self.path(to))

    def whole(self, folder):
        """The folder, its database by --db and by ingest, to a file and to a pipe."""
        lab, options = self.lab, self.options
        self.base = lab.analyze(folder, options=options)
        if not lab.exits(f"{self.name}: the folder", self.base, 0, 1, 3):
            return False
        answer = lab.analyze(folder, options=("-q", *options, "--db", self.path("by-db.db")))
        lab.same(f"{self.name}: verdict with --db", (answer.status, answer.out), self.base[:2])
        lab.same(f"{self.name}: silence with -q", answer.err, "")
        lab.ingest(folder, self.path("whole.db"), *options)
        lab.same(
            f"{self.name}: bytes by --db and by ingest",
            db_lab.digest(self.path("by-db.db")),
            db_lab.digest(self.path("whole.db")),
        )
        self.verdict("its database", self.path("whole.db"))
        kept = lab.rows(self.path("whole.db"), "SELECT object FROM verdict")[0]["object"]
        lab.same(f"{self.name}: the object in the database", kept.encode(), self.base.out)
        words = [lab.binary, folder, self.path("piped.db"), *options]
        script = 'set -o pipefail; "$0" ingest -q "${@:3}" -o - "$1" | cat >"$2"'
        run = subprocess.run(["bash", "-c", script, *words], check=False)
        lab.same(f"{self.name}: ingest to a pipe", run.returncode, 0)
        lab.same(
            f"{self.name}: bytes through a pipe",
            db_lab.digest(self.path("piped.db")),
            db_lab.digest(self.path("whole.db")),
        )
        return True

    def parts(self, found, seed):
        """Shards of the job: merged in any order, twice, in steps, analysed unmerged, mixed with files."""
        source = random.Random(seed)
        databases, folders = [], []
        for number, part in enumerate(shards_of(found, seed)):
            folders.append(self.path(f"part{seed}-{number}"))
            make_dumps.put(part, folders[-1])
            databases.append(self.path(f"part{seed}-{number}.db"))
            self.lab.ingest(folders[-1], databases[-1], *self.options)
        mixed = list(databases)
        source.shuffle(mixed)
        self.merge(f"{len(mixed)} shards", mixed, "merged.db")
        self.merge("a shard twice", [*mixed, source.choice(mixed)], "twice.db")
        half = len(mixed) // 2 or 1
        if self.lab.exits(
            f"{self.name}: merge some",
            self.lab.run("merge", "-q", *mixed[:half], "-o", self.path("some.db")),
            0,
        ):
            self.merge("in two steps", [*mixed[half:], self.path("some.db")], "steps.db")
        self.merge("a merged one again", [self.path("merged.db")], "again.db")
        self.merge("the whole beside a part", [mixed[0], self.path("whole.db")], "beside.db")
        self.verdict("shards, not merged", *mixed)
        either = [source.choice(pair) for pair in zip(databases, folders)]
        source.shuffle(either)
        self.verdict("folders and databases", *either, options=self.options)
        answer = self.lab.run("ingest", "-q", *self.options, *either, "-o", self.path("either.db"))
        if self.lab.exits(f"{self.name}: ingest folders and databases", answer, 0):
            self.lab.same(
                f"{self.name}: folders and databases: tables",
                differing(self.path("whole.db"), self.path("either.db")),
                [],
            )


def all_ways(lab, name, found, options=(), seeds=(1,)):
    with db_lab.folder() as room:
        dumps = os.path.join(room, "dumps")
        make_dumps.put(found, dumps)
        same = Same(lab, name, room, options)
        if same.whole(dumps):
            for seed in seeds:
                same.parts(found, seed)


def test_scenarios(lab):
    for number, name in enumerate(SCENARIOS):
        all_ways(lab, name, lab.files(lab.scenarios[name].arguments), seeds=(number,))


def test_samples(lab):
    for number, dumps in enumerate(db_lab.samples()):
        found = {name: db_lab.read(os.path.join(dumps, name)) for name in sorted(os.listdir(dumps))}
        all_ways(lab, os.path.basename(os.path.dirname(dumps)), found, seeds=(number,))


def test_splits(lab):
    """More ways to split one job with everything odd in it."""
    found = dict(lab.files("--ranks 6 --fault missing --culprits 2 --duplicate 1,4 --hosts"))
    found.update(odd_files(found))
    all_ways(lab, "splits", found, seeds=range(100, 106))


def odd_files(found):
    """Beside the dumps: what is none, what is cut, what is damaged, a name that is not UTF-8."""
    first = found[sorted(found)[0]]
    return {
        "notes.txt": b"not a dump\n",
        "empty": b"",
        "deep/er/noise_7": random.Random(1).randbytes(5000),
        "cut_rank_0": first[: len(first) // 2],
        "damaged_rank_1": first[:400] + b"\xff" * 40 + first[440:],
        "later/nccl_trace_rank_9": b"\x80\x02}q\x00.",
        "unsafe_rank_5": b"cos\nsystem\n(S'true'\ntR.",
        "name\udcff\x07_3": first,
    }


def test_odd_files(lab):
    for name in ("missing", "healthy", "duplicate-files", "json"):
        found = dict(lab.files(lab.scenarios[name].arguments))
        found.update(odd_files(found))
        all_ways(lab, f"{name} and odd files", found, seeds=(7, 8))


def test_cut_dumps(lab):
    found = dict(lab.files("--fault missing --culprits 3"))
    for number, path in enumerate(sorted(found)):
        found[path] = found[path][: len(found[path]) * (number + 3) // 10]
    all_ways(lab, "cut dumps", found, seeds=(3,))


def test_odd_numbers(lab):
    """Numbers that are none, or at the edge of their type, come back as they were read."""
    values = {
        "duration_ms": [float("nan"), float("inf"), -1.5, 1e300, 1e-300, -0.0],
        "record_id": [2**63 - 1, -(2**63), 2**64 - 1, 2**32 - 1, -1],
        "p2p_seq_id": [2**32 - 1, 2**32, -1],
        "collective_seq_id": [2**32 - 1, 2**32, -1],
        "time_created_ns": [2**62 - 1, 2**62, 2**63 - 1, 1, 0, -1, 2**64],
        "time_discovered_completed_ns": [2**63 - 1, 1, 0, -1],
        "timeout_ms": [2**32, -1, 2**63 - 1],
        "pg_id": [2**31 - 1, -(2**31), 2**40],
        "input_sizes": [[[2**63 - 1, 3]], [[-1]], [[]], []],
        "profiling_name": ["nccl:" + "x" * 70000, "", ":", "a\0b", "\ud800"],
        "process_group": [("a\0b", "c\n"), ("", ""), ("0", "\x1b[2J")],
    }
    plain = lab.files("--ranks 4 --steps 24 --timing --fault missing --culprits 2 --container pickle2")
    for number, (key, choices) in enumerate(values.items()):
        source, found = random.Random(key), {}
        for path, data in plain.items():
            dump = pickle.loads(data)
            for entry in source.sample(dump["entries"], 12):
                entry[key] = source.choice(choices)
            found[path] = pickle.dumps(dump, 2)
        all_ways(lab, f"odd {key}", found, seeds=(number,))


def test_skipped(lab):
    """FIFOs, devices and links that leave the folder are skipped, and nothing waits for them."""
    with db_lab.folder() as room:
        dumps = lab.put("--ranks 4 --fault missing --culprits 1", os.path.join(room, "dumps"))
        os.mkfifo(os.path.join(dumps, "fifo_rank_7"))
        os.symlink("/etc/passwd", os.path.join(dumps, "link_rank_8"))
        os.symlink("/", os.path.join(dumps, "root"))
        os.symlink("gone", os.path.join(dumps, "dangling_rank_9"))
        os.mkfifo(os.path.join(room, "fifo.db"))
        Same(lab, "FIFOs and links", room).whole(dumps)
        answer = lab.run("merge", os.path.join(room, "fifo.db"), "-o", os.path.join(room, "x.db"), timeout=10)
        lab.exits("merge of a FIFO", answer, 2, says="is not a hangscope database")
        answer = lab.run("sql", os.path.join(room, "fifo.db"), "SELECT 1", timeout=10)
        lab.exits("sql of a FIFO", answer, 2, says="is not a hangscope database")


def test_options(lab):
    """What the user said is kept with the job."""
    found = lab.files("--fault missing --culprits 3 --moment aged")
    with db_lab.folder() as room:
        places = "".join(f"{rank} host-{rank // 4} {rank % 4}\n" for rank in range(8))
        where = db_lab.write(os.path.join(room, "map"), places.encode())
        part = db_lab.write(os.path.join(room, "part"), places[:60].encode() + b"\n")
        for options in (
            ("--world-size", "8"),
            ("--world-size", "12"),
            ("--rank-map", where),
            ("--rank-map", part, "--world-size", "10"),
        ):
            all_ways(lab, " ".join(options[::2]), found, options, seeds=(5,))


def test_said_differently(lab):
    """Shards that contradict each other in what the user said: the order of the arguments decides nothing."""
    found = lab.files("--ranks 4 --fault missing --culprits 1 --moment aged")
    with db_lab.folder() as room:
        parts = []
        for number, path in enumerate(sorted(found)):
            dumps = os.path.join(room, f"part{number}")
            make_dumps.put({path: found[path]}, dumps)
            where = db_lab.write(os.path.join(room, f"map{number}"), b"1 host-%d %d\n" % (number, number))
            parts.append(dumps + ".db")
            lab.ingest(dumps, parts[-1], "--rank-map", where, "--world-size", str(4 + number))
        first = lab.analyze(*parts)
        lab.exits("shards", first, 1)
        lab.same("shards in another order", lab.analyze(*parts[::-1])[:2], first[:2])
        lab.same("one of them twice", lab.analyze(parts[2], *parts)[:2], first[:2])


def test_overlapping(lab):
    """Shards that hold the same files in part, also as duplicates of others."""
    found = lab.files("--ranks 4 --fault missing --culprits 1 --duplicate 0,2")
    paths = sorted(found)
    with db_lab.folder() as room:
        dumps = os.path.join(room, "dumps")
        make_dumps.put(found, dumps)
        same = Same(lab, "overlapping shards", room)
        if not same.whole(dumps):
            return
        for seed in range(8):
            source = random.Random(seed)
            parts = []
            for number in range(3):
                some = set(source.sample(paths, 4)) | set(paths[number::3])
                make_dumps.put({path: found[path] for path in some}, os.path.join(room, f"{seed}-{number}"))
                parts.append(os.path.join(room, f"{seed}-{number}.db"))
                lab.ingest(parts[-1][:-3], parts[-1])
            same.merge(f"overlapping, seed {seed}", parts, f"{seed}.db")


def test_streams(lab):
    """A database, or a plan, from a pipe is what it is in a file; all temporary files are gone."""
    with db_lab.folder() as room:
        path = lab.database(room)
        plan, temporary = os.path.join(room, "plan.json"), os.path.join(room, "temporary")
        lab.exits("plan", lab.run("plan", path, "-o", plan), 0)
        os.mkdir(temporary)
        data, planned = db_lab.read(path), db_lab.read(plan)
        whole, settings = lab.analyze(path), {"env": {"TMPDIR": temporary}}
        lab.same("analyze -", lab.run("analyze", "--json", "-", stdin=data, **settings)[:2], whole[:2])
        with open(path, "rb") as file:  # a file at standard input is one, too
            child = [lab.binary, "analyze", "--json", "-"]
            lab.same("analyze - <", subprocess.run(child, stdin=file, capture_output=True).stdout, whole.out)
        query = "SELECT count(*) AS n FROM operation"
        asked = lab.run("sql", path, query)
        lab.same("sql -", lab.run("sql", "-", query, stdin=data, **settings), asked)
        lab.exits("sql - without a query", lab.run("sql", "-", stdin=data), 2, says="--file")
        merged = lab.run("merge", "-", path, "-o", "-", stdin=data, **settings)
        lab.same("merge -", merged.out, lab.run("merge", path, "-o", "-").out)
        again = lab.run("replay", "--json", plan)
        named = again.out.replace(b'"plan.json"', b'"-"')
        lab.same("replay -", lab.run("replay", "--json", "-", stdin=planned)[:2], (1, named))
        for words, from_pipe, answer in (
            ("analyze --json", path, whole.out),
            ("replay --json", plan, named.replace(b'"-"', b'"63"')),  # how the shell calls the pipe
            ("merge -o -", path, merged.out),
        ):
            script = f'"$0" {words} <(cat "$1")'
            run = subprocess.run(["bash", "-c", script, lab.binary, from_pipe], capture_output=True)
            lab.same(f"{words} of a FIFO", run.stdout, answer)
        lab.exits("a text is none", lab.run("merge", "-", "-o", "-", stdin=b"text"), 2, says="is not a")
        cut = lab.run("analyze", "-", stdin=data[: len(data) // 2], **settings)
        lab.exits("one that is cut short", cut, 4, says="damaged")
        nowhere = {"env": {"TMPDIR": os.path.join(room, "gone")}}
        lab.exits("no room", lab.run("analyze", "-", stdin=data, **nowhere), 4, says="temporary file")
        lab.same("nothing is left", os.listdir(temporary), [])


def test_two_in_one(lab):
    """A database of its own and in text: -q says the same sentence."""
    with db_lab.folder() as room:
        path = lab.database(room)
        folder = os.path.join(room, "dumps-job.db")
        first, second = (lab.run("analyze", "-q", p).out.splitlines() for p in (path, folder))
        lab.same("the sentence", first[1:], second[1:])  # the first line says how long it took
        lab.same("Chinese", *[lab.analyze(p, options=("--lang", "zh")).out for p in (path, folder)])
        lab.same("without a command", lab.run(path, "--json").out, lab.run(folder, "--json").out)
