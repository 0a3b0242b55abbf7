#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: perf_times.py CPI BITS EARLY LATE RECORDING.vt TRACE.perf.data
#
# Compares the times that perf gives the transfers of control of an encoded trace with those of the
# model that it was encoded by, `vtrace encode --cpi CPI` and else as usual, of a program of one
# thread.  perf's may be EARLY nanoseconds too early and LATE too late, and must not go back.  A
# decision stands in a packet of up to BITS of them, which comes with the last, so that the timing
# packets of in between are before it: LATE counts from BITS - 1 transfers later on.

import sys

import perf_flow

START = 1 << 32  # TSC; it ticks at 3.2 GHz, once in a cycle, and is 0 at one second
TICK = 1 / 3.2


def main():
    cpi, bits, early, late = (float(a) for a in sys.argv[1:5])
    rec = perf_flow.Recording(sys.argv[5])
    (who,) = rec.threads
    model = [(a, b, at) for (a, b), at in zip(rec.transfers[who], rec.positions[who])]
    lowest = highest = last = 0
    got = 0
    for line in perf_flow.perf_lines(sys.argv[6], "b", "time,ip,addr"):
        time, rest = line.split(None, 1)
        a, b = (int(x, 16) for x in rest.split("=>"))
        if not a or not b:
            continue
        if got == len(model) or model[got][:2] != (a, b):
            sys.exit("transfer %d is another one" % got)
        seconds, fraction = time.rstrip(":").split(".")
        now = int(seconds) * 10**9 + int(fraction)
        if now < last:
            sys.exit("transfer %d: time goes back by %d ns" % (got, last - now))
        packet = model[min(got + int(bits) - 1, len(model) - 1)][2]
        lowest = min(lowest, now - 10**9 - (START + model[got][2] * cpi) * TICK)
        highest = max(highest, now - 10**9 - (START + packet * cpi) * TICK)
        last = now
        got += 1
    print("%d transfers of %d, %.2f ns too early to %.2f ns too late" % (got, len(model), -lowest, highest))
    return got != len(model) or -lowest > early or highest > late


sys.exit(1 if main() else 0)
