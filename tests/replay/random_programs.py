"""Random programs of a few ranks, for runs against libraries: most steps agree, some are spoiled."""

import json
import random


class Program:
    """Groups of ranks, and the units that each rank makes: (group, operation, peers)."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.size = self.random.randint(2, 6)
        self.groups = [list(range(self.size))]
        for _ in range(self.random.randint(0, 2)):
            members = sorted(self.random.sample(range(self.size), self.random.randint(2, self.size)))
            self.groups.append(members)
        self.collectives = [self.random.choice(["all_reduce", "all_gather"]) for _ in self.groups]
        self.units = [[] for _ in range(self.size)]
        for _ in range(self.random.randint(2, 8)):
            self.add()
        for _ in range(self.random.randint(0, 2)):
            self.spoil()

    def add(self):
        """A step that all who take part agree on."""
        group = self.random.randrange(len(self.groups))
        members = self.groups[group]
        kind = self.random.choice(["collective", "collective", "pair", "ring"])
        if kind == "collective":
            for rank in members:
                self.units[rank].append((group, self.collectives[group], None))
        elif kind == "pair":
            source, target = self.random.sample(members, 2)
            self.units[source].append((group, "send", members.index(target)))
            self.units[target].append((group, "recv", members.index(source)))
        else:
            for index, rank in enumerate(members):
                after, before = (index + 1) % len(members), (index - 1) % len(members)
                self.units[rank].append((group, "batch", [("send", after), ("recv", before)]))

    def spoil(self):
        units = self.random.choice([units for units in self.units if units] or [[None]])
        at = self.random.randrange(len(units))
        what = self.random.choice(["drop", "double", "swap", "swap"])
        if what == "drop":
            del units[at]
        elif what == "double":
            units.insert(at, units[at])
        elif at + 1 < len(units):
            units[at], units[at + 1] = units[at + 1], units[at]

    def plan(self, semantics="gloo"):
        def call(group, operation, peer):
            row = {"group": group, "op": operation}
            if peer is not None:
                row["peer"] = peer
            return {**row, "in": [[4]], "dtype": "Float"}

        programs, ranks = [], []
        for rank, units in enumerate(self.units):
            mine = [group for group, members in enumerate(self.groups) if rank in members]
            calls = []
            for group, operation, what in units:
                slot = mine.index(group)
                if operation == "batch":
                    calls.append({"batch": [call(slot, kind, peer) for kind, peer in what]})
                else:
                    calls.append(call(slot, operation, what))
            programs.append(calls)
            ranks.append({"ranks": str(rank), "program": rank, "groups": mine})
        groups = [
            {"name": str(number), "backend": semantics, "ranks": members}
            for number, members in enumerate(self.groups)
        ]
        document = {"format": "hangscope.plan/1", "semantics": semantics, "groups": groups}
        return json.dumps({**document, "programs": programs, "ranks": ranks})
