#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof's listings: totals, levels, choice of rows, differences, forms, losses.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
t_ok "the sample trace is decoded" vtrace decode "$demo/perf.data" -o x.vt
prof() { vprof --symfs "$demo/symfs" "$@"; }

# check NAME JSON-FILE PYTHON-TEXT: the text may use `doc`, and asserts.
check()
{
	t_ok "$1" "$PYTHON" -c 'import sys
from listed import load
doc = load(open(sys.argv[1]))
rows = doc["rows"]
'"$3" "$2"
}

# ---- the listing for people ----

prof x.vt >text
samples=$(vtrace dump -F event x.vt | grep -c '^cpu-clock$')
t_like "the header has each event's total and policy" \
	"^Total samples for event type cpu-clock = $samples \(pc at the interrupt, with skid\), unknown [0-9]+ \([0-9.]+%\)" text
t_like "events of another policy are told apart" '^Total samples for event type page-faults = [0-9]+ \(exact pc\)' text
t_like "a procedure with its image" '^ +[0-9]+ +[0-9.]+% +±[0-9.]+ +[0-9.]+% .* smooth +/opt/vtrace-demo/heat$' text
t_is "the cumulative percentage ends at 100" "$(awk '$4 ~ /%$/ { last = $4 } END { print last }' text)" "100.00%"
t_unlike "no line ends in blanks" ' $' text
prof <x.vt >again
t_same "from standard input it is the same" text again
if command -v perf >/dev/null; then
	perf report -i "$demo/perf.data" --symfs "$demo/symfs" --stdio --no-children -F overhead,sym -t '|' \
		-g none 2>/dev/null | sed -nE "/of event 'page-faults'/q;s/^ *([0-9.]+)% *\|\[\.\] ([a-z]+) *$/\1 \2/p" |
		sort >perf.txt
	prof --period --csv x.vt | "$PYTHON" -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["symbol"] and row["image"].endswith("heat") and row["cpu-clock"] != "0":
        print("%.2f" % float(row["cpu-clock.percent"]), row["symbol"])' | sort >vprof.txt
	t_ok "perf report shows procedures" test -s perf.txt
	t_same "--period gives the percentages of perf report" perf.txt vprof.txt
else
	t_skip "--period gives the percentages of perf report" "no perf"
fi

# ---- levels ----

for level in procedure image line instruction; do
	prof --by "$level" --json x.vt >$level.json
	check "by $level, rows add up to each event's total, percentages to 100" $level.json '
for e in doc["events"]:
    name = e["name"]
    assert sum(r[name] for r in rows) == e["samples"] > 0
    assert abs(sum(r[name + ".percent"] for r in rows) - 100) < 1e-6
first = doc["events"][0]["name"]
assert [r[first] for r in rows] == sorted((r[first] for r in rows), reverse=True)
assert abs(rows[-1][first + ".cumulative"] - 100) < 1e-6'
done
check "lines have file and number" line.json 'assert any("heat.c:" in r["line"] for r in rows)'
check "instructions have addresses and lines" instruction.json '
assert all(r["address"].startswith("0x") for r in rows if r["symbol"])
assert any(r["procedure"].startswith("smooth+0x") and "heat.c:" in r["line"] for r in rows)'

# ---- choice ----

prof --top 2 x.vt >top
t_is "--top N" "$(grep -c '/opt/vtrace-demo/heat$' top)" 2
t_like "says how many are left out" '^\([0-9]+ more rows\)$' top
prof --min 10 --json x.vt >min.json
check "--min PCT" min.json '
assert rows and all(r["cpu-clock.percent"] >= 10 for r in rows) and doc["rows_left_out"] > 0'
for min in -1 200; do
	t_status "--min $min is none" 2 prof --min $min x.vt
	t_status "--min $min of vstats neither" 2 vstats --min $min x.vt x.vt
