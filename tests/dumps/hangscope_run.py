"""Runs hangscope for the tests and reads the table of scenarios. Standard library only."""

import json
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "scenarios.tsv")
EXIT = {"healthy": 0, "undetermined": 3}
RANKS = {"low": 0, "medium": 1, "high": 2}


class Verdict:
    """One run of `analyze --json`. `trouble` says what is wrong with the run itself, or is empty."""

    def __init__(self, binary, paths, *options, env=None, timeout=60, command="analyze"):
        command = [binary, command, "--json", *options, *paths]
        try:
            run = subprocess.run(
                command,
                capture_output=True,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                env=dict(os.environ, **(env or {})),
                check=False,
            )
        except subprocess.TimeoutExpired:
            self.status, self.stdout, self.stderr = None, b"", ""
            self.object, self.trouble = None, f"no answer in {timeout} s"
            return
        self.status, self.stdout = run.returncode, run.stdout
        self.stderr = run.stderr.decode("utf-8", "replace")
        self.object, self.trouble = None, ""
        if self.status in (0, 1, 3):
            try:
                self.object = json.loads(run.stdout)
            except ValueError as error:
                self.trouble = f"standard output is not JSON: {error}"
                return
            self.trouble = self._shape()
        elif self.status in (2, 4):
            if run.stdout:
                self.trouble = f"exit {self.status} but standard output is not empty"
        else:
            self.trouble = f"ended with {self.status}: {self.stderr[-300:]}"

    def _shape(self):
        """What every verdict must hold, whatever the input."""
        try:
            verdict, coverage = self.object["verdict"], self.object["coverage"]
            if self.object["schema"] != "hangscope.verdict/1":
                return "another schema"
            if EXIT.get(verdict["code"], 1) != self.status:
                return f"code {verdict['code']} with exit {self.status}"
            if verdict["confidence"] not in RANKS:
                return f"confidence {verdict['confidence']}"
            if verdict["code"] == "undetermined" and verdict["confidence"] != "low":
                return "undetermined is always low"
            if verdict["code"] == "undetermined" and not self.object["next_steps"]:
                return "undetermined without a next step"
            if verdict["code"] in EXIT and verdict["culprits"]:
                return f"{verdict['code']} with culprits"
            if verdict["confidence"] == "high" and any(c["role"] == "unseen" for c in verdict["culprits"]):
                return "an unseen culprit with high"
            if not verdict["summary"] or not isinstance(coverage["sources"], list):
                return "no summary or no sources"
            for key in ("alternatives", "findings", "next_steps"):
                if not isinstance(self.object[key], list):
                    return f"{key} is no list"
        except (KeyError, TypeError) as error:
            return f"a field is missing: {error!r}"
        return ""

    @property
    def code(self):
        return self.object["verdict"]["code"]

    @property
    def confidence(self):
        return self.object["verdict"]["confidence"]

    @property
    def culprits(self):
        return sorted(culprit["rank"] for culprit in self.object["verdict"]["culprits"])

    @property
    def operation(self):
        op = self.object["verdict"]["operation"] or {}
        return f"{op.get('group')}:{op.get('seq')}:{op.get('op')}"

    def records(self, name):
        """Records read from the source with this path, or None."""
        for source in self.object["coverage"]["sources"]:
            if source["path"] == name:
                return source["records"]
        return None

    def __str__(self):
        if self.trouble or self.object is None:
            return self.trouble or f"exit {self.status}: {self.stderr.strip()[-200:]}"
        return f"{self.code} ({self.confidence}) {self.culprits} {self.operation} exit {self.status}"


class Scenario:
    def __init__(self, line):
        self.name, self.arguments, codes, self.culprit_text, self.operation, confidence = line.split("\t")
        self.codes = codes.split()
        self.culprits = [
            [] if word == "-" else sorted(int(rank) for rank in word.split(","))
            for word in self.culprit_text.split("|")
        ]
        self.exact = confidence.startswith("=")
        self.confidence = confidence.lstrip("=")

    def truth(self):
        """The ranks that may be named; the rest are innocent."""
        return {rank for choice in self.culprits for rank in choice}

    def complaint(self, run):
        """Why this verdict is wrong, or empty."""
        if run.trouble or run.object is None:
            return str(run)
        if run.code not in self.codes:
            return f"code, want {' or '.join(self.codes)}"
        if run.culprits not in self.culprits and run.code not in EXIT:
            return f"culprits, want {self.culprit_text}"
        if self.operation not in ("-", run.operation) and run.code not in EXIT:
            return f"operation, want {self.operation}"
        if RANKS[run.confidence] > RANKS[self.confidence]:
            return f"confidence, at most {self.confidence}"
        if self.exact and run.confidence != self.confidence:
            return f"confidence, want {self.confidence}"
        return ""


def scenarios(path=TABLE):
    with open(path, encoding="utf-8") as table:
        return [Scenario(line.rstrip("\n")) for line in table if line.strip() and not line.startswith("#")]


def wrong_and_high(run, scenario):
    """Whether a verdict is `high` and says something else than the truth of the scenario."""
    if run.object is None or run.confidence != "high":
        return False
    named = run.culprits in scenario.culprits
    return not named or not (run.code in scenario.codes or run.culprits)


class Tally:
    """Counts checks; prints one line for each that fails and the last line."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, good, line):
        if good:
            self.passed += 1
        else:
            self.failed += 1
            print(line, flush=True)
        return good

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed or not self.passed else 0
