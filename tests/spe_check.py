#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares samples of Arm SPE with what perf makes of the same perf.data.

usage: spe_check.py packets DUMP REPORT    `vtrace dump -k SAMPLE` with `perf report -D`
       spe_check.py samples DUMP SCRIPT    with `perf script --itrace=i1i -F tid,time,ip`

The first prints a line for each difference and then how many fields were compared; the second how
many samples.
"""
import re
import sys

PHYS, ADDR, TIME = 1 << 19, 1 << 3, 1 << 2
LATENCIES = {'TOT': 'lat_dispatch', 'ISSUE': 'lat_issue', 'XLAT': 'lat_tlb'}
KERNEL = 0xff << 56


def parse_dump(path):
    out = []
    for line in open(path):
        words = line.rstrip('\n').split('\t')
        if words[0] == 'SAMPLE':
            out.append(dict(w.split('=', 1) for w in words[1:]))
    return out


def names(d, key):
    return set(d.get(key, '').split('|')) - {''}


def records(path):
    """The packets of each record, as (header, text) of perf's report."""
    record = []
    for line in open(path, errors='replace'):
        m = re.match(r'\.  [0-9a-f]{8}:  ((?:[0-9a-f]{2} )+) +(\S.*)$', line)
        if not m or m.group(2) == 'PAD':
            continue
        record.append(m.group(2).strip())
        if record[-1] == 'END' or record[-1].startswith('TS '):
            yield record
            record = []


def code(text):
    m = re.match(r'(?:PC|TGT) 0x([0-9a-f]+) el(\d) ns=(\d)', text)
    el = int(m.group(2))
    return int(m.group(1), 16) | (KERNEL if m.group(3) == '1' and el in (1, 2) else 0), el


def expected_events(op, ev, memory, branch):
    """(told, happened) of the events that perf's words decide."""
    told, happened = set(), set()

    def tell(name, value):
        told.add(name)
        if value:
            happened.add(name)
    if op is not None:
        tell('branch', branch)
        tell('load', op[0] == 'LD')
        tell('store', op[0] == 'ST')
        tell('locked', memory and bool({'AT', 'EXCL', 'AR'} & set(op)))
    if ev is not None:
        tell('trap', 'EXCEPTION-GEN' in ev)
        tell('retired', 'RETIRED' in ev)
        tell('aborted', 'RETIRED' not in ev)
        if branch:
            tell('taken', 'NOT-TAKEN' not in ev)
            tell('mispredicted', 'MISPRED' in ev)
        if memory:
            tell('dcache_miss', 'L1D-REFILL' in ev)
            tell('dtlb_miss', 'TLB-REFILL' in ev)
            if {'LLC-ACCESS', 'LLC-REFILL'} & set(ev):
                tell('l3_miss', 'LLC-REFILL' in ev)
            if 'REMOTE-ACCESS' in ev:
                tell('remote', True)
            if 'ALIGNMENT' in ev:
                tell('misaligned', True)
    return told, happened


def expect(record):
    """The fields of the sample of a record."""
    want, op, ev = {'has': 0}, None, None
    for text in record:
        first = text.split()
        if first[0] == 'PC':
            value, el = code(text)
            want['ip'] = value
            want['mode'] = (2, 1, 1, 0)[el]
        elif first[0] == 'TGT':
            want['target'] = code(text)[0]
        elif first[0] == 'VA':
            value = int(first[1], 16)
            low = value & (1 << 56) - 1
            want['addr'] = low | (KERNEL if low >> 52 == 15 else 0)
            want['has'] |= ADDR
        elif first[0] == 'PA':
            want['phys_addr'] = int(first[1], 16)
            want['has'] |= PHYS
        elif first[0] == 'LAT' and len(first) > 2:
            want[LATENCIES[first[2]]] = int(first[1])
        elif first[0] == 'EV':
            ev = first[1:]
        elif first[0] in ('LD', 'ST', 'B', 'OTHER', 'SVE-OTHER'):
            op = first
        elif first[0] == 'CONTEXT':
            want['tid'] = int(first[1], 16)
        elif first[0] == 'TS':
            want['ts'] = int(first[1])
    memory, branch = bool(op) and op[0] in ('LD', 'ST'), bool(op) and op[0] == 'B'
    want['told'], want['events'] = expected_events(op, ev, memory, branch)
    return want


def compare(got, want):
    """Pairs (what, got, wanted)."""
    yield 'ip', int(got['ip'], 16), want['ip']
    yield 'mode', int(got['misc'], 16) & 7, want['mode']
    yield 'has', int(got['has'], 16) & (ADDR | PHYS), want['has']
    for name, known in (('addr', ADDR), ('phys_addr', PHYS)):
        if want['has'] & known:
            yield name, int(got.get(name, '0'), 16), want[name]
    has = names(got, 'pm_has')
    for name in list(LATENCIES.values()) + ['target']:
        yield 'whether ' + name, name in has, name in want
        if name in want:
            yield name, int(got[name], 0), want[name]
        if name.startswith('lat'):
            yield 'least ' + name, name in names(got, 'pm_least'), \
                want.get(name) in (4095, 65535)
    # perf 6.1 does not name the events of the second cache.
    l2 = {'l2_miss'}
    yield 'told', names(got, 'events_told') - l2, want['told']
    yield 'events', names(got, 'events') - l2, want['events']
    if 'tid' in want:
        yield 'tid', int(got['tid']), want['tid']
    if 'ts' in want and int(got['has'], 16) & TIME:
        yield 'time', int(got['time']), 5 + 40 * want['ts']


def check_packets(dump, report):
    got = parse_dump(dump)
    want = [w for w in map(expect, records(report)) if 'ip' in w]
    if len(got) != len(want):
        print('%d samples, perf has %d records' % (len(got), len(want)))
    n = 0
    for i, (g, w) in enumerate(zip(got, want)):
        for what, a, b in compare(g, w):
            n += 1
            if a != b:
                print('record %d: %s: %s, perf: %s' % (i, what, a, b))
    print('%d fields of %d samples' % (n, len(want)))


def check_samples(dump, script):
    got = [(int(g['tid']), int(g.get('time', 0)), int(g['ip'], 16)) for g in parse_dump(dump)]
    want = []
    for line in open(script):
        m = re.match(r'\s*(-?\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)', line)
        if m:
            want.append((int(m.group(1)), int(m.group(2) + m.group(3)), int(m.group(4), 16)))
    for g, w in zip(got, want):
        if g != w:
            print('%s, perf: %s' % (g, w))
    print('%d of %d samples' % (len(got), len(want)))


{'packets': check_packets, 'samples': check_samples}[sys.argv[1]](*sys.argv[2:])
