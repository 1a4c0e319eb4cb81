"""How a job is started and where its lines go: shell commands, as a user types them.

Each runs in an empty folder, which becomes the input of hangscope. "$@" is the script with its arguments,
$PYTHON the interpreter, $BIN the folder of its programs, $N the number of ranks and $RANKS their list.
MASTER_ADDR, MASTER_PORT and WORLD_SIZE are set as for a job started by hand.
"""

import os
import shutil
import subprocess
from pathlib import Path

import slurm

PRELUDE = r"""
trap : INT TERM # they are for the job: the shell stays until it has ended
run="$PYTHON -m torch.distributed.run"
alone="$run --standalone --nproc-per-node $N"
two_nodes="$run --nnodes 2 --nproc-per-node 2"
static="$two_nodes --master-addr 127.0.0.1 --master-port $MASTER_PORT"
dynamic="$two_nodes --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:$MASTER_PORT"
in_host='hostname "$0"; mount --bind "$HOSTS" /etc/hosts; exec "$@"'

# on_node NAME COMMAND... &: in a host of that name. Two of them are the two nodes.
on_node() {
    exec unshare -u -m bash -c "$in_host" "$@"
}

launch_files() {
    exec 2>launch.log
    for rank in $RANKS; do
        RANK=$rank LOCAL_RANK=$rank $PYTHON "$@" >rank$rank.log 2>&1 &
    done
}

# The ranks train: four lines tell of step 3, or a minute has passed; then one second more.
wait_for_steps() {
    for _ in $(seq 300); do
        [ "$(cat ./*.log ./*.out 2>/dev/null | grep -c 'step 3')" -lt 4 ] || break
        sleep 0.2
    done
    sleep 1
}

write_batch() {
    printf '%s\n' '#!/bin/bash' 'srun -l $PYTHON "$@"' >train.sbatch
}

# print_stacks SUFFIX COMMAND...: of each rank, by a debugger that takes the process id last
print_stacks() {
    local rank=0 pid
    for pid in $(jobs -p); do
        "${@:2}" "$pid" >rank$rank.$1.txt 2>&1
        rank=$((rank + 1))
    done
    kill $(jobs -p)
    wait
}
"""

