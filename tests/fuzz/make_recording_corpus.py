#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpus of fuzz_recording: what recorders leave in small rings.

usage: make_recording_corpus.py DIR

The numbers of events are those of formats/recording/ring.h.
"""
import os
import struct
import sys

(START, BLOCK, MAP, UNMAP, THREAD, THREAD_EXIT, SWITCH, SIGNAL, SYSCALL, MEMORY, STATE, PARTIAL,
 FORK, EXEC, EXIT, TOGGLE, LOST, HEAP) = range(1, 19)


class Ring:
    def __init__(self):
        self.ids = self.data = self.events = b''

    def event(self, kind, content=b'', tid=7):
        size = (24 + len(content) + 7) // 8 * 8
        head = struct.pack('<IHHIIiI', size, kind, 0, len(self.ids), len(self.data), tid, 0)
        self.events += (head + content).ljust(size, b'\0')

    def start(self, forked=0):
        self.event(START, struct.pack('<iIII', 1, forked, 9, 0) + b'/bin/true')

    def block(self, number, lengths, slots=()):
        """Slots are pairs: instruction, bytes."""
        head = struct.pack('<QQIIHHIII', 0x1000 * number, 0, number, sum(lengths), len(lengths),
                           len(slots), sum(n for _, n in slots), 1, 0)
        packed = b''.join(struct.pack('<Q', i | 1 << 16 | n << 32) for i, n in slots)
        self.event(BLOCK, head + packed + bytes(lengths) + bytes(sum(lengths)))

    def run(self, number, data=b''):
        self.ids += struct.pack('<I', number)
        self.data += data

    def bytes(self):
        data = self.data.ljust((len(self.data) + 3) // 4 * 4, b'\0')
        return struct.pack('<HH', len(self.ids) // 4, len(data) // 4) + self.ids + data + self.events


def plain():
    r = Ring()
    r.start()
    r.event(MAP, struct.pack('<QQQQQII', 0x1000, 0x1000, 0, 1, 2, 5, 9) + b'/bin/true')
    r.event(MAP, struct.pack('<QQQQQII', 0x5000, 0x1000, 0, 0, 0, 7, 0))
    r.block(1, [1, 2, 3], [(0, 8), (2, 4)])
    r.block(2, [5])
    for i in range(20):
        r.run(1, bytes(range(i, i + 12)))
        r.run(2)
    r.event(EXIT, struct.pack('<q', 0))
    return r


def threads():
    r = Ring()
    r.start()
    r.block(1, [4, 4], [(0, 2), (1, 2)])
    r.event(STATE, bytes(24 * 8 + 512 + 8))
    r.run(1, b'abcd')
    r.event(THREAD, struct.pack('<q', 7), 8)
    r.event(SWITCH, b'', 8)
    r.event(TOGGLE, struct.pack('<q', 1), 8)
    r.run(1, b'ab')
    r.event(PARTIAL, struct.pack('<q', 1), 8)
    r.event(SIGNAL, struct.pack('<QQII', 0x1004, 0x2000, 11, 0), 8)
    r.run(1, b'efgh')
    r.event(TOGGLE, struct.pack('<q', 0), 8)
    r.event(SYSCALL, struct.pack('<6QqII', 1, 2, 3, 4, 5, 6, -2, 1, 0), 8)
    r.event(MEMORY, struct.pack('<QII', 0x7000, 5, 0) + b'bytes', 8)
    r.event(THREAD_EXIT, b'', 8)
    r.run(1, b'ijkl')
    return r


def processes():
    r = Ring()
    r.start(1)
    r.event(FORK, struct.pack('<iI', 9, 0))
    r.event(FORK, struct.pack('<iI', 10, 1))
    r.event(UNMAP, struct.pack('<QQQQQII', 0x1000, 0x1000, 0, 0, 0, 0, 0))
    r.event(LOST, struct.pack('<QII', 3, 6, 0) + b'things')
    r.event(EXEC, struct.pack('<II', 0, 7) + b'/bin/ls')
    return r


def allocations():
    r = Ring()
    r.start()
    r.block(1, [1, 1], [(0, 2), (1, 1)])
    for op in range(10):
        r.run(1, b'abc')
        r.event(HEAP, struct.pack('<QQQQII', 0x1000 + op, op, 0x2000, 0x3000, op, 0))
    r.run(1, b'ab')
    r.event(PARTIAL, struct.pack('<q', 1))
    r.event(HEAP, struct.pack('<QQQQII', 0, 1 << 63, 0, 0x3000, 0, 0))
    r.run(1, b'abc')
    return r


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    for make in (plain, threads, processes, allocations):
        with open(os.path.join(sys.argv[1], make.__name__), 'wb') as f:
            f.write(make().bytes())


main()
