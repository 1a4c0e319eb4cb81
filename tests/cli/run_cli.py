#!/usr/bin/env python3
"""run_cli.py HANGSCOPE [--only NAME]: bad use and hostile input on the command line.

Each test asserts the exit status and what is said. Tests of things that this machine cannot do are
named as skipped. Over 600 lines, because each test is found by its name in this one file.
"""

import argparse
import gzip
import inspect
import io
import json
import os
import pickle
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "dumps"))

import hangscope_run
import make_dumps

CODES = [
    "rank-missing",
    "rank-slow",
    "rank-died",
    "order-mismatch",
    "size-mismatch",
    "dtype-mismatch",
    "p2p-mismatch",
    "group-deadlock",
    "gpu-stall",
    "gpu-fault",
    "network-fault",
    "peer-access-fault",
    "shm-exhausted",
    "misconfigured",
    "version-mismatch",
    "known-bug",
    "init-stuck",
    "collective-stuck",
    "undetermined",
    "healthy",
]
CAUSES = [
    "rank0-only-branch",
    "uneven-steps",
    "data-dependent-branch",
    "slow-data",
    "slow-checkpoint",
    "slow-compile",
    "slow-load",
    "concurrent-groups",
    "extra-call",
    "timeout-too-short",
]
HUNG = "--ranks 4 --steps 24 --fault missing --culprits 2"
FINE = "--ranks 2 --steps 12"
OFFSET = r"(offset|byte|at|@)\W*(0x[0-9a-f]+|\d+)"


class Run:
    def __init__(self, test, *words, stdin=b"", stdout=subprocess.PIPE, env=None, user=None):
        self.test, self.words = test, words
        settings = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        settings.update(env or {})
        extra = {"user": user} if user is not None else {}
        started = time.monotonic()
        try:
            run = subprocess.run(
                [test.binary, *words],
                input=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=settings,
                timeout=30,
                check=False,
                **extra,
            )
            self.status, out, err = run.returncode, run.stdout or b"", run.stderr
        except subprocess.TimeoutExpired:
            self.status, out, err = "timeout", b"", b""
        self.seconds = time.monotonic() - started
        self.raw = out
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def _fail(self, what):
        words = " ".join(self.words)
        self.test.complain(
            f"{what}; `{words}` gave {self.status}, stdout {self.out[:300]!r}, stderr {self.err[:300]!r}"
        )
        return self

    def exits(self, *statuses):
        self.test.checks += 1
        return (
            self
            if self.status in statuses
            else self._fail(f"exit {' or '.join(map(str, statuses))} expected")
        )

    def says(self, pattern, flags=re.IGNORECASE | re.DOTALL):
        """In standard error."""
        self.test.checks += 1
        return (
            self if re.search(pattern, self.err, flags) else self._fail(f"standard error lacks /{pattern}/")
        )

    def shows(self, pattern, flags=re.IGNORECASE | re.DOTALL):
        """In standard output."""
        self.test.checks += 1
        return (
            self if re.search(pattern, self.out, flags) else self._fail(f"standard output lacks /{pattern}/")
        )

    def tells(self, pattern, flags=re.IGNORECASE | re.DOTALL):
        """In either."""
        self.test.checks += 1
        return (
            self
            if re.search(pattern, self.out + self.err, flags)
            else self._fail(f"nothing says /{pattern}/")
        )

    def hides(self, pattern):
        self.test.checks += 1
        return self._fail(f"/{pattern}/ must not appear") if re.search(pattern, self.out + self.err) else self

    def silent(self):
        """Nothing on standard output."""
        self.test.checks += 1
        return self._fail("standard output must be empty") if self.out else self

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError:
            self._fail("standard output is not JSON")
            return {}


