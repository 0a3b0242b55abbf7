#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vculprit on a program whose procedures stall for reasons that were planted in them, run on a model
# that knows the true ones; that it passes the stream on; bad input.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

# The line tables say which file it was, so it is compiled where it lies.
t_ok "the program is compiled" gcc -O2 -g -o stalls "$ROOT/tests/data/stalls/stalls.c"
t_ok "and recorded" vtrace record --full --values=stores --mem -o x.vt -- ./stalls
t_ok "and run on a model" vsim -m alpha21164 -S cycles:200 -S imiss:20 -S dmiss:20 -S dtbmiss:20 \
	-S itbmiss:20 -S branchmp:20 --truth truth.vt -o samples.vt x.vt

# check NAME JSON-FILE PYTHON-TEXT: the text may use `doc`, and worst(PROCEDURE), its worst row.
check()
{
	t_ok "$1" "$PYTHON" -c 'import json, sys
doc = json.load(open(sys.argv[1]))
def worst(procedure):
    return next(r for r in doc["rows"] if r["procedure"] == procedure)
def causes(row):
    return {c.split()[0]: [float(x) for x in c.split()[1].split("-")]
            for c in row["causes"].split(", ")}
'"$3" "$2"
}

# ---- the planted reasons, from true frequencies ----

t_ok "causes" vculprit --json --top 0 --truth truth.vt truth.vt
cp "$T_OUT" all.json
check "a load that waits for the one before it" all.json '
r = worst("chase"); c = causes(r)
assert r["executions"] == 20000 and set(c) <= {"dcache", "dtlb", "operand-a"}, c
assert c["dcache"][1] > 1e6 and c["dcache"][0] > 100000, c
assert r["guilty"] == r["address"] and r["line"].startswith("stalls.c:")'
check "a branch that nobody can predict" all.json '
rows = [r for r in doc["rows"] if r["procedure"] == "guess" and "mispredict" in r["causes"]
        and r["executions"] > 1000]
assert len(rows) >= 2 and sum(r["stall_cycles"] for r in rows) > 100000
assert all(not set(causes(r)) & {"dcache", "dtlb", "icache"} for r in rows)'
check "divisions: known from the code" all.json '
r = worst("divide"); c = causes(r)
assert all(name.startswith("operand") or name == "unit-static" for name in c), c
assert all(low == high for low, high in c.values()) and r["stall"] > 20'
check "stores that overflow the write buffer, and nothing else" all.json '
r = worst("scatter"); c = causes(r)
assert "write-buffer" in c and not set(c) & {"dcache", "dtlb", "icache", "mispredict"}, c
assert c["write-buffer"][0] > 100000'
# How many causes are listed on the average hangs on the code of the C library as well, which chooses
# it by processor.
check "the true causes are listed" all.json '
t = doc["truth"]
assert t["main_listed"] >= 98 and t["dynamic_main_listed"] >= 98, t
assert doc["unexplained"] < 8 and doc["listed"] <= 2.1 and doc["listed_by_cycles"] <= 2, doc
for name, cause in doc["causes"].items():
    if not cause["static"] and name not in ("unit", "dependency", "gain", "unexplained", "sync"):
        assert cause["low"] <= cause["true"] + 0.5 and cause["high"] >= 0.9 * cause["true"] - 0.5, name'
check "the worst come first" all.json '
cycles = [r["stall_cycles"] for r in doc["rows"]]
assert cycles == sorted(cycles, reverse=True) and doc["rows_left_out"] == 0'

# ---- with samples of cycles and events ----

t_ok "exact counts, sampled cycles" vfreq --exact x.vt -o exact.vt samples.vt
t_ok "causes from samples" vculprit --json --top 0 --truth truth.vt exact.vt
cp "$T_OUT" some.json
check "are the true ones" some.json '
t = doc["truth"]
assert t["main_listed"] >= 97 and t["dynamic_main_listed"] >= 95.5, t
assert doc["unexplained"] < 8 and doc["listed"] <= 2.1 and doc["listed_by_cycles"] <= 2, doc'
check "samples of TLB misses tighten bounds" some.json '
whole = json.load(open("all.json"))
assert doc["causes"]["itlb"]["high"] <= whole["causes"]["itlb"]["high"] if "itlb" in doc["causes"] else True
c = causes(worst("scatter"))
assert "write-buffer" in c and "dtlb" not in c, c'
check "so do those of cache misses" some.json '
whole = json.load(open("all.json"))
for name in ("icache", "dcache"):
    assert 0 < doc["causes"][name]["high"] <= whole["causes"][name]["high"] * 1.1, name
assert doc["icache_correlation"]["procedures"] > 20'

# ---- the stream ----

t_ok "a stream" vculprit -o out.vt truth.vt
for kind in FREQ EDGE IMAGE MAP; do
	vtrace dump -k $kind truth.vt >in.txt
	vtrace dump -k $kind out.vt >out.txt
	t_same "$kind records are passed on" in.txt out.txt
