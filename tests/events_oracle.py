#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: events_oracle.py SAMPLES ESTIMATES

Sums the followed samples of a stream up by place, as `vtrace dump` prints them, and compares with the
EVSTAT records that vevent made of it.
"""
import subprocess
import sys
from collections import defaultdict

LATENCIES = ['lat_fetch', 'lat_map', 'lat_ready', 'lat_issue', 'lat_exec', 'lat_retire', 'lat_load',
             'lat_tlb', 'lat_total', 'lat_dispatch']


def dump(path, kind, fields):
    out = subprocess.run(['vtrace', 'dump', '-k', kind, '-F', fields, path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [line.split('\t') for line in out.splitlines()]


def number(text):
    return int(text or '0', 0)


def main():
    maps = [(number(s), number(n), number(o), image)
            for s, n, o, image in dump(sys.argv[1], 'MAP', 'start,length,offset,image')]
    want = defaultdict(lambda: [0] * 7)  # samples, had, k, sum, sum2, variance, least
    every = defaultdict(int)
    told_of, had_of = defaultdict(int), defaultdict(int)
    fields = 'ip,period,pm_has,pm_least,pair,events_told,events,' + ','.join(LATENCIES)
    for ip, period, has, least, pair, told, events, *latencies in dump(sys.argv[1], 'SAMPLE', fields):
        if not has or number(pair) > 1:
            continue
        ip, w = number(ip), number(period)
        place = next((image, hex(ip - s + o)) for s, n, o, image in maps[::-1] if s <= ip < s + n)
        every[place] += 1
        for name in told.split('|') if told else []:
            had = name in events.split('|')
            told_of[name] += 1
            had_of[name] += had
            t = want[place + (name,)]
            for i, v in enumerate([1, had, w, had * w, had * w, had * w * w]):
                t[i] += v
        for name, value in zip(LATENCIES, latencies):
            if name not in has.split('|'):
                continue
            v = number(value)
            t = want[place + (name,)]
            for i, x in enumerate([0, 1, w, v * w, v * v * w, (v * w) ** 2,
                                   name in least.split('|')]):
                t[i] += x
    for (image, offset, name), t in want.items():
        if name.startswith('lat_'):
            t[0] = every[image, offset]
    only = {n for n in told_of if told_of[n] == had_of[n]}
    got = {}
    for image, offset, name, *numbers in dump(sys.argv[2], 'EVSTAT',
                                              'image,offset,what,samples,had,k,sum,sum2,variance,least'):
        got[image, offset or '0x0', name] = [float(n or 0) for n in numbers]
    wrong = 0
    for at in sorted(set(want) | set(got)):
        if at[2] in only:
            continue
        a, b = want.get(at), got.get(at)
        if not a or not b or any(abs(x - y) > 1e-9 * x for x, y in zip(a, b)):
            wrong += 1
            print(at, a, b)
    print('%d totals, %d differ' % (len(want), wrong))
    sys.exit(wrong > 0 or not want)


main()
