#!/usr/bin/env python3
"""run_data.py HANGSCOPE: the data of pages is what docs/formats/report-data.md says, and what the job was.

Pages are made with a small template. Cells and lateness are compared with what `hangscope sql` says of the
same calls; the text with what `analyze` prints. The last line is `N passed, N failed`. Exit 1 if one failed.
"""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "bench"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "dumps"))

import lab
import make_dumps
import page_data
import run_report
from page_data import NONE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TEMPLATE = "<!doctype html>\n<title>hangscope</title>\n<!--hangscope:data-->\n<p>end\n"
STEPS_NS = [10**7, 10**8, 10**9, 10**10, 6 * 10**10]
JOBS = {
    "missing": "--program flat --fault missing --culprits 3 --ranks 8 --moment aged",
    "order": "--program flat --fault type --culprits 2 --ranks 6 --moment aged",
    "mesh": "--program mesh --fault missing --culprits 5 --ranks 16 --moment aged",
    "pipeline": "--program pipeline --fault missing --culprits 1 --ranks 4 --steps 12 --meet 3 --moment aged",
    "ring": "--program flat --fault missing --culprits 3 --ranks 8 --ring 20 --moment aged",
    "healthy": "--program flat --ranks 8",
}


class Bench:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder
        self.template = self.path("template.html", TEMPLATE)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
        return path

    def run(self, *words, status=0):
        env = {key: value for key, value in os.environ.items() if not key.startswith("HANGSCOPE")}
        ran = subprocess.run([self.binary, *words], capture_output=True, env=env, timeout=120, check=False)
        out, error = ran.stdout.decode("utf-8"), ran.stderr.decode("utf-8")
        assert ran.returncode == status, f"{words} ended with {ran.returncode}: {error[-500:]}"
        return out, error

    def page(self, *words):
        return self.run("report", "--template", self.template, "-o", "-", *words)[0]

    def data(self, *words):
        return page_data.Data(self.page(*words))

    def job(self, name):
        folder = self.path(name)
        if not os.path.isdir(folder):
            make_dumps.write(JOBS[name].split(), folder)
        return folder

    def jobs(self):
        return [self.job(name) for name in JOBS] + sorted(
            os.path.dirname(path) for path in glob.glob(os.path.join(ROOT, "samples", "*", "expected.json"))
        )


# ---- the form ----


def keys_of(value, found):
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(key)
            keys_of(inner, found)
    elif isinstance(value, list):
        for inner in value:
            keys_of(inner, found)


def keys_of_document(document):
    found = set(document)
    for key, value in document.items():
        if key == "topics":
            for topic in value.values():
                keys_of(topic, found)
        elif key == "left_out":
            assert set(value) <= {"columns", "records", "ranks", "diagnostics"}
        elif key != "verdict":
            keys_of(value, found)
    return found - {"type"}


def the_page_describes_every_key(bench):
    words, described, met = re.compile(r"`([a-z0-9_]+)`"), set(), set()
    with open(os.path.join(ROOT, "docs", "formats", "report-data.md"), encoding="utf-8") as stream:
        page = stream.read()
    for line in page.splitlines():
        if line.startswith("| `"):
            described |= set(words.findall(line.split(" | ")[0]))
    for folder in bench.jobs():
        met |= keys_of_document(bench.data(folder).document)
    unknown = met - set(words.findall(page))
    assert not unknown, f"not in the page: {sorted(unknown)}"
    assert not described - met, f"in the page, and in no document: {sorted(described - met)}"


def check_range(values, limit, what):
    assert all(value == NONE or value < limit for value in values), f"{what}: beyond {limit}"


