#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace merge --table: whatever the table, the sums are those of the samples; and its statistics are
# those of a table that Python plays, where there is but one bucket.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
t_ok "the sample trace is decoded" vtrace decode "$demo/perf.data" -o x.vt
t_ok "the sum by image and offset" vtrace merge x.vt -o sum.vt

# What a stream's COUNT records add up to, sorted.
counts()
{
	vtrace dump -k COUNT -F image,offset,event,samples,period "$@" | "$PYTHON" -c '
import sys
sums = {}
for line in sys.stdin:
    w = line.split()
    if w and w[0] != "image":
        a = sums.setdefault(tuple(w[:3]), [0, 0])
        a[0] += int(w[3]); a[1] += int(w[4])
for k, v in sorted(sums.items()):
    print(*k, *v)'
}

vprof --csv --by instruction --symfs "$demo/symfs" x.vt | sort >wanted
for shape in 1x1 1x4 2x3 16x2 64x4 4096x4 4096x64; do
	for more in "" "--swap-to-front" "--overflow 1" "--overflow 7 --swap-to-front"; do
		# shellcheck disable=SC2086
		vtrace merge --table $shape $more x.vt >t.vt
		vprof --csv --by instruction --symfs "$demo/symfs" t.vt | sort >got
		t_same "--table $shape $more: the same profile" wanted got
	done
done
vtrace merge x.vt -o sum.vt
vtrace merge --table 8x2 --overflow 5 x.vt | vtrace merge -o again.vt
counts sum.vt >a
counts again.vt >b
t_ok "counts are dumped" test -s a
t_same "merged again, its counts are those of a plain merge" a b
n=$(vtrace merge --table 8x2 --overflow 5 x.vt | vtrace dump -k COUNT -F samples | wc -l)
t_ok "a small table writes more records ($n) than there are places ($(wc -l <a))" \
	test "$n" -gt "$(wc -l <a)"

# ---- statistics, against a table of one bucket that is played here ----

vtrace dump -k SAMPLE -F pid,ip,event,cpu,misc x.vt >samples
for ways in 1 4 6; do
	vtrace merge --table 1x$ways --stats --json x.vt >stats.json
	t_ok "the statistics of 1x$ways" "$PYTHON" - $ways <<'EOF'
import json, sys
ways = int(sys.argv[1])
lines = [l.split() for l in open("samples")]
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
EOF
done
vtrace merge --table 64x4 --stats x.vt >text
t_like "a table for people" '^ +64 +4 +[0-9]+ +[0-9.]+% ' text

# ---- wrong command lines ----

for bad in 4096 x4 4096x 3x4 0x4 4x0 4x65 2097152x4 1x1x1 99999999999999999999999x1; do
	t_status "--table $bad" 2 vtrace merge --table $bad x.vt
done
t_status "two streams" 2 vtrace merge --table 4x4 x.vt x.vt
t_status "--stats without --table" 2 vtrace merge --stats x.vt
t_status "--overflow 0" 2 vtrace merge --table 4x4 --overflow 0 x.vt
t_status "/dev/full" 4 vtrace merge --table 4x4 x.vt -o /dev/full
head -c 10000 x.vt >cut.vt
t_status "lost input" 1 vtrace merge --table 4x4 cut.vt -o t.vt

t_done
