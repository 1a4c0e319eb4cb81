"""What the tests of batches share: archives of generated jobs, runs of `batch`, what a fleet holds."""

import contextlib
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "db"))

import db_lab  # noqa: E402

Skip = db_lab.Skip
main = db_lab.main

# Small jobs of every kind: (code that is right, options of make_dumps.py).
KINDS = [
    ("healthy", "--ranks 4 --steps 12"),
    ("healthy", "--ranks 2 --steps 8 --container json"),
    ("healthy", "--program pipeline --ranks 4 --steps 8"),
    ("rank-missing", "--ranks 4 --steps 12 --fault missing --culprits 2 --moment aged"),
    ("rank-missing", "--ranks 4 --steps 12 --fault missing --culprits 0,1 --sub --moment aged"),
    ("rank-missing", "--program pipeline --ranks 4 --steps 12 --fault missing --culprits 1"),
    ("order-mismatch", "--ranks 4 --steps 12 --fault skip --culprits 3 --moment aged"),
    ("order-mismatch", "--ranks 4 --steps 12 --fault extra --culprits 1"),
    ("size-mismatch", "--ranks 4 --steps 12 --fault size --culprits 2"),
    ("dtype-mismatch", "--ranks 4 --steps 12 --fault dtype --culprits 2 --hosts"),
    ("p2p-mismatch", "--program exchange --ranks 4 --fault swap --culprits 2 --serial"),
]


class Lab(db_lab.Lab):
    def archive(self, folder, count):
        """`count` jobs of all kinds below folder; -> {name: code that is right}."""
        truth = {}
        for number in range(count):
            code, arguments = KINDS[number % len(KINDS)]
            name = f"2026-{number % 12 + 1:02d}/job-{number:05d}"
            self.put(arguments, os.path.join(folder, name))
            truth[name] = code
        return truth

    def batch(self, root, fleet, *options, **more):
        roots = [root] if isinstance(root, str) else root
        return self.run("batch", "-q", *roots, "-o", fleet, *options, **more)

    def export(self, fleet):
        """The jobs of a fleet as bytes."""
        answer = self.run("fleet", "export", fleet, "--format", "jsonl")
        self.exits("fleet export", answer, 0)
        return answer.out

    def jobs(self, fleet):
        """{name: row of the view jobs}."""
        return {row["name"]: row for row in self.rows(fleet, "SELECT * FROM jobs")}

    def is_sanitized(self):
        """Whether the program cannot be held to a limit of memory."""
        data = db_lab.read(self.binary)
        return b"__asan_init" in data or b"__tsan_init" in data


@contextlib.contextmanager
def folder():
    path = tempfile.mkdtemp(prefix="hangscope-batch-")
    os.chmod(path, 0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