def every_reference_leads_somewhere(bench):
    for folder in bench.jobs():
        data = bench.data(folder)
        d = data.document
        ranks, members, records = (data.columns(key) for key in ("ranks", "members", "records"))
        sizes = {
            "host": len(d["hosts"]),
            "class": len(d["classes"]),
            "source": len(d["sources"]),
            "group": len(d["groups"]),
            "signature": len(d["signatures"]),
            "stack": len(d["stacks"]),
        }
        for name, size in sizes.items():
            check_range(ranks[name], size, f"{folder}: ranks.{name}")
        for name in ("group", "signature", "stack"):
            check_range(records[name], sizes[name], f"{folder}: records.{name}")
        check_range(members["rank"], len(ranks["rank"]), "members.rank")
        check_range(members["row"], len(data.columns("rows")["at"]), "members.row")
        check_range(members["tail"], len(data.columns("tail_rows")["at"]), "members.tail")
        check_range(data.columns("column")["signature"], sizes["signature"], "column.signature")
        check_range(data.columns("tail_columns")["last"], len(ranks["rank"]), "tail_columns.last")
        assert list(ranks["rank"]) == sorted(set(ranks["rank"])), "ranks are not by number"
        for stack in d["stacks"]:
            check_range(stack, len(d["frames"]), "stacks")
        assert sum(row["count"] for row in d["classes"]) == len(ranks["rank"])
        for matrix in data.matrices():
            assert list(matrix["numbers"]) == sorted(set(matrix["numbers"])), "numbers do not rise"
            assert matrix["tail"] <= len(matrix["numbers"])
            assert all(len(cells) == len(matrix["numbers"]) for _, cells, _ in matrix["rows"])
        for edge in d["waits"]["edges"]:
            check_range([edge["from"], edge["to"]], len(d["classes"]), "edges")
        data.column(d["tail_after"]), data.column(d["tail_lasted"])
        assert len(data.sections) - data.used < 8, "bytes that nothing refers to"


# ---- the content ----


def text_and_verdict_are_those_of_analyze(bench):
    for folder in bench.jobs():
        document = bench.data(folder).document
        text = bench.run("analyze", "--exit-zero", folder)[0]
        bare = re.sub(r" · \d+\.\d\d s$", "", text.split("\n", 1)[0]) + "\n" + text.split("\n", 1)[1]
        assert document["text"] == bare, f"{folder}: {document['text'][:300]}"
        assert document["verdict"] == json.loads(bench.run("analyze", "--exit-zero", "--json", folder)[0])


def calls_of(bench, folder):
    """{(process group, is pair): {rank: {number: call}}}, of the database."""
    store = bench.path("calls.db")
    bench.run("ingest", folder, "-o", store, "--force", "-q")
    query = (
        "SELECT rank, process_group, seq, p2p_seq, operation, state, created_ns, record FROM calls "
        "ORDER BY rank, record"
    )
    found = {}
    for line in bench.run("sql", store, query, "--format", "jsonl")[0].splitlines():
        call = json.loads(line)
        pair = call["operation"].startswith(("send", "recv")) or (
            call["operation"] == "coalesced" and call["p2p_seq"]
        )
        of_rank = found.setdefault((call["process_group"], pair), {}).setdefault(call["rank"], {})
        of_rank.setdefault(call["p2p_seq"] if pair else call["seq"], []).append(call)
    return found


def step(late_ns):
    return sum(late_ns >= bound for bound in STEPS_NS)


def check_collectives(label, numbers, rows, ranks, calls, verdict):
    operation = verdict["operation"] or {}
    for rank_row, cells, _ in rows:
        rank = ranks[rank_row]
        mine = calls.get(rank, {})
        for number, cell in zip(numbers, cells):
            state, late = page_data.STATES[cell & 15], cell >> 4
            where = f"{label} #{number} of rank {rank}: {state}"
            if number not in mine:
                assert state in ("none", "missing", "passed", "unknown", "made"), where
                assert state != "passed" or number < min(mine, default=number + 1), where
                continue
            call = mine[number][0]
            is_hung = operation.get("group") == label and operation.get("seq") == number
            if mine[number][-1]["state"] == "completed":
                assert state in ("completed", "mismatch"), where
            else:
                assert state in (("hung", "mismatch") if is_hung else (call["state"], "mismatch")), where
            first = min(other[number][0]["created_ns"] for other in calls.values() if number in other)
            assert late == step(call["created_ns"] - first), f"{where}: late {late}"


