#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Loops whose cause of stalls is known (tests/data/cycles), sampled on models that issue out of order: the true
# cause is listed first, with one other at most, and none where nothing stalls; what calls take is told.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

t_ok "causes compiles" gcc -O1 -no-pie -o causes "$ROOT/tests/data/cycles/causes.c"
t_ok "and is recorded" vtrace record --full --mem --toggle main -o causes.vt -- ./causes 2 16384
for model in zen4 skylake; do
	t_pipe "$model: culprits are found" \
		"vsim --model $model -S cycles:200 causes.vt 2>/dev/null | vfreq --exact causes.vt | vculprit -o $model.vt"
	t_ok "they are listed" vculprit -n 0 --json "$model.vt"
	mv "$T_OUT" "$model.json"
	t_ok "the true cause comes first" "$PYTHON" -c '
import json, sys
rows = {}
for r in json.load(open(sys.argv[1]))["rows"]:
    rows.setdefault(r["procedure"], []).append(r)
for name, letters in (("cache_miss", "d"), ("cache_miss_used", "d"), ("page_walk", "dD"), ("icache_blocks", "i")):
    for r in rows[name]:
        assert r["blame"][0] in letters and len(r["causes"].split(", ")) <= 2 + (r["scope"] == "insn"), r
        assert r["why"] and r["ruled_out"], r
for name in "cache_miss", "cache_miss_used", "page_walk":
    assert [r["scope"] for r in rows[name]] == ["insn"], rows[name]
    assert rows[name][0]["stall"] > 100, rows[name]
for r in rows.get("mispredict", []):
    assert r["blame"][0] == "p" and r["scope"] == "loop", r
for name in "float_chain", "multiply_chain", "add_chain", "throughput", "forwarded", "divide":
    assert name not in rows, rows[name]' "$model.json"
	t_pipe "vlist tells of the loop" "vlist --calc -i $model.vt page_walk"
	t_like "its rounds" '^\*\*\* Loop at [0-9a-f]+, [0-9.]+% of the cycles: 1000 rounds in 2 visits, ' "$T_OUT"
	t_like "its stall" '^\*\*\* Stalls +[0-9.]+ cycles at ' "$T_OUT"
	t_like "and what was ruled out" '^\*\*\* +ruled out: .*ITB miss \(its pages stay in the TLB\)' "$T_OUT"
done

t_ok "overlap compiles" gcc -O1 -no-pie -o overlap "$ROOT/tests/data/cycles/overlap.c"
t_ok "and is recorded" vtrace record --full --mem --toggle main -o overlap.vt -- ./overlap 15 2000 16384
t_pipe "what calls take is estimated" \
	"vsim --model zen4 -S cycles:200 overlap.vt 2>/dev/null | vfreq --exact overlap.vt | vculprit -o o.vt"
t_ok "as JSON" vlist --json --calc --all -i o.vt
mv "$T_OUT" o.json
t_ok "main takes its own time and that of the four, each of which overlaps with the others" "$PYTHON" -c '
import json
regions = {p["procedure"]: p["regions"] for p in json.load(open("o.json"))["procedures"]}
four = [regions[p] for p in ("search", "hash", "sort", "crc")]
assert all(len(r) == 1 and r[0]["overlaps"] and r[0]["rounds"] == 2000 for r in four), four
main = regions["main"][0]
sum = main["cycles"] + sum(2000 * r[0]["cycles"] for r in four)
assert not main["loop"] and main["rounds"] == 1, main
assert 0.99 * sum < main["with_calls"] < 1.05 * sum, (main, sum)'
# What mispredicted branches cost, of each procedure, is between what is claimed and what is possible.
t_ok "branches compiles" gcc -O1 -no-pie -o branches "$ROOT/tests/data/cycles/branches.c"
t_ok "and is recorded" vtrace record --full --mem --toggle main -o branches.vt -- ./branches 20000
nm branches | awk '$2 == "T"' >names.txt
sum_mispredicts() { vtrace dump -k STALL -F offset,cause,low,high "$1" | awk '$2 == "mispredict"'; }
for model in zen4 skylake; do
	vsim --model $model -S cycles:500 --branches 16 --truth true.vt -o stacks.vt branches.vt 2>/dev/null
	sum_mispredicts true.vt >true.txt
	for exact in "" "--exact branches.vt"; do
		t_pipe "$model $exact: stacks show how branches were predicted" \
			"vfreq $exact stacks.vt | vculprit -o claims.vt"
		sum_mispredicts claims.vt >claims.txt
		t_ok "what they cost is claimed, and no more" "$PYTHON" -c '
