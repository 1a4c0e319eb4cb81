#!/usr/bin/env python3
"""check_sizes.py ROOT: files over 600 lines, functions over 70, and work left undone, in C, Python and shell.

A longer one needs its reason in the comment at the head of the file, with the words "over 600 lines" or
"over 70 lines". In C, a function is what stands between braces in the first column.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

FILE_LINES, FUNCTION_LINES = 600, 70
UNDONE = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")  # in pieces, so that this file has none


def sources(root):
    command = ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in sorted(set(filter(None, names))):
        path = Path(root) / name
        if not path.is_file() or "/corpus/" in name:
            continue
        with open(path, "rb") as stream:
            head = stream.read(64)
        if path.suffix in (".c", ".h", ".py") or head.startswith((b"#!/usr/bin/env", b"#!/bin")):
            yield name, path.read_text(encoding="utf-8")


def functions(name, text):
    """(first line, lines) of every function."""
    lines = text.splitlines()
    if name.endswith(".py") or "python" in lines[0]:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node.lineno, node.end_lineno - node.lineno + 1
        return
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{" or re.match(r"\w+\(\) \{$", line):
            start = number
        elif line.startswith("}") and start:
            yield start, number - start + 1
            start = None


def complaints(name, text):
    lines = text.splitlines()
    head = re.sub(r"[\s*#]+", " ", " ".join(lines[:12])).lower()
    if len(lines) > FILE_LINES and f"over {FILE_LINES} lines" not in head:
        yield f"{name}: {len(lines)} lines, and its head says no reason"
    if f"over {FUNCTION_LINES} lines" not in head:
        for line, count in functions(name, text):
            if count > FUNCTION_LINES:
                yield f"{name}:{line}: a function of {count} lines, and the file's head says no reason"
    for number, line in enumerate(lines, 1):
        if UNDONE.search(line):
            yield f"{name}:{number}: left undone: {line.strip()}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bad = [line for name, text in sources(sys.argv[1]) for line in complaints(name, text)]
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
