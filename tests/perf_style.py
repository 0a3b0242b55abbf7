#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the output of vprof --style perf with that of perf report --stdio, line by line.

usage: perf_style.py [--by KEYS --sort KEYS] [--fold-kernel] PERF.DATA

Exit status: 0 equal (the last line says how much was compared), 1 different (each difference on a
line), 77 perf shows nothing of this file.

Lines are equal to the byte but for three things.  Perf adds lines about itself, and events that it
makes up from a trace.  It cuts commands that are longer than the name that their thread had at last.
And it calls the kernel [kernel.vmlinux] where the recording's table of build-ids names a file.

With --fold-kernel rows of the kernel and its modules are left out: of another machine's kernel
without a build-id perf shows the symbols of the one that runs here.
"""
import argparse
import collections
import re
import subprocess
import sys
import tempfile

from perf_totals import cut_attributes

MADE_UP = ('cbr', 'psb', 'ptwrite')
KERNEL = re.compile(r'  \[(?!unknown|vdso|vsyscall|JIT)[\w.]+\] ')


def run(cmd):
    return subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          encoding='utf-8', errors='surrogateescape')


def sections(text, args):
    """The lines before the first event, and a list of lines for each event."""
    parts = [[]]
    for line in text.split('\n'):
        line = line.replace(" of events '", " of event '")
        if line.startswith('# Samples: '):
            parts.append([])
        if line.startswith(('# To display', '# (Tip')) or line in ('', '#'):
            continue
        if args.fold_kernel and KERNEL.search(line):
            continue
        parts[-1].append(line)
    made_up = re.compile(r".* of event '(%s)'" % '|'.join(MADE_UP))
    return [p for i, p in enumerate(parts) if not i or not made_up.match(p[0])]


def columns(section):
    """Where the cells of a section's rows are: pairs of start and end."""
    dots = next((line for line in section if line.startswith('# ...')), '')
    return [m.span() for m in re.finditer(r'\.+', dots)]


def cells(section, names, cut=None):
    """The section with rows as tuples of cells; with cut, commands of at most so many characters."""
    spans = columns(section)
    out = []
    for line in section:
        if not spans or line.startswith('# ...'):
            continue
        if line.startswith('#') and not line.startswith('# Overhead'):
            out.append(line)
            continue
        starts = [0] + [a for a, _ in spans[1:]]
        row = [line[a:b].strip().replace('[kernel.vmlinux]', '[kernel.kallsyms]')
               for a, b in zip(starts, starts[1:] + [None])]
        for i, name in enumerate(names):
            if name == 'comm' and cut and not line.startswith('#'):
                row[i + 1] = row[i + 1][:cut[i + 1][1] - cut[i + 1][0]]
        out.append('|'.join(row))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--by')
    parser.add_argument('--sort')
    parser.add_argument('--fold-kernel', action='store_true')
    parser.add_argument('path')
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        theirs = run(['perf', 'report', '-i', cut_attributes(args.path, directory), '--stdio',
                      '--no-children', '-g', 'none', '--no-branch-stack', '--no-group'] +
                     (['--sort', args.sort] if args.sort else []))
    their = sections(theirs.stdout, args)
    if len(their) < 2:
        print('perf report shows no samples')
        sys.exit(77)
    ours = run(['vprof', '--style', 'perf'] + (['--by', args.by] if args.by else []) + [args.path])
    if ours.returncode > 1:
        sys.exit('vprof failed: ' + ours.stderr)
    our = sections(ours.stdout, args)
    bad = 0
    rows = 0
    other = 0
    if len(our) != len(their):
        print('events: perf %s, vprof %s' % ([e[0] for e in their[1:]], [e[0] for e in our[1:]]))
        bad += 1
    names = (args.sort or 'comm,dso,sym').split(',')
    for theirs, ours in zip(their, our):
        rows += len(theirs)
        if theirs != ours and (args.fold_kernel or columns(theirs) != columns(ours)):
            cut = columns(theirs)
            theirs, ours = cells(theirs, names), cells(ours, names, cut)
            other += 1
        missing = collections.Counter(theirs) - collections.Counter(ours)
        more = collections.Counter(ours) - collections.Counter(theirs)
        for line in missing.elements():
            print('perf:  ' + line)
        for line in more.elements():
            print('vprof: ' + line)
        bad += sum(missing.values()) + sum(more.values())
        if not missing and not more and theirs != ours:
            first = next(i for i, (a, b) in enumerate(zip(theirs, ours)) if a != b)
            print('order: perf:  ' + theirs[first])
            print('order: vprof: ' + ours[first])
            bad += 1
    print('%d lines, %d differences%s' % (rows, bad, ', by cells' if other else ''))
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
