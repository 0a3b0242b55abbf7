#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares vprof's groups and slices of samples with those of perf report.

usage: perf_slices.py [--ignore EVENT]... PERF.DATA

Groups: --by comm,thread against --sort comm,pid (which shows threads), --by cpu and --by time
against --sort cpu and time, each with all samples.  Slices: --pid, --tid, --comm, --cpu and --time,
each with values that occur, and groups by comm and thread.

Exit status: 0 equal (the last line says how much was compared), 1 different (each difference on a
line), 77 perf shows nothing of this file.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import listed
from perf_totals import cut_attributes

PIPE = subprocess.PIPE


def seconds(text):
    """To a tenth: perf cuts the decimals of long time stamps."""
    return '%.1f' % float(text)


# What perf's cells of a key are, as vprof's.
CELLS = {'comm': str.strip, 'thread': lambda s: int(s.split(':')[0]), 'cpu': int, 'time': seconds}
PERF_KEYS = {'comm': 'comm', 'thread': 'pid', 'cpu': 'cpu', 'time': 'time'}


def perf_groups(path, keys, filters):
    """[(event, Counter of the keys' values)] of the events that have samples; None: perf cannot."""
    cmd = ['perf', 'report', '-i', path, '--stdio', '--no-children', '-t', '|', '-g', 'none',
           '--no-branch-stack', '--no-group', '-w', ','.join(['60'] * (len(keys) + 1)),
           '-F', ','.join(['sample'] + [PERF_KEYS[k] for k in keys])]
    run = subprocess.run(cmd + filters, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                         encoding='utf-8', errors='surrogateescape')
    if 'failed to set cpu bitmap' in run.stderr:
        return None
    out = run.stdout
    events = []
    for line in out.split('\n'):
        head = re.match(r"# Samples: .* of events? '(.*)'", line)
        cells = line.split('|')
        if head:
            events.append((head.group(1), collections.Counter()))
        elif len(cells) == len(keys) + 1 and cells[0].strip().isdigit():
            key = tuple(CELLS[k](c) for k, c in zip(keys, cells[1:]))
            events[-1][1][key] += int(cells[0])
    return [e for e in events if e[1]]


def vprof_groups(path, keys, filters):
    out = subprocess.run(['vprof', '--json', '--by', ','.join(keys)] + filters + [path],
                         capture_output=True, check=False)
    if out.returncode == 3 and b'no samples' in out.stderr:
        return []
    if out.returncode > 1:
        sys.exit('vprof failed: ' + out.stderr.decode(errors='replace'))
    doc = json.loads(out.stdout, object_hook=listed.by_name)
    events = []
    for event in doc['events']:
        totals = collections.Counter()
        for row in doc['rows']:
            if row.get(event['name']):
                totals[tuple(seconds(row[k]) if k == 'time' else row[k] for k in keys)] += \
                    row[event['name']]
        events.append((event['name'].split('#')[0], totals))
    return [e for e in events if e[1]]


class Comparison:
    def __init__(self, ours, theirs, ignore):
        self.ours, self.theirs, self.ignore = ours, theirs, ignore
        self.bad = self.rows = self.runs = 0

    def compare(self, keys, our_filters=(), their_filters=()):
        """What perf shows."""
        theirs = perf_groups(self.theirs, keys, list(their_filters))
        if theirs is None:
            return []
        theirs = [e for e in theirs if e[0] not in self.ignore]
        what = ' '.join(['--by', ','.join(keys)] + list(our_filters))
        ours = vprof_groups(self.ours, keys, list(our_filters))
        if [e[0] for e in ours] != [e[0] for e in theirs]:
            print('%s: events: perf %s, vprof %s' %
                  (what, [e[0] for e in theirs], [e[0] for e in ours]))
            self.bad += 1
            return theirs
        for (event, their), (_, our) in zip(theirs, ours):
            for key in sorted(set(their) | set(our)):
                self.rows += 1
                if their[key] != our[key]:
                    print('%s: %s: %s: perf %d, vprof %d' %
                          (what, event, key, their[key], our[key]))
                    self.bad += 1
        self.runs += 1
        return theirs


def fields(path):
    """pid, tid, cpu, ns and what is there, of each sample."""
    out = subprocess.run(['vtrace', 'dump', '-F', 'pid,tid,cpu,time,has', path], stdout=PIPE,
                         stderr=subprocess.DEVNULL, check=False, encoding='utf-8').stdout
    return [line.split('\t') for line in out.splitlines()]


def stamp(ns):
    return '%d.%09d' % divmod(ns, 10**9)


def ends_of(values):
    """The most frequent value and the least frequent one."""
    ordered = [v for v, _ in sorted(collections.Counter(values).items(), key=lambda x: (-x[1], x[0]))]
    return [ordered[0], ordered[-1]] if len(ordered) > 1 else ordered


def compare_slices(c, samples, comms):
    keys = ['comm', 'thread']
    has = int(samples[0][4], 16)
    for pid in ends_of(s[0] for s in samples):
        c.compare(keys, ['--pid', pid], ['--pid', pid])
    tids = ends_of(s[1] for s in samples)
    c.compare(keys, ['--tid', ','.join(tids)], ['--tid', ','.join(tids)])
    for comm in comms:
        # perf leaves out the column of a filter with one value only.
        c.compare(keys, ['--comm', comm], ['--comms', comm + ',no-such-thread'])
    if has & 0x80:
        cpus = sorted({int(s[2] or 0) for s in samples})
        some = '%d-%d' % (cpus[0], cpus[len(cpus) // 2])
        c.compare(keys, ['--cpu', some], ['--cpu', some])
    if has & 4:
        times = sorted(int(s[3] or 0) for s in samples)
        first, last = times[len(times) // 4], times[3 * len(times) // 4]
        for span in ('%s,%s' % (stamp(first), stamp(last)), stamp(last) + ',', ',' + stamp(first)):
            c.compare(keys, ['--time', span], ['--time', span])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--ignore', action='append', default=[], metavar='EVENT',
                        help='an event that perf makes up itself')
    parser.add_argument('path')
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        stream = os.path.join(directory, 'x.vt')
        subprocess.run(['vtrace', 'decode', '-o', stream, args.path], stderr=subprocess.DEVNULL,
                       check=False)
        c = Comparison(stream, cut_attributes(args.path, directory), args.ignore)
        samples = fields(stream)
        groups = c.compare(['comm', 'thread']) if samples else []
        if not groups:
            print('perf report shows no samples')
            sys.exit(77)
        has = int(samples[0][4], 16)
        if has & 0x80:
            c.compare(['cpu'])
            c.compare(['comm', 'cpu'])
        if has & 4:
            c.compare(['time'])
        compare_slices(c, samples, ends_of(
            key[0] for _, totals in groups for key in totals.elements()))
    print('%d samples, %d comparisons with %d rows, %d differences' %
          (len(samples), c.runs, c.rows, c.bad))
    sys.exit(1 if c.bad else 0)


main()
