#!/usr/bin/env python3
"""make_jobs.py FOLDER RANKS|hostile: a job that hung, for the tests of the page.

RANKS is 16 for tensor and data groups, more for one group of so many ranks whose rank 3 does not come.
The hostile job is small, and every name in it is markup, control bytes or marks that turn text around.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "bench"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "dumps"))

import dump_bytes
import dump_job
import dump_record
import lab
import make_dumps

ENTRIES = {1024: 400, 16384: 24}  # a rank; the culprit leaves the last ten calls
MESH = "--program mesh --ranks 16 --steps 40 --fault missing --culprits 5 --hosts"
MARKUP = '<img src=x onerror="window.harm=1"><script>window.harm=2</script>'
TURNED = "\u202egnp.exe\u2066\u200b"
CONTROL = "bell\x07 esc\x1b[31m tab\t end"
LOG = """\
2026-11-29 01:49:0{second},000 rank {rank} {markup} epoch 3, loading {turned}
2026-11-29 01:49:1{second},000 rank {rank} </script></pre><style>*{{display:none}}</style> {control}
[rank{rank}]: RuntimeError: {markup} NCCL communicator was aborted
"""


def hostile(folder):
    dump_record.SITES["step"] = [
        (MARKUP, f"/srv/{MARKUP}/{TURNED}.py", 1),
        (CONTROL, f"/srv/{CONTROL}.py", 2),
        (f"</script>{TURNED}", "-->.py", 3),
    ]
    job = dump_job.Job(4)
    world = job.group(f"{MARKUP}{TURNED}", range(4))
    odd = job.group(f"]]>{CONTROL}&lt;b&gt;", range(2))
    for _ in range(6):
        job.everyone(world, "all_reduce", [[8, 8]], [[8, 8]])
        job.everyone(odd, "all_gather", [[4]], [[8]], f"Float{MARKUP}")
    job.stop = {2: 4}
    steps = dump_job.Simulator(job, ahead=[3] * 4).run()
    where = os.path.join(folder, "<b>node-a", TURNED)
    os.makedirs(where)
    when = max(step.created for rank in steps for step in rank) + 700 * dump_job.SECOND_NS
    for rank in range(4):
        dump = dump_record.Recorder(job, rank, dump_record.Style()).dump(steps[rank], when)
        with open(os.path.join(where, f"nccl_trace_rank_{rank}"), "wb") as stream:
            stream.write(dump_bytes.encode(dump))
        text = LOG.format(rank=rank, second=rank, markup=MARKUP, turned=TURNED, control=CONTROL)
        with open(os.path.join(where, f"rank{rank}.log"), "w", encoding="utf-8") as stream:
            stream.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, kind = sys.argv[1:]
    if kind == "hostile":
        hostile(folder)
    elif kind == "16":
        make_dumps.write(MESH.split(), folder)
    else:
        lab.make(folder, int(kind), ENTRIES[int(kind)], True)


if __name__ == "__main__":
    main()
