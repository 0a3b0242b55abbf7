# SPDX-License-Identifier: GPL-3.0-or-later
"""Executed code of a vt stream, written from formats/vt.md alone, on top of vt_reader.py."""
import sys

import vt_reader

UNKNOWN, LOAD, STORE, LOAD_ADDRESS, STORE_ADDRESS, RESULT, ARG, STATE, GUARD = range(9)


class Slot:
    def __init__(self, word, offset):
        self.insn = word & 0xFFFF
        self.what = word >> 16 & 0xFF
        self.size = word >> 32 & 0xFFFF
        self.reg = word >> 48
        self.offset = offset


class Block:
    def __init__(self, row):
        self.pid = row["pid"]
        self.addr = row["addr"]
        self.end = row["end"]
        self.code = row["code"]
        self.insns = len(row["lengths"])
        self.addrs = [self.addr]
        for n in row["lengths"]:
            self.addrs.append(self.addrs[-1] + n)
        self.slots = []
        self.size = 0
        for word in row["slots"]:
            self.slots.append(Slot(word, self.size))
            self.size += self.slots[-1].size

    def offset(self, insn):
        """Where the values of the instruction and those behind it begin."""
        for s in self.slots:
            if s.insn >= insn:
                return s.offset
        return self.size


class Step:
    """Instructions first .. last-1 of a block; `at` is where byte 0 of the block's values would be."""

    def __init__(self, block, first, last, data, at):
        self.block, self.first, self.last, self.data, self.at = block, first, last, data, at

    def value(self, slot):
        at = self.at + slot.offset
        return self.data[at : at + slot.size]

    def slots(self):
        """(slot, bytes) of each value of the step."""
        for s in self.block.slots:
            if self.first <= s.insn < self.last:
                yield s, self.value(s)


class Reader:
    """
    Reads a stream. `step` gets pid, tid and Step of each executed block that `wanted` (given the
    Block when it is told) says yes to; `record` gets the name of the kind and the fields, as a
    dictionary, of everything else.
    """

    def __init__(self, path, step, record=None, wanted=None):
        self.path = path
        self.on_step, self.on_record = step, record
        self.wanted = wanted or (lambda _: True)
        self.blocks = {}
        self.executed = 0

    def read(self):
        with open(self.path, "rb") as source:
            stream = vt_reader.Stream(source, self.take, lambda _: None)
            stream.start()
            stream.records()

    def take(self, kind, values):
        row = {f.name: v for f, v in zip(kind.fields, values)}
        if kind.name == "BLOCK":
            b = Block(row)
            b.wanted = self.wanted(b)
            self.blocks[row["id"]] = b
        elif kind.name == "EXEC":
            self.run(row)
        elif self.on_record:
            self.on_record(kind.name, row)

    def run(self, row):
        ids = memoryview(row["ids"]).cast("H" if row["width"] == 2 else "I")
        base, skip, left, at = row["base"], row["skip"], row["insns"], 0
        data, pid, tid = row["data"], row["pid"], row["tid"]
        blocks, step = self.blocks, self.on_step
        for i in ids:
            b = blocks[base + i]
            n = b.insns - skip
            if skip or n > left:
                n = min(n, left)
                start = b.offset(skip)
                if b.wanted:
                    step(pid, tid, Step(b, skip, skip + n, data, at - start))
                at += b.offset(skip + n) - start
                skip = 0
            else:
                if b.wanted:
                    step(pid, tid, Step(b, 0, n, data, at))
                at += b.size
            left -= n
        if left or at != len(data):
            sys.exit("vt_exec.py: %s: an EXEC that does not add up" % self.path)
        self.executed += row["insns"]
