#!/usr/bin/env python3
"""run_batches.py HANGSCOPE: a batch of sends and receives in wrapped rings, where nothing can be counted.

Rank 1 waits in a batch with ranks 0 and 2, who both show nothing unfinished. One of them holds it: the one
that has not moved on since rank 1's last batch was done.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile

T0, SECOND = 1_758_610_500_000_000_000, 1_000_000_000


def entry(record, name, number, at, done, pair=True):
    sizes, types = ([[8]], ["Float"]) if pair else ([], [])
    return {
        "record_id": record,
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": 1,
        "p2p_seq_id": number,
        "op_id": number,
        "profiling_name": f"nccl:{name}",
        "time_created_ns": at,
        "input_sizes": sizes,
        "input_dtypes": types,
        "output_sizes": sizes,
        "output_dtypes": types,
        "state": "completed" if done and not pair else "scheduled",
        "time_discovered_started_ns": None,
        "time_discovered_completed_ns": at + 1000 if done and not pair else None,
        "retired": done and not pair,
        "timeout_ms": 600_000,
        "is_p2p": pair,
    }


def batch(names, number, at, done, record=100):
    pairs = [entry(record + i, name, number, at, done) for i, name in enumerate(names)]
    return [*pairs, entry(record + len(names), "coalesced", number, at, done, pair=False)]


def dump(entries, enqueued, completed):
    status = {
        "last_enqueued_collective": enqueued,
        "last_started_collective": -1,
        "last_completed_collective": completed,
    }
    group = {"name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]"}
    return {
        "version": "2.10",
        "pg_config": {"0": group},
        "comm_lib_version": "2.27.3",
        "pg_status": {"0": status},
        "entries": entries,
    }


def job(later):
    """Rank 1 in its second batch; rank 0 has made its second one `later` than the first."""
    middle = ["send 1->2", "recv 1<-0"]
    yield dump(batch(["send 0->1"], 50, T0, True) + batch(["send 0->1"], 51, T0 + later, True, 110), 51, 51)
    yield dump(batch(middle, 50, T0, True) + batch(middle, 51, T0 + 10 * SECOND, False, 110), 51, 50)
    yield dump(batch(["recv 2<-1"], 50, T0, True), 50, 50)


CASES = {
    "one of two has moved on: the other holds the batch": (9 * SECOND, "rank-missing", [2]),
    "it moved on within what clocks may differ: nobody is convicted": (SECOND // 2, "undetermined", []),
}


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for name, (later, code, culprits) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            for rank, content in enumerate(job(later)):
                with open(os.path.join(folder, f"rank_{rank}"), "wb") as stream:
                    pickle.dump(content, stream, 2)
            run = subprocess.run([sys.argv[1], "analyze", "--json", folder], capture_output=True, timeout=60)
        verdict = json.loads(run.stdout)["verdict"]
        named = [culprit["rank"] for culprit in verdict["culprits"]]
        if (verdict["code"], named) != (code, culprits) or verdict["confidence"] == "high":
            print(f"{name}: {verdict['code']} ({verdict['confidence']}) {named}, want {code} {culprits}")
            failed += 1
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