done
prof -e page-faults --json x.vt >event.json
check "--event shows that one only" event.json '
assert [e["name"] for e in doc["events"]] == ["page-faults"]
assert "cpu-clock" not in rows[0] and "page-faults.cumulative" in rows[0]'
prof -e page-faults -e cpu-clock --csv x.vt | head -n 1 >heading
t_like "the first event named comes first" '^page-faults,page-faults.percent,page-faults.cumulative,cpu-clock,' heading
t_status "an event that is not there" 2 prof -e cycles x.vt
t_like "the message names those that are" 'no event cycles; there are cpu-clock, page-faults' "$T_ERR"
t_status "an event that is misspelt" 2 prof -e page-fault x.vt
t_like "is shown the one that is like it" 'no event page-fault; did you mean page-faults\?; there are' "$T_ERR"
prof --by time --slice 0.5 --csv x.vt | cut -d, -f6 | sed 1d >slices
t_ok "there are slices of time" test "$(wc -l <slices)" -gt 2
t_ok "which are in order of time" sort -n -C slices
prof --top 6 x.vt >top
t_like "one row that is left out" '^\(1 more row\)$' top
t_status "an abbreviation of two options" 2 prof --c x.vt
t_like "names them" 'ambiguous option --c: .*--children, --callers, --callees.*--check' "$T_ERR"
t_status "a level that is not there" 2 prof --by colour x.vt
t_status "two forms" 2 prof --json --csv x.vt
t_status "two streams without --diff" 2 prof x.vt x.vt
t_status "a file that is not there" 3 prof none.vt
t_status "a file that is no stream" 3 prof "$demo/heat.c"
t_status "/dev/full" 4 prof -o /dev/full x.vt

# ---- differences ----

prof --diff --json x.vt x.vt >same.json
check "a stream does not differ from itself" same.json '
assert rows and all(r["cpu-clock.delta"] == 0 and r["cpu-clock.points"] == 0 for r in rows)
assert all(r["cpu-clock.before"] == r["cpu-clock.after"] for r in rows)'
# The same without every other sample; what is behind the records moves to the front.
prof --json x.vt >whole.json
"$PYTHON" - "$demo/perf.data" half.data <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
start, size = struct.unpack_from('<QQ', data, 40)
at, n, kept = start, 0, b''
while at + 8 <= start + size:
    kind, _, length = struct.unpack_from('<IHH', data, at)
    n += kind == 9
    if kind != 9 or n % 2 == 0:
        kept += data[at : at + length]
    at += length
features = bin(int.from_bytes(data[72:104], 'little')).count('1')
for i in range(features):
    section = start + size + 16 * i
    offset, = struct.unpack_from('<Q', data, section)
    struct.pack_into('<Q', data, section, offset - size + len(kept))
struct.pack_into('<Q', data, 48, len(kept))
open(sys.argv[2], 'wb').write(data[:start] + kept + data[start + size :])
END
vtrace decode half.data -o half.vt 2>/dev/null
prof --json half.vt >half.json 2>/dev/null
prof --diff --json x.vt half.vt >diff.json 2>/dev/null
check "--diff is the difference of the two listings, the greatest first" diff.json '
def counts(path):
    return {(r["image"], r["procedure"]): r["cpu-clock"] for r in load(open(path))["rows"]}
a, b = counts("whole.json"), counts("half.json")
assert sum(b.values()) < sum(a.values())
for r in rows:
    key = r["image"], r["procedure"]
    assert r["cpu-clock.before"] == a.get(key, 0) and r["cpu-clock.after"] == b.get(key, 0), r
    assert r["cpu-clock.delta"] == b.get(key, 0) - a.get(key, 0)
deltas = [abs(r["cpu-clock.delta"]) for r in rows]
assert deltas == sorted(deltas, reverse=True) and deltas[0] > 0'
check "chance is the binomial test of the two counts" diff.json '
import math
def at_most(n, all):
    return sum(math.exp(math.lgamma(all + 1) - math.lgamma(k + 1) - math.lgamma(all - k + 1) -
                        all * math.log(2)) for k in range(n + 1))
ps = []
for r in rows:
    n, all = min(r["cpu-clock.before"], r["cpu-clock.after"]), r["cpu-clock.before"] + r["cpu-clock.after"]
    p = min(1, 2 * at_most(n, all))
    assert abs(r["cpu-clock.p"] - p) < 1e-6, (r, p)
    ps.append(p)
starred = list(ps)
n, m = (sum(r["cpu-clock." + k] for r in rows) for k in ("before", "after"))
ps = sorted(ps + [min(1, 2 * at_most(min(n, m), n + m))])
limit = max([p for i, p in enumerate(ps) if p <= 0.05 * (i + 1) / len(ps)], default=-1)
for r in rows:
    assert r["cpu-clock.significant"] == (r["cpu-clock.p"] <= limit + 1e-9), r
