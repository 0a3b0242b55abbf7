#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares vprof's totals for each symbol with those of perf report --no-children.

usage: perf_totals.py [--fold-kernel] [--ignore EVENT]... PERF.DATA

Exit status: 0 equal (the last line says how much was compared), 1 different (each difference on a
line), 77 perf shows nothing of this file.

Rows that are nobody's symbol are compared by image: perf shows each of their addresses, vprof one
row with the cause, or the procedures of a stripped file as sub_ADDRESS.  The two name some images
differently, see image_name().
"""
import argparse
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import listed

UNKNOWN = '(no symbol)'


def image_name(name, fold_kernel):
    """One name for what perf and vprof call differently."""
    name = name.strip()
    if name.startswith('[JIT] tid ') or name == 'anon':
        return 'anonymous'
    if name in ('[kernel.vmlinux]', '[guest.kernel.kallsyms]'):
        return '[kernel.kallsyms]'
    module = re.fullmatch(r'(\S+)\.ko(\.\w+)?', name)
    if module:
        name = '[%s]' % module.group(1).replace('-', '_')
    kernel = re.fullmatch(r'\[\w+\]', name) and name not in ('[unknown]', '[vsyscall]')
    return '[kernel.kallsyms]' if fold_kernel and kernel else name


def cut_attributes(path, directory):
    """perf 6.1 refuses attributes of over 128 bytes: a copy without what follows those, or `path`."""
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    if data[:8] != b'PERFILE2' or len(data) < 104 or data[8] != 104:
        return path
    entry, start, size = struct.unpack_from('<QQQ', data, 16)
    if entry <= 128 + 16:
        return path
    rows = [data[i:i + entry] for i in range(start, start + size, entry)]
    for i, row in enumerate(rows):
        struct.pack_into('<I', row, 4, 128)
        data[start + 144 * i:start + 144 * (i + 1)] = row[:128] + row[entry - 16:]
    struct.pack_into('<Q', data, 16, 144)
    struct.pack_into('<Q', data, 32, 144 * len(rows))
    copy = os.path.join(directory, 'cut.data')
    with open(copy, 'wb') as f:
        f.write(data)
    return copy


def perf_totals(path, fold_kernel):
    cmd = ['perf', 'report', '-i', path, '--stdio', '--no-children', '-F', 'sample,dso,sym',
           '-t', '|', '--no-demangle', '-g', 'none', '--no-branch-stack', '--no-group']
    out = subprocess.run(cmd, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                         encoding='utf-8', errors='surrogateescape').stdout
    events = []
    for line in out.split('\n'):
        head = re.match(r"# Samples: .* of events? '(.*)'", line)
        cells = line.split('|', 2)
        if head:
            events.append((head.group(1), collections.Counter()))
        elif len(cells) == 3 and cells[0].strip().isdigit():
            symbol = cells[2].strip()[4:].strip()
            # Of the vdso, perf shows the symbols of this machine's own, if any.
            if re.fullmatch(r'(0x)?[0-9a-f]{8,16}', symbol) or symbol.startswith('[') or \
                    cells[1].strip() == '[vdso]':
                symbol = UNKNOWN
            events[-1][1][image_name(cells[1], fold_kernel), symbol] += int(cells[0])
    return [e for e in events if e[1]]


def vprof_totals(path, fold_kernel):
    decode = subprocess.Popen(['vtrace', 'decode', path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    out = subprocess.run(['vprof', '--json'], stdin=decode.stdout, capture_output=True, check=False)
    decode.stdout.close()
    decode.wait()
    if out.returncode > 1:
        sys.exit('vprof failed: ' + out.stderr.decode(errors='replace'))
    doc = json.loads(out.stdout, object_hook=listed.by_name)
    events = []
    for event in doc['events']:
        name = event['name']
        totals = collections.Counter()
        for row in doc['rows']:
            image = image_name(os.path.basename(row['image']), fold_kernel)
            if row.get(name):
                symbol = row['symbol'] or UNKNOWN
                if re.fullmatch(r'sub_[0-9a-f]+', symbol) or image == '[vdso]':
                    symbol = UNKNOWN
                totals[image, symbol] += row[name]
        if sum(totals.values()) != event['samples']:
            sys.exit('%s: rows have %d samples, the header says %d' %
                     (name, sum(totals.values()), event['samples']))
        events.append((name, totals))
    return events


def fold_stubs(their, our):
    """The linker's stubs: perf gives all those of a library's own resolvers one name, which is
    "@plt", and those in .plt.got none; nor has the code before the others, in some files."""
    stubs = [k for k in our if k[1].endswith('@plt') or k[1] == '.plt']
    for image, symbol in [k for k in stubs if k not in their]:
        name = '@plt' if symbol.startswith('*ABS*') else UNKNOWN
        our[image, name] += our.pop((image, symbol))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--fold-kernel', action='store_true',
                        help='compare the kernel, its modules and the vdso as one image without '
                        'symbols')
    parser.add_argument('--ignore', action='append', default=[], metavar='EVENT',
                        help='an event that perf makes up itself')
    parser.add_argument('path')
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as directory:
        theirs = perf_totals(cut_attributes(args.path, directory), args.fold_kernel)
    theirs = [e for e in theirs if e[0] not in args.ignore]
    if not theirs:
        print('perf report shows no samples')
        sys.exit(77)
    ours = vprof_totals(args.path, args.fold_kernel)
    bad = 0
    rows = 0
    if len(ours) != len(theirs):
        print('events: perf %s, vprof %s' % ([e[0] for e in theirs], [e[0] for e in ours]))
        bad += 1
    for (their_name, their), (our_name, our) in zip(theirs, ours):
        # vprof tells two events of the same name apart by their id.
        if their_name != our_name.split('#')[0]:
            print('event: perf %s, vprof %s' % (their_name, our_name))
            bad += 1
        if args.fold_kernel:
            for totals in (their, our):
                for image, symbol in [k for k in totals if k[0] == '[kernel.kallsyms]']:
                    if symbol != UNKNOWN:
                        totals[image, UNKNOWN] += totals.pop((image, symbol))
        fold_stubs(their, our)
        for key in sorted(set(their) | set(our)):
            rows += 1
            if their[key] != our[key]:
                print('%s: %s in %s: perf %d, vprof %d' %
                      (their_name, key[1], key[0], their[key], our[key]))
                bad += 1
    samples = sum(sum(e[1].values()) for e in theirs)
    print('%d samples, %d rows, %d differences' % (samples, rows, bad))
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
