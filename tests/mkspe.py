#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a perf.data with AUX areas of Arm SPE.

usage: mkspe.py [-c CPUID] [-n] [-v] [-x TYPE] [-s RECORDS] OUT <TEXT

Each line of the text is a record, each word a packet of it:

    pc= tgt= va= pa= pbt=ADDR[/EL[/NS]]  addresses in hexadecimal; NS is 1 if it is left out
    tot= iss= xlat=N, cnt3= ...          counters
    ev1= ev2= ev4= ev8=BITS              events in so many bytes, in hexadecimal
    other= mem= br=BITS                  the operation
    src= src2=N                          a data source in one or two bytes
    ctx1= ctx2=N                         the context of EL1 or EL2
    ts=N, end                            what ends it
    pad=N, align=UNIT, hex=BYTES         padding, an alignment to 2, 4, 8 or 16 bytes, anything
    xpc= ..., xtot= ...                  the same packets with long headers

Other lines begin with @:

    @area CPU TID                        the records from here on are of this area
    @aux FLAGS TIME CPU TID              an AUX record
    @comm TIME PID TID, @exit TIME PID TID, @switch TIME PID TID CPU (TID begins to run)

    -c CPUID    the processor's MIDR_EL1 as perf writes it (default 0x00000000410fd0c0)
    -n          no clock: timestamps cannot be converted; else time = 5 + 40 * timestamp
    -v          AUXTRACE_INFO of version 2, with the MIDR of CPU 0, and CPU 1 of another make
    -x TYPE     what AUXTRACE_INFO says that the areas are (default 4)
    -s RECORDS  no text: so many records on two processors, to measure speed
