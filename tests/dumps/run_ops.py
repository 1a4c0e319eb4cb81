#!/usr/bin/env python3
"""run_ops.py HANGSCOPE: one healthy and some broken jobs for every operation name that a recorder writes.

Each operation has a class (table OPS). `equal`, `gather` and `scatter` operations must report a member
of another size; `free` ones (all_to_all, gather, scatter, the v-calls) legally differ and must never;
`none` compare nothing; all known ones report another dtype, and all report another operation in their
place.
"""

import argparse
import sys
import tempfile

import dump_programs
import hangscope_run
import make_dumps
from dump_job import Call

OPS = {
    "all_reduce": "equal",
    "all_reduce_sparse": "equal",
    "allreduce_coalesced": "equal",
    "broadcast": "equal",
    "_broadcast_oop": "equal",
    "reduce": "equal",
    "_reduce_oop": "equal",
    "all_gather": "gather",
    "_all_gather_base": "gather",
    "all_gather_into_tensor_coalesced": "gather",
    "all_gather_single": "gather",
    "reduce_scatter": "scatter",
    "_reduce_scatter_base": "scatter",
    "reduce_scatter_tensor_coalesced": "scatter",
    "reduce_scatter_single": "scatter",
    "all_to_all": "free",
    "all_to_all_single": "free",
    "all_to_all_v_single": "free",
    "all_gather_v": "free",
    "reduce_scatter_v": "free",
    "gather": "gather-root",
    "scatter": "scatter-root",
    "all_reduce_barrier": "none",
    "barrier": "none",
    "coalesced": "unset",
    "ALLGATHER_coalesced": "unset",
    "REDUCE_SCATTER_coalesced": "unset",
    "split": "unknown",
    "new_window": "unknown",
    "frobnicate": "unknown",
}
ROOTED = ("broadcast", "_broadcast_oop", "reduce", "_reduce_oop", "gather", "scatter")
CULPRIT = 5
STEPS = 36
NUMBER = STEPS // 2 // 2 * 2 + 1  # the step where a fault sits


def call_of(op, kind, broken):
    """A function that builds the call of one rank; `broken` changes the culprit's call at NUMBER."""

    def build(group, place, number):
        size = len(group.ranks)
        hit = number == NUMBER and place == CULPRIT
        count = 65 if hit and broken == "size" else 64
        dtype = "Half" if hit and broken == "dtype" else "Float"
        other = "broadcast" if "barrier" in op else "barrier"
        name = other if hit and broken == "type" else op
        root = group.ranks[0] if op in ROOTED else None
        if kind == "free":
            count += 3 * place
        if kind == "unknown" and broken == "free":
            count += place
            dtype = "Half" if place % 2 else "Float"
        shapes = {
            "gather": ([[count]], [[count * size]]),
            "scatter": ([[count * size]], [[count]]),
            "gather-root": ([[count]], [[count]] * size if place == 0 else [[0]]),
            "scatter-root": ([[count]], [[count]] * size if place == 0 else [[0]]),
            "none": ([[1]], [[1]]),
            "unset": ([], []),
        }
        ins, outs = shapes.get(kind, ([[count]], [[count]]))
        if op in ("all_gather", "reduce_scatter"):  # lists of tensors
            ins, outs = [[[count]], [[count]] * size][:: 1 if op == "all_gather" else -1]
        if "coalesced" in op and kind != "unset":
            ins, outs = ins * 3, outs * 3
        uneven = kind in ("free", "gather-root", "scatter-root", "unknown")
        return Call("coll", group, name, ins, outs, dtype, root=root, uneven=uneven)

    return build


def run_one(binary, op, kind, fault, broken=""):
    option = make_dumps.parser().parse_args(["--program", "flat", "--steps", str(STEPS), "--fault", fault])
    option.moment, option.show = "aged", False
    option.culprits, option.call = [CULPRIT] if fault == "missing" else [], call_of(op, kind, broken)
    option.program = "one-op"
    dump_programs.PROGRAMS["one-op"] = dump_programs.one_op
    with tempfile.TemporaryDirectory() as folder:
        make_dumps.put(make_dumps.dump_files(option), folder)
        return hangscope_run.Verdict(binary, [folder])


def main():
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("binary", metavar="HANGSCOPE")
    arguments.add_argument("--only", default="")
    option = arguments.parse_args()
    tally = hangscope_run.Tally()

    def expect(op, what, run, codes, culprits):
        good = (
            not run.trouble
            and run.object is not None
            and run.code in codes
            and (run.culprits in culprits or run.code in hangscope_run.EXIT)
        )
        tally.check(good, f"{op}, {what}: got {run}, want {' or '.join(codes)} {culprits}")

    for op, kind in OPS.items():
        if option.only not in op:
            continue
        expect(op, "healthy", run_one(option.binary, op, kind, ""), ["healthy"], [[]])
        expect(op, "one missing", run_one(option.binary, op, kind, "missing"), ["rank-missing"], [[CULPRIT]])
        expect(op, "all joined", run_one(option.binary, op, kind, "stuck"), ["collective-stuck"], [[]])
        expect(
            op,
            "other operation",
            run_one(option.binary, op, kind, "", "type"),
            ["order-mismatch"],
            [[CULPRIT]],
        )
        if kind in ("equal", "gather", "scatter"):
            expect(
                op, "other size", run_one(option.binary, op, kind, "", "size"), ["size-mismatch"], [[CULPRIT]]
            )
        if kind not in ("none", "unset", "unknown"):
            expect(
                op,
                "other dtype",
                run_one(option.binary, op, kind, "", "dtype"),
                ["dtype-mismatch"],
                [[CULPRIT]],
            )
        if kind == "unknown":
            run = run_one(option.binary, op, kind, "stuck", "free")
            expect(op, "sizes and dtypes differ", run, ["collective-stuck"], [[]])
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