def cells_are_what_the_calls_say(bench):
    checked, steps = 0, set()
    late = bench.path("late")
    run_report.make_late(late, 16, 200, False)
    for folder in [bench.job(name) for name in JOBS] + [late]:
        data = bench.data(folder)
        document, ranks = data.document, data.columns("ranks")["rank"]
        calls = calls_of(bench, folder)
        assert all(clock["offset_ns"] == 0 for clock in document["arrival"]["clocks"])
        for matrix in data.matrices():
            if matrix["kind"] != 0:
                continue
            label = document["groups"][matrix["group"]]["label"]
            verdict = document["verdict"]["verdict"]
            check_collectives(label, matrix["numbers"], matrix["rows"], ranks, calls[label, False], verdict)
            checked += len(matrix["rows"])
            steps |= {cell >> 4 for _, cells, _ in matrix["rows"] for cell in cells}
    assert checked > 50 and steps >= {0, 1, 2}, (checked, steps)


def the_culprit_is_missing_where_the_others_hang(bench):
    for name, culprit in (("missing", 3), ("ring", 3), ("mesh", 5)):
        data = bench.data(bench.job(name))
        ranks = data.columns("ranks")["rank"]
        verdict = data.document["verdict"]["verdict"]
        assert [row["rank"] for row in verdict["culprits"]] == [culprit], verdict
        hanging = [matrix for matrix in data.matrices() if matrix["hang"] is not None]
        assert len(hanging) == 1, len(hanging)
        column = hanging[0]["hang"]
        assert hanging[0]["numbers"][column] == verdict["operation"]["seq"]
        for rank_row, cells, _ in hanging[0]["rows"]:
            want = "missing" if ranks[rank_row] == culprit else "hung"
            assert page_data.state(cells[column]) == want, (name, ranks[rank_row])


def equal_ranks_are_one_row(bench):
    for make, ranks in ((lab.make, 512), (lab.make_mesh, 512)):
        folder = bench.path(f"{make.__name__}-{ranks}")
        make(folder, ranks, 100, True)
        document = bench.data(folder).document
        assert len(document["classes"]) <= 12, len(document["classes"])
        assert document["classes"][0]["culprit"] and document["classes"][0]["ranks"] == "3"
        assert document["fold"] == "calls"


def exact_times_are_those_of_the_calls(bench):
    folder = bench.job("missing")
    data = bench.data(folder)
    document = data.document
    origin = int(document["origin_ns"])
    ranks, records = data.columns("ranks")["rank"], data.columns("records")
    calls = calls_of(bench, folder)["default_pg", False]
    assert set(records["rank"]) == set(document["record_ranks"])
    assert {row["example"] for row in document["classes"]} <= set(records["rank"])
    for i, row in enumerate(records["rank"]):
        call = calls[ranks[row]][records["seq"][i]][0]
        assert origin + int(records["created"][i]) == call["created_ns"]
        assert records["record"][i] == call["record"]
    after = data.column(document["tail_after"])
    tails, columns = data.columns("tail_rows")["at"], data.columns("tail_columns")
    matrix = next(matrix for matrix in data.matrices() if matrix["kind"] == 0)
    numbers = matrix["numbers"][len(matrix["numbers"]) - matrix["tail"] :]
    for rank_row, _, tail in matrix["rows"]:
        for k, number in enumerate(numbers):
            call = calls[ranks[rank_row]].get(number)
            at = after[tails[tail] + k]
            if call is None:
                assert at == NONE
                continue
            first = origin + int(columns["first"][matrix["first_tail_column"] + k])
            assert first + at * 1000 <= call[0]["created_ns"] < first + (at + 1) * 1000


# ---- the file ----


def nothing_of_a_job_is_markup(bench):
    """Of a job whose every name is hostile the page is the template, and data in base64."""
    folder = bench.path("hostile")
    hostile = "</script><script>alert(1)</script><!--\u202e\"'&\x01"
    make_dumps.write(JOBS["missing"].split(), folder)
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with open(path, "rb") as stream:
            data = stream.read()
        for old in ("default_pg", "train_step", "train.py"):
            new = hostile.encode() + old.encode()
            data = replace_text(data, old.encode(), new)
        with open(path, "wb") as stream:
            stream.write(data)
    with open(os.path.join(folder, "rank0.log"), "w", encoding="utf-8") as stream:
        stream.write(f"[rank0]: RuntimeError: {hostile}\n")
    page = bench.page(folder)
    rest = page_data.DATA.sub("<!--hangscope:data-->", page)
    assert rest == TEMPLATE, rest[:300]
    document = page_data.Data(page).document
    assert any("</script>" in group["label"] for group in document["groups"])
    text = json.dumps(document)
    assert "\\u0001" not in text and "\\\\x01" in text


