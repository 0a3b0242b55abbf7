#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""
usage: pt_times.py STREAM CPI START_TSC TSC_PER_CYCLE [LATE [OFF]]

Checks the times of a decoded trace whose every instruction takes CPI cycles: where a run tells the
time, as many cycles must have passed as the instructions before it took, and no more than those
that follow within LATE instructions (default 0: exactly). The TSC must be right up to OFF ticks
(default: nothing is said about it) and never go back. Numbers may be fractions, as in 3/4. Prints
how many times were told.
"""
import sys
from fractions import Fraction

import vt_exec
import vt_reader

path = sys.argv[1]
cpi, start, ratio = (Fraction(x) for x in sys.argv[2:5])
late = int(sys.argv[5]) if len(sys.argv) > 5 else 0
off = int(sys.argv[6]) if len(sys.argv) > 6 else None


class Times(vt_exec.Reader):
    insns = told = last_cycles = last_tsc = 0

    def check(self, cycles, tsc):
        where = "%s: after %d instructions: " % (self.path, self.insns)
        if tsc < self.last_tsc or cycles < self.last_cycles:
            sys.exit(where + "time goes back")
        self.last_cycles, self.last_tsc = cycles, tsc
        if cycles and not self.insns * cpi // 1 <= cycles <= (self.insns + late) * cpi // 1:
            sys.exit(where + "%d cycles, not %d" % (cycles, self.insns * cpi // 1))
        want = start + self.insns * cpi // 1 * ratio
        if off is not None and tsc and abs(tsc - want) > off:
            sys.exit(where + "TSC %d, not %d" % (tsc, want))
        self.told += 1

    def run(self, row):
        ids = memoryview(row["ids"]).cast("H" if row["width"] == 2 else "I")
        marks = dict(zip(row["time_at"], range(len(row["time_at"]))))
        for i, number in enumerate(ids):
            if i in marks:
                k = marks[i]
                cycles = row["time_cycles"][k] if row["time_cycles"] else 0
                self.check(cycles, row["time_tsc"][k])
            self.insns += self.blocks[row["base"] + number].insns


t = Times(path, None)
t.read()
print(t.told)
