#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the kept corpora of fuzz_core, fuzz_cycles, fuzz_records, fuzz_sums and fuzz_windows.

usage: make_cycles_corpus.py CORPUS CORE.core...

CORPUS is the folder of all corpora; descriptions of machines, without their comments, begin inputs
of fuzz_core.
"""
import os
import re
import struct
import sys
import zlib

# A loop of loads, a divide and a store with a branch in it; a jump table; a call; odd bytes.
CODE = {
    "loop": "31c9 488b04cf 4801c2 48f7f6 4889 04cf a801 7403 480fafd0 48ffc1 4839d1 75e5 c3",
    "vector": "660f6f07 660ffec1 f20f5ec1 660f7f06 0f28c8 660f70c01b 4883c710 4839f7 72e2 c3",
    "switch": "83ff03 7709 ff24fd00204000 c3 b801000000 c3 31c0 c3 90 0faef0 0fa2 0f05 c3",
    "call": "4157 4883ec08 e800000000 85c0 7405 e8f0ffffff 4883c408 415f c3 cc cc 0f0b",
    "odd": "0606 c5f877 c4e2 f30f1efa 48 e2fe 67e300 eb00 ffe0",
}
CODE = {name: bytes.fromhex(text) for name, text in CODE.items()}


def number(v):
    if isinstance(v, float):
        v = struct.unpack("<Q", struct.pack("<d", v))[0]
    if v < 200:
        return bytes([v + 9])
    size = (v.bit_length() + 7) // 8
    return bytes([size]) + v.to_bytes(size, "big")


def field(v):
    if isinstance(v, bytes):
        return bytes([len(v)]) + v
    if isinstance(v, list):
        return bytes([len(v)]) + b"".join(number(x) for x in v)
    return number(v)


# FREQ, EDGE, STALL; SAMPLE, EVENT, IMAGE, MAP, COUNT.  A first byte of zero would be a profile.
KINDS = (3, 4, 5, 130, 131, 132, 133, 134)


def record(kind, *fields):
    return bytes([KINDS[kind]]) + b"".join(field(v) for v in fields)


def stacks(timed):
    """An image of code, and branch stacks in it: newest branch first."""
    event = [1, b"cycles", 0, b"cycles"] + [0] * 4 + [1000] + [0] * 5 + [8] + [0] * 3
    out = record(4, *event) + record(5, 1, 0, b"/x", b"", 62)
    out += record(6, 0, 5, 5, 0x10000, 0x1000, 0, 1, 5, *[0] * 6)
    for n in range(2, 6):
        branches = [(0x10020, 0x10010, 5), (0x10030, 0x10018, 9), (0x10040, 0x10010, 7)] * 2
        lists = [[b[i] << (4 if i == 2 else 0) for b in branches[:n]] for i in range(3)]
        if not timed:
            lists[2] = []
        out += record(3, 0, 5, 5, 0, 1, 0x10020, 1000, 2, 0x901, *[0] * 12, [], 0, [], 0, [], b"", 0,
                      *lists, [], 0, [], b"", b"")
    return out


def varint(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def profile(period, places):
    out = varint(1) + varint(len(places)) + varint(period)
    before = 0
    for offset, samples in places:
        out += varint(offset - before) + varint(samples)
        if not period:
            out += varint(samples * 7 + 1)
        before = offset
    return out


def core(path):
    # Large caches only cost time.
    lines = (re.sub(r"(\d)M", r"\1K", line).split("#")[0].split()
             for line in open(path, encoding="ascii"))
    return "".join(" ".join(words) + "\n" for words in lines if words).encode()


def cycles():
    hows = (0x04, 0x15, 0x26, 0x3c, 0x1c)
    for how, (name, code) in zip(hows, CODE.items()):
        yield name, (bytes([how, len(code) - 1]) + code +
                     bytes((37 * i + 0x51) & 255 for i in range(24)))
    # And what more is known: of stacks, with and without a unit; exact; of callers; nonsense.
    for how, what in zip(hows, (1, 0x2b, 0x24, 0x28, 0x30)):
        name, code = list(CODE.items())[what % 4]
        yield f"{name}-{what}", (bytes([how | 0x80, len(code) - 1]) + code +
                                 bytes((37 * i + 0x51) & 255 for i in range(12)) +
                                 bytes([what]) + bytes((91 * i + 7) & 255 for i in range(60)))


def summed(kind, *fields):
    """A record of fuzz_sums, of a kind by its place in kind_of()."""
    return bytes([kind]) + b"".join(field(v) for v in fields)


def sums():
    """What vevent, vpair, vpath and vmem write, of one image and event."""
    event = [1, b"followed", 4, b"instructions"] + [0] * 4 + [1000] + [0] * 9
    head = summed(3, *event) + summed(4, 1, 0, b"/x", b"12345678", 62)
    head += summed(5, b"cpu.model", b"alpha21264", b"") + summed(5, b"vsim.window", b"80", b"")
    events = b"".join(
        summed(0, 1, 0x1000 + 4 * i, 1, what, 50000.0, total, 9 * total, 0.5 * total, 2 * total,
               2, 7, 50, had, least, 1e6, bins)
        for i, (what, total, had, least, bins) in enumerate([
            (3, 7000.0, 7, 0, []), (38, 90000.0, 40, 1, [3, 30, 9, 9, 11, 1]),
            (39, 500.0, 5, 0, [2, 5]), (40, 2e5, 50, 0, [4, 50]), (0, 50000.0, 50, 0, []),
            (48, 3e5, 50, 0, []), (49, 4e5, 50, 0, []), (50, 8e5, 50, 0, [])]))
    pairs = b"".join(
        summed(1, 1, 0x1000 + 4 * i, 1, metric, split, 40, 900.0, 41000.0, y, 2 * y, 100.0, 22.5,
               1.5, 19.0, 26.0, 3, 7)
        for i, (metric, split, y) in enumerate([
            (b"wasted", b"", 0.0), (b"useful-concurrency", b"", 40.0),
            (b"retire-within:30", b"load:dcache_miss", 40.0), (b"ipc:10", b"", 30.0)]))
    paths = b"".join(
        summed(2, 1, 0x1000 + 8 * i, 1, [1] * n, [0x1000 + 16 * k for k in range(n)], n - 1, 3.0,
               3000.0, 0.75 if i else 1.0, 1 + i)
        for i, n in enumerate([1, 3, 6, 2]))
    sampled = [9, 900, 9, 1, 8, [0, 3, 0, 6]]
    memory = summed(7, 8, 3, 5000, 0, 0, 90, 40, 720, 320, 9, 30, 5, 64, *sampled, 12, 0, 0, 0, 24)
    for i, (kind, name) in enumerate([(0, b"counter"), (1, b""), (2, b"main"), (3, b".data")]):
        images = [1] * (1 + i % 2)
        memory += summed(8, i, kind, images, [0x4000 + 8 * i] * len(images), name, 20, 10, 160, 80,
                         3, 6, 1, 8, *sampled, 64, 2, 1, 500, 128, 64, 0, 0)
        for k in range(3):
            memory += summed(9, i, (8 * k + 8) * (-1 if kind == 2 else 1) & (1 << 64) - 1, 8, 255,
                             15, 6, 3, 48, 24, 1, 2, 0, 8, 0, 0, 6, 8, [5, 7, 9], [3, 2, 2],
                             [0, 0, 1])
    yield "events", head + events
    yield "pairs", head + pairs
    yield "paths", head + paths
    yield "all", head + events + pairs + paths + summed(6, 1, 0x1000, 1, 9, 9000)
    yield "twice", bytes([head[0] | 0x80]) + head[1:] + events + pairs + paths
    yield "memory", head + memory
    yield "memory-twice", bytes([head[0] | 0x80]) + head[1:] + memory
    yield "no-names", events[:60] + pairs[:60] + paths[:60]


def timed(ids, cycles, times, tid=5, skip=0, cut=0):
    """An EXEC of fuzz_windows; times are pairs: blocks and cycles since the one before."""
    return (bytes([128 + len(ids), *ids, tid]) + number(skip) + number(cut) + number(cycles) +
            bytes([len(times)]) + b"".join(number(a) + number(c) for a, c in times))


def windows():
    """Runs of three blocks, of 4, 2 and 1 instructions; the first byte is a window's half."""
    code = bytes([4, 2, 1])
    even = timed([0] * 30, 1000, [(1, 8)] * 29)
    uneven = timed([0, 1, 2] * 10, 100, [(1, 1 + i * 7 % 13) for i in range(29)], skip=1, cut=0)
    yield "even", bytes([4]) + code + even + timed([0] * 9, 1232, [(1, 8)] * 8)
    yield "uneven", bytes([3]) + code + uneven + timed([2] * 40, 7, [(2, 0), (1, 1)] * 13, 6)
    yield "threads", bytes([2]) + code + b"".join(
        timed([1] * 8, 50 + 20 * i, [(1, 3)] * 7, i % 3, cut=i & 1) for i in range(9))
    yield "gaps", bytes([9]) + code + timed(
        [0, 1] * 20, 0, [(1 + i % 2, 1 << i) for i in range(24)]) + even
    yield "contradictions", bytes([1]) + code + timed([0, 0, 9], 1, [(1, 2)]) + timed(
        [0] * 4, 5, [(1, 1), (0, 3)]) + timed([0] * 4, 5, [(1, (1 << 64) - 3), (1, 9)]) + timed(
        [2] * 3, 5, [(1, 1), (7, 1)]) + timed([0], 9, [], skip=4) + even
    yield "long", bytes([0]) + code + b"".join(
        timed([0] * 100, 1 + 1000 * i, [(1, 1 + i)] * 99) for i in range(9))