assert doc["significant"] == sum(p <= limit for p in starred) > 0'
t_ok "two streams in one" vtrace merge x.vt x.vt -o twice.vt
prof --diff --json --before x.vt --before half.vt twice.vt x.vt x.vt >sets.json 2>/dev/null
check "sets are compared by their means" sets.json '
def counts(path):
    return {(r["image"], r["procedure"]): r["cpu-clock"] for r in load(open(path))["rows"]}
a, b = counts("whole.json"), counts("half.json")
assert len(doc["before"]) == 2 and len(doc["after"]) == 3
for r in rows:
    key = r["image"], r["procedure"]
    assert abs(r["cpu-clock.before"] - (a.get(key, 0) + b.get(key, 0)) / 2) < 1e-6
    assert abs(r["cpu-clock.after"] - a.get(key, 0) * 4 / 3) < 1e-5
    assert 0 <= r["cpu-clock.p"] <= 1, r'
t_status "--check: nothing grew" 0 prof --diff --check 1 x.vt x.vt
t_status "--check: what shrank did not grow" 0 prof --diff --check 1 x.vt half.vt
t_status "--check: all grew" 5 prof --diff --check 1 x.vt twice.vt
t_status "--check: not by so much" 0 prof --diff --check 101 x.vt twice.vt
t_status "--check: an output that cannot be written is graver" 4 prof --diff --check 1 -o /dev/full x.vt twice.vt
t_status "--check alone: by 1 % or more" 5 prof --diff --check x.vt twice.vt
t_status "behind the files, too" 5 prof --diff x.vt twice.vt --check
t_status "--check=PCT" 0 prof --diff --check=101 x.vt twice.vt
t_status "--check without --diff" 2 prof --check 1 x.vt
t_status "--false-rate of one profile" 2 prof --false-rate .1 x.vt
t_status "--false-rate 2" 2 prof --diff --false-rate 2 x.vt x.vt
t_status "--before and nothing after" 2 prof --diff --before x.vt
t_status "--diff of one stream" 2 prof --diff x.vt

# ---- what is not known, lost, damaged, hostile ----

mkdir none
sed 's|/opt/vtrace-demo/heat|/opt/vtrace-dem0/heat|g' "$demo/perf.data" >moved.data
vtrace decode moved.data -o moved.vt
t_ok "without its file" vprof --symfs none moved.vt
t_like "an image's samples are in a row that says why" '\[file not found\] +/opt/vtrace-dem0/heat$' "$T_OUT"
t_like "and counted as unknown" "cpu-clock = $samples \(.*\), unknown $samples \(100.00%\)" "$T_OUT"
t_is "what helps is said once" "$(grep -c '1 image without its file: --symfs DIR .*.perf buildid-cache -a FILE' "$T_ERR")" 1
t_ok "with its file" vprof --symfs "$demo/symfs" x.vt
t_is "there is nothing to say" "$(cat "$T_ERR")" ""
t_ok "two streams" vprof --diff --symfs none moved.vt moved.vt
t_is "are one run" "$(grep -c 'perf buildid-cache' "$T_ERR")" 1
vprof --symfs none --json moved.vt >moved.json 2>/dev/null
check "unknown samples are in the totals" moved.json '
e = doc["events"][0]
assert e["unknown"] == e["samples"] == sum(r["cpu-clock"] for r in rows if r["unknown"])'
sed $'s|/opt/vtrace-demo/heat|/opt/\033[31m-dem\007o/heat|g' "$demo/perf.data" >evil.data
vtrace decode evil.data -o evil.vt
t_ok "a path with escape codes" vprof --symfs none evil.vt
t_like "is printed escaped" '/opt/\\x1b\[31m-dem\\x07o/heat' "$T_OUT"
t_unlike "and never raw" $'[\033\007]' "$T_OUT"
head -c $(($(stat -c %s x.vt) - 100)) x.vt >cut.vt
t_status "a stream that was cut" 1 vprof --symfs none cut.vt
t_like "is listed as far as it goes" 'Total samples for event type cpu-clock' "$T_OUT"
"$ROOT/tests/mkperfdata.py" made.data && vtrace decode made.data -o made.vt 2>/dev/null
if [ -s made.vt ]; then
	lost=$(vtrace dump -k LOST -F count made.vt 2>/dev/null | awk '{ n += $1 } END { print n }')
	t_run vprof --symfs none made.vt
	t_like "what the recording lost is told" "^Lost while recording: $lost records" "$T_OUT"
fi
TERM=xterm vprof --color always --symfs "$demo/symfs" x.vt | sed 's/\x1b\[[0-9;]*m//g' >plain
t_same "colour changes nothing else" text plain
t_done
