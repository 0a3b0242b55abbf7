#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vsim --misses: each miss of a cache that python runs in the same way, by object in vmem, and by set
# in vcoproc.

. "$(dirname "$0")/../lib.sh"

t_need valgrind

meta() { vtrace dump -k META -F key,value "$1" | awk -F '\t' -v k="$2" '$1 == k { print $2 }'; }
oracle() { "$PYTHON" "$ROOT/tests/misses_oracle.py" "$@"; }
# The rows of vcoproc's table without the columns of places.
rows()
{
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i !~ /_place$/) keep[++n] = i; next }
		{ s = $keep[1]; for (i = 2; i <= n; i++) s = s " " $keep[i]; print s }' "$1" |
		sed 's/0x//g' | sort
}

passes=4
vtrace record --full --mem --values loads,stores --heap -o run.vt -- \
	"$VT_BUILD/tests/tools/rec_misses" $passes >/dev/null 2>&1 || t_fail "recording"
vtrace record --full --mem --values loads,stores -o threads.vt -- \
	"$VT_BUILD/tests/tools/rec_threads" >/dev/null 2>&1 || t_fail "recording threads"

# ---- the stream ----

for m in skylake alpha21164; do
	t_ok "misses on $m" vsim -m $m -t /dev/null --misses -o $m.vt run.vt
	vsim -m $m -o plain.vt run.vt
	t_is "$m runs as it does without" "$(meta $m.vt vsim.cycles)" "$(meta plain.vt vsim.cycles)"
	t_is "$m: the total is that of the samples" "$(meta $m.vt vsim.misses)" \
		"$(vtrace dump -k SAMPLE $m.vt | wc -l)"
	t_is "$m: each is of an access of the code behind it" "$(oracle placed $m.vt)" \
		"$(meta $m.vt vsim.misses) 0"
	for k in EXEC BLOCK HEAP SYSCALL MEMORY STATE MAP IMAGE; do
		vtrace dump -k $k run.vt >want
		vtrace dump -k $k $m.vt >got
		t_same "$m: $k records are passed on" want got
	done
done
t_ok "an in-order machine brings in what a cache of its accesses does" oracle cache alpha21164.vt 256 1 32
t_like "line by line" '^([0-9]{5,}) \1 0$' "$T_OUT"
sed 's/^dcache size 8K line 32 ways 1/dcache size 6K line 64 ways 4/' \
	"$ROOT/lib/machine/pipeline/cores/alpha21164.core" >four.core
vsim -m ./four.core --misses -o four.vt run.vt
t_ok "so does one of four ways and 24 sets" oracle cache four.vt 24 4 64
t_like "line by line" '^([0-9]{5,}) \1 0$' "$T_OUT"
t_is "whose sets are told" "$(meta four.vt misses.sets) $(meta four.vt misses.ways) $(meta four.vt misses.line)" "24 4 64"

vsim -m skylake --misses -S dmiss:1 --interval fixed -o both.vt run.vt
t_is "other samples beside them change nothing" \
	"$(vtrace dump -k SAMPLE -F event,addr,position both.vt | grep -c '^misses')" "$(meta skylake.vt vsim.misses)"
t_is "vmem takes the misses alone" "$(vmem --json both.vt 2>/dev/null | jq .misses)" \
	"$(vmem --json skylake.vt 2>/dev/null | jq .misses)"

# What another run told is left behind.
vtrace dump -k SAMPLE alpha21164.vt >want
t_ok "misses of a stream with misses" vsim -m alpha21164 --misses -o again.vt skylake.vt
vtrace dump -k SAMPLE again.vt >got
t_same "are those of the code" want got
t_ok "other samples of it" vsim -m alpha21164 -o again.vt skylake.vt
t_is "say nothing of misses" "$(vtrace dump -k META -F key again.vt | grep -c misses)" 0

# ---- threads ----

