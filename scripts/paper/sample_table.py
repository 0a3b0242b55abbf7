#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays the hash table in which DCPI's driver adds up equal samples (sections 4.2 and 5.4 of
"Continuous Profiling: Where Have All the Cycles Gone?", Anderson et al., 1997) on the samples of a
stream, and prints how it does, and how tables of other shapes do that differ from it in
associativity, size, hash function, or in which entry of a full bucket is evicted."""

import argparse
import json
import sys

from programs import Failure, run

# Section 5.3: entries of an overflow buffer.
OVERFLOW = 8192

# Table 4, SPECint95, default configuration: cycles of an Alpha 21164 for a sample that hits, one
# that misses, and in the daemon for each sample when 9.5 % of them become entries.
HIT, MISS, ENTRY = 430, 654, 245 / 0.095

MOST_BUCKETS = 1 << 20
MOST_WAYS = 64

# So many processors have tables of their own; the others share one.
CPUS = 1024

WORD = (1 << 64) - 1

# What is changed; log2 of the factor of buckets; ways, 0: as asked for; swap to front; hash.
VARIANTS = [("as asked for", 0, 0, False, "multiply"), ("swap to front", 0, 0, True, "multiply")]
VARIANTS += [("associativity", 0, ways, False, "multiply") for ways in (1, 2, 4, 6, 8)]
VARIANTS += [("both", 0, ways, True, "multiply") for ways in (6, 8)]
VARIANTS += [("size", shift, 0, False, "multiply") for shift in (-2, -1, 1, 2)]
VARIANTS += [("hash function", 0, 0, False, "fold")]


def mix(x):
    x = x * 0x9e3779b97f4a7c15 & WORD
    return x ^ x >> 32


def hash_multiply(key):
    """All bits of the key count."""
    pid, mode, pc, event = key
    return mix(mix(mix(mix(24 ^ pc) ^ (pid & 0xffffffff | event << 32)) ^ mode))


def hash_fold(key):
    """Two additions and a shift."""
    pid, _, pc, event = key
    return (pc + (pid & 0xffffffff) * 64 + event & WORD) >> 1


HASHES = {"multiply": hash_multiply, "fold": hash_fold}


class Table:
    """A table for each processor, and the buffer of what they evict.  Equal samples have the same
    key: (pid, mode, pc, event)."""

    def __init__(self, buckets, ways, front=False, how="multiply", overflow=OVERFLOW):
        self.buckets, self.ways, self.front, self.overflow = buckets, ways, front, overflow
        self.hash = HASHES[how]
        self.tables = {}    # of each processor: the keys of each bucket in use
        self.turns = {}     # of each processor: its evictions
        self.places = {}    # key: its bucket
        self.buffer = []
        self.samples = self.misses = self.evictions = self.compared = self.records = 0

    def place(self, key):
        if key not in self.places:
            self.places[key] = self.hash(key) & self.buckets - 1
        return self.places[key]

    def add(self, cpu, key):
        bucket = self.tables.setdefault(cpu, {}).setdefault(self.place(key), [])
        self.samples += 1
        if key in bucket:
            at = bucket.index(key)
            self.compared += at + 1
        else:
            self.compared += len(bucket)
            self.misses += 1
            at = self.make_room(cpu, bucket)
            bucket[at:at + 1] = [key]
        if self.front:
            bucket.insert(0, bucket.pop(at))

    def make_room(self, cpu, bucket):
        """Where a new key of a bucket goes; what was there goes to the buffer."""
        if len(bucket) < self.ways:
            return len(bucket)
        at = self.ways - 1
        if not self.front:
            turn = self.turns.get(cpu, 0)
            self.turns[cpu] = turn + 1
            at = turn % self.ways
        self.evictions += 1
        self.hand_over(bucket[at])
        return at

    def hand_over(self, key):
        self.buffer.append(key)
        if len(self.buffer) == self.overflow:
            self.write()

    def write(self):
        """The daemon adds up equal entries of a buffer, and writes a record for each."""
        self.records += len(set(self.buffer))
        self.buffer = []

    def empty(self):
        for _, table in sorted(self.tables.items()):
            for _, bucket in sorted(table.items()):
                for key in bucket:
                    self.hand_over(key)
        self.tables = {}
        self.write()

    def cost(self):
        """Cycles of a sample on the average."""
        rate = self.misses / self.samples if self.samples else 0
        return (HIT * (1 - rate) + (MISS + ENTRY) * rate) if self.samples else 0


def number(record, field):
    value = record.get(field, 0)
    return int(value, 0) if isinstance(value, str) else value


def play(records, tables):
    """Feeds all tables the records of a stream, as vtrace-dump(1) writes them.  Tables are emptied
    before a mapping changes, so that each sample is looked up in what was mapped at its time."""
    events = {}
    dirty = False
    for r in records:
        kind = r["kind"]
        if kind == "EVENT":
            events.setdefault(number(r, "id"), len(events))
        elif kind == "SAMPLE":
            event = events.setdefault(number(r, "event"), len(events))
            mode = number(r, "misc") & 7 | (number(r, "has") & 1) << 3
            key = number(r, "pid"), mode, number(r, "ip"), event
            dirty = True
            for t in tables:
                t.add(min(number(r, "cpu"), CPUS), key)
        elif dirty and not (kind == "THREAD" and r["op"] == "comm"):
            dirty = False
            for t in tables:
                t.empty()
    for t in tables:
        t.empty()


def read(stream):
    lines = run(["vtrace", "dump", "--json", "-k", "EVENT,SAMPLE,MAP,THREAD,KSYMBOL", stream])
    return map(json.loads, lines.splitlines())


def compare(stream, buckets, ways, front=False, overflow=OVERFLOW, variants=None):
    """A row for each variant of a table: as asked for, and others."""
    tables, rows = [], []
    variants = VARIANTS if variants is None else variants
    for what, shift, other_ways, other_front, how in variants:
        size = max(1, buckets << shift if shift > 0 else buckets >> -shift)
        tables.append(Table(size, other_ways or ways, front if not tables else other_front, how,
                            overflow))
    play(read(stream), tables)
    if not tables[0].samples:
        raise Failure(f"{stream}: no samples")
    for t, variant in zip(tables, variants):
        rows.append({
            "buckets": t.buckets, "ways": t.ways, "samples": t.samples,
            "miss_percent": 100 * t.misses / t.samples,
            "evicted_percent": 100 * t.evictions / t.samples,
            "compared": t.compared / t.samples, "records": t.records, "cost": t.cost(),
            "cost_points": 100 * (t.cost() - tables[0].cost()) / tables[0].cost(),
            "victim": "last, swapped to front" if t.front else "by turns", "changed": variant[0],
        })
    return rows


def show(rows):
    print("buckets  ways  samples   miss%  evicted%  compared  records     cost   change  "
          f"{'victim':22}  {'changed':>13}")
    for r in rows:
        print("{buckets:7}  {ways:4}  {samples:7}  {miss_percent:5.2f}%  {evicted_percent:7.2f}%  "
              "{compared:8.2f}  {records:7}  {cost:7.2f}  {cost_points:+6.2f}%  {victim:22}  "
              "{changed:>13}".format(**r))


def shape(text):
    """The buckets and ways of "4096x4"."""
    buckets, ways = map(int, text.split("x"))
    if not 0 < buckets <= MOST_BUCKETS or buckets & buckets - 1 or not 0 < ways <= MOST_WAYS:
        raise ValueError
    return buckets, ways


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", type=shape, metavar="BUCKETSxWAYS",
                        help="buckets, a power of 2, and entries of each; the paper's: 4096x4")
    parser.add_argument("stream", help="a file of vtrace with samples")
    parser.add_argument("--overflow", type=int, default=OVERFLOW, metavar="N",
                        help="entries of the overflow buffer (default: %(default)s)")
    parser.add_argument("--swap-to-front", action="store_true",
                        help="what is hit goes to the front of its bucket, the last is evicted")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    if args.overflow < 1:
        parser.error("--overflow: at least 1")
    try:
        rows = compare(args.stream, *args.shape, args.swap_to_front, args.overflow)
    except (Failure, OSError) as e:
        print(f"sample_table: {e}", file=sys.stderr)
        return 3
    if args.json:
        print(json.dumps({"rows": rows}))
    else:
        show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
