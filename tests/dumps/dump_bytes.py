"""Containers of a flight-recorder dump: the bytes of torch's pickler, of CPython's pickle and of the
JSON form."""

import json
import pickle
import struct

CONTAINERS = ("torch", "json", "pickle0", "pickle1", "pickle2", "pickle3", "pickle4", "pickle5")


class TorchPickler:
    """Writes dict, list, tuple, str, int, float, bool and None as torch::jit::Pickler does.

    Protocol 2. Strings are memoised by value. A dict or list is memoised after its contents, and only if it
    is referenced more than once; `memo_top` says so of the top-level dict, which dump versions up to 2.9 had.
    """

    DICT = b"}("

    def __init__(self, memo_top=False):
        self.out = bytearray(b"\x80\x02")
        self.memo_top = memo_top
        self.next_id = 0
        self.strings = {}
        self.containers = {}
        self.references = {}

    def dumps(self, value):
        self._count(value)
        if self.memo_top:
            self.references[id(value)] = 2
        self._push(value)
        self.out += b"."
        return bytes(self.out)

    def _count(self, value):
        if isinstance(value, tuple):
            for item in value:
                self._count(item)
        elif isinstance(value, (dict, list)):
            seen = self.references.get(id(value), 0)
            self.references[id(value)] = seen + 1
            if not seen:
                for item in value.values() if isinstance(value, dict) else value:
                    self._count(item)

    def _put(self):
        number = self.next_id
        self.next_id += 1
        self.out += b"q%c" % number if number < 256 else b"r" + struct.pack("<I", number)
        return number

    def _get(self, number):
        self.out += b"h%c" % number if number < 256 else b"j" + struct.pack("<I", number)

    def _string(self, value):
        number = self.strings.get(value)
        if number is not None:
            self._get(number)
            return
        data = value.encode("utf-8", "surrogateescape")
        self.out += b"X" + struct.pack("<I", len(data)) + data
        self.strings[value] = self._put()

    def _integer(self, value):
        if 0 <= value < 1 << 8:
            self.out += b"K%c" % value
        elif 0 <= value < 1 << 16:
            self.out += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            self.out += b"\x8a\x08" + struct.pack("<q", value)

    def _tuple(self, value):
        if not value:
            self.out += b")"
            return
        if len(value) > 3:
            self.out += b"("
        for item in value:
            self._push(item)
        self.out += (b"\x85", b"\x86", b"\x87")[len(value) - 1] if len(value) <= 3 else b"t"

    def _push(self, value):
        if value is None:
            self.out += b"N"
        elif value is True or value is False:
            self.out += b"\x88" if value else b"\x89"
        elif isinstance(value, str):
            self._string(value)
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        elif isinstance(value, tuple):
            self._tuple(value)
        else:
            self._container(value)

    def _container(self, value):
        shared = self.references[id(value)] > 1
        if shared and id(value) in self.containers:
            self._get(self.containers[id(value)])
            return
        if isinstance(value, dict):
            self.out += self.DICT
            for key, item in value.items():
                self._push(key)
                self._push(item)
            self.out += b"u"
        else:
            self.out += b"]("
            for item in value:
                self._push(item)
            self.out += b"e"
        if shared:
            self.containers[id(value)] = self._put()


class RestlessPickler(TorchPickler):
    """The same values, with opcodes in each dict that do nothing."""

    DICT = b"}(N0"


def to_json(dump):
    """The JSON form: sorted keys, no frames, 0 for no time, statuses as strings, no empty `entries`."""

    def entry_to_json(entry):
        entry = {key: value for key, value in entry.items() if key != "frames"}
        for key in ("time_discovered_started_ns", "time_discovered_completed_ns"):
            if key in entry:
                entry[key] = entry[key] or 0
        return entry

    entries = dump if isinstance(dump, list) else dump.get("entries", [])
    entries = [entry_to_json(entry) for entry in entries]
    if isinstance(dump, list):
        value = entries
    else:
        value = dict(dump, entries=entries)
        if not entries:
            del value["entries"]
        if "pg_status" in value:
            value["pg_status"] = {
                key: {name: str(number) for name, number in status.items()}
                for key, status in value["pg_status"].items()
            }
        if "pg_config" in value:
            value["pg_config"] = {str(key): config for key, config in value["pg_config"].items()}
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def encode(dump, container="torch", memo_top=False):
    if container == "json":
        return to_json(dump)
    if container == "torch":
        return TorchPickler(memo_top).dumps(dump)
    return pickle.dumps(dump, int(container[len("pickle") :]))


def reencodes_exactly(data):
    """Whether the writer above gives back exactly these bytes of a real dump (trusted files only)."""
    value = pickle.loads(data)
    return any(TorchPickler(memo_top).dumps(value) == data for memo_top in (True, False))
