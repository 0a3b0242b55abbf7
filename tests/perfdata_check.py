#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: perfdata_check.py script|fields|raw STREAM PERFDATA
#
# Compares a stream that vtrace decoded with another reading of the same perf.data, sample for
# sample: `perf script` (pid, tid, time, event, ip; or registers and branch stacks), or
# perfdata_raw.py. Prints how many samples agree; exits 1 at the first difference.

import os
import re
import subprocess
import sys


def lines(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode(errors='surrogateescape').splitlines()


def dump(stream, fields):
    return [l.split('\t') for l in lines('vtrace', 'dump', '-F', fields, stream)]


def perf_script(data, fields):
    # AUX traces are not to be decoded, call chains not to be printed, by perf.
    return lines('perf', 'script', '--no-itrace', '-G', '--ns', '-i', data, '-F', fields)


def compare(ours, theirs):
    if not theirs:
        sys.exit('the other reader finds no samples')
    for i, (x, y) in enumerate(zip(ours, theirs)):
        if x != y:
            sys.exit('sample %d differs:\nours:   %s\ntheirs: %s' % (i, x, y))
    if len(ours) != len(theirs):
        sys.exit('ours are %d samples, theirs %d' % (len(ours), len(theirs)))
    print('%d samples agree' % len(ours))


def ns(text):
    seconds, fraction = text.split('.')
    return int(seconds) * 10**9 + int(fraction)


def script(stream, data):
    theirs = []
    for l in perf_script(data, 'pid,tid,time,event,ip'):
        m = re.fullmatch(r'\s*(-?\d+)/(-?\d+)\s+(\d+\.\d{9}):\s+(.*):\s+([0-9a-f]+)\s*', l)
        if not m:
            sys.exit('cannot understand perf: ' + l)
        theirs.append((int(m[1]), int(m[2]), ns(m[3]), m[4], int(m[5], 16)))
    ours = [(int(p), int(t), int(n), e, int(ip, 16))
            for p, t, n, e, ip in dump(stream, 'pid,tid,time,event,ip')]
    compare(ours, theirs)


def branch_text(frm, to, flags):
    """A branch as perf 6.1 prints it: from/to/mispredicted/transaction/abort/cycles."""
    word = int(flags, 16)
    return '%#x/%#x/%s/%s/%s/%d' % (int(frm, 16), int(to, 16),
                                    'M' if word & 1 else 'P' if word & 2 else '-',
                                    'X' if word & 4 else '-', 'A' if word & 8 else '-',
                                    word >> 4 & 0xffff)


def registers(text):
    return re.findall(r'(\w+):(0x[0-9a-f]+)', text)


def fields(stream, data):
    """Each of the three fields that perf has for this file."""
    total = 0
    for field in ('uregs', 'iregs'):
        try:
            theirs = perf_script(data, 'time,' + field)
        except subprocess.CalledProcessError:
            continue
        theirs = [(ns(l.split(':')[0].strip()), registers(l)) for l in theirs if l.strip()]
        if not any(r for _, r in theirs):
            continue
        compare([(int(t), registers(r)) for t, r in dump(stream, 'time,' + field)], theirs)
        total += 1
    try:
        theirs = perf_script(data, 'time,brstack')
    except subprocess.CalledProcessError:
        theirs = []
    entry = re.compile(r'0x[0-9a-f]+/0x[0-9a-f]+/[MP-]/[X-]/[A-]/\d+')
    theirs = [(ns(l.split(':')[0].strip()), entry.findall(l)) for l in theirs if l.strip()]
    if any(b for _, b in theirs):
        ours = []
        for t, frm, to, flags in dump(stream, 'time,br_from,br_to,br_flags'):
            parts = zip(frm.split(','), to.split(','), flags.split(',')) if frm else []
            ours.append((int(t), [branch_text(*p) for p in parts]))
        compare(ours, theirs)
        total += 1
    if not total:
        sys.exit('perf prints none of the fields for this file')


def raw(stream, data):
    here = os.path.dirname(os.path.abspath(__file__))
    theirs = [l.split('\t') for l in lines(sys.executable, here + '/perfdata_raw.py', data)]
    index = {}
    ours = []
    for l in lines('vtrace', 'dump', '--json', '-k', 'EVENT', '-F', 'id,name', stream):
        m = re.search(r'"id": ?(\d+).*"name": ?"((?:[^"\\]|\\.)*)"', l)
        index[m[2]] = m[1]
    wanted = 'time,pid,tid,id,ip,period,uregs,stack,br_from,br_to,br_flags,event'
    by_name = len(index) > 1
    for t, pid, tid, _, ip, period, regs, stack, frm, to, flags, event in dump(stream, wanted):
        branches = zip(frm.split(','), to.split(','), flags.split(',')) if frm else []
        ours.append([t, pid, tid, index[event] if by_name else '0', ip, period,
                     ','.join(v for _, v in registers(regs)), stack,
                     ','.join('/'.join(b) for b in branches)])
    compare(ours, theirs)


def main():
    how, stream, data = sys.argv[1:]
    {'script': script, 'fields': fields, 'raw': raw}[how](stream, data)


main()
