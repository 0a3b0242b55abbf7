#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vstats against the statistics that Python makes of vprof's listings of each run.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
stats() { vstats --symfs "$demo/symfs" "$@"; }

# Runs that differ: of the recording, those samples whose number leaves a remainder below K by 5;
# the others become records that say nothing.
cat >part.py <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
keep = int(sys.argv[3])
at, size = struct.unpack_from("<QQ", data, 40)
end, number = at + size, 0
while at + 8 <= end:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    number += kind == 9
    if kind == 9 and number * number // 7 % 5 >= keep:
        struct.pack_into("<I", data, at, 68)  # PERF_RECORD_FINISHED_ROUND
    at += length
open(sys.argv[2], "wb").write(data)
EOF
for part in 5 4 3 2 1; do
	"$PYTHON" part.py "$demo/perf.data" part.data $part
	t_ok "a run is made" vtrace decode part.data -o run$((6 - part)).vt
done
runs=(run1.vt run2.vt run3.vt run4.vt run5.vt)

for level in procedure image line instruction; do
	stats --by "$level" --json "${runs[@]}" >stats.json 2>/dev/null
	for run in "${runs[@]}"; do
		vprof --symfs "$demo/symfs" --by "$level" --json "$run" 2>/dev/null
		echo ,
	done >profiles.json
	t_ok "by $level: the statistics of the listings" "$PYTHON" - "$level" <<'EOF'
import json, statistics, sys
from listed import by_name
doc = json.load(open("stats.json"))
runs = json.loads("[" + open("profiles.json").read().rstrip().rstrip(",") + "]",
                  object_hook=by_name)
event = doc["event"]
assert event == "cpu-clock", event
key = "line" if sys.argv[1] == "line" else "procedure"
def name(row):
    return (row.get(key, ""), row["image"]) if sys.argv[1] != "instruction" else \
        (row.get("procedure", ""), row["image"])
counts = {}
for number, run in enumerate(runs):
    total = sum(e["samples"] for e in run["events"] if e["name"] == event)
    assert doc["sets"][number]["samples"] == total
    for row in run["rows"]:
        counts.setdefault(name(row), [0] * len(runs))[number] += row.get(event, 0)
counts = {k: v for k, v in counts.items() if any(v)}
rows = doc["rows"]
assert len(rows) == len(counts) > (0 if sys.argv[1] == "image" else 5), (len(rows), len(counts))
everything = sum(map(sum, counts.values()))
near = lambda a, b: abs(a - b) <= 1e-6 * max(1, abs(b))
differ = 0
for row in rows:
    v = counts.pop(name(row))
    assert row["sum"] == sum(v) and row["min"] == min(v) and row["max"] == max(v), (row, v)
    assert row["runs"] == sum(x > 0 for x in v)
    assert near(row["mean"], statistics.mean(v)) and near(row["std_dev"], statistics.stdev(v))
    assert near(row["noise"], statistics.stdev(v) / statistics.mean(v) ** 0.5)
    assert near(row["range_percent"], 100 * (max(v) - min(v)) / sum(v))
    assert near(row["sum_percent"], 100 * sum(v) / everything)
    differ += min(v) != max(v)
assert differ
ranges = [r["range_percent"] for r in rows]
assert ranges == sorted(ranges, reverse=True)
EOF
done

for order in std-dev noise sum; do
	stats --sort $order --json "${runs[@]}" >stats.json 2>/dev/null
	t_ok "--sort $order" "$PYTHON" -c '
import json, sys
rows = [r[sys.argv[1].replace("-", "_")] for r in json.load(open("stats.json"))["rows"]]
assert rows == sorted(rows, reverse=True) and len(set(rows)) > 1' $order
done

# ---- what people see ----

stats "${runs[@]}" >text 2>/dev/null
t_like "the event" '^Number of samples of type cpu-clock$' text
t_is "a line for each set, as vprof counts it" "$(grep '^set ' text)" "$(n=0
	for run in "${runs[@]}"; do
		n=$((n + 1))
		echo "set $n = $(vprof --json "$run" 2>/dev/null | "$PYTHON" -c '
import json, sys
print(next(e["samples"] for e in json.load(sys.stdin)["events"] if e["name"] == "cpu-clock"))') ($run)"
	done)"
stats --top 2 "${runs[@]}" >top 2>/dev/null
t_like "--top tells how many rows are left out" '^\([0-9]+ more rows\)$' top
t_is "--min leaves small rows out" "$(stats --min 5 --csv "${runs[@]}" 2>/dev/null |
	awk -F, 'NR > 1 && $3 < 5' | wc -l)" 0
stats -e page-faults "${runs[@]}" >faults 2>/dev/null
t_like "another event" '^Number of samples of type page-faults$' faults
stats --period "${runs[@]}" >period 2>/dev/null
t_like "--period" '^set 1 = [0-9]{9,} of period' period
t_is "a run that does not vary" "$(stats --csv run1.vt run1.vt | awk -F, 'NR > 1 && $1 != 0' | wc -l)" 0

# ---- errors ----

t_status "one run does not vary" 2 vstats run1.vt
t_status "no such event" 2 vstats -e nonsense run1.vt run2.vt
t_status "two forms" 2 vstats --json --csv run1.vt run2.vt
t_status "no such file" 3 vstats run1.vt missing.vt
head -c $(($(stat -c %s run1.vt) - 100)) run1.vt >cut.vt
t_status "lost input is told" 1 vstats run1.vt cut.vt
head -c 3000 run1.vt >cut.vt
t_status "a run that was cut before its first sample" 3 vstats run1.vt cut.vt

t_done
