#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# scripts/paper/sample_table.py, which plays the table of samples of DCPI's driver: worked examples,
# and on the sample trace a table of one bucket that is played here in another way.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

script=$ROOT/scripts/paper/sample_table.py
t_ok "the sample trace is decoded" vtrace decode "$ROOT/tests/data/demo/perf.data" -o x.vt

# ---- worked examples ----

cat >worked.py <<'EOP'
import sys
sys.path.insert(0, sys.argv[1])
from sample_table import Table, hash_fold, hash_multiply, play

def sample(ip, cpu=0, **more):
    return {"kind": "SAMPLE", "pid": 5, "ip": hex(ip), "cpu": cpu, "event": 3, "misc": "0x2",
            "has": "0x101", **more}

def feed(records, *shape, **how):
    t = Table(*shape, **how)
    play(records, [t])
    return t

def check(t, samples, misses, evictions, records):
    assert (t.samples, t.misses, t.evictions, t.records) == (samples, misses, evictions, records), \
        (t.samples, t.misses, t.evictions, t.records)

event, mapping = {"kind": "EVENT", "id": 3}, {"kind": "MAP", "start": "0x1000"}
comm, leave = {"kind": "THREAD", "op": "comm"}, {"kind": "THREAD", "op": "exit"}

# Two addresses by turns evict each other: four entries, two of each, fill the buffer; then the rest.
turns = [event, mapping] + [sample(0x1020 if i % 2 else 0x1010) for i in range(7)]
check(feed(turns, 1, 1, overflow=4), 7, 7, 6, 4)
check(feed(turns, 1, 2, overflow=4), 7, 2, 0, 2)
check(feed(turns, 1, 1), 7, 7, 6, 2)
# Four keys by turns: the second way that is evicted is not the first, and both are counted once.
four = [sample(0x1000 + i % 4) for i in range(8)]
check(feed(four, 1, 3, overflow=2), 8, 8, 5, 8)
# A key that is hit between others stays where entries move to the front.
often = [sample(0x1000 if i % 2 else 0x2000 + i) for i in range(10)]
check(feed(often, 1, 2, front=True), 10, 6, 4, 6)
assert feed(often, 1, 2, front=True).compared == 2 * 4 + 2 * 4 + 1
assert feed(often, 1, 2).misses > 6
# Each processor has a table, but those beyond the 1024th share one.
check(feed([sample(0x1010 if i % 4 < 2 else 0x1020, i % 2) for i in range(8)], 1, 1), 8, 8, 6, 2)
check(feed([sample(0x1010, cpu) for cpu in (0, 1, 0, 1023, 1024, 1029)], 8, 4), 6, 4, 0, 1)
# Mappings empty the tables, where there is something in them; names of threads do not.
check(feed([event, mapping, leave, sample(0x1010), comm, sample(0x1010), mapping, sample(0x1010),
            leave, mapping, sample(0x1010)], 8, 4), 4, 3, 0, 3)
# Samples differ by process, mode, address, event, and in whether they have an address.
check(feed([sample(0x9000), sample(0x9000, pid=4), sample(0x8000), sample(0x9000, has="0x100"),
            sample(0x9000, misc="0x1"), sample(0x9000, event=4), sample(0x9000)], 8, 8), 7, 6, 0, 6)
# Keys that fold to the same number share a bucket: pc + 64 pid + event, halved.
for meets, pid, pc, number in ((True, 0, 65, 0), (False, 0, 66, 0), (False, 0, 63, 0), (True, 0, 63, 1),
                               (True, 1, 0, 0), (True, -1, 128, 0), (True, 0, 72, 0), (False, 0, 68, 0)):
    assert (hash_fold((pid, 0, pc, number)) % 4 == hash_fold((0, 0, 64, 0)) % 4) == meets
