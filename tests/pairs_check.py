#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: tests/pairs_check.py [-m MODEL]... [-S PERIOD]... [-w WINDOW] [-n PAIRS] [--seeds N] [--learn WHEN] RUN.vt...

Compares what vpair says of wasted issue slots with what vsim counted, for each recording, model and
period, and for uniform and weighted distances: the share of instructions with at least PAIRS pairs
whose 95 % interval holds the exact count, of all and of those that take most; the mean of what the
errors say relative to what they are (1: they are as large as they say); the correlation; and how
large the standard errors of weighted distances are, relative to those of uniform ones, the median
of all instructions.  Needs vsim, vpair and vtrace in PATH.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile


def dump(path, kind, fields):
    """The rows of a kind as lists of words."""
    out = subprocess.run(['vtrace', 'dump', '-k', kind, '-F', ','.join(fields), path], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [line.split('\t') for line in out.splitlines()]


def read_truth(path):
    return {(image, offset): float(total)
            for image, offset, what, total in dump(path, 'EVSTAT', ['image', 'offset', 'what', 'sum'])
            if what == 'wasted'}


def read_estimates(path):
    """(pairs, value, error, low, high) of each place."""
    rows = dump(path, 'PAIRSTAT', ['image', 'offset', 'pairs', 'value', 'error', 'low', 'high'])
    return {(r[0], r[1]): (int(r[2]), *map(float, r[3:])) for r in rows}


def run(a, temp, recording, model, period, minor, seed):
    sampled, truth, pairs = (os.path.join(temp, n) for n in ('s.vt', 't.vt', 'p.vt'))
    subprocess.run(['vsim', '-m', model, '--profileme', str(period), '--pairs', str(a.window),
                    '--minor', minor, '-s', str(seed), '-o', sampled, '--truth', truth, recording],
                   check=True, stderr=subprocess.DEVNULL)
    learn = a.learn or ('weighted' if minor == 'weighted' else 'never')
    subprocess.run(['vpair', '--learn', learn, '-o', pairs, sampled], check=True)
    return read_estimates(pairs), read_truth(truth)


def score(a, estimates, truth):
    used = {k: e for k, e in estimates.items() if e[0] >= a.pairs and k in truth}
    held = {k: e[3] <= truth[k] <= e[4] for k, e in used.items()}
    z = [(e[1] - truth[k]) / e[2] for k, e in used.items() if e[2] > 0]
    pairs = [(e[1], truth[k]) for k, e in used.items()]
    return used, held, z, pairs


def mean_square(z):
    return math.sqrt(sum(v * v for v in z) / len(z)) if z else math.nan


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-m', dest='models', action='append')
    parser.add_argument('-S', dest='periods', action='append', type=int)
    parser.add_argument('-w', dest='window', type=int, default=80)
    parser.add_argument('-n', dest='pairs', type=int, default=200)
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--learn', choices=['weighted', 'always', 'never'])
    parser.add_argument('recordings', nargs='+')
    a = parser.parse_args()
    print('recording model period minor instructions covered% error/true below above  weighted/uniform')
    with tempfile.TemporaryDirectory() as temp:
        for recording in a.recordings:
            for model in a.models or ['alpha21264', 'skylake']:
                for period in a.periods or [200]:
                    compare(a, temp, recording, model, period)
    sys.stdout.flush()


def compare(a, temp, recording, model, period):
    errors = {}
    for minor in ('uniform', 'weighted'):
        n = hits = below = above = 0
        zs = []
        for seed in range(1, a.seeds + 1):
            estimates, truth = run(a, temp, recording, model, period, minor, seed)
            used, held, z, _ = score(a, estimates, truth)
            n += len(used)
            hits += sum(held.values())
            below += sum(e[4] < truth[k] for k, e in used.items())
            above += sum(e[3] > truth[k] for k, e in used.items())
            zs += z
            for k, e in used.items():
                errors.setdefault((seed, k), {})[minor] = e[2]
        ratio = ''
        if minor == 'weighted':
            both = [e['weighted'] / e['uniform'] for e in errors.values()
                    if len(e) == 2 and e['uniform'] > 0]
            ratio = '%.3f' % statistics.median(both) if both else '-'
        print('%-12s %-10s %5d %-8s %6d %6.2f%% %6.3f %5d %5d  %s' % (
            os.path.basename(recording), model, period, minor, n, 100 * hits / max(n, 1),
            mean_square(zs), below, above, ratio), flush=True)


main()
