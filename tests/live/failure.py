"""What is known of a job that goes wrong, because it was written so.

The codes and causes are those of docs/verdict.md. `launchers` are those of `--more`, which takes minutes and
starts something under each launcher; `--every` adds `others`, and takes an hour. The ordinary run is listed
in failures.py.
"""

from dataclasses import dataclass, field, replace

OTHERS = (
    *("files", "merged", "torchrun", "torchrun-tee", "torchrun-redirects", "torchrun-nodes"),
    *("mpirun", "srun", "srun-torchrun", "spawn", "deepspeed", "ray"),
)
BY_HAND = ("files", "merged", "mpirun", "srun")  # where the job's own MASTER_ADDR, WORLD_SIZE, … count


@dataclass(frozen=True)
class Failure:
    job: str  # script and arguments
    truth: str
    codes: tuple  # the accepted ones, best first
    culprits: tuple = None  # not checked without
    causes: tuple = ()  # the accepted ones; not checked without
    line: str = ""  # some line of the logs matches, and the verdict has to cite one
    shown: str = ""  # some line of the logs matches
    launchers: tuple = ("torchrun",)
    others: tuple = OTHERS
    ranks: str = "0 1 2 3"  # that are started
    environment: dict = field(default_factory=dict)
    stop: int = 0  # the signal that the whole job gets once it trains
    port_taken: bool = False  # another program listens on MASTER_PORT
    seconds: float = 150.0  # for the job, at most
    but: dict = field(default_factory=dict)  # by launcher: what its lines tell less of

    def under(self, launcher):
        return replace(self, **self.but.get(launcher, {}))


DETAIL = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}
VERBOSE = {"TORCH_DISTRIBUTED_DEBUG": "DETAIL", "TORCH_CPP_LOG_LEVEL": "INFO"}
NCCL = {"NCCL_DEBUG": "TRACE", "NCCL_DEBUG_SUBSYS": "ALL", "NCCL_SOCKET_IFNAME": "lo"}
KILLED = ("killed-by-signal", "host-out-of-memory")
RAISED = ("uncaught-exception",)
STOPPED = ("scheduler-limit", "killed-by-signal")

# What lines of some launchers do not tell.
ANONYMOUS = {"culprits": None}  # which rank wrote them
SILENT = {"codes": ("rank-died", "rank-missing"), "causes": ()}  # how a silent rank ended
TIMELESS = {"codes": ("rank-slow", "rank-missing")}  # whether the work went on while others waited
UNSEEN = {"codes": ("rank-slow", "rank-missing", "undetermined"), "culprits": None, "causes": (), "line": ""}
