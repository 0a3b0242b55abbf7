# SPDX-License-Identifier: GPL-3.0-or-later
"""How often does Valgrind look at a repeated string instruction without doing anything?

    extra_looks.py RECORDING

Valgrind looks once more at a string instruction that has repeated for the last time, and its lackey
counts that: here is how often it did in a recording with stores. Nothing of this compares strings
by these instructions.
"""
import sys
import vt_exec

looks, last = 0, None


def is_repeated(code):
    n = 0
    while code[n] in (0x66, 0x67, 0xF2, 0xF3) or code[n] & 0xF0 == 0x40:
        n += 1
    return 0xF3 in code[:n] and n + 1 == len(code) and code[n] in (0xA4, 0xA5, 0xAA, 0xAB)


def step(pid, tid, s):
    global looks, last
    for i in range(s.first, s.last):
        at, behind = s.block.addrs[i], s.block.addrs[i + 1]
        code = s.block.code[at - s.block.addr : behind - s.block.addr]
        does = any(slot.insn == i for slot in s.block.slots)
        if is_repeated(code) and does:
            looks += at != last
            last = at
        else:
            last = None


vt_exec.Reader(sys.argv[1], step).read()
print(looks)