def corpora(cores):
    codes = list(CODE.values())
    yield "fuzz_core", {
        os.path.splitext(os.path.basename(path))[0]: core(path) + b"\0" + codes[i % len(codes)]
        for i, path in enumerate(cores)}
    yield "fuzz_cycles", dict(cycles())
    freqs = [record(0, i & 1, 0x1000 + 4 * i, 0, 50, 50000, 1000.0, 900.0, 1100.0, 2.5, 1.0, 3, 4)
             for i in range(8)]
    edges = [record(1, i & 1, 0x1000 + 4 * i, 0x1000, 900.0, 0.0, float("inf"), 2, 4)
             for i in range(8, 0, -1)]
    stalls = [record(2, 1, 0x1000 + i // 2, i, 0.0, 5000.0, [0x1000 + k for k in range(i)], 1)
              for i in range(8)]
    places = [(0x1000 + 3 * i, 5 + i % 9) for i in range(200)]
    plain = profile(62000, places)
    yield "fuzz_sums", dict(sums())
    yield "fuzz_windows", dict(windows())
    yield "fuzz_records", {
        "freqs": b"".join(freqs),
        "mixed": b"".join(x for three in zip(stalls, edges, freqs) for x in three),
        "stacks": stacks(True) + stacks(False),
        # A greater first byte: executions are counted, too.
        "counts": b"\xe2" + stacks(True)[1:] + b"".join(
            record(7, 1, 0x10 + i, 1, i, 1000 * i) for i in range(8)) + freqs[3],
        "no-culprits": record(2, 1, 0x1000, 1, 0.0, 5.0, [], 1),
        "odd-numbers": record(0, 1, 2, 3, 4, 5, float("nan"), -1.0, 2.0) + freqs[0],
        "places": b"\0" + profile(62000, places[:20]),
        "periods": b"\0" + profile(0, places[:20]),
        "packed": b"\0" + varint(2) + varint(len(plain)) + zlib.compress(plain),
    }


def main():
    for target, inputs in corpora(sys.argv[2:]):
        folder = os.path.join(sys.argv[1], target)
        os.makedirs(folder, exist_ok=True)
        for name, data in inputs.items():
            with open(os.path.join(folder, name), "wb") as out:
                out.write(data)


main()