t_ok "threads" vsim -m skylake --misses -o t.vt threads.vt
t_is "each miss is of the code behind it" "$(oracle placed t.vt)" "$(meta t.vt vsim.misses) 0"
vtrace dump -k EXEC,THREAD,SYSCALL threads.vt >want
vtrace dump -k EXEC,THREAD,SYSCALL t.vt >got
t_same "records keep their order" want got
t_is "and all misses find their access" "$(vmem --json t.vt 2>/dev/null | jq '.misses_unplaced,
	.misses + .waits' | tr '\n' ' ')" "0 $(meta t.vt vsim.misses) "

# ---- by object ----

vmem --json --top 0 run.vt >without.json 2>/dev/null
t_ok "by object" vmem --json --top 0 skylake.vt
cp "$T_OUT" objects.json
vmem --json --top 0 --by location skylake.vt >locations.json 2>/dev/null
vmem --json --top 0 --type skylake.vt >types.json 2>/dev/null
vtrace dump --json -k SAMPLE skylake.vt >samples.json
t_ok "planted objects have the misses that follow from their walks" "$PYTHON" - $passes <<'END'
import json
import sys

passes = int(sys.argv[1])
lines = 2048
doc = json.load(open("objects.json"))
objects = {r["name"].split(" ")[0]: r for r in doc["rows"]}

def check(name, **want):
    for k, v in want.items():
        assert abs(objects[name][k] - v) < 1e-6, (name, k, objects[name][k], v)

walks = lines * passes
check("streamed", loads=walks, misses=walks, miss_rate=100, waits=0)
check("stored", stores=walks, misses=walks, miss_rate=100, waits=0)
heap = [r for r in doc["rows"] if r["type"] == "heap" and r["misses"] == walks]
assert len(heap) == 1 and heap[0]["allocations"] == 1 and heap[0]["loads"] == walks, heap
# One line more than walked, as the last access reaches into it.
check("crossed", loads=walks, misses=walks + passes)
check("conflicting", loads=900 * passes, misses=900 * passes, miss_rate=100)
check("fitting", loads=800 * passes, misses=8)

# The sum over objects and over types is that of the samples; so is that of locations, but for those
# of objects in which no access begins.
samples = [json.loads(s) for s in open("samples.json")]
brought = [s for s in samples if s["source"] != "fill-buffer"]
assert doc["misses"] == len(brought) and doc["waits"] == len(samples) - len(brought)
assert doc["misses_unplaced"] == 0
for name in ("objects", "locations", "types"):
    rows = json.load(open(name + ".json"))["rows"]
    assert 0 <= len(brought) - sum(r["misses"] for r in rows) <= 9 * (name == "locations"), name
    assert [r["misses"] for r in rows] == sorted((r["misses"] for r in rows), reverse=True), name
memory = sum(s["source"] == "dram" for s in brought)
assert abs(sum(r["memory"] * r["misses"] / 100 for r in doc["rows"] if r["misses"]) - memory) < .01

# One location in each line of the cells; all else is as without misses.
cell = [r for r in json.load(open("locations.json"))["rows"] if r["name"] == heap[0]["name"]]
assert len(cell) == lines and all(r["offset"] % 64 == 8 and r["misses"] == passes for r in cell)
types = {r["type"]: r for r in json.load(open("types.json"))["rows"]}
assert types["struct cell"]["misses"] == walks
def others(path):
    return sorted((r["name"], r["loads"], r["stores"], r.get("dead", 0), r.get("silent", 0),
                   r.get("redundant", 0), r.get("zero", 0)) for r in json.load(open(path))["rows"])
assert others("objects.json") == others("without.json")
END
t_ok "for people" vmem skylake.vt
t_like "misses come first" '^ *accesses  loads  stores  misses  of misses +missed  waits  latency +L2 +L3 +memory ' "$T_OUT"
t_like "and are told in sum" " instructions, $(jq .misses objects.json) misses of the data cache, " "$T_OUT"
t_is "without misses, none are listed" "$(jq '.misses, .rows[0].misses' without.json | uniq)" null
vtrace record --full --mem --values loads -o loads.vt -- "$VT_BUILD/tests/tools/rec_misses" 1 >/dev/null 2>&1
vsim -m skylake --misses -o loads.misses loads.vt 2>/dev/null
t_status "without addresses of stores" 3 vmem loads.misses
t_like "they are said to be missing" 'no addresses of stores' "$T_ERR"

