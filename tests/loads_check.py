#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: loads_check.py STREAM FREQUENCIES PERFDATA
#
# Compares the LOADS records of FREQUENCIES, which vfreq made of STREAM, with the words that perf
# script has for the data sources in PERFDATA.  Prints the places, the samples of loads, and the sums
# of cache_known, cache_missed, tlb_known and tlb_missed.

import collections
import json
import re
import subprocess
import sys

HOPS = ('core, same node', 'node, same socket', 'socket, same board', 'board')


def lines(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout.decode().splitlines()


def outcome(text):
    """What perf's words say: cache known and missed, TLB known and missed; None: no load."""
    word, op, level, tlb = re.search(
        r'([0-9a-f]+) \|OP (.*?)\|LVL (.*?)\|SNP .*?\|TLB (.*?)\|LCK', text).groups()
    if op != 'LOAD':
        return None
    hit, miss = ' hit' in level, ' miss' in level
    level = level.replace(' hit', '').replace(' miss', '')
    far = level.startswith(('Remote',) + HOPS)
    places = [p for p in level.split(' or ') if p not in ('N/A', '', 'Any cache')]
    # Bits that name L1 and another level leave open which it was, unless there is a number, too.
    numbered = int(word, 16) >> 33 & 15 not in (0, 11, 15)
    known = far or numbered or (bool(places) and (miss or 'L1' not in places or places == ['L1']))
    missed = known and (far or miss or any(p != 'L1' for p in places))
    hit, miss = ' hit' in tlb, ' miss' in tlb
    ways = set(tlb.replace(' hit', '').replace(' miss', '').split(' or ')) - {'N/A', ''}
    translated = bool(ways) and (hit or miss)
    return known, missed, translated, translated and (miss or not ways <= {'L1', 'L2'})


def places(stream):
    """How addresses map: by the last of a process's mappings, or the kernel's, that has one."""
    maps = [json.loads(l) for l in lines('vtrace', 'dump', '--json', '-k', 'MAP', stream)]

    def find(pid, ip):
        for m in reversed(maps):
            start = int(m.get('start', '0x0'), 16)
            if m.get('pid', 0) in (pid, -1) and start <= ip < start + m['length']:
                # That of a kernel is where it begins.
                first = int(str(m.get('offset', 0)), 0)
                return m.get('image', 0), ip - start + (first if first != start else 0)
        raise SystemExit('nothing is mapped at %#x' % ip)
    return find


def compare(stream, freqs, data):
    find = places(stream)
    theirs = collections.defaultdict(lambda: [0] * 4)
    samples = 0
    for l in lines('perf', 'script', '-G', '-F', 'pid,ip,data_src', '-i', data):
        told = outcome(l)
        if told is None:
            continue
        samples += 1
        if told[0] or told[2]:
            place = theirs[find(int(l.split()[0]), int(l.split()[-1], 16))]
            for i, v in enumerate(told):
                place[i] += v
    ours = {}
    for l in lines('vtrace', 'dump', '--json', '-k', 'LOADS', freqs):
        r = json.loads(l)
        place = r.get('image', 0), int(r.get('offset', '0x0'), 16)
        assert place not in ours, place
        ours[place] = [r.get(k, 0)
                       for k in ('cache_known', 'cache_missed', 'tlb_known', 'tlb_missed')]
    for place in sorted(set(ours) | set(theirs)):
        if ours.get(place) != theirs.get(place):
            sys.exit('%s: ours %s, theirs %s' % (place, ours.get(place), theirs.get(place)))
    assert list(ours) == sorted(ours), 'out of order'
    print('%d places, %d samples:' % (len(ours), samples), *map(sum, zip(*ours.values())))


compare(*sys.argv[1:])
