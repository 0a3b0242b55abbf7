#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: events_check.py ESTIMATES TRUTH

ESTIMATES is a stream of vevent from samples of vsim --profileme, TRUTH that of vsim --truth, of the
same run.  Prints, of events and of latencies, how many 95 % intervals have the truth, for
instructions with 5 samples or more; and, of retired and dcache_miss, how many estimates are within
1 +- 1/sqrt(x) of it, x being the samples that are expected.
"""
import json
import re
import struct
import subprocess
import sys
from collections import Counter

FIELDS = 'image,offset,what,k,sum,low,high,had,samples'


def dump(path):
    out = subprocess.run(['vtrace', 'dump', '-k', 'EVSTAT', '-F', FIELDS, path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    rows = {}
    for line in out.splitlines():
        image, offset, what, *numbers = line.split('\t')
        rows[image, int(offset or '0', 0), what] = [float(n or 0) for n in numbers]
    return rows


def segments(path):
    """(vaddr, offset, size) of the loaded parts of a file."""
    try:
        with open(path, 'rb') as f:
            data = f.read()
    except OSError:
        return []
    start, = struct.unpack_from('<Q', data, 32)
    count, = struct.unpack_from('<H', data, 56)
    parts = []
    for i in range(count):
        kind, _, offset, vaddr, _, size = struct.unpack_from('<IIQQQQ', data, start + 56 * i)
        if kind == 1:
            parts.append((vaddr, offset, size))
    return parts


def share(text, n, good):
    print('%-28s %6d  %5.1f %%' % (text, n, 100 * good / n if n else 0))


def check_events(estimates, truth, period):
    n, good = Counter(), Counter()
    near, within = Counter(), Counter()
    for (image, offset, what), (_, total, *_) in truth.items():
        k, estimate, low, high, had, _ = estimates.get((image, offset, what), [0] * 6)
        if what.startswith('lat_'):
            continue
        if had >= 5:
            n[what] += 1
            good[what] += low <= total <= high
        expected = total / period
        if what in ('retired', 'dcache_miss') and expected >= 1:
            near[what] += 1
            within[what] += abs(estimate / total - 1) <= expected ** -0.5
    for what in sorted(n):
        share(what, n[what], good[what])
    share('events', sum(n.values()), sum(good.values()))
    for what in sorted(near):
        share('1 +- 1/sqrt(x): ' + what, near[what], within[what])


def check_means(path, truth):
    doc = json.loads(subprocess.run(['vevent', '--json', '--by', 'instruction', '--top', '0', path],
                                    check=True, stdout=subprocess.PIPE).stdout)
    n, good = Counter(), Counter()
    known = {}
    for row in doc['rows']:
        image = row['image']
        if image not in known:
            known[image] = segments(image) if re.match('/', image) else []
        address = int(str(row['address']), 0)
        for vaddr, offset, size in known[image]:
            if not vaddr <= address < vaddr + size:
                continue
            for total in row['totals']:
                at = (image, address - vaddr + offset, total['name'])
                if total.get('samples', 0) < 5 or 'mean' not in total or at not in truth:
                    continue
                k, cycles = truth[at][:2]
                n[total['name']] += 1
                good[total['name']] += total['low'] <= cycles / k * (1 + 1e-5) and \
                    cycles / k * (1 - 1e-5) <= total['high']
    for what in sorted(n):
        share(what, n[what], good[what])
    share('latencies', sum(n.values()), sum(good.values()))


def main():
    estimates, truth = dump(sys.argv[1]), dump(sys.argv[2])
    used = [r for r in estimates.values() if r[5]]
    check_events(estimates, truth, used[0][0] / used[0][5])
    check_means(sys.argv[1], truth)


main()