"""
import argparse
import struct
import sys

PMU = 33
ADDRS = {'pc': 0, 'tgt': 1, 'va': 2, 'pa': 3, 'pbt': 4}
COUNTERS = {'tot': 0, 'iss': 1, 'xlat': 2}


def number(v):
    return int(v, 0)


def address(name, text):
    part = text.split('/')
    value = int(part[0], 16)
    if name == 'va':
        return value
    el = int(part[1]) if len(part) > 1 else 0
    ns = int(part[2]) if len(part) > 2 else 1
    return value & (1 << 56) - 1 | el << 61 | ns << 63


def packet(word, at):
    name, _, value = word.partition('=')
    long = name.startswith('x') and name != 'xlat'
    name = name[1:] if long else name
    if name in ADDRS:
        head = [0x20, 0xb0 | ADDRS[name]] if long else [0xb0 | ADDRS[name]]
        return bytes(head) + struct.pack('<Q', address(name, value))
    if name in COUNTERS or name.startswith('cnt'):
        index = COUNTERS[name] if name in COUNTERS else int(name[3:])
        head = [0x20 | index >> 3, 0x98 | index & 7] if long or index > 7 else [0x98 | index]
        return bytes(head) + struct.pack('<H', number(value))
    if name.startswith('ev'):
        size = int(name[2:])
        return bytes([0x42 | {1: 0, 2: 1, 4: 2, 8: 3}[size] << 4]) + \
            int(value, 16).to_bytes(size, 'little')
    if name in ('other', 'mem', 'br'):
        return bytes([0x48 + ('other', 'mem', 'br').index(name), int(value, 16)])
    if name in ('src', 'src2'):
        return bytes([0x43, number(value)]) if name == 'src' else \
            b'\x53' + struct.pack('<H', number(value))
    if name in ('ctx1', 'ctx2'):
        return bytes([0x64 + int(name[3]) - 1]) + struct.pack('<I', number(value))
    if name == 'align':
        unit = int(value)
        return (bytes([0x20 | unit.bit_length() - 2]) + bytes(15))[:max(2, unit - at % unit)]
    return {'ts': lambda: b'\x71' + struct.pack('<Q', number(value)), 'end': lambda: b'\x01',
            'pad': lambda: bytes(number(value)), 'hex': lambda: bytes.fromhex(value)}[name]()


def record(type, payload, misc=0):
    payload += bytes(-len(payload) % 8)
    return struct.pack('<IHH', type, misc, 8 + len(payload)) + payload


def trailer(pid, tid, time, cpu, id=1):
    """What sample_id_all adds: TID, TIME, CPU, IDENTIFIER."""
    return struct.pack('<iiQIIQ', pid, tid, time, cpu, 0, id)


def sideband(words):
    kind, n = words[0], [number(w) for w in words[1:]]
    if kind == '@aux':
        flags, time, cpu, tid = n
        return time, record(11, struct.pack('<QQQ', 0, 0, flags) + trailer(tid, tid, time, cpu))
    time, pid, tid = n[:3]
    if kind == '@comm':
        return time, record(3, struct.pack('<ii', pid, tid) + b'prog\0\0\0\0' +
                            trailer(pid, tid, time, 0))
    if kind == '@exit':
        return time, record(4, struct.pack('<iiiiQ', pid, pid, tid, tid, time) +
                            trailer(pid, tid, time, 0))
    return time, record(14, trailer(pid, tid, time, n[3]))


def read_text(text):
    areas, others = [], []
    for line in text:
        words = line.split('#')[0].split()
        if not words:
            continue
        if words[0] == '@area':
            areas.append((int(words[1]), int(words[2]), bytearray()))
        elif words[0].startswith('@'):
            others.append(sideband(words))
        else:
            if not areas:
                areas.append((0, -1, bytearray()))
            for word in words:
                areas[-1][2].extend(packet(word, len(areas[-1][2])))
    return areas, others


def many(n):
    """Records as those of a Neoverse N1: 64 bytes each, half of them of memory."""
    areas = [(cpu, -1, bytearray()) for cpu in range(2)]
    for i in range(n):
        out = bytearray()
        words = ['pc=%x' % (0x400000 + i * 4 % 65536), 'ctx1=100', 'ev2=%x' % (0x16 + (i % 7 == 0) * 8),
                 'mem=%d' % (i % 3 == 0), 'va=%x' % (0x7f0000000000 + i * 8), 'tot=%d' % (i % 300),
                 'iss=%d' % (i % 50), 'xlat=%d' % (i % 9)]
        if i % 2:
            words[2:] = ['ev2=2', 'br=1', 'tgt=%x' % (0x400000 + i * 12 % 65536), 'tot=%d' % (i % 300),
                         'iss=%d' % (i % 50)]
        for word in words + ['ts=%d' % (1000 + i * 10)]:
            if word.startswith('ts='):
                out.extend(bytes(64 - 9 - len(out)))
            out.extend(packet(word, 0))
        areas[i % 2][2].extend(out)
    return areas, [(1, record(3, struct.pack('<ii', 100, 100) + b'prog\0\0\0\0' +
                              trailer(100, 100, 1, 0)))]


def string(s):
    b = s.encode() + b'\0'
    b += bytes(-len(b) % 64)
    return struct.pack('<I', len(b)) + b


def auxinfo(opt):
    if not opt.version2:
        return record(70, struct.pack('<IIQQ', opt.aux_type, 0, PMU, 1))
    cpus = [(0, int(opt.cpuid, 16)), (1, 0x990f0010)]
    words = [2, 4, PMU, len(cpus)]
    for cpu, midr in cpus:
        words += [0x1010101010101010, cpu, 3, midr, PMU, 1024]
    return record(70, struct.pack('<II', opt.aux_type, 0) + struct.pack('<%dQ' % len(words), *words))


def make(opt):
    areas, others = many(opt.speed) if opt.speed else read_text(sys.stdin)
    flags = 1 << 0 | 1 << 18 | 1 << 30  # disabled, sample_id_all
    sample_type = 1 | 2 | 4 | 1 << 7 | 1 << 16  # IP, TID, TIME, CPU, IDENTIFIER
    attr = struct.pack('<IIQQQQQ', PMU, 128, 1, 1024, sample_type, 0, flags)
    attr = attr.ljust(128, b'\0')
    at = 104 + 8
    start = at + len(attr) + 16
    # As perf record does, the clock comes before the areas' description.
    data = b'' if opt.no_clock else \
        record(79, struct.pack('<QQQQQBB', 0, 40, 5, 0, (1 << 56) - 1, 1, 0))
    data += auxinfo(opt)
    for index, (cpu, tid, trace) in enumerate(areas):
        # perf aligns by the place in the file; FINISHED_ROUND is the smallest record.
        data += record(68, b'') if (start + len(data) + 48) % 16 else b''
        data += record(71, struct.pack('<QQQIiiI', len(trace), 0, 0x1234, index, tid, cpu, 0))
        data += trace
    data += b''.join(r for _, r in sorted(others, key=lambda x: x[0]))
    features = {6: string('aarch64'), 9: string(opt.cpuid),
                16: struct.pack('<II', 1, PMU) + string('arm_spe_0')}
    ids = struct.pack('<Q', 1)
    table = start + len(data)
    head = b'PERFILE2' + struct.pack('<QQQQQQQQQ', 104, len(attr) + 16, at, len(attr) + 16, start,
                                     len(data), 0, 0, sum(1 << f for f in features))
    head += bytes(104 - len(head)) + ids + attr + struct.pack('<QQ', 104, len(ids))
    offset, sections, bodies = table + 16 * len(features), b'', b''
    for f in sorted(features):
        sections += struct.pack('<QQ', offset + len(bodies), len(features[f]))
        bodies += features[f]
    return head + data + sections + bodies


def main():
    p = argparse.ArgumentParser()
    p.add_argument('-c', dest='cpuid', default='0x00000000410fd0c0')
    p.add_argument('-n', dest='no_clock', action='store_true')
    p.add_argument('-v', dest='version2', action='store_true')
    p.add_argument('-x', dest='aux_type', type=int, default=4)
    p.add_argument('-s', dest='speed', type=int, default=0)
    p.add_argument('out')
    opt = p.parse_args()
    with open(opt.out, 'wb') as f:
        f.write(make(opt))


if __name__ == '__main__':
    main()
