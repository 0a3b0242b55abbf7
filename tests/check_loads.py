#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares what rec_loads has logged with a recording of it (--mem).

usage: check_loads.py STREAM LOG

Each execution of a logged instruction must have exactly the loads of its line, with their addresses,
sizes, values and order; or, "within", read nothing but these bytes. A "gather" may also read the top
of the stack. Prints counts; status 1 when anything differs.
"""
import sys

from vt_exec import GUARD, LOAD, LOAD_ADDRESS, Reader


def read_log(path):
    """Of each address: its name, and the executions: how, and the loads as (address, bytes)."""
    expected, names = {}, {}
    with open(path) as f:
        for line in f:
            name, at, how, *loads = line.split()
            loads = [load.split(":") for load in loads]
            loads = [(int(a, 16), bytes.fromhex(b)) for a, b in loads]
            names[int(at, 16)] = name
            expected.setdefault(int(at, 16), []).append((how, loads))
    return names, expected


def loads_of(step, insn):
    """What the instruction loaded, as (address, bytes)."""
    addrs, values, happened = [], [], []
    guard = True
    for slot, data in step.slots():
        if slot.insn != insn:
            continue
        if slot.what == GUARD:
            guard = data != b"\0"
        elif slot.what == LOAD_ADDRESS:
            addrs.append(int.from_bytes(data, "little"))
            happened.append(guard)
            guard = True
        elif slot.what == LOAD:
            values.append(data)
    if len(addrs) != len(values):
        sys.exit("check_loads.py: loads without addresses")
    return [(a, v) for a, v, h in zip(addrs, values, happened) if h]


STACK = 0x1FF0000000  # Valgrind's stacks of programs lie above


def within(got, want):
    """All of `got` are bytes of `want`, and there are any."""
    memory = {a + i: b for a, v in want for i, b in enumerate(v)}
    bytes_got = [(a + i, b) for a, v in got for i, b in enumerate(v)]
    return bool(bytes_got) and all(memory.get(a) == b for a, b in bytes_got)


def main(argv):
    if len(argv) != 3:
        sys.exit(__doc__)
    names, expected = read_log(argv[2])
    got = {at: [] for at in expected}
    last = [None]

    def step(pid, tid, s):
        for insn in range(s.first, s.last):
            at = s.block.addrs[insn]
            if at in got:
                # A repeated instruction is executed once for each repetition.
                if last[0] != at:
                    got[at].append([])
                got[at][-1] += loads_of(s, insn)
            last[0] = at

    Reader(argv[1], step).read()
    executions = loads = pieces = stack = bad = 0
    for at, runs in expected.items():
        if len(runs) != len(got[at]):
            print("%s: executed %d times, not %d" % (names[at], len(got[at]), len(runs)))
            bad += 1
        for (how, want), have in zip(runs, got[at]):
            executions += 1
            if how == "gather":
                stack += sum(a >= STACK for a, _ in have)
                have = [(a, v) for a, v in have if a < STACK]
            loads += len(have)
            pieces += how == "within"
            if not within(have, want) if how == "within" else have != want:
                bad += 1
                if bad <= 20:
                    show = lambda l: " ".join("%#x:%s" % (a, v.hex()) for a, v in l) or "none"
                    print("%s: got %s\n  wanted %s" % (names[at], show(have), show(want)))
    print("instructions %d" % len(expected))
    print("executions %d" % executions)
    print("loads %d" % loads)
    print("in_pieces %d" % pieces)
    print("stack_instead %d" % stack)
    print("differences %d" % bad)
    return bad != 0 or executions == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
