#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares vprof --children with perf report --children: the percentages of each symbol and of each
image, with and without what it called, and its own samples.

usage: chain_totals.py [--fold-kernel] PERF.DATA

Exit status: 0 equal (the last line says how much was compared), 1 different (each difference on a
line), 77 perf shows no call chains.

What is called by frames without a symbol is not compared: perf shows a row for each address.  Where
stacks are unwound through images whose files are not here, perf guesses at return addresses; own
samples alone are compared then.  A guess may lie in no image at all, which vprof never takes for a
caller: what such frames call is not compared where stacks are unwound.  perf
looks up return addresses as they are; after a call that does not return, that is the next
procedure, at its very start.  vprof looks up the call.  So symbols at whose start perf script shows
a frame are not compared, and others may have as much more.

In code without call frame information perf follows the frame pointer, whatever it is then: it
finds the callers, leaves some out, or ends with a frame at -1.  vprof ends such a chain, or finds the
callers by other information.  Symbols may have as much more or less.
"""
import argparse
import bisect
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import listed
from perf_totals import UNKNOWN, cut_attributes, image_name


def clean_symbol(image, symbol):
    if re.fullmatch(r'(0x)?[0-9a-f]{8,16}|sub_[0-9a-f]+|', symbol) or symbol.startswith('[') or \
            image == '[vdso]' or symbol.endswith('@plt') or symbol == '.plt':
        return UNKNOWN
    return symbol


def new_rows():
    """{(image, symbol): [children in percent, self in percent, samples, rows]}"""
    return collections.defaultdict(lambda: [0.0, 0.0, 0, 0])


def add_row(rows, key, *values):
    rows[key] = [a + b for a, b in zip(rows[key], (*values, 1))]


def perf_children(path, fields, fold):
    """The rows of each event that has call chains."""
    cmd = ['perf', 'report', '-i', path, '--stdio', '--children', '--no-inline', '-t', '|',
           '-F', 'overhead_children,overhead,sample,' + fields, '--no-demangle', '-g', 'none',
           '--percent-limit', '0', '--no-group', '--no-branch-stack']
    out = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                         encoding='utf-8', errors='surrogateescape').stdout
    events = []
    for line in out.split('\n'):
        head = re.match(r"# Samples: .* of events? '(.*)'", line)
        cells = [c.strip() for c in line.split('|', 4)]
        if head:
            events.append((head.group(1), new_rows()))
        elif len(cells) > 3 and cells[2].isdigit() and cells[0] != 'N/A':
            symbol = clean_symbol(cells[3], cells[4][4:].strip()) if len(cells) > 4 else ''
            add_row(events[-1][1], (image_name(cells[3], fold), symbol),
                    float(cells[0].rstrip('%')), float(cells[1].rstrip('%')), int(cells[2]))
    return [e for e in events if e[1]]


def vprof_children(path, event, level, fold):
    """The rows of an event, or None and why there are none; how many of its chains are unwound, and
    whether perf guesses."""
    out = subprocess.run(['vprof', '--children', '--period', '--json', '-e', event, '-b', level, path],
                         capture_output=True, check=False)
    if out.returncode > 1:
        return None, out.stderr.decode(errors='replace'), 0, False
    doc = json.loads(out.stdout, object_hook=listed.by_name)
    rows = new_rows()
    for r in doc['rows']:
        image = image_name(os.path.basename(r['image']), fold)
        symbol = clean_symbol(image, r.get('symbol', '')) if level == 'procedure' else ''
        add_row(rows, (image, symbol), r['children_percent'], r['self_percent'], r['self'])
    unwound = doc['unwound_chains']
    return rows, doc['events'][0]['samples'], unwound, unwound and doc['events'][0]['unknown']


def frame_information(path):
    """The ranges of addresses with call frame information in a file: starts, ends; and what is to be
    added to file offsets for their addresses: [(offset, size, difference), ...]."""
    out = subprocess.run(['readelf', '-lW', '-wF', path], stdin=subprocess.DEVNULL,
                         capture_output=True, check=False, text=True, errors='replace').stdout
    ranges = sorted((int(a, 16), int(b, 16))
                    for a, b in re.findall(r' FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)', out))
    loads = [[int(n, 16) for n in m] for m in re.findall(
        r'\bLOAD +0x([0-9a-f]+) 0x([0-9a-f]+) 0x[0-9a-f]+ 0x([0-9a-f]+)', out)]
    return [r[0] for r in ranges], [r[1] for r in ranges], \
        [(offset, size, address - offset) for offset, address, size in loads]


def lacks_information(path, offset, known):
    if path not in known:
        known[path] = frame_information(path)
    starts, ends, loads = known[path]
    address = offset + next((d for start, size, d in loads if start <= offset < start + size), 0)
    i = bisect.bisect(starts, address) - 1
    return bool(starts) and (i < 0 or address >= ends[i])


def doubtful_frames(path):
    """The symbols at whose start a call seems to return, and for each event the percentage of such
    samples, that of those whose last frame is at -1 or which have frames in code without call frame
    information."""
    cmd = ['perf', 'script', '-i', path, '-F', 'event,period,ip,sym,symoff,dso', '--no-inline',
           '--no-demangle']
    out = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                         encoding='utf-8', errors='surrogateescape').stdout
    symbols = set()
    moved, broken, total = collections.Counter(), collections.Counter(), collections.Counter()
    event, period, frame, counted, lost, known = '', 0, 0, False, False, {}
    for line in out.split('\n'):
        head = re.match(r' +([0-9]+) +(\S+): *$', line)
        at = re.match(r'\s+([0-9a-f]+) (.*?)(\+0x[0-9a-f]+)? \((.*)\)$', line)
        if head:
            event, period, frame, counted, lost = head.group(2), int(head.group(1)), 0, False, False
            total[event] += period
            continue
        frame += 1
        if not lost and at and (at.group(1) == 16 * 'f' or (
                at.group(4)[0] == '/' and
                lacks_information(at.group(4), int(at.group(1), 16), known))):
            broken[event] += period
            lost = True
        if at and frame > 1 and at.group(3) == '+0x0':
            symbols.add(at.group(2))
            moved[event] += 0 if counted else period
            counted = True
    return symbols, *({e: 100 * n[e] / total[e] for e in total if total[e]} for n in (moved, broken))


def own_only(rows):
    """Rows with nothing but their own samples."""
    only = new_rows()
    for key, r in rows.items():
        only[key] = [0, 0, *r[2:]]
    return only


def compare_rows(name, their, our, ignored, more, less):
    """`ignored`: symbols, or images for the rows of images. `more`, `less`: what ours may have, in
    percent."""
    bad = []
    for key in sorted(set(their) | set(our)):
        t, o = their[key], our[key]
        what = '%s: %s in %s' % (name, key[1] or 'all', key[0])
        if t[2] != o[2]:
            bad.append('%s: self: perf %d, vprof %d' % (what, t[2], o[2]))
        if (key[1] or key[0]) in ignored or t[3] > 1 or o[3] > 1 or key[1] == UNKNOWN:
            continue
        if abs(t[1] - o[1]) > 0.0051 or \
                not -0.0051 - less < o[0] - t[0] < 0.0051 + more:
            bad.append('%s: perf %.2f%% %.2f%%, vprof %.2f%% %.2f%%' %
                       (what, t[0], t[1], o[0], o[1]))
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--fold-kernel', action='store_true')
    parser.add_argument('path')
    args = parser.parse_args()
    bad, rows, samples, doubt = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as directory:
        path = cut_attributes(args.path, directory)
        moved, more, broken = doubtful_frames(path)
        for level, fields in ('image', 'dso'), ('procedure', 'dso,sym'):
            for name, their in perf_children(path, fields, args.fold_kernel):
                our, n, unwound, guessed = vprof_children(args.path, name, level, args.fold_kernel)
                if our is None:
                    if 'no call chains' not in n and name not in ('cbr', 'psb', 'ptwrite'):
                        bad.append('%s: %s' % (name, n.strip()))
                    continue
                if guessed:
                    their, our = own_only(their), own_only(our)
                ignored = moved | {'[unknown]'} if unwound else moved
                doubt = broken.get(name, 0) if unwound else 0
                bad += compare_rows(name, their, our, ignored, more.get(name, 0) + doubt, doubt)
                rows += len(our)
                samples = n
    if not rows and not bad:
        print('no call chains')
        sys.exit(77)
    print('\n'.join(bad + ['%d samples, %d rows, %d differences; %.1f %% may differ' %
                           (samples, rows, len(bad), doubt)]))
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
