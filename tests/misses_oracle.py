# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: misses_oracle.py placed FILE.vt
       misses_oracle.py cache FILE.vt SETS WAYS LINE
       misses_oracle.py conflicts FILE.vt SETS

Reads what `vsim --misses` wrote of one process.  "placed": each miss is of an access of the EXEC record
behind it; prints the misses and those that are not.  "cache": the lines that a cache of the accesses
brings in, least recently used, are those of the misses; prints both numbers and the differences.
"conflicts": what cache-conflict counts, as coproc_oracle.py prints it.
"""
import collections
import sys

import vt_exec
from vt_exec import GUARD, LOAD, LOAD_ADDRESS, STORE, STORE_ADDRESS

LOADED = 1 << 11  # VT_PM_EVENT(LOAD)
FILL_BUFFER = 2
POSITION, EVICTED = 1 << 22, 1 << 24
SHORT = 128  # lines


def accesses(step):
    """(insn, is a store, address, size) of each access."""
    shut, address = False, None
    for slot, data in step.slots():
        if slot.what == GUARD:
            shut = int.from_bytes(data, "little") == 0
        elif slot.what in (LOAD_ADDRESS, STORE_ADDRESS):
            address = int.from_bytes(data, "little")
        elif slot.what in (LOAD, STORE) and address is not None:
            if not shut:
                yield slot.insn, slot.what == STORE, address, len(data)
            shut, address = False, None


class Run:
    """Calls `code` with (position, is a store, address, size) of each access, `miss` with samples."""

    def __init__(self, path, code, miss):
        self.code, self.miss, self.position = code, miss, 0
        vt_exec.Reader(path, self.step, self.record).read()

    def step(self, _pid, _tid, step):
        for insn, store, address, size in accesses(step):
            self.code(self.position + insn - step.first, store, address, size)
        self.position += step.last - step.first

    def record(self, kind, row):
        if kind == "SAMPLE" and row["pm_has"] & POSITION:
            self.miss(row)


def placed(path):
    waiting, counts = {}, [0, 0]

    def miss(row):
        counts[0] += 1
        key = row["position"], not row["events"] & LOADED
        waiting.setdefault(key, []).append(row["addr"])

    def code(position, store, address, size):
        left = waiting.get((position, store), [])
        for a in [a for a in left if address <= a < address + size]:
            left.remove(a)
            counts[1] += 1

    Run(path, code, miss)
    print(counts[0], counts[0] - counts[1])


def cache(path, sets, ways, line):
    lines = collections.defaultdict(list)  # of each set, the most recently used first
    want, got = [], []
    pending = [None, []]

    def touch(position, store, number):
        here = lines[number % sets]
        if number in here:
            here.remove(number)
        else:
            evicted = here.pop() * line if len(here) == ways else None
            want.append((position, store, number, number % sets, evicted))
        here.insert(0, number)

    def flush():
        for store, address, size in sorted(pending[1], key=lambda a: a[0]):
            for number in range(address // line, (address + size - 1) // line + 1):
                touch(pending[0], store, number)
        pending[1].clear()

    def code(position, store, address, size):
        if position != pending[0]:
            flush()
        pending[0] = position
        pending[1].append((store, address, size))

    def miss(row):
        if row["source"] != FILL_BUFFER:
            evicted = row["evicted"] if row["pm_has"] & EVICTED else None
            store = not row["events"] & LOADED
            got.append((row["position"], store, row["addr"] // line, row["set"], evicted))

    Run(path, code, miss)
    flush()
    # In which order an instruction makes its accesses is the machine's.
    pairs = zip(*(sorted(m, key=lambda a: a[:3]) for m in (want, got)))
    print(len(want), len(got), sum(a != b for a, b in pairs))


def conflicts(path, sets):
    counts = collections.Counter()
    recent = collections.OrderedDict()

    def miss(row):
        line = row["addr"] // 64
        if not row["events"] & LOADED or row["source"] == FILL_BUFFER:
            return
        if line in recent:
            counts[row["ip"] & 0xFFFFFFFF, line % sets] += 1
            return
        if len(recent) == SHORT:
            recent.popitem(last=False)
        recent[line] = True

    Run(path, lambda *_: None, miss)
    for (pc, where), n in sorted(counts.items()):
        print("%x %x %d" % (pc, where, n))


if __name__ == "__main__":
    {"placed": placed, "cache": cache, "conflicts": conflicts}[sys.argv[1]](
        sys.argv[2], *map(int, sys.argv[3:]))
