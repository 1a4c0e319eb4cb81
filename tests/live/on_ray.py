"""Start a job as Ray tasks, one process a rank: on_ray.py RANKS SCRIPT [ARGUMENT...]."""

import importlib
import os
import sys
from pathlib import Path

import ray


@ray.remote(num_cpus=0, max_retries=0)
def train(rank, ranks, script, arguments, port):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks))
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo")
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).parent))
    importlib.import_module(Path(script).stem).main()


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    ray.init(num_cpus=ranks, object_store_memory=1 << 27, include_dashboard=False)
    ray.get(
        [
            train.remote(rank, ranks, sys.argv[2], sys.argv[3:], os.environ["MASTER_PORT"])
            for rank in range(ranks)
        ]
    )
