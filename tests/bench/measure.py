#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the seconds and the peak memory (MB, of the largest process) of a shell command.

usage: measure.py RUNS COMMAND

The least of the RUNS times counts, so that other work on the machine does not.
"""
import resource
import subprocess
import sys
import time


def main():
    best = None
    for _ in range(int(sys.argv[1])):
        start = time.monotonic()
        subprocess.run(['bash', '-c', 'set -o pipefail; ' + sys.argv[2]], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        took = time.monotonic() - start
        best = took if best is None else min(best, took)
    print('%.3f %.1f' % (best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))


main()
