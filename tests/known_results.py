# SPDX-License-Identifier: GPL-3.0-or-later
"""
usage: known_results.py STREAM LOG

Which of the results that tests/tools/fp_modes.c printed (LOG) vinterp has known (STREAM, with its
VALUE records of stores).  Prints their names in one line, and "wrong" with those that are another
value.  What the registers of a sample between a computation and its store say does not count: only
runs that began before the computation do.
"""
import sys

import vt_reader

WHAT_STORE = 2


def main():
    names, truth, starts, last = {}, {}, {}, 0
    with open(sys.argv[2]) as log:
        for line in log:
            name, addr, value = line.split()
            addr = int(addr, 16)
            names[addr], truth[addr], starts[addr] = name, int(value, 16), last
            last = addr
    known, wrong, sample = set(), set(), 0

    def take(kind, values):
        nonlocal sample
        row = {f.name: v for f, v in zip(kind.fields, values)}
        if kind.name == "SAMPLE":
            sample = row["ip"]
        elif kind.name == "VALUE" and row["what"] == WHAT_STORE and row["ip"] in names:
            at = row["ip"]
            if starts[at] < sample <= at:
                return
            known.add(names[at])
            if row["value"] != truth[at]:
                wrong.add(names[at])

    with open(sys.argv[1], "rb") as source:
        stream = vt_reader.Stream(source, take, lambda _: None)
        stream.start()
        stream.records()
    print(*sorted(known))
    print("wrong", *sorted(wrong))


if __name__ == "__main__":
    main()
