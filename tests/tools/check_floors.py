#!/usr/bin/env python3
"""check_floors.py ROOT: fail when a folder includes what it may not. The table is the architecture.

--self-test plants violations in a folder of its own and checks that each is found.
"""

import re
import sys
import tempfile
from pathlib import Path

# The longest name that a file's path begins with decides; what it may include begins with one of these.
MAY_INCLUDE = {
    "base/": ["base/"],
    "schema/": ["schema/", "base/"],
    "parsers/": [
        "parsers/",
        "schema/job.h",
        "schema/event.h",
        "schema/operation.h",
        "schema/text_blocks.h",
        "base/",
    ],
    "analyzer/": ["analyzer/", "schema/", "base/"],
    "analyzer/render/": ["analyzer/render/", "schema/", "base/"],
    "analyzer/commands/": ["analyzer/", "parsers/", "replay/", "fleet/", "schema/", "base/"],
    "analyzer/main.c": ["analyzer/", "parsers/", "replay/", "fleet/", "schema/", "base/"],
    "replay/": ["replay/", "schema/", "base/"],
    "replay/nccl/": ["replay/", "schema/", "base/"],
    "fleet/": ["fleet/", "schema/", "base/"],
}
# Going down only: what no file of a folder may include although the rows above would let it.
NEVER = {
    "analyzer/": ["analyzer/commands/"],
    "analyzer/commands/": ["replay/nccl/"],
    "analyzer/main.c": ["replay/nccl/"],
    "replay/": ["replay/nccl/"],
    "replay/nccl/": [],
}
# A library is known to one module: to files whose path begins so. libarchive has two: one unpacks what is
# read, the other packs what is written, which renderers need that must not know parsers.
ONLY_IN = {
    "sqlite3.h": "schema/store",
    "archive.h": ("parsers/source_unpack.c", "base/gzip.c"),
    "archive_entry.h": ("parsers/source_unpack.c", "base/gzip.c"),
    "pcre2.h": "parsers/",
    "zstd.h": "schema/text_blocks.c",
    "cJSON.h": "analyzer/render/",
    "nccl.h": "replay/nccl/",
    "cuda_runtime.h": "replay/nccl/",
}
ONE_FILE = ["pcre2.h"]  # wherever it is, no second one
FOLDERS = ["base", "schema", "parsers", "analyzer", "replay", "fleet"]
INCLUDE = re.compile(r'\s*#\s*include\s+["<]([^">]+)')


def longest(table, path):
    """The row of a table for a path, or None."""
    rows = [row for row in table if path.startswith(row)]
    return table[max(rows, key=len)] if rows else None


def includes(root):
    """(path, line number, included file) of every include."""
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.[chd]*")):
            if file.suffix not in (".c", ".h", ".def"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if found:
                    yield file.relative_to(root).as_posix(), number, found.group(1)


def starts(text, heads):
    return any(text.startswith(head) for head in heads)


def violations(root):
    users = {}
    for path, number, included in includes(root):
        library = included.rsplit("/", 1)[-1]
        if library in ONLY_IN:
            users.setdefault(library, set()).add(path)
            if not path.startswith(ONLY_IN[library]):
                users_of = ONLY_IN[library]
                names = users_of if isinstance(users_of, str) else " and ".join(users_of)
                yield f"{path}:{number}: only {names} may include {library}"
            elif library in ONE_FILE and len(users[library]) > 1:
                yield f"{path}:{number}: {library} is already included by {min(users[library] - {path})}"
        elif starts(included, [f"{folder}/" for folder in FOLDERS]):
            never = longest(NEVER, path) or []
            if not starts(included, longest(MAY_INCLUDE, path)) or starts(included, never):
                yield f"{path}:{number}: may not include {included}"


PLANTED = {
    "base/a.c": '#include "schema/job.h"',
    "schema/a.c": '#include "parsers/driver.h"',
    "schema/b.c": "#include <sqlite3.h>",
    "parsers/a.c": '#include "analyzer/align.h"',
    "parsers/b.c": '#include "schema/verdict.h"',
    "parsers/c.c": "#  include <archive.h>",
    "base/b.c": "#include <archive.h>",
    "parsers/e.c": "#include <zstd.h>",
    "parsers/f.c": "#include <pcre2.h>",
    "analyzer/a.c": '#include "parsers/source.h"',
    "analyzer/b.c": '#include "replay/plan.h"',
    "analyzer/c.c": '#include "analyzer/commands/command.h"',
    "analyzer/commands/a.c": "#include <cjson/cJSON.h>",
    "analyzer/commands/b.c": '#include "replay/nccl/run.h"',
    "analyzer/render/a.c": '#include "analyzer/waits.h"',
    "replay/a.c": "#include <nccl.h>",
    "replay/b.c": '#include "replay/nccl/world.h"',
    "replay/nccl/a.c": '#include "analyzer/analyze.h"',
    "fleet/a.c": '#include "analyzer/analyze.h"',
    "schema/c.c": '#include "fleet/run_jobs.h"',
}
ALLOWED = {
    "parsers/d.c": "#include <pcre2.h>",
    "analyzer/main.c": '#include "parsers/driver.h"\n#include "analyzer/commands/command.h"',
    "fleet/b.c": '#include "schema/verdict.h"\n#include "fleet/find_jobs.h"',
    "analyzer/render/b.c": "#include <cjson/cJSON.h>",
    "schema/text_blocks.c": "#include <zstd.h>\n#include <stdio.h>",
    "base/gzip.c": "#include <archive.h>",
    "replay/nccl/b.c": '#include <cuda_runtime.h>\n#include <nccl.h>\n#include "replay/dry.h"',
    "parsers/source_unpack.c": "#include <archive.h>\n/* #include <nccl.h> */",
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in {**PLANTED, **ALLOWED}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text + "\n")
        found = {line.split(":")[0] for line in violations(root)}
    return sorted(f"self-test: {path}" for path in found ^ set(PLANTED))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    bad = self_test() or ([] if sys.argv[1] == "--self-test" else list(violations(Path(sys.argv[1]))))
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