names = {l.split()[2]: int(l.split()[0], 16) - 0x400000 for l in open("names.txt")}
def read_sums(path, column):
    sums = dict.fromkeys(names, 0)
    for fields in map(str.split, open(path)):
        below = [n for n in names if names[n] <= int(fields[0], 16)]
        if below:
            sums[max(below, key=names.get)] += float(fields[column])
    return sums
true, low, high = read_sums("true.txt", 2), read_sums("claims.txt", 2), read_sums("claims.txt", 3)
assert true["random_branch"] > 100000 and true["indirect_jump"] > 50000, true
for name in "random_branch", "indirect_jump":
    assert low[name] < true[name] < high[name], (name, low, true, high)
assert low["random_branch"] > 0.25 * true["random_branch"], (low, true)
assert true["regular_branch"] < 1000 and high["regular_branch"] == 0, (true, high)'
	done
done
# Procedures of a page each, so that fetching one throws out another, with few samples each: nobody is accused
# of what they lose, and so nobody is acquitted of it.
"$PYTHON" - >many.c <<'EOF'
n, at = 400, 1
for i in range(n):
    print(f"__attribute__((noinline, noclone, aligned(4096))) static long f{i}(long x)")
    print(f'{{ __asm__ volatile("add ${i}, %0; xor $1, %0" : "+r"(x)); return x; }}')
print("int main(void) { long x = 0; for (int i = 0; i < 100; i++) {")
for i in range(n):
    at = at * 1103515245 + 12345 & 0x7fffffff
    print(f"x = f{(at >> 8) % n}(x);")
print("} return x == 1; }")
EOF
t_ok "many compiles" gcc -O1 -no-pie -o many many.c
t_ok "and is recorded" vtrace record --full --mem --toggle main -o many.vt -- ./many
vsim --model zen4 --truth zen4-true.vt -o other.vt causes.vt 2>/dev/null
t_pipe "and sampled seldom" "vsim --model zen4 -S cycles:2000 --truth true.vt many.vt 2>/dev/null |
	vfreq --exact many.vt -o few.vt"
t_pipe "culprits are sought" "vculprit -o few-stalls.vt few.vt"
t_ok "and compared with the truth" vculprit --truth true.vt --json few.vt
mv "$T_OUT" truth.json
t_status "the truth of another run is refused" 3 vculprit --truth zen4-true.vt few.vt
t_like "with both" '^vculprit: zen4-true.vt: the truth of another run than few.vt: of [0-9]+ cycles, not [0-9]+$' "$T_ERR"
t_status "and so are estimates" 3 vculprit --truth few-stalls.vt few.vt
t_like "as such" '^vculprit: few-stalls.vt: its stalls are estimates, and no truth' "$T_ERR"
t_ok "the listing has the same" vlist --summary --json few-stalls.vt
mv "$T_OUT" summary.json
t_ok "what was not judged may have the true cause" "$PYTHON" -c '
import json
truth = json.load(open("truth.json"))
summary = json.load(open("summary.json"))["images"][0]["summary"]
assert truth["not_judged"] > 50 and abs(summary["not_judged"] - truth["not_judged"]) < 0.1, (truth, summary)
assert truth["causes"]["icache"]["true"] > 50, truth
assert 5 < truth["truth"]["not_compared"] < 80, truth
assert all(c in truth["causes"] for c in ("itlb", "dcache", "mispredict", "sync")), truth
for name, cause in truth["causes"].items():
    if not cause["static"]:
        assert cause["low"] - 1 <= cause["true"] <= cause["high"] + 1, (name, cause)
        assert abs(summary["stalls"][name]["high"] - cause["high"]) < 1, (name, cause, summary)
assert abs(summary["net_sampling_error"]) < 2, summary'
t_ok "vlist says so" vlist --summary few-stalls.vt
t_like "in a line of its own" '^\*\*\*   not judged: too uncertain +[5-9][0-9]\.[0-9]%$' "$T_OUT"
t_ok "vculprit says so" vculprit -n 1 few.vt
t_like "first" '^Not judged, as samples are too few or counts too uncertain: [5-9][0-9]\.[0-9] % of the cycles$' "$T_OUT"
t_done