# ---- in profiles ----

t_ok "records of objects" vmem --records --top 0 -o profile.vt skylake.vt
rows_of() { jq -cS '[.misses, .waits, [.rows[] | [.name, .loads, .stores, .misses, .waits, .memory, .miss_latency]]]' "$1"; }
vmem --json --top 0 profile.vt >read.json 2>/dev/null
t_is "have the misses" "$(rows_of read.json)" "$(rows_of objects.json)"
t_ok "merged" vtrace merge -o twice.vt profile.vt profile.vt
vmem --json --top 0 twice.vt >twice.json 2>/dev/null
t_is "they add up" "$(jq -c '[.misses, .waits]' twice.json)" "$(jq -c '[2 * .misses, 2 * .waits]' objects.json)"

# ---- cache-conflict ----

t_ok "cache-conflict" vcoproc --program cache-conflict --clock 1000 --buffer 65536 --tsv skylake.vt
t_is "nothing is dropped" "$(cat "$T_ERR")" ""
rows "$T_OUT" >counted
oracle conflicts skylake.vt 64 | sort >direct
t_same "as counted directly" direct counted
t_is "the lines that do not fit their set come again, each but the first time" \
	"$(awk '{ n[$2] += $3 } END { print (n[0] >= '$((900 * passes - 9))') }' counted)" 1
vsim -m alpha21164 --misses -o alpha.vt run.vt
t_ok "of a cache of other lines" vcoproc --program cache-conflict --set mask=255 --tsv alpha.vt
t_like "that is said" "the cache's lines have 32 bytes: addr.line is that of 64" "$T_ERR"
for clock in 1/8 1 8; do
	vcoproc --program cache-conflict --clock $clock --report --json skylake.vt >report.json 2>/dev/null
	t_is "all are accounted for at a clock of $clock" \
		"$(jq '[.operations == .filtered + .dropped + .samples, .executed + .mispredicted == .cycles] | all' report.json)" true
done
t_status "a stream without misses" 3 vcoproc --program cache-conflict run.vt
t_like "lacks them" 'no cache misses \(vsim --misses adds them to executed code\)$' "$T_ERR"
t_ok "other programs count the code" vcoproc --program edge --clock 1000 --tsv skylake.vt
cp "$T_OUT" edges
t_ok "of the recording" vcoproc --program edge --clock 1000 --tsv run.vt
t_same "as if there were no misses" edges "$T_OUT"

# ---- damage, and options ----

sed '/^dcache/d' "$ROOT/lib/machine/pipeline/cores/alpha21164.core" >none.core
t_status "a machine without a data cache" 2 vsim -m ./none.core --misses run.vt
t_like "is said" '--misses: .* has no data cache$' "$T_ERR"
head -c 60000 run.vt >cut.vt
vsim -m skylake --misses -o cut.misses cut.vt 2>/dev/null
t_is "where a recording was cut off, each is of the code behind it" "$(oracle placed cut.misses | cut -d ' ' -f 2)" 0
size=$(stat -c %s skylake.vt)
for n in 5 3 2; do
	head -c $((size * (n - 1) / n)) skylake.vt >cut.vt
	t_status "cut off at $((n - 1))/$n" 1 vmem cut.vt
	t_status "for vcoproc, too" 1 vcoproc --program cache-conflict cut.vt
done
stray='SAMPLE pid=1 tid=1 event=5 ip=1 period=1 has=8 addr=4096 pm_has=4194305 events_told=6144 events=2048'
printf '%s\n' 'META key=misses value=x' 'META key=misses.line value=0' "$stray position=7" "$stray position=7 set=9" |
	"$VT_BUILD/tests/tools/stream_make" >stray.vt
t_status "misses without code" 3 vmem stray.vt
t_like "lack it" 'neither executed code' "$T_ERR"

t_done