LAUNCHERS = {
    # by hand: one log for each rank, or one for all
    "files": 'launch_files "$@"; wait',
    "merged": r"""
exec >job.log 2>&1
for rank in $RANKS; do
    RANK=$rank LOCAL_RANK=$rank $PYTHON "$@" &
done
for pid in $(jobs -p); do wait $pid; echo "process $pid ended with status $?"; done""",
    "spawn": '$PYTHON "$HERE/spawn.py" $N "$@" >job.log 2>&1',
    # torchrun
    "torchrun": '$alone "$@" >job.log 2>&1',
    "torchrun-tee": '$alone --tee 3 --log-dir logs "$@" >job.log 2>&1',
    "torchrun-redirects": '$alone --redirects 3 --log-dir logs "$@" >job.log 2>&1',
    "torchrun-restarts": '$alone --max-restarts 1 "$@" >job.log 2>&1',
    "torchrun-nodes": r"""
on_node node-a $static --node-rank 0 "$@" >node-a.log 2>&1 &
on_node node-b $static --node-rank 1 "$@" >node-b.log 2>&1 &
wait; wait # a signal ends the first""",
    "taken-by-agent": '$run --nproc-per-node $N --master-port $MASTER_PORT "$@" >job.log 2>&1',
    "node-killed": r"""
on_node node-a $static --node-rank 0 "$@" >node-a.log 2>&1 &
on_node node-b $static --node-rank 1 "$@" >node-b.log 2>&1 &
wait_for_steps; kill -KILL $!; wait 2>/dev/null""",
    "master-killed": r"""
on_node node-a $dynamic "$@" >node-a.log 2>&1 &
master=$!
sleep 1
on_node node-b $dynamic "$@" >node-b.log 2>&1 &
wait_for_steps; kill -KILL $master; wait 2>/dev/null""",
    "one-node": '$dynamic --rdzv-conf join_timeout=8 "$@" >job.log 2>&1',
    # what stands around a log
    "ts": """$alone "$@" 2>&1 | ts '[%Y-%m-%d %H:%M:%.S]' >job.log""",
    "terminal": 'script -qec "$alone --tee 3 $*" job.log </dev/null >/dev/null',
    "pdsh": r"""
pdsh -R exec -w node-a,node-b unshare -u -m bash -c "$in_host" %h $static --node-rank %n "$@" \
    >job.log 2>&1""",
    # MPI and Slurm
    "mpirun": r"""
mpirun --allow-run-as-root --oversubscribe -n $N --tag-output --timestamp-output $PYTHON "$@" \
    >job.log 2>&1""",
    "mpirun-files": r"""
mpirun --allow-run-as-root --oversubscribe -n $N --output-filename logs $PYTHON "$@" >job.log 2>&1""",
    "srun": 'srun -l -N2 -n $N $PYTHON "$@" >slurm-4711.out 2>&1',
    "srun-kill": 'srun -l -K -N2 -n $N $PYTHON "$@" >slurm-4711.out 2>&1',
    "srun-files": 'srun -N2 -n $N --output=slurm-%j-%t.out $PYTHON "$@" >srun.log 2>&1',
    "srun-torchrun": r"""
export static
srun -l -N2 --ntasks-per-node=1 bash -c '$static --tee 3 --node-rank $SLURM_NODEID "$@"' bash "$@" \
    >slurm-4711.out 2>&1""",
    "sbatch": r"""
write_batch
sbatch --wait -N2 -n $N --output=slurm-%j.out train.sbatch "$@" >submit.log 2>&1""",
    "scancel": r"""
write_batch
sbatch --wait -J live-$MASTER_PORT -N2 -n $N --output=slurm-%j.out train.sbatch "$@" >submit.log 2>&1 &
wait_for_steps; scancel -n live-$MASTER_PORT; wait""",
    "time-limit": r"""
write_batch
sbatch --wait -t 1 -N2 -n $N --output=slurm-%j.out train.sbatch "$@" >submit.log 2>&1""",
    # frameworks
    "accelerate": r"""
$PYTHON -m accelerate.commands.launch --multi_gpu --num_processes $N --num_machines 1 --mixed_precision no \
    --dynamo_backend no --num_cpu_threads_per_process 1 --main_process_port $MASTER_PORT "$@" \
    >job.log 2>&1""",
    "deepspeed": r"""
DS_ACCELERATOR=cpu $PYTHON -m deepspeed.launcher.runner --num_gpus $N --master_addr 127.0.0.1 \
    --master_port $MASTER_PORT --no_local_rank "$@" >job.log 2>&1""",
    "ray": r"""
RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 $PYTHON "$HERE/on_ray.py" $N "$@" >job.log 2>&1""",
    "lightning": 'env -u MASTER_ADDR -u MASTER_PORT -u WORLD_SIZE $PYTHON "$@" >job.log 2>&1',
    # the machine, and looks from outside
    "small-shm": r"""
unshare -m bash -c 'mount -t tmpfs -o size=2m tmpfs /dev/shm && exec "$@"' shm $alone "$@" >job.log 2>&1""",
    "memory-limit": r"""
group=/sys/fs/cgroup/memory/live-$MASTER_PORT
mkdir $group
echo 700M >$group/memory.limit_in_bytes
known=$(dmesg | wc -l)
exec 2>launch.log
for rank in $RANKS; do
    (
        [ $rank != 2 ] || echo $BASHPID >$group/cgroup.procs
        export RANK=$rank LOCAL_RANK=$rank
        exec $PYTHON "$@" >rank$rank.log 2>&1
    ) &
done
wait
dmesg -T | tail -n +$((known + 1)) >dmesg.log
rmdir $group""",
    "py-spy": 'launch_files "$@"; wait_for_steps; print_stacks pyspy "$BIN/py-spy" dump --pid',
    "gdb": r"""
launch_files "$@"; wait_for_steps; print_stacks gdb gdb -batch -ex 'thread apply all bt' -p""",
}

# What has to be there. A word is a program of the machine.
NEEDS = {
    "torchrun-nodes": ["root", "unshare"],
    "node-killed": ["root", "unshare"],
    "master-killed": ["root", "unshare"],
    "ts": ["ts"],
    "terminal": ["script"],
    "pdsh": ["root", "unshare", "pdsh"],
    "mpirun": ["root", "mpirun"],
    "mpirun-files": ["root", "mpirun"],
    "srun": ["slurm"],
    "srun-kill": ["slurm"],
    "srun-files": ["slurm"],
    "srun-torchrun": ["slurm"],
    "sbatch": ["slurm"],
    "scancel": ["slurm"],
    "time-limit": ["slurm"],
    "accelerate": ["module accelerate"],
    "deepspeed": ["module deepspeed"],
    "ray": ["module ray"],
    "lightning": ["module pytorch_lightning"],
    "small-shm": ["root", "unshare"],
    "memory-limit": ["root", "memory cgroup"],
    "py-spy": ["module py_spy"],
    "gdb": ["gdb"],
}
NCCL_MODULE = "module nvidia.nccl"


def lacking(need, python):
    """Why a need is not met here, or None."""
    if need == "slurm":
        return slurm.lacking()
    if need == "root":
        return None if os.getuid() == 0 else "not root"
    if need == "memory cgroup":
        return (
            None
            if os.access("/sys/fs/cgroup/memory/memory.limit_in_bytes", os.W_OK)
            else "no cgroup v1 of memory"
        )
    if need == "module py_spy":
        found = (Path(python).parent / "py-spy").exists()
    elif need.startswith("module "):
        test = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({need[7:]!r}))"
        found = (
            subprocess.run([python, "-c", test], check=False, capture_output=True, timeout=60).returncode == 0
        )
    else:
        found = shutil.which(need)
    return None if found else f"{need} is not installed"
