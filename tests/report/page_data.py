"""The data of a page, as docs/formats/report-data.md describes it: read by its own lights, for the tests."""

import array
import base64
import gzip
import json
import re
import struct
import sys

NONE = 0xFFFFFFFF
TYPES = {"u8": "B", "u32": "I", "f64": "d"}
STATES = ["none", "completed", "started", "scheduled", "made"]
STATES += ["missing", "mismatch", "hung", "passed", "unknown"]
DATA = re.compile(r'<script id="data" type="application/octet-stream">([A-Za-z0-9+/=]*)</script>')


class Data:
    def __init__(self, html):
        found = DATA.findall(html)
        if len(found) != 1:
            raise ValueError(f"{len(found)} places of data")
        self.packed = len(found[0])
        blob = gzip.decompress(base64.b64decode(found[0], validate=True))
        mark, version, size = struct.unpack_from("<4sII", blob)
        if mark != b"HSRP" or version != 1:
            raise ValueError(f"no blob: {mark} {version}")
        self.document = json.loads(blob[12 : 12 + size].decode("utf-8"))
        at = (12 + size + 7) // 8 * 8
        if blob[12 + size : at].strip(b"\0"):
            raise ValueError("padding is not zero")
        self.sections, self.used = memoryview(blob)[at:], 0

    def column(self, reference):
        kind = TYPES[reference["type"]]
        at, end = reference["at"], reference["at"] + reference["count"] * struct.calcsize(kind)
        if at % 8 or end > len(self.sections):
            raise ValueError(f"a section out of bounds: {reference}")
        self.used = max(self.used, end)
        values = array.array(kind)
        values.frombytes(self.sections[at:end].tobytes())
        if sys.byteorder == "big":
            values.byteswap()
        return values

    def columns(self, key):
        """-> {name: values}; all of one length."""
        found = {name: self.column(reference) for name, reference in self.document[key].items()}
        if len({len(values) for values in found.values()}) > 1:
            raise ValueError(f"{key}: columns of different lengths")
        return found

    def matrices(self):
        """-> [{group, kind, numbers, signatures, hang, tail, members: [{rank, cells, tail row}]}]"""
        table, sets, column = self.columns("matrices"), self.columns("column_sets"), self.columns("column")
        members, rows = self.columns("members"), self.columns("rows")
        cells = self.column(self.document["cells"])
        found = []
        for i, group in enumerate(table["group"]):
            first = sets["first"][table["columns"][i]]
            count = sets["count"][table["columns"][i]]
            matrix = {name: values[i] for name, values in table.items()}
            matrix.update(
                group=None if group == NONE else group,
                numbers=column["number"][first : first + count],
                signatures=column["signature"][first : first + count],
                hang=None if table["hang"][i] == NONE else table["hang"][i],
                rows=[],
            )
            for k in range(table["first_member"][i], table["first_member"][i] + table["members"][i]):
                at = rows["at"][members["row"][k]]
                matrix["rows"].append((members["rank"][k], cells[at : at + count], members["tail"][k]))
            found.append(matrix)
        return found


def state(cell):
    return STATES[cell & 15]
