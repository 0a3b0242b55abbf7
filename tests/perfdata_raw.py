#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: perfdata_raw.py FILE
#
# A second, small reader of little-endian perf.data files, written from linux/perf_event.h alone, to
# check the real one where perf itself cannot read a file, and for the bytes that perf does not
# print. One line for each sample, in order of time (then of the file), tab-separated:
#
#	time, pid, tid, index of the event, ip, period, user registers, stack as hexadecimal,
#	branches as from/to/flags
#
# It knows nothing of damage, rounds, or any record but samples and what leads to them.

import struct
import subprocess
import sys


def u(fmt, data, at):
    return struct.unpack_from('<' + fmt, data, at)


class Event:
    def __init__(self, attr):
        self.type, size, self.config, self.period, self.sample_type, self.read_format, \
            self.flags = u('IIQQQQQ', attr, 0)
        attr = attr[:size].ljust(136, b'\0')
        self.branch_type, self.regs_user, self.stack_user, _, self.regs_intr = \
            u('QQIiQ', attr, 72)


class Reader:
    def __init__(self, data):
        self.data = data
        self.events = []
        self.ids = {}
        self.samples = []
        self.packed = b''

    def read(self):
        if u('Q', self.data, 8)[0] == 16:
            self.records(self.data, 16, len(self.data))
        else:
            attr_size, attrs_at, attrs_size, data_at, data_size = u('5Q', self.data, 16)
            for at in range(attrs_at, attrs_at + attrs_size, attr_size):
                attr = self.data[at:at + attr_size - 16]
                ids_at, ids_size = u('QQ', self.data, at + attr_size - 16)
                self.add(Event(attr), self.data[ids_at:ids_at + ids_size])
            end = data_at + data_size if data_size else len(self.data)
            self.records(self.data, data_at, end)
        if self.packed:
            # perf flushes the stream and never ends it. An empty last block (RFC 8878, section
            # 3.1.1.2) does, lest the zstd program keep back what it has not written yet.
            plain = subprocess.run(['zstd', '-q', '-d', '-c'], input=self.packed + b'\1\0\0',
                                   stdout=subprocess.PIPE, check=True).stdout
            self.records(plain, 0, len(plain))
        self.samples.sort(key=lambda s: s[0])

    def add(self, event, ids):
        self.events.append(event)
        for (id,) in struct.iter_unpack('<Q', ids[:len(ids) // 8 * 8]):
            self.ids[id] = len(self.events) - 1

    def records(self, d, at, end):
        while at + 8 <= end:
            type, misc, size = u('IHH', d, at)
            if size < 8 or at + size > end:
                break
            body = d[at + 8:at + size]
            at += size
            if type == 9:
                self.sample(body)
            elif type == 64:
                n = u('I', body, 4)[0]
                self.add(Event(body), body[n:])
            elif type == 66:
                at += (u('I', body, 0)[0] + 7) // 8 * 8
            elif type == 71:
                at += u('Q', body, 0)[0]
            elif type == 81:
                self.packed += body
            elif type == 83:
                self.packed += body[8:8 + u('Q', body, 0)[0]]

    def which(self, body):
        """The event of a sample: by the id in it, which all events keep at the same place."""
        t = self.events[0].sample_type
        if len(self.events) == 1:
            return 0
        at = 0 if t & 1 << 16 else bin(t & 0xf).count('1')
        return self.ids[u('Q', body, 8 * at)[0]] if u('Q', body, 8 * at)[0] else 0

    def sample(self, b):
        index = self.which(b)
        e = self.events[index]
        t = e.sample_type
        at = 0

        def take(bit, fmt):
            nonlocal at
            if bit is not None and not t >> bit & 1:
                return (0,) * len(fmt)
            values = u(fmt, b, at)
            at += struct.calcsize('<' + fmt)
            return values

        take(16, 'Q')
        ip, = take(0, 'Q')
        pid, tid = take(1, 'ii')
        time, = take(2, 'Q')
        take(3, 'Q')
        take(6, 'Q')
        take(9, 'Q')
        take(7, 'II')
        period, = take(8, 'Q')
        regs, stack, branches = [], b'', []
        if t >> 4 & 1:
            at += 8 * self.read_words(e.read_format, u('Q', b, at)[0])
        if t >> 5 & 1:
            n, = take(None, 'Q')
            at += 8 * n
        if t >> 10 & 1:
            n, = take(None, 'I')
            at += n
        if t >> 11 & 1:
            n, = take(None, 'Q')
            if e.branch_type >> 17 & 1:
                at += 8
            branches = [take(None, 'QQQ') for _ in range(n)]
        if t >> 12 & 1:
            abi, = take(None, 'Q')
            if abi:
                regs = [take(None, 'Q')[0] for _ in range(bin(e.regs_user).count('1'))]
        if t >> 13 & 1:
            n, = take(None, 'Q')
            if n:
                stack = b[at:at + n]
                at += n
                stack = stack[:take(None, 'Q')[0]]
        if not t >> 8 & 1:
            period = 1 if e.flags >> 10 & 1 else e.period
        self.samples.append((time, pid, tid, index, ip, period, regs, stack, branches))

    @staticmethod
    def read_words(f, n):
        times = (f & 1) + (f >> 1 & 1)
        value = 1 + (f >> 2 & 1) + (f >> 4 & 1)
        return 1 + times + n * value if f & 8 else times + value


def main():
    with open(sys.argv[1], 'rb') as f:
        r = Reader(f.read())
    r.read()
    for time, pid, tid, index, ip, period, regs, stack, branches in r.samples:
        print(time, pid, tid, index, '%#x' % ip, period, ','.join('%#x' % v for v in regs),
              stack.hex(), ','.join('%#x/%#x/%#x' % x for x in branches), sep='\t')


main()
