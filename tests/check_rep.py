# SPDX-License-Identifier: GPL-3.0-or-later
"""
usage: check_rep.py RECORDING LOG

What tests/tools/rec_rep.c says of its instructions against what was recorded of them: executions,
loads and stores.  Prints how many were compared, and each difference.
"""
import sys

import vt_exec


def main():
    log = {}
    with open(sys.argv[2]) as source:
        for line in source:
            name, addr, *want = line.split()
            log[int(addr, 16)] = (name, [int(n) for n in want])
    seen = {addr: [0, 0, 0] for addr in log}

    def step(_pid, _tid, s):
        for i in range(s.first, s.last):
            if s.block.addrs[i] in seen:
                seen[s.block.addrs[i]][0] += 1
        for slot, _ in s.slots():
            row = seen.get(s.block.addrs[slot.insn])
            if row and slot.what in (vt_exec.LOAD, vt_exec.STORE):
                row[slot.what] += 1

    vt_exec.Reader(sys.argv[1], step, wanted=lambda b: set(b.addrs) & set(log)).read()
    bad = [(name, want, seen[addr]) for addr, (name, want) in log.items() if want != seen[addr]]
    for row in bad:
        print("%s: %s, recorded %s" % row)
    print("compared", len(log), "differences", len(bad))
    return 1 if bad or not log else 0


if __name__ == "__main__":
    sys.exit(main())
