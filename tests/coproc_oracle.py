# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: coproc_oracle.py PROGRAM FILE.vt

Counts directly what a program of vcoproc counts, from executed code with values and addresses: no
associative array, no filters, no clock.  Prints "KEY... COUNT..." in hexadecimal and decimal, a row
a line, sorted.
"""
import collections
import sys

import vt_exec
from vt_exec import GUARD, LOAD, LOAD_ADDRESS, STORE, STORE_ADDRESS

BRANCH, JUMP, JUMP_INDIRECT, CALL, CALL_INDIRECT, RETURN = range(1, 7)
LOW = 0xFFFFFFFF
SLOTS = 128


def accesses(step):
    """(insn, is a store, address, value, size) of each 8 bytes that were accessed, in order."""
    shut, address = False, 0
    for slot, data in step.slots():
        number = int.from_bytes(data, "little")
        if slot.what == GUARD:
            shut = number == 0
        elif slot.what in (LOAD_ADDRESS, STORE_ADDRESS):
            address = number
        elif slot.what in (LOAD, STORE):
            for at in range(0, 0 if shut else len(data), 8):
                part = data[at : at + 8]
                yield (slot.insn, slot.what == STORE, address + at,
                       int.from_bytes(part, "little"), len(part))
            shut = False


def operations(path):
    """(class, pc, rest) of each operation: class "load" or "store", or the end of a block."""
    out = []
    waiting = {}

    def take(pid, tid, step):
        block = step.block
        if tid in waiting:
            at, pc, following = waiting.pop(tid)
            out.append((at, pc, (block.addrs[step.first], following)))
        for insn, store, address, value, size in accesses(step):
            out.append(("store" if store else "load", block.addrs[insn], (address, value, size)))
        if step.last == block.insns and BRANCH <= block.end <= RETURN:
            waiting[tid] = block.end, block.addrs[-2], block.addrs[-1]

    vt_exec.Reader(path, take).read()
    return out


def edge(ops):
    counts = collections.defaultdict(lambda: [0, 0])
    for what, pc, rest in ops:
        if what == BRANCH:
            counts[(pc & LOW,)][rest[0] == rest[1]] += 1
    return counts


def edge_indirect(ops):
    counts = collections.defaultdict(lambda: [0])
    for what, pc, rest in ops:
        if what in (JUMP_INDIRECT, CALL_INDIRECT, RETURN):
            counts[pc & LOW, rest[0] & LOW][0] += 1
    return counts


class Words:
    """The SLOTS words that were entered last."""

    def __init__(self):
        self.order = [None] * SLOTS
        self.next = 0
        self.data = {}

    def enter(self, word, data):
        self.data.pop(self.order[self.next], None)
        self.order[self.next] = word
        self.next = (self.next + 1) % SLOTS
        self.data[word] = data

    def forget(self, word):
        if self.data.pop(word, None) is not None:
            self.order[self.order.index(word)] = None


def mem_dep(ops):
    counts = collections.defaultdict(lambda: [0])
    words = Words()
    for what, pc, rest in ops:
        word = rest[0] >> 3
        if what == "store":
            if word in words.data:
                words.data[word] = pc
            else:
                words.enter(word, pc)
        elif what == "load" and word in words.data:
            counts[words.data[word] & LOW, pc & LOW][0] += 1
    return counts


def silent_store(ops):
    counts = collections.defaultdict(lambda: [0])
    words = Words()
    for what, pc, rest in ops:
        if what not in ("load", "store"):
            continue
        address, value, size = rest
        word = address >> 3
        if address % 8 or size != 8:
            if what == "store":
                for w in range(word, (address + size - 1 >> 3) + 1):
                    words.forget(w)
        elif word not in words.data:
            words.enter(word, (value,))
        else:
            counts[(pc & LOW,)][0] += what == "store" and words.data[word] == (value,)
            words.data[word] = (value,)
    return {k: v for k, v in counts.items() if v[0]}


def call_stack(ops):
    counts = collections.defaultdict(lambda: [0])
    stack = [(0, 0)] * SLOTS
    depth, context, caller = 0, 0, 0
    for what, pc, _ in ops:
        if what in (CALL, CALL_INDIRECT):
            stack[depth] = context, caller
            depth = (depth + 1) % SLOTS
            context = (2 * context ^ context >> 8 ^ (pc & LOW)) & LOW
            caller = pc & LOW
        elif what == RETURN:
            depth = (depth - 1) % SLOTS
            context, caller = stack[depth]
        elif what == "load":
            counts[context, caller][0] += 1
    return counts


def main():
    count = {"edge": edge, "edge-indirect": edge_indirect, "mem-dep": mem_dep,
             "silent-store": silent_store, "call-stack": call_stack}[sys.argv[1]]
    for key, counts in sorted(count(operations(sys.argv[2])).items()):
        print(*("%x" % k for k in key), *counts)


if __name__ == "__main__":
    main()
