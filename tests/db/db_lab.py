"""What the tests of databases share: runs of hangscope, jobs to run it on, one line for each failure."""

import argparse
import collections
import contextlib
import glob
import hashlib
import inspect
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "samples")
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "dumps"))

import hangscope_run  # noqa: E402
import make_dumps  # noqa: E402

NOBODY = 65534
SANITIZERS = {"ASAN_OPTIONS": "exitcode=99", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}
Answer = collections.namedtuple("Answer", "status out err")


class Skip(Exception):
    """This machine cannot do what a test needs."""


class Lab:
    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.tally = hangscope_run.Tally()
        self.name = ""
        self.scenarios = {scenario.name: scenario for scenario in hangscope_run.scenarios()}
        self.made = {}

    # -- checks ---------------------------------------------------------------

    def check(self, good, what):
        return self.tally.check(bool(good), f"{self.name}: {what}")

    def same(self, what, got, want):
        return self.check(got == want, f"{what}: got {short(got)}, want {short(want)}")

    def exits(self, what, answer, *statuses, says=None):
        """The exit status; of 2 and 4 also that nothing is on standard output, and a sentence is said."""
        good = answer.status in statuses
        if answer.status in (2, 4):
            good = good and answer.out == b"" and answer.err.startswith("hangscope: ")
        if says:
            good = good and says in answer.err
        return self.check(
            good, f"{what}: want exit {statuses} {says or ''}, got {answer.status} {short(answer.err)}"
        )

    # -- runs -----------------------------------------------------------------

    def run(self, *words, stdin=b"", stdout=subprocess.PIPE, timeout=120, **more):
        """One run of hangscope; a status below 0 is a signal, None no answer in time."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("HANGSCOPE_")}
        environment.update(SANITIZERS)
        environment.update(more.pop("env", {}))
        try:
            run = subprocess.run(
                [self.binary, *words],
                input=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                timeout=timeout,
                env=environment,
                check=False,
                **more,
            )
        except subprocess.TimeoutExpired:
            return Answer(None, b"", f"no answer in {timeout} s")
        return Answer(run.returncode, run.stdout or b"", run.stderr.decode("utf-8", "replace"))

    def analyze(self, *paths, options=()):
        return self.run("analyze", "--json", *options, *paths)

    def ingest(self, path, to, *options):
        answer = self.run("ingest", "-q", *options, path, "-o", to)
        return self.exits(f"ingest {os.path.basename(path)}", answer, 0)

    def rows(self, path, query):
        """The answer of `hangscope sql` as a list of dicts."""
        answer = self.run("sql", "--format", "jsonl", path, query)
        self.exits(f"sql {query[:60]}", answer, 0)
        return [json.loads(line) for line in answer.out.decode().splitlines()]

    # -- jobs -----------------------------------------------------------------

    def files(self, arguments):
        """{path: bytes} of a simulated job."""
        if arguments not in self.made:
            self.made[arguments] = make_dumps.files(arguments)
        return self.made[arguments]

    def put(self, arguments, folder):
        make_dumps.put(self.files(arguments), folder)
        return folder

    def database(self, folder, arguments="--fault missing --culprits 3", name="job.db"):
        """A database of a simulated job, in this folder."""
        dumps = self.put(arguments, os.path.join(folder, f"dumps-{name}"))
        path = os.path.join(folder, name)
        self.ingest(dumps, path)
        return path


def samples():
    return sorted(glob.glob(os.path.join(SAMPLES, "*", "dumps")))


def short(value):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) < 300 else text[:300] + "..."


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def write(path, data):
    with open(path, "wb") as stream:
        stream.write(data)
    return path


def digest(path):
    return hashlib.sha256(read(path)).hexdigest()


@contextlib.contextmanager
def folder():
    """A temporary folder that everybody may enter."""
    path = tempfile.mkdtemp(prefix="hangscope-db-")
    os.chmod(path, 0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def python_sqlite(path):
    """The database as Python opens it, to read and to tamper with."""
    db = sqlite3.connect(path)
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        with db:
            yield db
    finally:
        db.close()


# -- the programs that run tests ----------------------------------------------


def tests(modules, only):
    """(GROUP/NAME, function) of all tests in modules named KIND_GROUP; `only`: of a group or a name."""
    for module in modules:
        group = module.__name__.split("_", 1)[1]
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if name.startswith("test_") and only in (None, group, name[5:], f"{group}/{name[5:]}"):
                yield f"{group}/{name[5:]}", function


def main(description, modules, make_lab, call):
    """Run by call(function, lab) the tests that the command line asks for; the exit status."""
    arguments = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", metavar="NAME")
    option = arguments.parse_args()
    lab = make_lab(option.binary)
    for name, function in tests(modules, option.only):
        lab.name = name
        try:
            call(function, lab)
        except Skip as reason:
            print(f"skipped {name}: {reason}")
        except Exception:
            lab.check(False, traceback.format_exc())
    return lab.tally.end()
