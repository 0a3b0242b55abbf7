#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/pairs_oracle.py SAMPLES.vt SUMS.vt METRIC C [SPLIT [LEARN]]

Works out what vpair is to say of the samples of a stream, from what `vtrace dump` prints,
and compares that with the PAIRSTAT records of SUMS.vt; C are the issue slots of a cycle.  METRIC is a
name, or `older-load`: '2.events & load && 2.pair_distance < 1.pair_distance'; SPLIT may be
`dcache_miss`, a bit of the instruction's events, or empty; LEARN is that of --learn.  Prints the number of places that were compared.
"""
import json
import math
import subprocess
import sys

TEXT = {'older-load': '2.events & load && 2.pair_distance < 1.pair_distance'}


def dump(path, kind):
    out = subprocess.run(['vtrace', 'dump', '--json', '-k', kind, path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def number(v):
    return int(v, 0) if isinstance(v, str) else v


def names(v):
    """Flags as a set of their names."""
    return set(v) if isinstance(v, list) else set(filter(None, str(v).replace(',', '|').split('|')))


class Insn:
    def __init__(self, r):
        self.r = r
        told, events = names(r.get('events_told', '')), names(r.get('events', ''))
        self.told, self.events = told, events
        self.retired = 'retired' in events & told
        self.fetched = r['pair_cycles']
        self.issued = self.mapped = self.done = None
        if 'lat_map' in r:
            self.mapped = self.fetched + r['lat_map']
        if 'lat_issue' in r:
            self.issued = self.mapped + r['lat_ready'] + r['lat_issue']
            self.done = self.issued + r['lat_exec']
        self.ended = self.fetched + r['lat_total']
        if not self.retired:
            self.done = self.ended


def overlaps(metric, cycles, a, b):
    if metric == 'older-load':
        return 'load' in b.events and b.r['pair_distance'] < a.r['pair_distance']
    if not b.retired:
        return False
    if metric in ('wasted', 'useful-concurrency'):
        return a.fetched <= b.issued < a.done
    if metric == 'issue-while-queued':
        return a.mapped <= b.issued < a.issued
    return abs(a.ended - b.ended) <= cycles


def add(metric, cycles, a, b, weight, window, ways, width):
    """x and y, or None."""
    period = a.r['period'] / (ways - 1)
    if metric not in ('wasted', 'useful-concurrency', 'older-load') and not a.retired:
        return None
    u = weight * window * period if overlaps(metric, cycles, a, b) else 0
    progress = (a.done - a.fetched) * period / 2
    if metric == 'wasted':
        return progress * width - u, weight - 1
    if metric == 'useful-concurrency':
        return u, progress
    if metric == 'ipc':
        return u + period / 2, period / 2 * (2 * cycles + 1)
    return u, period / 2


RANGES = 16


class Rates:
    """Pairs, and those that counted, by distance: of an instruction, and of all that took as long."""

    def __init__(self, window):
        self.ends = [window * (k + 1) ** 2 // RANGES ** 2 for k in range(RANGES)]
        self.share = [(e - b) / window for b, e in zip([0] + self.ends, self.ends)]
        self.own, self.all, self.new = {}, {}, []

    def expect(self, key, metric, a, b, met):
        """How likely b counts at its distance from a, and at any."""
        distance = b.r['pair_distance'] - a.r['pair_distance']
        i = next(k for k in range(RANGES) if abs(distance) <= self.ends[k])
        cycles = a.ended - a.fetched
        if metric in ('wasted', 'useful-concurrency'):
            cycles = a.done - a.fetched
        elif metric == 'issue-while-queued':
            cycles = a.issued - a.mapped
        log = (cycles + 1).bit_length() - 1
        long = min(2 * log + (log > 0 and (cycles + 1) >> (log - 1) & 1), 23)
        own = self.own.setdefault((key, distance < 0), [[0, 0] for _ in range(RANGES)])
        every = self.all.setdefault((distance < 0, a.retired, long), [[0, 0] for _ in range(RANGES)])
        rates = [(o[1] + 4 * e[1] / (e[0] + 1)) / (o[0] + 4) for o, e in zip(own, every)]
        self.new.append((own[i], every[i], met))
        return rates[i], sum(r * s for r, s in zip(rates, self.share))

    def learn(self):
        for own, every, met in self.new:
            for cell in own, every:
                cell[0] += 1
                cell[1] += met
        self.new.clear()


def place(maps, r):
    ip = number(r['ip'])
    for m in reversed(maps):
        start = number(m['start'])
        if m['pid'] == r['pid'] and start <= ip < start + number(m['length']):
            return m.get('image', 0), ip - start + number(m.get('offset', 0))
    return None


def side(a, split):
    if not split:
        return ''
    if split not in a.told:
        return 'unknown'
    return 'events & ' + split if split in a.events else '!(events & %s)' % split


def expect(samples, maps, window, ways, metric, cycles, width, split, learn):
    sums, group = {}, {}
    rates = Rates(window)

    def flush():
        for key, (n, x, y) in group.items():
            s = sums.setdefault(key, [0, 0, 0, 0, 0, 0])
            for i, v in enumerate((n, x, x * x, y, y * y, x * y)):
                s[i] += v
        group.clear()
        rates.learn()

    last = None
    for r in samples:
        this = Insn(r)
        if r['pair'] == 1:
            flush()
        else:
            for a, b in ((last, this), (this, last)):
                xy = add(metric, cycles, a, b, this.r['pair_weight'], window, ways, width)
                if xy:
                    key = place(maps, a.r), side(a, split)
                    g = group.setdefault(key, [0, 0, 0])
                    g[0] += 1
                    g[1] += xy[0]
                    weight = this.r['pair_weight']
                    if learn == 'always' or (learn == 'weighted' and weight != 1):
                        at, mean = rates.expect(key, metric, a, b, overlaps(metric, cycles, a, b))
                        more = (mean - weight * at) * window * a.r['period'] / (ways - 1)
                        g[1] += -more if metric == 'wasted' else more
                    g[2] += xy[1]
        last = this
    flush()
    return sums


def value(s, total):
    n, x, x2, y, y2, xy = s
    if total:
        b = xy / y2 * n / (n + 20) if y2 else 0
        squares = x2 - 2 * b * xy + b * b * y2
        return x - b * y, math.sqrt(squares) if n > 1 and squares > 1e-10 * x2 else math.inf
    r = x / y if y else 0
    squares = x2 - 2 * r * xy + r * r * y2
    # Pairs that are all alike tell no error.
    return r, math.sqrt(squares) / y if y and n > 1 and squares > 1e-10 * x2 else math.inf


def close(a, b, scale):
    return a == b or abs(a - b) <= 1e-5 * max(abs(a), abs(b), scale)


def main():
    sampled, summed, metric, width = sys.argv[1:5]
    split = sys.argv[5] if sys.argv[5:] and sys.argv[5] else None
    learn = sys.argv[6] if sys.argv[6:] else 'weighted'
    window, ways = (next(int(m['value']) for m in dump(sampled, 'META') if m['key'] == key)
                    for key in ('vsim.window', 'vsim.ways'))
    name, _, cycles = metric.partition(':')
    want = expect(dump(sampled, 'SAMPLE'), dump(sampled, 'MAP'), window, ways, name, int(cycles or 0),
                  float(width), split, learn)
    got = {}
    for r in dump(summed, 'PAIRSTAT'):
        assert r['metric'] == TEXT.get(metric, metric), r
        place_ = (r.get('image', 0), number(r.get('offset', 0)))
        got[place_, r.get('split', '')] = r
    wrong = [k for k in want if k not in got] + [k for k in got if k not in want]
    for k, s in want.items():
        if k not in got:
            continue
        r, (v, e) = got[k], value(s, name == 'wasted')
        fields = [r['pairs'], *(r.get(f, 0) for f in ('x', 'x2', 'y', 'y2', 'xy'))]
        scale = [1, *(math.sqrt(s[i]) for i in (2,)), 1, 1, 1, math.sqrt(s[2] * s[4])]
        ok = all(close(a, b, c) for a, b, c in zip(fields, s, scale))
        error = r.get('error', 0)
        error = math.inf if error == 'inf' else error
        # What is left of a difference of large squares is not exact.
        rough = math.sqrt(s[2]) / (1 if name == 'wasted' else max(s[3], 1))
        if not ok or not close(r.get('value', 0), v, rough) or \
                not (error == e or abs(error - e) <= 1e-4 * max(rough, e)):
            wrong.append((k, s, v, e, r))
    if wrong:
        sys.exit('differ: %d of %d, as %r' % (len(wrong), len(want), wrong[0]))
    print(len(want))


main()