# The other is vt_hash_bytes() of the 24 bytes of pc, pid, event, mode and a zero.
assert hash_multiply((-1, 9, 64, 2)) != hash_multiply((-1, 9, 64, 3))
# DCPI's own example: with 9.5 % of misses a sample costs 430, or 654 and the daemon's 245 / .095.
for misses, cost in ((95, 430 * .905 + 654 * .095 + 245), (0, 430), (1000, 654 + 245 / .095)):
    t = Table(1, 1)
    t.samples, t.misses = 1000, misses
    assert abs(t.cost() - cost) < 1e-6
EOP
t_ok "worked examples" "$PYTHON" worked.py "$ROOT/scripts/paper"

# ---- the sample trace, against a table of one bucket that is played here ----

vtrace dump -k SAMPLE -F pid,ip,event,cpu,misc x.vt >samples
for ways in 1 4 6; do
	"$script" 1x$ways --json x.vt >stats.json
	t_ok "the statistics of 1x$ways" "$PYTHON" - $ways <<'EOP'
import json, sys
ways = int(sys.argv[1])
lines = [l.rstrip("\n").split("\t") for l in open("samples")]
samples = [tuple(l) for l in lines if l and l[0] != "pid"]
assert len(samples) > 3000
def play(ways, front):
    tables, turn, misses, evicted, compared = {}, {}, 0, 0, 0
    for pid, ip, event, cpu, misc in samples:
        bucket = tables.setdefault(cpu, [])
        key = (pid, ip, event, misc)
        if key in bucket:
            at = bucket.index(key)
            compared += at + 1
        else:
            compared += len(bucket)
            misses += 1
            if len(bucket) < ways:
                bucket.append(key)
                at = len(bucket) - 1
            else:
                evicted += 1
                at = ways - 1 if front else turn.get(cpu, 0) % ways
                turn[cpu] = turn.get(cpu, 0) + 1
                bucket[at] = key
        if front:
            bucket.insert(0, bucket.pop(at))
    return misses, evicted, compared
n = len(samples)
seen = 0
for row in json.load(open("stats.json"))["rows"]:
    if row["buckets"] != 1:
        continue
    front = row["victim"] != "by turns"
    misses, evicted, compared = play(row["ways"], front)
    assert row["samples"] == n
    assert abs(row["miss_percent"] - 100 * misses / n) < 1e-6, (row, misses)
    assert abs(row["evicted_percent"] - 100 * evicted / n) < 1e-6, (row, evicted)
    assert abs(row["compared"] - compared / n) < 1e-6, (row, compared / n)
    m = misses / n
    assert abs(row["cost"] - (430 * (1 - m) + (654 + 245 / 0.095) * m)) < 1e-3
    seen += 1
assert seen >= 10, seen
EOP
done

# Recorded figures of the sample trace.
"$script" 2x3 x.vt | tr -s ' ' >text
for row in '2 3 3642 29.49% 29.32% 2.30 82 1256.57 +0.00% by turns as asked for' \
	'2 1 3642 53.05% 52.99% 1.00 82 1916.90 +52.55% by turns associativity' \
	'2 8 3642 21.69% 21.25% 3.06 82 1038.00 -17.39% last, swapped to front both' \
	'8 3 3642 15.29% 14.63% 2.15 82 858.68 -31.66% by turns size' \
	'2 3 3642 29.24% 29.08% 2.32 82 1249.64 -0.55% by turns hash function'; do
	t_like "the row $row" "^ ?${row//+/[+]}$" text
done
"$script" 2x3 --overflow 7 --swap-to-front x.vt | tr -s ' ' >text
t_like "small buffers, swapped to the front" '^ ?2 3 3642 28.14% 27.98% 1.88 998 1218.86 [+]0.00% last, swapped to front as asked for$' text

# ---- wrong command lines ----

for bad in 4096 x4 4096x 3x4 0x4 4x0 4x65 2097152x4 1x1x1 99999999999999999999999x1; do
	t_status "the shape $bad" 2 "$script" "$bad" x.vt
done
t_status "--overflow 0" 2 "$script" 4x4 --overflow 0 x.vt
t_status "no stream" 3 "$script" 4x4 nosuch.vt
t_status "no samples" 3 "$script" 4x4 "$ROOT/tests/data/demo/orders.vt"
t_done
