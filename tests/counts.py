#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the programs of tests/data/counts and tests/data/cycles execute, by arithmetic, and how
estimates compare with it.

usage: counts.py NAME PROGRAM ESTIMATE...

Prints for each mark of the program that was compiled from NAME.c, and for each file with FREQ
records: mark, truth, estimate, low, high, method, confidence.  The numbers follow from the sources
alone; nothing is counted by running them.
"""
import math
import struct
import subprocess
import sys
from collections import Counter


def generator():
    v = 1
    while True:
        v = (v * 1103515245 + 12345) & 0xffffffff
        yield v >> 28


def nested():
    return {1: 200, 2: 200 * 30, 3: 200 * 30 * 50, 4: 200 * 64, 5: 200 * 64 * 3, 6: 200}


def tenths():
    n = 60000
    return {1: n, 2: n * 4 // 10, 3: n * 6 // 10, 4: n, 5: n * 4 // 10}


def choices():
    n, g = 50000, generator()
    c = Counter(next(g) for _ in range(n))
    marks = {k: n // 8 for k in range(1, 9)}
    marks.update({9: c[0] + c[7], 10: c[3], 11: c[9] + c[10] + c[11], 12: c[14]})
    marks.update({13: n - sum(marks[k] for k in range(9, 13)), 14: n})
    return marks


def recursion():
    calls, leaves = [1, 1], [1, 1]
    for n in range(2, 22):
        calls.append(1 + calls[n - 1] + calls[n - 2])
        leaves.append(leaves[n - 1] + leaves[n - 2])
    return {1: calls[21], 2: leaves[21], 3: calls[21] - leaves[21],
            4: 3000 * 31, 5: 3000, 6: 3000 * 30, 7: 3000}


def calls():
    n = 40000
    return {1: n + n // 4, 2: n // 2, 3: n // 4, 4: n, 5: n // 100, 6: n // 100 * 20}


def collatz():
    odd = even = 0
    for n in range(1, 2001):
        while n != 1:
            odd, even = odd + (n & 1), even + (not n & 1)
            n = 3 * n + 1 if n & 1 else n // 2
    primes = [p for p in range(2, 64) if all(p % q for q in range(2, p))]
    return {1: 2000, 2: odd + even, 3: odd, 4: even, 5: 5 * 62, 6: 5 * len(primes),
            7: 5 * sum(len(range(p * p, 4000, p)) for p in primes)}


def sorting():
    n, exchanged, rounds, up, down = 120, 0, 0, 0, 0
    for seed in range(12):
        keys = []
        for _ in range(n):
            seed = (seed * 1664525 + 1013904223) & 0xffffffff
            keys.append(seed >> 8)
        exchanged += sum(keys[i] > keys[j] for i in range(n) for j in range(i + 1, n))
        keys.sort()
        for k in range(1000):
            low, high = 0, n
            while low < high:
                mid, rounds = (low + high) // 2, rounds + 1
                if keys[mid] < k << 14:
                    low, up = mid + 1, up + 1
                else:
                    high, down = mid, down + 1
    return {1: 12 * n, 2: 12 * (n - 1), 3: 12 * (n - 1) * n // 2, 4: exchanged, 5: rounds, 6: up,
            7: down, 8: 12 * 500, 9: 1 << 15, 10: 12, 11: 12 * 1000}


def text():
    s = [" 0123456789abcdefghijklmnopqrstuvwxyz"[i * i % 37] for i in range(3000)]
    begin = sum(a != " " and b == " " for a, b in zip(s, [" "] + s))
    rounds = 0
    for i in range(20):
        for y in range(1, 200):
            x = 1000 + i
            while y:
                x, y, rounds = y, x % y, rounds + 1
    return {1: 20 * 3000, 2: 20 * s.count(" "), 3: 20 * begin, 4: 20 * sum(x.isdigit() for x in s),
            5: 20 * 256, 6: 20 * 4096, 7: rounds, 8: 20 * 199}


# Of tests/data/cycles, with the arguments of ARGUMENTS.

def mixed_numbers():
    v = 1
    while True:
        v = (v * 1103515245 + 12345) & 0xffffffff
        yield v ^ v >> 16


def causes(rounds=3):
    g = mixed_numbers()
    marks = {1: 200, 2: 200, 3: 500, 14: 21}
    marks.update({k: 1000 for k in (4, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16)})
    marks = {k: rounds * n for k, n in marks.items()}
    marks[5] = sum(next(g) >> 31 == 0 for _ in range(rounds * 1000))
    return marks


def late(rounds=4):
    return {k: rounds * 200 for k in range(1, 8)}


def serial(rounds=2):
    return {first + k: rounds * n for first, n in ((1, 640), (11, 80), (21, 10)) for k in range(5)}


def overlap(rounds=500, size=1024):
    g, marks, slots = mixed_numbers(), Counter(), [0] * size

    def slot(key):
        return ((key * 2654435761 & 0xffffffff) >> 8) % size

    for _ in range(size // 2):
        key = next(g) | 1
        at = slot(key)
        while slots[at]:
            at = (at + 1) % size
        slots[at] = key
    for _ in range(rounds):
        key = next(g)
        low, high = 0, 16384
        while low < high:
            mid = (low + high) // 2
            marks[2] += 1
            low, high = (mid + 1, high) if mid << 18 < key else (low, mid)
        at, n = slot(key), 0
        while slots[at] not in (0, key) and n < 8:
            at, n = (at + 1) % size, n + 1
        marks[4] += n
        keys = []
        for _ in range(8):
            key = (key * 1664525 + 1013904223) & 0xffffffff
            keys.append(key)
        marks[7] += sum(keys[i] > keys[j] for j in range(8) for i in range(j))
    marks.update({1: rounds, 3: rounds, 5: rounds, 6: 7 * rounds, 8: rounds, 9: 12 * rounds,
                  10: rounds})
    return dict(marks)


ARGUMENTS = {"causes": ["3", "1024"], "late": ["4", "1024"], "serial": ["2"],
             "overlap": ["15", "500", "1024"]}
PROGRAMS = {f.__name__: f for f in
            (nested, tenths, choices, recursion, calls, collatz, sorting, text,
             causes, late, serial, overlap)}


def marks_of(program):
    """Offsets in the file, by mark: an ELF file of 64 bits, little-endian, not relocated."""
    raw = open(program, "rb").read()
    phoff, shoff = struct.unpack_from("<QQ", raw, 0x20)
    phsize, phnum, shsize, shnum, names = struct.unpack_from("<5H", raw, 0x36)
    loads = []
    for i in range(phnum):
        kind, _, offset, vaddr, _, size = struct.unpack_from("<IIQQQQ", raw, phoff + i * phsize)
        if kind == 1:
            loads.append((vaddr, size, offset))
    sections = [struct.unpack_from("<IIQQQQ", raw, shoff + i * shsize) for i in range(shnum)]
    text_at = sections[names][4]
    marks = {}
    for name, _, _, _, offset, size in sections:
        at = text_at + name
        if raw[at:raw.index(b"\0", at)] != b".marks":
            continue
        for addr, mark in struct.iter_unpack("<QQ", raw[offset:offset + size]):
            where = next(addr - v + o for v, n, o in loads if v <= addr < v + n)
            marks.setdefault(mark, []).append(where)
    return marks


def freqs_of(stream, program):
    out = subprocess.run(["vtrace", "dump", "-k", "FREQ", "-F",
                          "image,offset,executions,low,high,method,confidence", stream],
                         capture_output=True, text=True, check=True).stdout
    rows = {}
    for line in out.splitlines():
        image, offset, x, low, high, method, confidence = line.split("\t")
        if image.rsplit("/", 1)[-1] == program.rsplit("/", 1)[-1]:
            rows[int(offset, 16)] = float(x), float(low), float(high), method, confidence
    return rows


def compare(name, program, stream):
    """Yields mark, truth, estimate, low, high, method, confidence; of copies, the sums."""
    truth, freqs = PROGRAMS[name](), freqs_of(stream, program)
    for mark, places in sorted(marks_of(program).items()):
        rows = [freqs[p] for p in places if p in freqs]
        if len(rows) < len(places):
            continue
        x = sum(r[0] for r in rows)
        low = x - math.sqrt(sum((r[0] - r[1]) ** 2 for r in rows))
        high = x + math.sqrt(sum((r[2] - r[0]) ** 2 for r in rows))
        yield (mark, truth[mark], x, low, high) + rows[0][3:]


def main():
    name, program, *streams = sys.argv[1:]
    for stream in streams:
        for row in compare(name, program, stream):
            print("%d\t%d\t%.6g\t%.6g\t%.6g\t%s\t%s" % row)


if __name__ == "__main__":
    main()
