#!/usr/bin/env python3
"""tally.py [--no-skips] RESULTS.xml...: one line for each failed or skipped test, then the count of all.

Reads what `ctest --output-junit` wrote. The reason of a skip is the last line that the test said. Exit
status 1 when a test failed, none ran, or (--no-skips) one was skipped.
"""

import sys
import xml.etree.ElementTree as xml
from pathlib import Path


def last_line(case):
    lines = (case.findtext("system-out") or "").strip().splitlines()
    return lines[-1] if lines else "no reason was given"


def main():
    files = [word for word in sys.argv[1:] if word != "--no-skips"]
    passed = failed = skipped = 0
    for file in files:
        build = Path(file).parent.name
        for case in xml.parse(file).getroot().iter("testcase"):
            name = f"{build}:{case.get('name')}"
            if case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
                skipped += 1
                print(f"skipped {name}: {last_line(case)}")
            elif case.get("status") == "run":
                passed += 1
            else:
                failed += 1
                print(f"failed {name}")
    if "--no-skips" in sys.argv:
        failed, skipped = failed + skipped, 0
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
