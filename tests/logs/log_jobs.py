"""Jobs that left logs, each with what may be said of it. Standard library only."""

import glob
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
SAMPLES = os.path.join(os.path.dirname(TESTS), "samples")
sys.path[:0] = [os.path.join(TESTS, "dumps"), os.path.join(TESTS, "rules")]

import run_rules  # noqa: E402


class Job:
    """Files of a job. `codes`: what is right; `culprits`: who may be named, None where nobody knows."""

    def __init__(self, name, files, codes=(), culprits=None, reject_high=()):
        self.name, self.files = name, files
        self.codes, self.culprits, self.reject_high = set(codes), culprits, set(reject_high)
        self.known = bool(codes)  # else what the verdict says of the files as they are is taken for true

    def right(self, run):
        """Whether a verdict is true of the job. Of some culprits a part may be all that is left to see."""
        if self.codes and run.code not in self.codes:
            return False
        return self.culprits is None or set(run.culprits) <= set(self.culprits)

    def wrong_and_high(self, run):
        if run.object is None or run.confidence != "high":
            return False
        return run.code in self.reject_high or not self.right(run)


def files_below(folder):
    """{path below the folder: bytes}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "**", "*"), recursive=True)):
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                found[os.path.relpath(path, folder)] = stream.read()
    return found


def object_of(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def sample(folder, parts=("logs",)):
    """A sample: only its logs, only its dumps, or both. Both may reach the truth, or what the dumps say."""
    expected = object_of(os.path.join(folder, "expected.json"))
    truth = expected.get("truth", expected)  # a sample of logs alone has no other truth
    files = {}
    for part in parts:
        for path, data in files_below(os.path.join(folder, part)).items():
            files[os.path.join(part, path)] = data
    codes = [truth["code"], expected["code"], *expected.get("accept", [])]
    return Job("sample " + os.path.basename(folder), files, codes, truth["culprits"])


def sample_folders():
    return [os.path.dirname(path) for path in sorted(glob.glob(os.path.join(SAMPLES, "*", "expected.json")))]


def samples():
    return [sample(folder) for folder in sample_folders()]


def own_case(folder):
    expected = object_of(os.path.join(folder, "expected.json"))
    job = Job(
        os.path.basename(folder),
        files_below(os.path.join(folder, "input")),
        [expected["code"], *expected.get("accept", [])],
        expected["culprits"],
    )
    return job, expected


def own_cases():
    """(job, expected) of every folder here."""
    return [own_case(folder) for folder in sorted(glob.glob(os.path.join(HERE, "cases", "*")))]


def shared_cases(root):
    """Folders with input/ and truth.json, as ../shared/cases has them."""
    jobs = []
    for path in sorted(glob.glob(os.path.join(root, "*", "truth.json"))):
        folder, truth = os.path.dirname(path), object_of(path)
        codes = [truth["best"], *truth.get("accept", [])] if truth.get("scored", True) else []
        files = files_below(os.path.join(folder, "input"))
        reject = truth.get("reject_high", ())
        jobs.append(Job(os.path.basename(folder), files, codes, truth.get("culprit_ranks"), reject))
    return jobs


def goldens(step):
    """Every `step`th case that fires a rule. What is true of it is what its verdict says, as it stands."""
    jobs = []
    for path in sorted(glob.glob(os.path.join(TESTS, "rules", "*.txt"))):
        for case in run_rules.read_cases(path):
            if case.kind == "fires":
                files = {name: text.encode() for name, text in case.files().items()}
                jobs.append(Job(f"rule {os.path.basename(path)[:-4]}, {case.name}", files))
    return jobs[::step]
