#!/usr/bin/env python3
"""run_samples.py HANGSCOPE: every sample gives the verdict that its expected.json states.

Judged are the dumps of a sample, or its logs where it has no dumps: as a folder, as a .tar.gz and on standard
input. The verdict is the same each time, byte for byte below the names of the sources.
"""

import glob
import io
import json
import os
import subprocess
import sys
import tarfile

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "samples")
EXIT = {"healthy": 0, "undetermined": 3}


def analyze(binary, path, stdin=None):
    run = subprocess.run([binary, "analyze", "--json", path], input=stdin, capture_output=True, timeout=60)
    if not run.stdout:
        return None, f"exit {run.returncode}: {run.stderr.decode()}"
    report = json.loads(run.stdout)
    if run.returncode != EXIT.get(report["verdict"]["code"], 1):
        return None, f"exit {run.returncode} for {report['verdict']['code']}"
    return report, None


def differences(verdict, expected):
    """What of a verdict is not as expected."""
    operation = verdict["operation"] or {}
    accepted = [expected["code"], *expected.get("accept", [])]
    if verdict["code"] not in accepted:
        yield f"code {verdict['code']}, want {' or '.join(accepted)}"
    if [c["rank"] for c in verdict["culprits"]] != expected["culprits"]:
        yield f"culprits {[c['rank'] for c in verdict['culprits']]}, want {expected['culprits']}"
    for key in ("cause", "confidence"):
        if key in expected and verdict[key] not in (expected[key], *expected.get("accept_" + key, [])):
            yield f"{key} {verdict[key]}, want {expected[key]}"
    if "hosts" in expected and [c["host"] for c in verdict["culprits"]] != expected["hosts"]:
        yield f"hosts {[c['host'] for c in verdict['culprits']]}, want {expected['hosts']}"
    for key, want in (expected.get("operation") or {}).items():
        if operation.get(key) != want:
            yield f"operation.{key} {operation.get(key)}, want {want}"
    if "waiting_ranks" in expected and verdict["waiting_ranks"] != expected["waiting_ranks"]:
        yield f"waiting {verdict['waiting_ranks']}, want {expected['waiting_ranks']}"


def lacking(report, expected):
    """What the rest of a report lacks: findings, and words that the next steps have to say."""
    found = [finding["code"] for finding in report["findings"]]
    steps = " ".join(report["next_steps"])
    yield from (f"no finding {code}" for code in expected.get("findings", []) if code not in found)
    yield from (f"no next step says {words}" for words in expected.get("next", []) if words not in steps)


def archive_of(folder):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path in sorted(glob.glob(os.path.join(folder, "*"))):
            tar.add(path, arcname=os.path.basename(path))
    return packed.getvalue()


def check(binary, folder):
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as stream:
        expected = json.load(stream)
    data = os.path.join(folder, "dumps")
    if not os.path.isdir(data):
        data = os.path.join(folder, "logs")
    report, trouble = analyze(binary, data)
    if trouble:
        return [trouble]
    found = [*differences(report["verdict"], expected), *lacking(report, expected)]
    packed, trouble = analyze(binary, "-", archive_of(data))
    if trouble:
        found.append(f"as an archive: {trouble}")
    elif packed["verdict"] != report["verdict"]:
        found.append(f"as an archive on standard input another verdict: {packed['verdict']}")
    return found


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(SAMPLES, "*", "expected.json"))):
        found = check(sys.argv[1], os.path.dirname(path))
        passed, failed = passed + (not found), failed + bool(found)
        for line in found:
            print(f"{os.path.basename(os.path.dirname(path))}: {line}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or passed < 6


if __name__ == "__main__":
    sys.exit(main())
