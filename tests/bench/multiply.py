#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a large perf.data of a small one.

usage: multiply.py SAMPLES IN OUT

Repeats the samples of IN, each time later, until there are at least SAMPLES. IN must be a
little-endian file of one event whose samples have PERF_SAMPLE_TIME. The layout is that of the
kernel's tools/perf/Documentation/perf.data-file-format.txt.
"""
import struct
import sys

HEADER = struct.Struct('<8sQQ' + 'QQ' * 3 + '32s')
SAMPLE, FINISHED_ROUND = 9, 68
# The fields before the time, in the order of linux/perf_event.h: IDENTIFIER, IP, TID.
BEFORE_TIME = (1 << 16, 1 << 0, 1 << 1)
TIME = 1 << 2


def records(data):
    at = 0
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from('<IHH', data, at)
        yield kind, data[at:at + size]
        at += size


def main():
    want = int(sys.argv[1])
    with open(sys.argv[2], 'rb') as f:
        old = f.read()
    (magic, size, attr_size, attrs_at, attrs_size, data_at, data_size, types_at, types_size,
     features) = HEADER.unpack_from(old)
    if magic != b'PERFILE2' or attrs_size != attr_size:
        sys.exit('not a perf.data of one event')
    sample_type = struct.unpack_from('<Q', old, attrs_at + 24)[0]
    if not sample_type & TIME:
        sys.exit('samples without time')
    time_at = 8 + 8 * sum(bool(sample_type & bit) for bit in BEFORE_TIME)

    samples = [r for kind, r in records(old[data_at:data_at + data_size]) if kind == SAMPLE]
    times = [struct.unpack_from('<Q', r, time_at)[0] for r in samples]
    span = max(times) - min(times) + 1
    finished = struct.pack('<IHH', FINISHED_ROUND, 0, 8)
    added = []
    for turn in range(1, -(-want // len(samples))):
        for r, time in zip(samples, times):
            added.append(r[:time_at] + struct.pack('<Q', time + turn * span) + r[time_at + 8:])
        added.append(finished)
    added = b''.join(added)

    tail = bytearray(old[data_at + data_size:])
    count = sum(bin(b).count('1') for b in features)
    for i in range(count):
        offset, length = struct.unpack_from('<QQ', tail, 16 * i)
        struct.pack_into('<QQ', tail, 16 * i, offset + len(added), length)
    with open(sys.argv[3], 'wb') as f:
        f.write(HEADER.pack(magic, size, attr_size, attrs_at, attrs_size, data_at,
                            data_size + len(added), types_at, types_size, features))
        f.write(old[HEADER.size:data_at + data_size])
        f.write(added)
        f.write(tail)


main()
