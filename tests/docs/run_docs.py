#!/usr/bin/env python3
"""run_docs.py HANGSCOPE [--update]: the examples of README.md and docs/ print what they say.

A block fenced as ```console holds commands (`$ command`, run by bash in the repository's root) and
what they print, standard output and error together. A command goes on in lines that begin with `> `.
A line `…` stands for any lines, `…` within a line for any text. The seconds in a heading do not
matter. Links between the pages must lead somewhere. --update writes the present output into the pages,
cut where it was cut before.
The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import argparse
import difflib
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MARK = "=== hangscope docs: next command ==="
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)


def pages():
    found = [os.path.join(ROOT, "README.md")]
    found += glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
    return sorted(path for path in found if os.path.exists(path))


def examples(block):
    """-> [[command, as it is shown, lines printed]]; it goes on after a backslash and in lines with `> `."""
    found, goes_on = [], False
    for line in block.splitlines():
        more = found and not found[-1][2] and line.startswith("> ")
        if goes_on or more:
            found[-1][0] += "\n" + (line[2:] if more else line)
            found[-1][1] += line + "\n"
        elif line.startswith("$ "):
            found.append([line[2:], line + "\n", []])
        elif found:
            found[-1][2].append(line)
        else:
            raise ValueError(f"a block begins with output: {line}")
        goes_on = (goes_on or line.startswith("$ ")) and line.endswith("\\")
    return found


def run(commands, folder):
    """What each command of a block printed. They share a shell, so that `$?` and variables work."""
    script = "status=0\n"
    for command in commands:
        script += f"echo '{MARK}'\n(exit $status)\n{command}\nstatus=$?\n"
    env = {key: value for key, value in os.environ.items() if not key.startswith("HANGSCOPE")}
    env.update(PATH=folder + os.pathsep + env["PATH"], LC_ALL="C.UTF-8", TZ="UTC", TMPDIR=folder)
    shell = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    parts = shell.stdout.decode("utf-8", "replace").split(MARK + "\n")
    return [part.splitlines() for part in parts[1:]]


def bare(line):
    return re.sub(r"· \d+\.\d\d s$", "· 0.00 s", line.rstrip())


def fits(expected, printed):
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += ".*?".join(re.escape(bare(part)) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, "".join(bare(line) + "\n" for line in printed)) is not None


def cut(expected, printed):
    """The present output, cut where the expected one was."""
    dots = [i for i, line in enumerate(expected) if line.strip() == "…"]
    if not dots:
        return [bare(line) for line in printed]
    head, tail = dots[0], len(expected) - dots[-1] - 1
    kept = printed[:head] + [expected[dots[0]]] + (printed[-tail:] if tail else [])
    return [bare(line) for line in kept]


class Book:
    def __init__(self, binary, update):
        self.passed = self.failed = 0
        self.update = update
        self.folder = tempfile.TemporaryDirectory()
        os.symlink(os.path.abspath(binary), os.path.join(self.folder.name, "hangscope"))

    def check(self, good, line):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print(line)

    def run_block(self, name, block):
        """-> the block as it should be."""
        parts = examples(block)
        outputs = run([command for command, _, _ in parts], self.folder.name)
        outputs += [["(the shell had ended)"]] * (len(parts) - len(outputs))
        text = ""
        for (command, shown, expected), printed in zip(parts, outputs):
            good = fits(expected, printed)
            lines = expected if good else cut(expected, printed)
            if not (good or self.update):
                hint = "\n".join(difflib.unified_diff(expected, printed, "page", "now", lineterm="", n=1))
                self.check(False, f"{name}: $ {command}\n{hint}")
            else:
                self.check(True, "")
            text += shown + "".join(line + "\n" for line in lines)
        return text

    def run_page(self, path):
        name = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        new = BLOCK.sub(lambda match: "```console\n" + self.run_block(name, match[1]) + "```", page)
        if self.update and new != page:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print(f"{name}: rewritten")
        self.check_links(path, name, page)

    def check_links(self, path, name, page):
        text = re.sub(r"^```.*?^```$", "", page, flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            there = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            self.check(os.path.exists(there), f"{name}: the link {target} leads nowhere")
            if anchor and there.endswith(".md") and os.path.exists(there):
                self.check(anchor in anchors(there), f"{name}: {target}: there is no such heading")


def anchors(path):
    with open(path, encoding="utf-8") as file:
        page = re.sub(r"^```.*?^```$", "", file.read(), flags=re.M | re.S)
    headings = re.findall(r"^#+ +(.*)$", page, flags=re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--update", action="store_true")
    option = arguments.parse_args()
    if not os.access(option.binary, os.X_OK):
        arguments.error(f"{option.binary} is not a program")
    book = Book(option.binary, option.update)
    for path in pages():
        book.run_page(path)
    print(f"{book.passed} passed, {book.failed} failed")
    return 1 if book.failed else 0


if __name__ == "__main__":
    sys.exit(main())
