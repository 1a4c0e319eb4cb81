"""NCCL itself, as far as it goes without a GPU: nccl.py create|no-communicator."""

import ctypes
import importlib.util
import sys
from pathlib import Path

INT, POINTER = ctypes.c_int, ctypes.c_void_p


class UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * 128),)


def load():
    package = importlib.util.find_spec("nvidia.nccl")
    nccl = ctypes.CDLL(str(Path(next(iter(package.submodule_search_locations))) / "lib" / "libnccl.so.2"))
    nccl.ncclGetErrorString.restype = nccl.ncclGetLastError.restype = ctypes.c_char_p
    nccl.ncclCommInitRank.argtypes = (POINTER, INT, UniqueId, INT)
    nccl.ncclAllReduce.argtypes = (POINTER, POINTER, ctypes.c_size_t, INT, INT, POINTER, POINTER)
    return nccl


def check(nccl, name, result):
    if result != 0:
        error, last = nccl.ncclGetErrorString(result).decode(), nccl.ncclGetLastError(None).decode()
        sys.exit(f"{name}: {error}\nLast error:\n{last}")


def create(nccl):
    """Each process makes an id of its own: without a device none gets as far as to miss the others."""
    comm, unique_id = POINTER(), UniqueId()
    check(nccl, "ncclGetUniqueId", nccl.ncclGetUniqueId(ctypes.byref(unique_id)))
    check(nccl, "ncclGroupStart", nccl.ncclGroupStart())
    check(nccl, "ncclCommInitRank", nccl.ncclCommInitRank(ctypes.byref(comm), 4, unique_id, 0))
    check(nccl, "ncclGroupEnd", nccl.ncclGroupEnd())


def reduce_without_communicator(nccl):
    numbers = ctypes.create_string_buffer(64)
    check(nccl, "ncclAllReduce", nccl.ncclAllReduce(numbers, numbers, 16, 7, 0, None, None))


WAYS = {"create": create, "no-communicator": reduce_without_communicator}


def main():
    WAYS[sys.argv[1]](load())


if __name__ == "__main__":
    main()