done
vtrace dump -k STALL out.vt >once.txt
t_like "STALL records are written" "cause=write-buffer" once.txt
vculprit out.vt | vtrace dump -k STALL >twice.txt
t_same "and replaced by a second run" once.txt twice.txt
vtrace dump -k META out.vt >meta.txt
t_like "which model was used is told" "vculprit.cpu.*alpha21164" meta.txt

# Each cause's bounds are numbers in order, and no cause has more than the instruction's cycles.
t_ok "bounds are in order, and within the instruction's cycles" "$PYTHON" -c '
import subprocess
def dump(kind):
    text = subprocess.run(["vtrace", "dump", "-k", kind, "out.vt"], capture_output=True, text=True)
    for line in text.stdout.splitlines():
        yield {k: v for k, v in (f.split("=", 1) for f in line.split("\t")[1:])}
cycles = {(r.get("image"), r.get("offset")): float(r.get("cycles", 0)) * float(r["executions"])
          for r in dump("FREQ")}
n = 0
for r in dump("STALL"):
    low, high = float(r.get("low", 0)), float(r["high"])
    assert 0 <= low <= high, r
    if r["cause"] not in ("gain",) and not r["cause"].startswith(("operand", "slotting", "unit-static")):
        assert high <= cycles[r.get("image"), r.get("offset")] * (1 + 1e-9), r
        n += 1
assert n > 100'

# ---- listings ----

t_ok "a listing" vculprit --top 5 truth.vt
t_like "opens with the share at each confidence" "samples [0-9]*: 100.0 % exact" "$T_OUT"
t_like "explains the letters" "w write-buffer overflow" "$T_OUT"
t_is "has as many rows as were asked for" "$(grep -c '^ *[0-9.][0-9.]*%' "$T_OUT")" 5
t_like "tells how many there are" "more instructions)" "$T_OUT"
t_ok "comma-separated values" vculprit --csv --top 3 truth.vt
t_is "have a line of names" "$(head -1 "$T_OUT" | cut -d, -f1-4)" \
	"percent,cumulative,stall_cycles,executions"
t_is "and a line for each row" "$(wc -l <"$T_OUT")" 4

# ---- out of order ----

vsim -m skylake -S cycles:200 --truth sky.vt -o sky-samples.vt x.vt 2>/dev/null
t_ok "causes on a machine that issues out of order" vculprit --json --top 0 --truth sky.vt sky.vt
cp "$T_OUT" sky.json
t_unlike "with executions, nothing is said of that" 'no executions' "$T_ERR"
check "only its own misses stall a load there" sky.json '
c = causes(worst("chase"))
assert "dcache" in c and doc["truth"]["dynamic_main_listed"] > 90, (c, doc["truth"])'

vfreq <sky-samples.vt >uncounted.vt 2>/dev/null
t_ok "without executions" vculprit -n 3 uncounted.vt
t_like "it says so" '^vculprit: uncounted.vt: no executions are known, and so no stalls' "$T_ERR"

# ---- threads ----

# What comes out does not depend on how many there are, in order and out of order.
vsim -m alpha21164 -S cycles:200 -o alpha-samples.vt x.vt 2>/dev/null
for jobs in 1 2 7; do
	vfreq -j "$jobs" --exact x.vt <sky-samples.vt >"freq.$jobs.vt" 2>/dev/null
	vfreq --jobs "$jobs" <alpha-samples.vt >"alpha.$jobs.vt" 2>/dev/null
	for of in freq alpha; do
		vculprit -j "$jobs" <"$of.$jobs.vt" >"$of.stalls.$jobs.vt"
		for what in "$of" "$of.stalls"; do
			t_ok "$what: $jobs threads give the same bytes" cmp "$what.1.vt" "$what.$jobs.vt"
		done
	done
done
t_ok "and these are stalls of many procedures" "$PYTHON" -c '
import json, subprocess
for of in "freq", "alpha":
    doc = json.loads(subprocess.run(["vculprit", "--json", "--top", "0", of + ".7.vt"],
                                    capture_output=True, check=True).stdout)
    assert len({r["procedure"] for r in doc["rows"]}) >= 8, doc["rows"]'
for jobs in 0 257 x; do
	t_status "vfreq -j $jobs" 2 vfreq -j "$jobs" x.vt
	t_status "vculprit -j $jobs" 2 vculprit -j "$jobs" x.vt
done

# ---- bad input ----

t_status "two forms are too many" 2 vculprit --json --csv truth.vt
t_status "a machine that does not exist" 2 vculprit --model nosuch --top 3 truth.vt
t_status "no stream" 3 vculprit --top 3 "$ROOT/README.md"
t_status "a stream without frequencies" 3 vculprit -o none.vt x.vt
t_like "is told" 'no frequencies \(vfreq estimates them\)' "$T_ERR"
mv stalls gone
t_ok "a program that is gone" vculprit --json --top 0 truth.vt
cp "$T_OUT" gone.json
mv gone stalls
check "leaves out what has no code" gone.json '
assert not [r for r in doc["rows"] if r["image"] == "stalls"] or doc["procedures"] > 0'
head -c 20000 truth.vt >cut.vt
t_status "a stream that is cut off before any frequency" 3 vculprit --top 3 cut.vt

t_done