class Test:
    """One test: a folder of its own, the binary, and what went wrong."""

    def __init__(self, name, binary, folder):
        self.name, self.binary, self.folder = name, binary, folder
        self.complaints, self.checks, self.skipped = [], 0, ""

    def complain(self, text):
        self.complaints.append(text.replace(self.folder, "…"))

    def expect(self, good, text):
        self.checks += 1
        if not good:
            self.complain(text)

    def skip(self, why):
        self.skipped = why

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def file(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as stream:
            stream.write(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def dumps(self, words=HUNG, into="job"):
        make_dumps.write(words, self.path(into))
        return self.path(into)

    def run(self, *words, **settings):
        return Run(self, *words, **settings)

    def analyze(self, *words, **settings):
        return Run(self, "analyze", "--json", *words, **settings)

    def hung(self, run, culprits=(2,)):
        """The verdict of the job HUNG."""
        run.exits(1)
        verdict = run.json().get("verdict", {})
        got = [culprit.get("rank") for culprit in verdict.get("culprits", [])]
        self.expect(
            verdict.get("code") == "rank-missing" and got == list(culprits),
            f"verdict {verdict.get('code')} {got}, want rank-missing {list(culprits)}",
        )
        return run.json()


def one_dump(words=FINE):
    return next(iter(make_dumps.files(words).values()))


def dump_object(words=FINE):
    return pickle.loads(one_dump(words + " --container pickle4"))


def diagnostics(verdict):
    return sum(source.get("diagnostics", 0) for source in verdict.get("coverage", {}).get("sources", []))


# -- wrong use ------------------------------------------------------------------------------------


def test_no_such_path(t):
    t.analyze(t.path("not-there")).exits(2).silent().says(r"not-there").says(
        r"no such|not found|does not exist"
    )
    t.run("analyze", t.path("not-there")).exits(2).silent().says(r"not-there")
    t.analyze(t.dumps(), t.path("nor-this")).exits(2).silent().says(r"nor-this")


def test_no_path(t):
    t.run("analyze").exits(2).silent().says(r"path|usage")
    t.run().exits(2).silent().says(r"usage|analyze|help")


def test_unknown_command(t):
    t.run("analyse", t.dumps()).exits(2).silent().says(r"analyze")
    t.run("frobnicate").exits(2).silent().says(r"frobnicate")


def test_unknown_option(t):
    t.run("analyze", "--jsn", t.dumps()).exits(2).silent().says(r"--jsn").says(r"--json")
    t.run("analyze", "--wibble", t.dumps()).exits(2).silent().says(r"--wibble").says(r"help|usage|option")
    t.run("--wibble").exits(2).silent().says(r"--wibble")


def test_option_values(t):
    job = t.dumps()
    t.analyze("--world-size", "many", job).exits(2).silent().says(r"world-size")
    t.analyze("--world-size", "-4", job).exits(2).silent().says(r"world-size")
    t.analyze("-j", "none", job).exits(2).silent().says(r"-j|thread|number")
    t.analyze("--fail-on", "no-such-code", job).exits(2).silent().says(r"no-such-code")
    t.analyze("--input-format", "no-such-format", job).exits(2).silent().says(r"no-such-format")
    t.analyze("--color", "purple", job).exits(2).silent().says(r"color|purple")
    t.analyze(job, "--world-size").exits(2).silent().says(r"world-size")
    t.analyze(job, "--db", "").exits(2).silent().says(r"--db needs a value: FILE")
    t.analyze(job, "--db=").exits(2).silent().says(r"--db needs a value: FILE")
    t.run("plan", job, "--groups", "", "-o", "-").exits(2).silent().says(r"--groups needs a value")
    t.run("emit", "c", job, "--backend", "gloo", "-o", "-").exits(2).silent().says(r"NCCL alone")
    page = t.file("template.html", b"<title>hangscope</title>\n<!--hangscope:data-->\n")
    report = ["report", job, "--template", page, "-o", t.path("job.html"), "--ranks"]
    t.run(*report, "0,99").exits(2).silent().says(r"there is no rank 99")
    t.run(*report, "0,2").exits(0)
    t.run("batch", job, "-o", t.path("fleet.db")).exits(0)
    t.analyze(t.path("fleet.db")).exits(2).silent().says(r"is a fleet, which has many jobs")


def test_empty(t):
    t.analyze(t.file("rank_0", b"")).exits(2).silent().says(r"rank_0|nothing|empty")
    os.mkdir(t.path("empty"))
    t.analyze(t.path("empty")).exits(2).silent().says(r"empty|nothing|no source")


def test_not_a_dump(t):
    for name, data in (
        ("notes.bin", bytes(range(1, 32)) * 40),
        ("rank_1", b"\x7fELF" + b"\1" * 200),
        ("zeros_2", b"\0" * 5000),
        ("high_3", b"\xff\xfe\xfd" * 300),
    ):
        t.analyze(t.file("bad/" + name, data)).exits(2).silent().says(name).says(
            r"format|readable|dump|recogni"
        )
    t.analyze(t.path("bad")).exits(2).silent().says(r"format|readable|dump|recogni")


def test_one_bad_file_among_good(t):
    job = t.dumps()
    t.file("job/nccl_trace_rank_77", bytes(range(1, 250)) * 9)
    t.file("job/nccl_trace_rank_78", b"")
    t.hung(t.analyze(job))


def test_unreadable(t):
    job = t.dumps()
    path = t.path("job", "nccl_trace_rank_0")
    os.chmod(path, 0)
    user = None
    if os.geteuid() == 0:
        user = 65534
        os.chmod(t.folder, 0o755)
        try:
            ran = t.run("--version", user=user).status
        except OSError:
            ran = None
        if ran != 0 or subprocess.run(["ls", job], user=user, capture_output=True, check=False).returncode:
            t.skip("as root, and nobody cannot run the program")
            return
    t.analyze(path, user=user).exits(2).silent().says(r"nccl_trace_rank_0").says(r"permission|denied|read")
    run = t.analyze(job, user=user).exits(1, 3)
    t.expect("nccl_trace_rank_0" in run.out, "the unreadable file is not named in the verdict")


# -- what is printed ------------------------------------------------------------------------------


def test_help(t):
    for words in (["--help"], ["-h"], ["help"]):
        t.run(*words).exits(0).shows(r"analyze").shows(r"explain").shows(r"formats")
    for command in ("analyze", "explain", "formats"):
        t.run(command, "--help").exits(0).shows(command)
        t.run("help", command).exits(0).shows(command)
    t.run("analyze", "--help").shows(r"--json").shows(r"example|hangscope analyze \S")
    t.run("help", "frobnicate").exits(2).says(r"frobnicate")


def test_version(t):
    t.run("--version").exits(0).shows(r"hangscope \d+\.\d+")


def test_explain(t):
    for word in CODES + CAUSES:
        t.run("explain", word).exits(0).shows(re.escape(word))
    listing = t.run("explain", "--list").exits(0)
    for word in CODES + CAUSES:
        listing.shows(r"(^|\s)" + re.escape(word) + r"\b")
    page = t.run("explain", "rank-missing", "--json").exits(0).json()
    t.expect("rank-missing" in json.dumps(page), "explain --json does not hold its code")
    t.run("explain", "rank-mising").exits(2).silent().says(r"rank-mising").says(r"rank-missing|--list")
    t.run("explain").exits(2).silent().says(r"code|--list|usage")


def test_findings_can_be_explained(t):
    job = t.dumps(HUNG + " --duplicate 1")
    t.file("job/broken_9", one_dump()[:200])
    for finding in t.analyze(job).exits(1).json().get("findings", []):
        t.run("explain", finding["code"]).exits(0).shows(re.escape(finding["code"]))


def test_formats(t):
    t.run("formats").exits(0).shows(r"flight")
    path = t.file("x_rank_0", one_dump())
    t.run("formats", path).exits(0).shows(r"x_rank_0").shows(r"flight|pickle")
    t.run("formats", t.file("y_rank_0.json", one_dump(FINE + " --container json"))).exits(0).shows(
        r"json|flight"
    )
    t.run("formats", t.file("z.bin", b"\1\2\3" * 99)).exits(0, 2).tells(r"z\.bin")
    t.expect(t.run("formats", path, "--json").exits(0).json() != {}, "formats --json is empty")
    t.run("formats", t.path("nowhere")).exits(2).silent().says(r"nowhere")


def test_screen(t):
    job = t.dumps()
    t.run("analyze", job).exits(1).shows(r"\Arank-missing\b").shows(r"confidence (low|medium)").shows(
        r"\brank 2\b"
    )
    t.run(job).exits(1).shows(r"\Arank-missing\b")
    t.run("analyze", t.dumps(FINE, "fine")).exits(0).shows(r"\Ahealthy\b")
    t.run("analyze", t.dumps(FINE + " --recorder-off", "off")).exits(3).shows(r"\Aundetermined\b").shows(
        r"TORCH_(FR|NCCL_TRACE)_BUFFER_SIZE"
    )


def test_recorder_off_says_what_to_set(t):
    text = json.dumps(t.analyze(t.dumps(FINE + " --recorder-off")).exits(3).json().get("next_steps"))
    t.expect(
        re.search(r"TORCH_(FR|NCCL_TRACE)_BUFFER_SIZE", text), f"next_steps do not name the setting: {text}"
    )


def test_color(t):
    job = t.dumps()
    t.run("analyze", job).exits(1).hides("\x1b")
    t.run("analyze", "--color", "never", job).exits(1).hides("\x1b")
    t.run("analyze", "--color", "always", job).exits(1).shows("\x1b\\[")
    t.run("analyze", "--color", "auto", job, env={"NO_COLOR": "1"}).exits(1).hides("\x1b")
    t.analyze("--color", "always", job).exits(1).hides("\x1b")


def test_no_control_characters_from_the_input(t):
    dump = dump_object()
    for entry in dump["entries"]:
        entry["process_group"] = (entry["process_group"][0], "x\x1b]0;owned\x07\x1b[31m")
        entry["state"], entry["retired"] = "scheduled", False
        entry["time_discovered_completed_ns"] = None
    for config in dump["pg_config"].values():
        config["desc"] = "x\x1b]0;owned\x07\x1b[31m"
    t.file("job/a\x1b[31m_rank_0", pickle.dumps(dump))
    t.run("analyze", "--color", "never", t.path("job")).exits(0, 1, 3).hides("[\x1b\x07]")
    t.analyze(t.path("job")).exits(0, 1, 3).hides("[\x1b\x07]")


def test_full_device(t):
    if not os.path.exists("/dev/full"):
        t.skip("no /dev/full")
        return
    job = t.dumps()
    with open("/dev/full", "wb") as full:
        for words in (
            ["analyze", "--json", job],
            ["analyze", job],
            ["explain", "--list"],
            ["--help"],
            ["--version"],
        ):
            t.run(*words, stdout=full).exits(4).says(r"space|full|write|output")
        t.run("analyze", "--json", "--exit-zero", job, stdout=full).exits(4).says(r"space|full|write|output")


def test_closed_pipe(t):
    job = t.dumps()
    for words in (["analyze", "--json", job], ["explain", "--list"]):
        reader, writer = os.pipe()
        os.close(reader)
        run = t.run(*words, stdout=writer).exits(-13, 141, 0, 1)
        os.close(writer)
        t.expect(not run.err.strip(), f"a closed pipe is reported: {run.err!r}")


def test_exit_zero(t):
    job, off = t.dumps(), t.dumps(FINE + " --recorder-off", "off")
    t.analyze("--exit-zero", job).exits(0).shows("rank-missing")
    t.analyze("--exit-zero", off).exits(0).shows("undetermined")
    t.analyze("--exit-zero", t.path("nowhere")).exits(2).silent().says(r"nowhere")


def test_fail_on(t):
    job = t.dumps()
    t.analyze("--fail-on", "any", job).exits(1).shows("rank-missing")
    t.analyze("--fail-on", "rank-missing", job).exits(1).shows("rank-missing")
    t.analyze("--fail-on", "size-mismatch,rank-missing", job).exits(1).shows("rank-missing")
    t.analyze("--fail-on", "size-mismatch", job).exits(0).shows("rank-missing")
    t.analyze("--fail-on", "high", job).exits(0).shows("rank-missing")
    t.analyze("--fail-on", "high", t.dumps(HUNG + " --moment aged", "aged")).exits(1).shows('"high"')
    t.analyze("--fail-on", "any", t.path("nowhere")).exits(2).silent().says(r"nowhere")


def test_rank_map(t):
    job = t.dumps()
    table = t.file("map", "0 node-a 0\n1 node-a 1\n2 node-b 0\n3 node-b 1\n")
    verdict = t.hung(t.analyze("--rank-map", table, job))
    culprit = (verdict.get("verdict", {}).get("culprits") or [{}])[0]
    t.expect(culprit.get("host") == "node-b" and culprit.get("gpu") == 0, f"host of rank 2: {culprit}")
    short = t.file("short", "2 node-z\n")
    verdict = t.hung(t.analyze("--rank-map", short, job))
    culprit = (verdict.get("verdict", {}).get("culprits") or [{}])[0]
    t.expect(culprit.get("host") == "node-z" and culprit.get("gpu") is None, f"host of rank 2: {culprit}")
    t.analyze("--rank-map", t.path("no-map"), job).exits(2).silent().says(r"no-map")
    t.analyze("--rank-map", t.file("bad-map", "zero node-a\n"), job).exits(2).silent().says(r"bad-map").says(
        r"1|line"
    )


OWN_RULE = """-- id: disk-on-fire
-- code: misconfigured
-- role: root
-- severity: error
-- title: The disk burns
SELECT id AS event, rank, host, 'sure' AS strength FROM event
WHERE family = 'nccl_warn' AND line_text(source, line) LIKE '%disk%';
"""


def test_rules(t):
    log = t.file("job.log", "node-a:101:188 [0] graph/xml.cc:330 NCCL WARN Your disk is on fire\n")
    own = t.file("own.sql", OWN_RULE)
    t.analyze(log).exits(3).shows("undetermined")
    t.run("analyze", "--rules", own, log).exits(1).shows(r"The disk burns").shows(r"why .*\[disk-on-fire\]")
    verdict = t.analyze("--rules", own, log).exits(1).json()
    t.expect(verdict.get("verdict", {}).get("code") == "misconfigured", f"{verdict.get('verdict')}")
    t.expect("disk-on-fire" in [row["code"] for row in verdict.get("findings", [])], "the rule is no finding")
    t.analyze("--rules", own, "--fail-on", "disk-on-fire", log).exits(1)
    t.analyze("--fail-on", "disk-on-fire", log).exits(2).silent().says(r"disk-on-fire")
    other = t.file("other.sql", OWN_RULE.replace("disk-on-fire", "disk-burns"))
    t.analyze("--rules", own, "--rules", other, log).exits(1).shows("disk-on-fire").shows("disk-burns")
    t.analyze("--rules", own, "--rules", own, log).exits(2).silent().says(r"own\.sql:1: there is already")
    t.analyze("--rules", t.path("no.sql"), log).exits(2).silent().says(r"no\.sql")
    t.analyze("--rules", t.file("bad.sql", "\n" + OWN_RULE.replace("role: root", "role: rot")), log).exits(
        2
    ).silent().says(r"bad\.sql:4: this is no role: rot")
    t.analyze("--rules", t.file("worse.sql", OWN_RULE.replace("nccl_warn'", "nccl_warn")), log).exits(
        2
    ).silent().says(r"worse\.sql:1")
    t.hung(t.analyze("--rules", own, t.dumps()))


def test_culprits_on_one_host(t):
    job = t.dumps("--ranks 8 --steps 24 --fault missing --culprits 4,5")
    table = t.file("map", "".join(f"{rank} node-{'ab'[rank // 4]} {rank % 4}\n" for rank in range(8)))
    t.run("analyze", "--rank-map", table, job).exits(1).shows(r"node-b")


def test_world_size(t):
    verdict = t.hung(t.analyze("--world-size", "6", t.dumps()))
    coverage = verdict.get("coverage", {})
    t.expect(coverage.get("world_size") == 6, f"world_size {coverage.get('world_size')}, want 6")
    t.expect(coverage.get("ranks_silent") == [4, 5], f"ranks_silent {coverage.get('ranks_silent')}")


def test_coverage(t):
    coverage = t.analyze(t.dumps(HUNG + " --drop 1")).exits(1, 3).json().get("coverage", {})
    t.expect(coverage.get("world_size") == 4, f"world_size {coverage.get('world_size')}")
    t.expect(
        coverage.get("ranks_with_dumps") == [0, 2, 3], f"ranks_with_dumps {coverage.get('ranks_with_dumps')}"
    )
    t.expect(coverage.get("ranks_silent") == [1], f"ranks_silent {coverage.get('ranks_silent')}")
    names = [source["path"] for source in coverage.get("sources", [])]
    t.expect(names == sorted(names) and names[:1] == ["nccl_trace_rank_0"], f"sources {names}")


# -- hostile pickles ------------------------------------------------------------------------------


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def code_pickles(command):
    """{name: (bytes, what must be named)} of pickles that would run `command` in CPython."""

    class Attack:
        def __reduce__(self):
            return os.system, (command,)

    module = os.system.__module__
    found = {}
    for protocol in range(6):
        found[f"reduce-{protocol}"] = pickle.dumps(Attack(), protocol), rf"{module}.system"
    found["global"] = b"\x80\x02cos\nsystem\n" + text(command) + b"\x85R.", r"os\.system"
    found["stack-global"] = b"\x80\x04\x8c\x02os\x8c\x06system\x93" + text(command) + b"\x85R.", r"os\.system"
    found["inst"] = b"(" + text(command) + b"ios\nsystem\n.", r"os\.system"
    found["obj"] = b"(cos\nsystem\n" + text(command) + b"o.", r"os\.system"
    found["newobj"] = b"\x80\x02csubprocess\nPopen\n" + text(command) + b"\x85\x81.", r"subprocess\.Popen"
    found["builtin-eval"] = b"\x80\x02cbuiltins\neval\n" + text("1") + b"\x85R.", r"builtins\.eval"
    dump = dict(dump_object(), health=Attack())
    found["in-a-dump"] = pickle.dumps(dump, 2), rf"{module}.system"
    return found


def test_code_in_a_pickle(t):
    marker = t.path("marker")
    for name, (data, what) in code_pickles(f"touch {marker}").items():
        path = t.file(f"alone/{name}_rank_0", data)
        run = t.analyze(path).exits(2, 3, 0).tells(what).tells(OFFSET)
        if name != "in-a-dump":
            run.exits(2).silent()
        t.run("analyze", path).exits(2, 3, 0).tells(what)
        t.expect(not os.path.exists(marker), f"{name}: the code in the pickle was run")


def test_code_among_good_dumps(t):
    job, marker = t.dumps(), t.path("marker")
    t.file("job/evil_rank_9", b"\x80\x02cos\nsystem\n" + text(f"touch {marker}") + b"\x85R.")
    verdict = t.hung(t.analyze(job))
    t.expect(re.search(r"os\.system", json.dumps(verdict)), "the verdict does not name os.system")
    t.expect(not os.path.exists(marker), "the code in the pickle was run")


def test_other_refused_opcodes(t):
    for name, data in {
        "persid": b"\x80\x02Pabc\n.",
        "binpersid": b"\x80\x02K\1Q.",
        "ext1": b"\x80\x02\x82\1.",
        "empty-set": b"\x80\x04\x8f.",
        "bytearray": b"\x80\x05\x96" + b"\0" * 8 + b".",
        "next-buffer": b"\x80\x05\x97.",
        "build": b"\x80\x02}}b.",
        "unknown": b"\x80\x02\xf7.",
        "protocol-9": b"\x80\x09}.",
    }.items():
        t.analyze(t.file(f"{name}_rank_0", data)).exits(2).silent().says(rf"{name}_rank_0")


def test_hostile_pickles(t):
    deep = 200_000
    bomb = b"]q\0(" + b"K\1" * 10 + b"e"
    for level in range(1, 60):
        bomb += b"0]q%c(" % level + b"h%c" % (level - 1) * 10 + b"e"
    hostile = {
        "long-string": b"\x80\x02X\xff\xff\xff\xffabc.",
        "long-string-8": b"\x80\x04\x8d" + b"\xff" * 8 + b"abc.",
        "long-bytes": b"\x80\x03B\xff\xff\xff\x7fabc.",
        "long-long": b"\x80\x02\x8b\xff\xff\xff\x7f\1.",
        "negative-long": b"\x80\x02\x8b\xff\xff\xff\xff\1.",
        "long-frame": b"\x80\x04\x95" + b"\xff" * 8 + b"}.",
        "deep-lists": b"\x80\x02" + b"](" * deep + b"e" * deep + b".",
        "deep-dicts": b"\x80\x02" + b"}(K\1" * deep + b"N" + b"u" * deep + b".",
        "deep-tuples": b"\x80\x02N" + b"\x85" * deep + b".",
        "marks": b"\x80\x02" + b"(" * 3_000_000 + b".",
        "self": b"\x80\x02]q\0h\0a.",
        "self-in-dict": b"\x80\x02}q\0(K\1h\0u.",
        "bomb": b"\x80\x02" + bomb + b".",
        "memo-unseen": b"\x80\x02h\x09.",
        "memo-far": b"\x80\x02Nr\xff\xff\xff\xff.",
        "memo-text": b"N" + b"p99999999999999999999\n" + b".",
        "underflow": b"\x80\x02e.",
        "underflow-items": b"\x80\x02}u.",
        "odd-items": b"\x80\x02}(K\1u.",
        "append-to-dict": b"\x80\x02}K\1a.",
        "items-to-list": b"\x80\x02](K\1K\2u.",
        "unhashable-key": b"\x80\x02}(]K\1u.",
        "no-stop": b"\x80\x02}(",
        "only-proto": b"\x80\x02",
        "stop-at-once": b"\x80\x02.",
        "bad-int": b"I12x4\n.",
        "long-int": b"L" + b"9" * 100_000 + b"L\n.",
        "no-newline": b"V" + b"a" * 100_000,
        "bad-float": b"Fone\n.",
    }
    for name, data in hostile.items():
        run = t.analyze(t.file(f"{name}_rank_0", data)).exits(2, 3).tells(rf"{name}_rank_0")
        t.expect(run.seconds < 5, f"{name}: took {run.seconds:.1f} s")


def test_hostile_parts_of_good_dumps(t):
    """Under a key that nobody knows: self-reference, bombs and depth do no harm to the rest."""
    job = t.dumps()
    for name, value in {
        "self": b"]q\xc8h\xc8a",
        "deep": b"](" * 40 + b"e" * 40,
        "bomb": b"]q\xc8(K\1e"
        + b"".join(b"0]q%c(" % (201 + n) + b"h%c" % (200 + n) * 10 + b"e" for n in range(40)),
    }.items():
        good = make_dumps.files(HUNG + " --ranks 4")["nccl_trace_rank_1"]
        assert good[:4] == b"\x80\x02}("
        t.file("job/nccl_trace_rank_1", good[:4] + text("zzz") + value + good[4:])
        run = t.analyze(job)
        t.hung(run)
        t.expect(run.seconds < 5, f"{name}: took {run.seconds:.1f} s")


def test_wrong_types(t):
    """Fields of another type than any recorder writes: an answer of any kind, but no crash."""
    odd = [
        None,
        True,
        -1,
        1 << 80,
        1.5,
        float("nan"),
        "",
        "x" * 70_000,
        "\udc80",
        b"bytes",
        [],
        [[]],
        (),
        {},
        {1: 2},
    ]
    base = dump_object("--ranks 2 --steps 4")
    number = 0

    def offer(dump, what):
        nonlocal number
        number += 1
        path = t.file(f"odd/{number}_rank_0", pickle.dumps(dump, 4))
        t.analyze(path).exits(0, 1, 2, 3).hides(r"assert|Sanitizer|Segmentation")
        t.expect(True, what)

    for key in base:
        for value in odd:
            offer(dict(base, **{key: value}), key)
    for key in base["entries"][0]:
        entries = [
            dict(entry, **{key: odd[(index + len(key)) % len(odd)]})
            for index, entry in enumerate(base["entries"] * 4)
        ]
        offer(dict(base, entries=entries), key)
    for ranks in (
        "",
        "[",
        "[0, 1",
        "[0, x]",
        "[99999999999999999999]",
        "[-1, 0]",
        "[0, 0]",
        "0,1",
        "[4294967295]",
        [0, 1],
        "[" + ", ".join(map(str, range(20_000))) + "]",
    ):
        offer(dict(base, pg_config={"0": {"name": "0", "desc": "default_pg", "ranks": ranks}}), "ranks")
    for value in odd:
        offer(dict(base, entries=[value] * 3), "entries")
        offer(value, "top")


def test_odd_numbers(t):
    base = dump_object("--ranks 2 --steps 4")
    for key in (
        "record_id",
        "pg_id",
        "collective_seq_id",
        "p2p_seq_id",
        "op_id",
        "time_created_ns",
        "timeout_ms",
    ):
        for value in (-1, 0, 1 << 31, 1 << 32, (1 << 63) - 1, -(1 << 63), 1 << 64):
            entries = [dict(entry, **{key: value}) for entry in base["entries"]]
            path = t.file(f"{key}/{value}_rank_0", pickle.dumps(dict(base, entries=entries), 4))
            t.analyze(path).exits(0, 1, 2, 3).hides(r"assert|Sanitizer|overflow")


def test_more_calls_and_stacks_than_are_kept(t):
    many = (1 << 18) + 5
    calls = (f"n:1:1 NCCL CALL ncclAllReduce(0,0,{i},7,0,0,0x1,0x1)\n" for i in range(many))
    t.run("analyze", "-v", "-", stdin="".join(calls).encode()).exits(3).shows("calls: 5 more")
    many = (1 << 16) + 5
    stacks = (
        f'Traceback (most recent call last):\n  File "a.py", line {i}, in f\nValueError: x\n'
        for i in range(1, many + 1)
    )
    t.run("analyze", "-v", "-", stdin="".join(stacks).encode()).exits(1).shows("stacks: 5 more")


def test_duplicate_keys(t):
    data = one_dump("--ranks 1 --steps 4 --container json").decode()
    data = data.replace('"state":"completed"', '"state":"scheduled","state":"completed"')
    t.analyze(t.file("a_rank_0.json", data)).exits(0).shows("healthy")
    pairs = text("version") + text("9.9")
    good = one_dump("--ranks 1 --steps 4")
    t.analyze(t.file("b_rank_0", good[:4] + pairs + good[4:])).exits(0).shows("healthy")


def test_trailing_bytes(t):
    job = t.dumps()
    for tail in (b"\n", b"garbage", b"\0" * 4096, one_dump()):
        t.file("job/nccl_trace_rank_1", make_dumps.files(HUNG)["nccl_trace_rank_1"] + tail)
        verdict = t.hung(t.analyze(job))
    t.expect(diagnostics(verdict) > 0, "bytes after the end are not noted")


def test_cut_file(t):
    job = t.dumps()
    data = make_dumps.files(HUNG)["nccl_trace_rank_1"]
    t.file("job/nccl_trace_rank_1", data[: len(data) * 2 // 3])
    verdict = t.analyze(job).exits(1, 3).json()
    t.expect(diagnostics(verdict) > 0, "a cut file is not noted")
    source = [
        entry for entry in verdict.get("coverage", {}).get("sources", []) if entry["path"].endswith("_1")
    ]
    t.expect(source and source[0]["records"] > 5, f"the entries before the cut are lost: {source}")


def test_hostile_json(t):
    for name, data in {
        "deep": b"[" * 300_000,
        "deep-objects": b'{"entries":' * 100_000,
        "cut": b'{"entries":[{"state":',
        "nul": b'{"entries":[\0]}',
        "bad-utf8": b'{"version":"\xff\xfe","entries":[]}',
        "surrogate": b'{"version":"\\ud800","entries":[]}',
        "huge": b'{"entries":[1e999999]}',
        "digits": b'{"entries":[' + b"9" * 200_000 + b"]}",
        "nan": b'{"entries":[NaN]}',
        "comma": b'{"entries":[1,,2]}',
        "escape": b'{"entries":["\\u12"]}',
        "array": b"[1, 2, 3]",
        "string": b'"entries"',
    }.items():
        run = t.analyze(t.file(f"{name}_rank_0.json", data)).exits(0, 2, 3).hides(r"assert|Sanitizer")
        t.expect(run.seconds < 5, f"{name}: took {run.seconds:.1f} s")


def test_file_names(t):
    data = one_dump()
    for name in (
        "dump.pickle",
        "rank_99999999999999999999",
        "rank_-1",
        "rank_4294967296",
        "_",
        "rank 0 .pkl",
    ):
        t.analyze(t.file(f"{name[:4]}{len(name)}/{name}", data)).exits(0, 1, 2, 3).hides(r"assert|Sanitizer")


# -- containers and the file system ---------------------------------------------------------------


def packed(found, mode):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for path in sorted(found):
            info = tarfile.TarInfo("job/" + path)
            info.size = len(found[path])
            archive.addfile(info, io.BytesIO(found[path]))
    return stream.getvalue()


def test_archives(t):
    found = make_dumps.files(HUNG)
    t.hung(t.analyze(t.file("job.tar", packed(found, "w"))))
    verdict = t.hung(t.analyze(t.file("job.tar.gz", packed(found, "w:gz"))))
    names = [source["path"] for source in verdict.get("coverage", {}).get("sources", [])]
    t.expect("job.tar.gz/job/nccl_trace_rank_0" in names, f"names of archive members: {names}")
    t.hung(t.analyze(t.file("job.tar.xz", packed(found, "w:xz"))))
    t.hung(t.analyze(t.file("job.tar.bz2", packed(found, "w:bz2"))))
    t.hung(t.analyze(t.file("no-suffix", packed(found, "w:gz"))))
    with zipfile.ZipFile(t.path("job.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in found.items():
            archive.writestr(path, data)
    t.hung(t.analyze(t.path("job.zip")))
    for path, data in found.items():
        t.file(f"each/{path}.gz", gzip.compress(data))
    t.hung(t.analyze(t.path("each")))


def test_archive_in_an_archive(t):
    found = make_dumps.files(HUNG)
    t.hung(t.analyze(t.file("outer.tar", packed({"inner.tar.gz": packed(found, "w:gz")}, "w"))))
    t.hung(
        t.analyze(
            t.file("gz.tar", packed({path + ".gz": gzip.compress(data) for path, data in found.items()}, "w"))
        )
    )
    thrice = packed({"b.tar": packed({"a.tar.gz": packed(found, "w:gz")}, "w")}, "w:gz")
    t.analyze(t.file("thrice.tar.gz", thrice)).exits(1, 2, 3).hides(r"assert|Sanitizer")


def test_zstd(t):
    if not shutil.which("zstd"):
        t.skip("no zstd program")
        return
    job = t.dumps()
    for name in os.listdir(job):
        subprocess.run(["zstd", "-q", "--rm", os.path.join(job, name)], check=True)
    t.hung(t.analyze(job))


def test_damaged_archives(t):
    found = make_dumps.files(HUNG)
    whole = packed(found, "w:gz")
    for share in (0.3, 0.6, 0.9):
        t.analyze(t.file(f"cut{share}.tar.gz", whole[: int(len(whole) * share)])).exits(1, 2, 3).hides(
            r"assert|Sanitizer"
        )
    broken = bytearray(whole)
    broken[len(whole) // 2] ^= 0xFF
    t.analyze(t.file("broken.tar.gz", bytes(broken))).exits(1, 2, 3).hides(r"assert|Sanitizer")
    t.analyze(t.file("zeros_0.gz", gzip.compress(b"\0" * 60_000_000))).exits(2).silent().says(r"zeros_0")


def test_archive_paths_stay_inside(t):
    found = make_dumps.files(HUNG)
    odd = {f"../../escaped/{path}": data for path, data in found.items()}
    t.analyze(t.file("up.tar", packed(odd, "w"))).exits(1, 2, 3).hides(r"assert|Sanitizer")
    t.expect(not os.path.exists(t.path("..", "escaped")), "a member was written outside")
    t.expect(
        sorted(os.listdir(t.folder)) == ["up.tar"], f"files left beside the archive: {os.listdir(t.folder)}"
    )


def test_standard_input(t):
    found = make_dumps.files(HUNG)
    t.hung(t.analyze("-", stdin=packed(found, "w:gz")))
    t.analyze("-", stdin=found["nccl_trace_rank_0"]).exits(1, 3).shows(r'"sources"')
    t.analyze("-", stdin=b"").exits(2).silent().says(r"-|stdin|standard input|empty")
    t.analyze("-", stdin=b"\1\2\3" * 100).exits(2).silent().says(r"-|stdin|standard input")


def test_fifo_in_a_folder(t):
    job = t.dumps()
    os.mkfifo(os.path.join(job, "rank_8.pipe"))
    run = t.analyze(job)
    t.hung(run)
    run.tells(r"rank_8\.pipe").tells(r"skip|fifo|pipe|not a (plain|regular)")


def test_links(t):
    job = t.dumps()
    outside = t.file("outside/nccl_trace_rank_9", one_dump("--ranks 12 --steps 8"))
    os.symlink(outside, os.path.join(job, "nccl_trace_rank_9"))
    run = t.analyze(job)
    verdict = t.hung(run)
    run.tells(r"nccl_trace_rank_9").tells(r"link|outside|leaves|skip")
    t.expect(
        verdict.get("coverage", {}).get("ranks_with_dumps") == [0, 1, 2, 3],
        "a link that leaves the folder was read",
    )
    os.symlink("/dev/zero", os.path.join(job, "nccl_trace_rank_10"))
    os.symlink(job, os.path.join(job, "loop"))
    os.symlink("nowhere", os.path.join(job, "dangling"))
    t.hung(t.analyze(job))


def test_device_as_path(t):
    t.analyze("/dev/null").exits(2).silent().says(r"/dev/null|empty|nothing")


def test_odd_names(t):
    job = t.dumps(into="job")
    for name in ("a b_rank_90", "new\nline_91", "tab\t_92", "-dash_93", "uml\u00e4ut_94"):
        t.file("job/" + name, b"not a dump at all")
    t.file("job/" + "x" * 250, b"\1\2\3")
    t.hung(t.analyze(job))


def test_same_path_twice(t):
    job = t.dumps()
    t.hung(t.analyze(job, job))
    t.hung(t.analyze(job, os.path.join(job, "nccl_trace_rank_0")))


def test_deep_folders(t):
    found = make_dumps.files(HUNG)
    for rank, (path, data) in enumerate(sorted(found.items())):
        t.file("/".join(["deep"] + ["d"] * (10 * rank + 1) + [path]), data)
    t.hung(t.analyze(t.path("deep")))


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", default="")
    option = arguments.parse_args()
    binary = os.path.abspath(option.binary)
    tally = hangscope_run.Tally()
    tests = [
        (name[5:], test)
        for name, test in globals().items()
        if name.startswith("test_") and inspect.isfunction(test)
    ]
    for name, function in tests:
        if option.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            test = Test(name, binary, folder)
            function(test)
        if test.skipped:
            print(f"{name}: skipped: {test.skipped}")
            continue
        lines = "\n".join(f"{name}: {line}" for line in test.complaints[:6])
        more = f"\n{name}: {len(test.complaints) - 6} more" if len(test.complaints) > 6 else ""
        tally.check(not test.complaints and test.checks, (lines or f"{name}: checks nothing") + more)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
