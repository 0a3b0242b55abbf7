#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: ibs_table.py CAPS
#
# Prints registers of IBS samples for mkibs.py, of a processor with these capabilities (hexadecimal): every
# bit of every register set alone and clear alone, for micro-ops that load, store and do neither, latencies at
# their stop, each data source, and random registers of a fixed seed.

import random
import sys

VALID_OP, VALID_FETCH = 3 << 17, 3 << 48
LOAD, STORE, MISS, L2_MISS = 1, 2, 1 << 7, 1 << 20
RIP, LINEAR, PHYSICAL, TARGET = 0x401234, 0x7FFF12345678, 0x123456789, 0x401999
ALL = (1 << 64) - 1


def op(caps, data=0, data2=0, data3=0, ctl=0, target=TARGET):
    registers = [ctl | VALID_OP, RIP, data, data2, data3, LINEAR, PHYSICAL, target]
    print("op %x %s" % (caps, " ".join("%x" % r for r in registers)))


def fetch(caps, ctl, extended):
    print("fetch %x %x %x %x %x" % (caps, ctl | VALID_FETCH, LINEAR, PHYSICAL, extended))


def every_bit(caps):
    for bit in range(64):
        one = 1 << bit
        for data in (one, ALL ^ one):
            op(caps, data)
            fetch(caps, data, 0x123)
            fetch(caps, 1 << 55, data)
            for access in (LOAD, STORE, LOAD | STORE, 0):
                op(caps, data3=data & ~3 | access)
                op(caps, data2=data, data3=access | MISS | L2_MISS)


def main():
    caps, rng = int(sys.argv[1], 16), random.Random(1)
    every_bit(caps)
    for source in range(512):
        op(caps, data2=source, data3=LOAD | MISS | L2_MISS | (source & 1) << 16)
    for _ in range(2000):
        registers = [rng.getrandbits(64) for _ in range(3)]
        op(caps, *registers, ctl=rng.getrandbits(64), target=rng.choice((0, TARGET)))
        fetch(caps, rng.getrandbits(64), rng.getrandbits(64))


main()
