"""A small Slurm on this machine: two nodes, each a slurmd in a UTS and mount namespace of its own."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NODES = ("node-a", "node-b")
PORTS = range(17000, 30000)  # below those that a kernel gives to connections
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "scancel", "unshare")
CONF = """\
ClusterName=live
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=300
MessageTimeout=60
LaunchParameters=disable_send_gids
SlurmdParameters=config_overrides
CommunicationParameters=NoAddrCache
{nodes}
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
"""
NODE = (
    "NodeName={name} NodeHostname={name} NodeAddr=127.0.0.1 Port={port} CPUs=8 RealMemory=4096 State=UNKNOWN"
)


def lacking():
    """Why Slurm cannot run here, or None."""
    if os.getuid() != 0:
        return "Slurm's nodes need root"
    missing = [name for name in PROGRAMS if not find(name)]
    return f"not installed: {', '.join(missing)}" if missing else None


def free_port():
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Cluster:
    """In a folder that everybody can enter. hosts: a table of hosts with the names of the nodes."""

    def __init__(self, folder, hosts):
        self.folder, self.hosts = folder, hosts
        self.conf = folder / "slurm.conf"

    def run(self, *command):
        done = subprocess.run(
            [find(command[0]), *command[1:]],
            env={**os.environ, "SLURM_CONF": str(self.conf)},
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self):
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "state").mkdir()
        nodes = "\n".join(NODE.format(name=name, port=free_port()) for name in NODES)
        host = os.uname().nodename
        self.conf.write_text(CONF.format(host=host, folder=self.folder, port=free_port(), nodes=nodes))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n")
        self.start_munge()
        self.run("slurmctld", "-f", self.conf)
        for name in NODES:
            inside = (
                f"hostname {name} && mount --bind {self.hosts} /etc/hosts && exec {find('slurmd')} -N {name}"
            )
            self.run("unshare", "-u", "-m", "bash", "-c", inside)
        self.wait_until_idle()

    def start_munge(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.run(
            "munged",
            f"--key-file={key}",
            f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid",
            f"--log-file={self.folder}/munged.log",
            f"--seed-file={self.folder}/munged.seed",
        )

    def wait_until_idle(self):
        end = time.monotonic() + 30
        states = ""
        while time.monotonic() < end:
            states = self.run("sinfo", "-h", "-N", "-o", "%N %t")
            if sorted(states.splitlines()) == [f"{name} idle" for name in NODES]:
                return
            time.sleep(0.2)
        raise RuntimeError(f"the nodes did not come up: {states}")

    def stop(self):
        """Daemons by pid file, then the steps of jobs that were left. Nothing happens if none was started."""
        for name in (*(f"slurmd-{name}" for name in NODES), "slurmctld", "munged"):
            with contextlib.suppress(OSError, ValueError):
                pid = int((self.folder / f"{name}.pid").read_text())
                os.kill(pid, signal.SIGTERM)
                end = time.monotonic() + 10
                while time.monotonic() < end and Path(f"/proc/{pid}").exists():
                    time.sleep(0.05)
        setting = b"SLURM_CONF=" + bytes(self.conf)
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if setting in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)
