# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the HEAP records of a recording with the calls that the recorded program has printed.

usage: check_heap.py STREAM PRINTED [window]

PRINTED has the lines of tests/tools/rec_heap.c. The records of calls from the code START to END must
be those lines, thread by thread. All records must be at their place among the executed instructions:
  a function that only frees     where it is entered, after a call or a jump
  any other                      where it has returned to, after a return
and the caller must be after a call. That is not asked of a window of a recording. Prints how many lines and records there are; status 1 and why
if anything is wrong.
"""
import bisect
import sys

import vt_reader
from vt_exec import Reader

FREEING = ("free", "delete", "munmap")
OPS = vt_reader.ENUMS["enum:heap"]
ENDS = vt_reader.ENUMS["enum:blockend"]
RETURNS = (b"\xc3", b"\xc2", b"\xf3\xc3", b"\xf2\xc3")


def wrong(*what):
    print("wrong:", *what)
    sys.exit(1)


def read_printed(path):
    code, entries, calls = (0, 0), {}, {}
    with open(path) as f:
        for line in f:
            w = line.split()
            if w[0] == "code":
                code = int(w[1], 16), int(w[2], 16)
            elif w[0] == "entry":
                entries.setdefault(w[1], set()).add(int(w[2], 16))
            elif w[0].isdigit():
                within = w[1] == "within"
                op, *numbers = w[1 + within :]
                calls.setdefault(int(w[0]), []).append(
                    (within, (op, *(int(n, 16) for n in numbers))))
    return code, entries, calls


class Recording:
    def __init__(self, path):
        self.heap, self.after_calls, self.executed, self.at = [], set(), {}, {}
        Reader(path, lambda *_: None, self.record, self.block).read()
        self.firsts = {}
        for pid in {r["pid"] for r in self.heap}:
            self.firsts[pid] = sorted({r["first"] for r in self.heap if r["pid"] == pid})
        Reader(path, self.step, lambda *_: None).read()

    def record(self, kind, row):
        if kind == "HEAP":
            self.heap.append(row)

    def block(self, b):
        if ENDS[b.end] in ("call", "call-indirect"):
            self.after_calls.add(b.addrs[-1])
        return False

    def step(self, pid, tid, s):
        """Finds the instructions at `first` of a record, and those before them."""
        begin = self.executed.get(pid, 0)
        end = self.executed[pid] = begin + s.last - s.first
        firsts = self.firsts.get(pid, ())
        for i in range(bisect.bisect_left(firsts, begin), bisect.bisect_right(firsts, end)):
            for place in (firsts[i] - 1, firsts[i]):
                if begin <= place < end:
                    n = s.first + place - begin
                    b = s.block
                    self.at[pid, place] = (
                        b.addrs[n], b.code[b.addrs[n] - b.addr : b.addrs[n + 1] - b.addr])


def compare_calls(tid, rows, calls, code):
    rows = iter(rows)
    for within, call in calls:
        for r in rows:
            got = OPS[r["op"]], r["addr"], r["size"], r["old"]
            inside = code[0] <= r["caller"] < code[1]
            if inside != within and got == call:
                break
            if inside:
                wrong(tid, "is", got, "for", call)
        else:
            wrong(tid, "no more records for", call)
    for r in rows:
        if code[0] <= r["caller"] < code[1]:
            wrong(tid, "one more", r)


def check_place(recording, r, code, entries):
    op, caller = OPS[r["op"]], r["caller"]
    before = recording.at.get((r["pid"], r["first"] - 1))
    here = recording.at.get((r["pid"], r["first"]))
    if caller not in recording.after_calls:
        wrong("no call before the caller", r)
    if not before or not here:
        wrong("not among the executed instructions", r)
    if op in FREEING:
        if code[0] <= caller < code[1] and op in entries and here[0] not in entries[op]:
            wrong("not at the entry", r, here)
        if before[1].startswith(RETURNS):
            wrong("after a return", r, before)
    elif here[0] != caller or not before[1].startswith(RETURNS):
        wrong("not after a return", r, before, here)


def main(path, printed, window=None):
    code, entries, calls = read_printed(printed)
    recording = Recording(path)
    for tid in calls:
        compare_calls(tid, [r for r in recording.heap if r["tid"] == tid], calls[tid], code)
    for r in [] if window else recording.heap:
        check_place(recording, r, code, entries)
    if sum(code[0] <= r["caller"] < code[1] for r in recording.heap) != sum(
            not within for of_one in calls.values() for within, _ in of_one):
        wrong("calls of threads that printed none")
    print("%d calls, %d records" % (sum(map(len, calls.values())), len(recording.heap)))


main(*sys.argv[1:])
