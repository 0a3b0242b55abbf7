# SPDX-License-Identifier: GPL-3.0-or-later
"""
What perf would print of a decoded trace of one thread: the address of each instruction, or the
branches as "from to", with 0 where tracing is off. From formats/vt.md alone.

usage: pt_flow.py insns|branches|count STREAM

`count` prints how many instructions there are, and how many gaps for each reason.
"""
import collections
import sys

import vt_exec

BRANCH = 1  # how a block ends: the enumeration of formats/vt.md
FALL = 0
ENABLED, DISABLED, ASYNC_DISABLED = 0, 1, 2  # events of TRACE


class Flow:
    def __init__(self):
        self.insns, self.branches = [], []
        self.gaps = collections.Counter()
        self.last = None  # the step before, if nothing came between

    def reach(self, ip):
        """Execution goes on at ip: by a branch, or from the instruction before."""
        if self.last:
            before = self.last.block
            whole = self.last.last == before.insns
            jumped = ip != before.addrs[self.last.last]
            if jumped or (whole and before.end not in (FALL, BRANCH)):
                self.branches.append((before.addrs[self.last.last - 1], ip))

    def step(self, _pid, _tid, step):
        block = step.block
        self.reach(block.addrs[step.first])
        self.insns.extend(block.addrs[step.first : step.last])
        self.last = step

    def record(self, name, row):
        if name == "GAP":
            self.gaps[row["reason"].decode()] += 1
            self.last = None
        if name != "TRACE":
            return
        if row["event"] == ENABLED:
            self.branches.append((0, row["ip"]))
            self.last = None
        elif row["event"] == DISABLED:
            self.branches.append((self.insns[-1], 0))
            self.last = None
        elif row["event"] == ASYNC_DISABLED:
            self.reach(row["ip"])
            self.branches.append((row["ip"], 0))
            self.last = None


def main():
    flow = Flow()
    vt_exec.Reader(sys.argv[2], flow.step, flow.record).read()
    if sys.argv[1] == "count":
        print(len(flow.insns), *["%s:%d" % g for g in sorted(flow.gaps.items())])
    elif sys.argv[1] == "insns":
        for ip in flow.insns:
            print("%x" % ip)
    else:
        for pair in flow.branches:
            print("%x %x" % pair)


main()