def replace_text(data, old, new):
    """Another text in a pickle: everywhere it stands with its length."""
    for head, size in ((b"X", 4), (b"\x8c", 1)):
        data = data.replace(
            head + len(old).to_bytes(size, "little") + old, head + len(new).to_bytes(size, "little") + new
        )
    return data


def the_same_job_gives_the_same_bytes(bench):
    folder = bench.job("mesh")
    page = bench.page(folder)
    assert page == bench.page("-j", "1", folder)
    store = bench.path("same.db")
    bench.run("ingest", folder, "-o", store, "-q")
    assert page == bench.page(store)


def ranks_that_are_asked_for_are_exact(bench):
    data = bench.data("--ranks", "6", bench.job("missing"))
    ranks = data.columns("ranks")["rank"]
    assert sorted(ranks[row] for row in data.document["record_ranks"]) == [3, 6]


def analyze_writes_the_page_too(bench):
    folder, out = bench.job("missing"), bench.path("too.html")
    said = bench.run("analyze", folder, "--template", bench.template, "--report", out, "--exit-zero")[0]
    assert said.startswith("rank-missing")
    with open(out, encoding="utf-8") as stream:
        assert stream.read() == bench.page(folder)


def a_page_replaces_a_page(bench):
    """The template's head may be long: what makes the file ours is looked for in 4,096 bytes."""
    long = TEMPLATE.replace("<title>", "<!--" + "x" * 3000 + "-->\n<title>")
    template, out = bench.path("long.html", long), bench.path("again.html")
    for name in ("missing", "mesh"):
        bench.run("report", bench.job(name), "--template", template, "-o", out)
    with open(out, encoding="utf-8") as stream:
        assert len(page_data.Data(stream.read()).document["groups"]) > 1


def a_page_that_cannot_be_made_is_refused(bench):
    folder = bench.job("missing")
    other = bench.path("other.html", "<p>somebody's\n")
    for words, why in (
        (["report", folder], "where to?"),
        (["report", folder, "-o", other, "--template", bench.template], "--force replaces it"),
        (["report", folder, "-o", bench.path("no.html"), "--template", other], "is no template"),
        (["report", folder, "-o", bench.path("no.html"), "--template", bench.path("none")], "cannot read"),
        (["analyze", folder, "--report", "-"], "standard output is the verdict's"),
        (["report", bench.path("none"), "-o", bench.path("no.html"), "--template", bench.template], "none"),
    ):
        error = bench.run(*words, status=2)[1]
        assert why in error, f"{words}: {error}"
        assert not os.path.exists(bench.path("no.html"))
    with open(other, encoding="utf-8") as stream:
        assert stream.read() == "<p>somebody's\n"


TESTS = [
    the_page_describes_every_key,
    every_reference_leads_somewhere,
    text_and_verdict_are_those_of_analyze,
    cells_are_what_the_calls_say,
    the_culprit_is_missing_where_the_others_hang,
    equal_ranks_are_one_row,
    exact_times_are_those_of_the_calls,
    nothing_of_a_job_is_markup,
    the_same_job_gives_the_same_bytes,
    ranks_that_are_asked_for_are_exact,
    analyze_writes_the_page_too,
    a_page_replaces_a_page,
    a_page_that_cannot_be_made_is_refused,
]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), folder)
        for test in TESTS:
            try:
                test(bench)
                print(f"ok      {test.__name__}")
            except Exception as error:  # a test that cannot run has failed
                failed += 1
                print(f"FAILED  {test.__name__}: {type(error).__name__}: {str(error)[:1000]}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
