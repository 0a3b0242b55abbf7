#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: mksamples.py OUT <DESCRIPTION
#
# Writes a perf.data (in the form that perf writes into pipes) with samples of a process 100 as lines of
# standard input tell:
#
#	map START LENGTH OFFSET PATH [BUILDID]
#					code of a file is mapped
#	event NAME [regs]		the next event; its samples have registers and stack
#	sample NAME TIME IP [REG=VALUE ...] [stack=HEX]
#
# Numbers are hexadecimal but for TIME; registers that are not given are 0.

import argparse
import sys

from mkperfdata import IDENTIFIER, IP, PERIOD, REGS_USER, STACK_USER, TID, TIME, Writer

REGS = ('ax', 'bx', 'cx', 'dx', 'si', 'di', 'bp', 'sp', 'ip', 'flags', 'r8', 'r9', 'r10', 'r11',
        'r12', 'r13', 'r14', 'r15')
MASK = 0x3ff | 0xff << 16
PLAIN = IDENTIFIER | IP | TID | TIME | PERIOD


class Samples:
    def __init__(self, w):
        self.w = w
        self.events = {}
        self.body = b''

    def map(self, start, length, offset, path, buildid=''):
        id = bytes.fromhex(buildid)
        file = self.w.pack('I', len(id)) + id.ljust(20, b'\0') if id else bytes(24)
        self.body += self.w.record(10, self.w.pack(
            'iiQQQ', 100, 100, int(start, 16), int(length, 16), int(offset, 16)) + file +
            self.w.pack('II', 5, 2) + self.w.text(path), misc=2 | (1 << 14 if id else 0))

    def event(self, name, regs=None):
        type = PLAIN | (REGS_USER | STACK_USER if regs else 0)
        attr = self.w.attr(4, len(self.events), type, 1000, ('mmap2', 'exclude_kernel'),
                           uregs=MASK if regs else 0, stack=8192 if regs else 0)
        self.events[name] = (attr, 11 + len(self.events), type)

    def sample(self, name, time, ip, *state):
        _, id, type = self.events[name]
        given = dict(s.split('=') for s in state)
        stack = bytes.fromhex(given.pop('stack', ''))
        regs = {r: int(v, 16) for r, v in given.items()}
        regs.setdefault('flags', 0x202)
        regs['ip'] = int(ip, 16)
        assert set(regs) <= set(REGS)
        self.body += self.w.sample({
            'sample_type': type, 'id': id, 'ip': int(ip, 16), 'pid': 100, 'tid': 100,
            'time': int(time), 'period': 1000, 'misc': 2, 'uregs_abi': 2,
            'uregs': [regs.get(r, 0) for r in REGS], 'stack': stack})

    def write(self, out):
        w = self.w
        out.write(b'PERFILE2' + w.pack('Q', 16))
        names = w.pack('II', len(self.events), w.opt.attr_size)
        for name, (attr, id, _) in self.events.items():
            out.write(w.record(64, attr + w.u64s([id])))
            names += attr + w.pack('I', 1) + w.string(name) + w.u64s([id])
        out.write(w.record(80, w.pack('Q', 12) + names) + self.body)


def main():
    opt = argparse.Namespace(big=False, attr_size=136)
    samples = Samples(Writer(opt))
    for line in sys.stdin:
        what, *rest = line.split()
        {'map': samples.map, 'event': samples.event, 'sample': samples.sample}[what](*rest)
    with open(sys.argv[1], 'wb') as out:
        samples.write(out)


main()
