#!/usr/bin/env python3
"""check_families.py LINE_DUMP SHARED: the families against the reference tables beside the repository.

Every name of the tables is a family or stands in docs/formats/not-read.md; every example line of theirs is
recognised, by the family of that name or one that it was divided into (net_ofi, net_ofi_version). An example
that is only a message stands behind NCCL's header.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = [
    "",
    "node-a:101:188 [0] NCCL INFO ",
    "node-a:101:188 [0] x.cc:1 NCCL WARN ",
    "node-a:101:188 NCCL CALL ",
]


def families():
    """(all names, those that a line dump can show: families with a pattern)."""
    everything, matched = set(), set()
    for file in sorted((ROOT / "parsers" / "families").glob("*.families")):
        for stanza in re.split(r"^\[", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
            name = stanza.split("]", 1)[0]
            everything.add(name)
            if re.search(r"^pattern ", stanza, re.M):
                matched.add(name)
    return everything, matched


def names_not_read():
    page = ROOT / "docs" / "formats" / "not-read.md"
    rows = re.findall(r"^\|([^|]*)\|", page.read_text(encoding="utf-8"), re.M) if page.exists() else []
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def table(path, cells):
    """Rows of so many cells, the last of which may have tabs; a comment begins with #."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.split("\t", cells - 1)


def recognise(line_dump, line):
    """The families of a line's records, but for the one that takes any warning."""
    done = subprocess.run([line_dump], input=(line + "\n").encode(), capture_output=True, check=True)
    return {name.decode() for name in re.findall(rb"^\d+   (\w+)", done.stdout, re.M)} - {"nccl_warn"}


def check_names(names, known):
    return [f"{name}: no family, nor in docs/formats/not-read.md" for name in names if name not in known]


def check_nccl(line_dump, shared, matched, known):
    rows = list(table(shared / "reference" / "nccl-patterns.tsv", 4))
    bad = check_names([row[0] for row in rows], known)
    for name, _, _, examples in rows:
        for line in filter(None, examples.split(" ¦ ")):
            names = set().union(*(recognise(line_dump, header + line) for header in HEADERS))
            related = {other for other in names if other.split("_")[0] == name.split("_")[0]}
            if not names or (name in matched and not related):
                bad.append(f"{name}: {' '.join(sorted(names)) or 'nothing'}: {line}")
    return bad


def check_torch(line_dump, shared, matched, known):
    rows = [row[0] for row in table(shared / "reference" / "pytorch-patterns.tsv", 2)]
    bad = check_names(rows, known)
    for labels, line in table(shared / "reference" / "pytorch-lines.tsv", 2):
        names = recognise(line_dump, line)
        for label in labels.split(","):
            unwanted = label.startswith("!")
            name = label.lstrip("!")
            if name in matched and (name in names) == unwanted:
                bad.append(f"{label}: {' '.join(sorted(names)) or 'nothing'}: {line}")
    return bad


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    line_dump, shared = sys.argv[1], Path(sys.argv[2])
    everything, matched = families()
    known = everything | names_not_read()
    bad = check_nccl(line_dump, shared, matched, known) + check_torch(line_dump, shared, matched, known)
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
