#!/usr/bin/env python3
"""Writes the flight-recorder dumps of a simulated job, one file per rank.

    make_dumps.py OUT --program flat --fault missing --culprits 3 [options]
    make_dumps.py --selftest FILE...        re-encode real dumps (trusted files only) and compare the bytes

As a module: `files(words)` gives {path: bytes} for a line of options, `write(words, folder)` puts them
there; a word `+` starts a second job in the same folder. `--show` prints what each rank waits for.
"""

import argparse
import os
import random
import re
import shlex
import sys

import dump_bytes
import dump_job
import dump_programs
import dump_record

SECOND_NS = dump_job.SECOND_NS


def ranks_of(text):
    return [int(word) for word in text.split(",") if word]


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    job = p.add_argument_group("job")
    job.add_argument("--program", choices=sorted(dump_programs.PROGRAMS), default="flat")
    job.add_argument("--fault", default="")
    job.add_argument("--culprits", type=ranks_of, default=[])
    job.add_argument("--ranks", type=int, default=8)
    job.add_argument("--steps", type=int, default=60)
    job.add_argument("--count", type=int, default=1, help="calls skipped or added")
    job.add_argument("--op", default="", help="operation of the programs uniform and rooted")
    job.add_argument("--turn", type=int, default=0, help="which call of the program uneven is hit")
    job.add_argument("--real-counts", action="store_true")
    job.add_argument("--batched", action="store_true")
    job.add_argument("--meet", type=int, default=0, help="pipeline: all meet after so many micro-batches")
    job.add_argument("--tp", type=int, default=4)
    job.add_argument("--pp", type=int, default=2)
    job.add_argument("--layers", type=int, default=3)
    job.add_argument("--uneven-stages", action="store_true")
    job.add_argument("--unequal-timeouts", action="store_true")
    job.add_argument("--split-names", action="store_true", help="mesh: groups of a kind share a name")
    job.add_argument("--stop-in", choices=("tensor", "data", "world"), default="tensor")
    job.add_argument("--sub", action="store_true", help="work in a group of its own, not the default group")
    job.add_argument(
        "--bystanders", type=int, default=0, help="further ranks, healthy, in their own group (--sub)"
    )
    job.add_argument("--idle-group", action="store_true")
    job.add_argument("--early", action="store_true", help="rooted calls let members go early")
    job.add_argument("--eager", type=int, default=0, help="sends of a pair that finish before their receive")
    run = p.add_argument_group("run")
    run.add_argument("--ahead", type=int, default=6)
    run.add_argument("--uneven-ahead", action="store_true")
    run.add_argument("--serial", action="store_true")
    run.add_argument("--seed", type=int, default=1)
    run.add_argument("--epoch", type=int, default=0, help="seconds to shift all clocks by")
    run.add_argument(
        "--moment", default="hung", help="when dumps are taken: hung, aged, or a share of the run"
    )
    run.add_argument("--generations", default="", help="several moments, comma separated; one folder each")
    run.add_argument("--older", type=ranks_of, default=[], help="these dumps are from an earlier moment")
    run.add_argument("--permute", type=int, default=0, help="seed of a renumbering of the ranks")
    style = p.add_argument_group("style")
    style.add_argument("--version", default="2.10", help="one, or several that ranks take in turn")
    style.add_argument("--container", default="torch", help="one, or several that ranks take in turn")
    style.add_argument("--no-frames", dest="frames", action="store_false")
    style.add_argument("--code-at", default="", help="folder of the user's code, ending in a slash")
    style.add_argument("--lines-on", type=int, default=0, help="lines that came above the user's code")
    style.add_argument("--renamed", default="", help="OLD=NEW: a function of the user's code")
    style.add_argument("--ring", type=int, default=0)
    style.add_argument("--backend", default="nccl")
    for flag in ("only-active", "timing", "hash-names", "torchcomms", "extra-keys"):
        style.add_argument("--" + flag, action="store_true")
    style.add_argument("--recorder-off", nargs="?", const="all", default="")
    style.add_argument("--no-entries", type=ranks_of, default=[])
    files_ = p.add_argument_group("files")
    files_.add_argument("--prefix", default="nccl_trace_rank_")
    files_.add_argument("--suffix", default="")
    files_.add_argument("--hosts", action="store_true", help="host names in file names")
    files_.add_argument("--into", default="")
    files_.add_argument("--drop", type=ranks_of, default=[])
    files_.add_argument("--duplicate", type=ranks_of, default=[])
    return p


def rank_of(path):
    """The rank in a file name that was made here."""
    return int(re.findall(r"\d+", os.path.basename(path).split(".")[0])[-1])


def order_of(size, seed):
    """New number of each rank for a seed; 0 leaves them as they are."""
    order = list(range(size))
    if seed:
        random.Random(seed).shuffle(order)
    return order


