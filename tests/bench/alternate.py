#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times two commands, one after the other RUNS times, so that other work on the machine meets both.

usage: alternate.py NAME RUNS AIM COMMAND OTHER

Prints one line: the least processor time and wall time of COMMAND, how many times as long OTHER
takes, what the aim of that is, and COMMAND's peak memory. The commands are split at blanks.
"""
import os
import subprocess
import sys
import time


def run(command):
    start = time.monotonic()
    child = subprocess.Popen(command.split(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit('%s: status %d' % (command, status))
    return used.ru_utime + used.ru_stime, time.monotonic() - start, used.ru_maxrss / 1024


def main():
    name, runs, aim, ours, theirs = sys.argv[1:]
    pairs = [(run(ours), run(theirs)) for _ in range(int(runs))]
    (cpu, wall), (their_cpu, their_wall) = (
        [min(p[side][what] for p in pairs) for what in (0, 1)] for side in (0, 1))
    print('perf  %-34s %7.1f ms, wall %7.1f: perf takes %4.1f and %4.1f times as long (aim: %s); '
          '%.1f MB' % (name, 1e3 * cpu, 1e3 * wall, their_cpu / cpu, their_wall / wall, aim,
                       max(p[0][2] for p in pairs)))


main()