def style_of(option, rank):
    def turn(text):
        words = text.split(",")
        return words[rank % len(words)]

    off = option.recorder_off == "all" or str(rank) in option.recorder_off.split(",")
    style = dump_record.Style(
        version=turn(option.version),
        frames=option.frames,
        code_at=option.code_at,
        lines_on=option.lines_on,
        renamed=option.renamed,
        only_active=option.only_active,
        ring=option.ring,
        timing=option.timing,
        backend=turn(option.backend),
        hash_names=option.hash_names,
        torchcomms=option.torchcomms,
        extra_keys=option.extra_keys,
        recorder_off=off,
        no_entries=rank in option.no_entries,
    )
    return style, turn(option.container)


def build(option):
    """-> (job, steps per rank, end of the run); all renumbered if the option says so."""
    job = dump_programs.PROGRAMS[option.program](option)
    if option.idle_group:
        dump_programs.add_idle_group(job)
    order = order_of(job.size, option.permute)
    ahead = [option.ahead] * job.size
    for rank in range(job.size):
        if option.uneven_ahead:
            ahead[order[rank]] = 1 + (rank * 7919 + 13) % option.ahead
    for name in ("older", "drop", "duplicate", "no_entries"):
        setattr(option, name, [order[rank] for rank in getattr(option, name)])
    job.renumber(order)
    simulator = dump_job.Simulator(
        job, ahead, option.serial, option.seed, dump_job.EPOCH_NS + option.epoch * SECOND_NS
    )
    return job, simulator.run(), simulator.end


def all_entered(steps, moment):
    """Whether at this moment something is in flight and nobody has still to enter it."""
    entered, flying = {}, set()
    for made in steps:
        for step in made:
            if step.created > moment:
                break
            for key in step.keys:
                entered[key] = entered.get(key, 0) + 1
                if step.done is None or step.done > moment:
                    flying.add((key, 2 if len(key) == 3 else len(step.call.group.ranks)))
    return flying and all(entered[key] == need for key, need in flying)


def moment_of(option, job, steps, end, text):
    if text == "hung":
        return end + 5 * SECOND_NS
    if text == "aged":
        return end + 10 * SECOND_NS + 1_000_000 * min(group.timeout_ms for group in job.groups)
    created = sorted(step.created for made in steps for step in made)
    start = int(float(text) * len(created))
    for moment in created[start : start + 4000]:
        if all_entered(steps, moment):
            return moment
    raise SystemExit("no moment at which everybody is in what is in flight")


def dump_files(option):
    """{path: bytes} of one job."""
    job, steps, end = build(option)
    if option.show:
        print(dump_job.waiting(steps))
    found = {}
    generations = [text for text in option.generations.split(",") if text]
    for number, text in enumerate(generations or [option.moment]):
        folder = os.path.join(option.into, f"gen{number + 1}" if generations else "")
        when = moment_of(option, job, steps, end, text)
        for rank in range(job.size):
            if rank in option.drop:
                continue
            early = steps[rank][int(len(steps[rank]) * 0.6)].created if rank in option.older else when
            style, container = style_of(option, rank)
            dump = dump_record.Recorder(job, rank, style).dump(steps[rank], early)
            data = dump_bytes.encode(dump, container, style.key <= (2, 9))
            host = f"gpu-node-{rank // 4 + 1:02d}_" if option.hosts else ""
            suffix = option.suffix or (".json" if container == "json" else "")
            found[os.path.join(folder, f"{option.prefix}{host}{rank}{suffix}")] = data
            if rank in option.duplicate:
                found[os.path.join(folder, f"copy_of_{option.prefix}{rank}{suffix}")] = data
    return found


def files(words, show=False):
    """{path: bytes} for a line (or list) of options; `+` separates jobs."""
    words = shlex.split(words) if isinstance(words, str) else list(words)
    found = {}
    while True:
        cut = words.index("+") if "+" in words else len(words)
        option = parser().parse_args(words[:cut])
        option.show = show
        found.update(dump_files(option))
        if cut == len(words):
            return found
        words = words[cut + 1 :]


def put(found, folder):
    for path, data in found.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as stream:
            stream.write(data)


def write(words, folder):
    put(files(words), folder)


def selftest(paths):
    same = 0
    for path in paths:
        with open(path, "rb") as stream:
            good = dump_bytes.reencodes_exactly(stream.read())
        same += good
        if not good:
            print(f"{path}: other bytes")
    print(f"{same} of {len(paths)} files byte-identical after re-encoding")
    return 0 if same == len(paths) else 1


def main():
    words = sys.argv[1:]
    if words[:1] == ["--selftest"]:
        return selftest(words[1:])
    if not words or words[0] in ("-h", "--help"):
        parser().print_help()
        return 0 if words else 2
    show = "--show" in words
    words = [word for word in words if word != "--show"]
    if words[0].startswith("-"):
        print("make_dumps.py: the first argument is the folder to write to", file=sys.stderr)
        return 2
    put(files(words[1:], show), words[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
