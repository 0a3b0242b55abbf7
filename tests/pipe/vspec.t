#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vspec finds what was planted in a program, each opportunity by name, and none of the decoys.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

# The line tables say which file it was, so it is compiled where it lies.
t_ok "the program is compiled" gcc -O2 -g -o planted "$ROOT/tests/data/planted/planted.c"
t_ok "and recorded" vtrace record --full --args -o x.vt -- ./planted 1000
./planted 1000 >plain
t_run vtrace record --full --args -o again.vt -- ./planted 1000
t_same "it prints what it does otherwise" "$T_OUT" plain

# check NAME JSON-FILE PYTHON-TEXT: the text may use `doc`, `rows` and row(PROCEDURE, KIND).
check()
{
	t_ok "$1" "$PYTHON" -c 'import json, sys
doc = json.load(open(sys.argv[1]))
rows = doc["rows"]
def row(procedure, kind):
    found = [r for r in rows if r["procedure"] == procedure and r["kind"] == kind]
    assert len(found) == 1, (procedure, kind, [(r["procedure"], r["kind"], r["advice"]) for r in rows])
    return found[0]
'"$3" "$2"
}

# ---- procedures ----

vspec --json --top 0 --each 0 x.vt >all.json
check "a divisor that is always 8" all.json '
r = row("by_eight", "divisor-power")
assert r["value"] == "8" and r["invariance"] == 100 and r["executions"] == 10000
assert r["advice"] == "shift instead of dividing: the divisor is always 8"
assert r["place.line"] == "planted.c:39" and r["use.address"]'
check "a divisor that is always a power of two" all.json '
r = row("by_power", "divisor-powers")
assert r["invariance"] == 100 and r["executions"] == 5000'
check "a load that is always 0" all.json '
r = row("add_offset", "zero")
assert r["value"] == "0" and r["executions"] == 5000 and "test for 0" in r["advice"]'
check "an argument that is always 1, and a factor" all.json '
r = row("scaled", "factor-one")
assert r["what"] == "arg" and r["register"] == "rsi" and r["executions"] == 4000
assert "argument 2 (rsi)" in r["advice"]'
check "an indirect call with one target, but for one in a thousand" all.json '
r = row("dispatch", "call")
assert r["advice"] == "devirtualise: 99.9 % to twice" and r["executions"] == 4000
assert abs(r["invariance"] - 99.9) < 1e-6'
check "a bound of a loop" all.json '
assert row("bounded", "bound")["value"] == "6"'
check "no decoy" all.json '
decoys = {"by_any", "add_any", "mixed", "dispatch_any", "call_scaled", "main"}
assert not [r for r in rows if r["procedure"] in decoys and r["executions"] > 100]'
check "best procedures first, in each the best values; time is a share of what was executed" all.json '
def best(name):
    return min(i for i, r in enumerate(rows) if r["procedure"] == name)
order = []
for r in rows:
    if not order or order[-1] != r["procedure"]:
        order.append(r["procedure"])
assert len(order) == len(set(order))
total = [e["samples"] for e in doc["events"] if e["name"] == "instructions"][0]
by_eight = row("by_eight", "divisor-power")
# Ten thousand rounds of eight instructions.
assert 80000 < by_eight["time"] / 100 * total < 81000
assert best("by_eight") < best("add_offset") < best("scaled")
for a, b in zip(rows, rows[1:]):
    assert a["procedure"] != b["procedure"] or a["score"] >= b["score"]
for r in rows:
    assert abs(r["score"] - r["stake"] * r["invariance.low"] / 100) < 0.02
    assert r["stake"] <= r["time"] + 0.01'

# ---- from vhot's output, from a sample ----

vhot --what default,callers x.vt >x.hot
vspec x.hot >from-hot
vspec x.vt >from-full
t_same "the output of vhot gives the same" from-hot from-full
t_pipe "standard input" 'vspec <x.hot >from-pipe'
t_same "it gives the same, too" from-pipe from-full
vsample -n 400 --burst 32 x.vt | vspec --json --top 0 --each 0 >sampled.json
check "from a tenth of the instructions, the same is found" sampled.json '
assert row("by_eight", "divisor-power")["value"] == "8"
assert row("add_offset", "zero")
assert not [r for r in rows if r["procedure"] in ("by_any", "add_any", "mixed", "dispatch_any")]'

# ---- the other listings ----

vspec --args --json x.vt >args.json
check "--args: arguments only" args.json '
assert rows and all(r["what"] == "arg" for r in rows)
row("scaled", "factor-one")
assert not [r for r in rows if r["procedure"] in ("mixed", "twice", "thrice")]'
vspec --loads --json x.vt >loads.json
check "--loads: loads by their own time" loads.json '
assert all(r["what"] == "load" for r in rows)
assert [r["own_time"] for r in rows] == sorted((r["own_time"] for r in rows), reverse=True)
assert rows[0]["procedure"] == "bounded" and rows[1]["procedure"] == "by_eight"'
vspec --blocks --json x.vt >blocks.json
check "--blocks: blocks all of whose loads are the same" blocks.json '
found = {r["block"].split("+")[0]: r for r in rows}
assert found["by_eight"]["loads"] == 1 and found["by_eight"]["executions"] == 10000
assert "by_any" not in found and "add_any" not in found and "dispatch_any" not in found'
vspec --callers --json x.vt >callers.json
check "--callers: who calls, and with what" callers.json '
scaled = [r for r in rows if r["procedure"] == "scaled"]
assert len(scaled) == 1 and scaled[0]["caller.line"] == "planted.c:102"
assert scaled[0]["caller"].startswith("call_scaled+0x")
assert scaled[0]["arguments"] == "argument 2 (rsi) is always 1"
assert scaled[0]["calls"] == 4000 and scaled[0]["calls.percent"] == 100
twice = {r["caller"].split("+")[0]: r["calls"] for r in rows if r["procedure"] == "twice"}
assert abs(twice["dispatch"] - 3996) <= 1 and abs(twice["dispatch_any"] - 2000) <= 1
assert all(r["arguments"] == "" for r in rows if r["procedure"] == "twice")'
vhot --context caller --what default,callers x.vt | vspec --callers --json >callers-hot.json
t_same "--callers, from vhot's output" callers-hot.json callers.json

t_ok "--callers, from lists that are not told apart by caller" vspec --callers x.hot
t_like "says so" '^Arguments are not told apart by caller' "$T_OUT"

# ---- choice ----

t_is "--top and --each" "$(vspec --top 2 --each 1 --csv x.vt | wc -l)" 3
vspec --top 1 x.vt >top
t_like "says how many procedures are left out" '^\([0-9]+ more procedures\)$' top
vspec --min-time 5 --json --top 0 x.vt >time.json
check "--min-time" time.json 'assert rows and all(r["time"] >= 5 for r in rows)'
vspec --min-invariance 99.95 --json --top 0 x.vt >invariance.json
check "--min-invariance is of what is certain" invariance.json '
assert all(r["invariance.low"] >= 99.95 for r in rows)
assert not [r for r in rows if r["procedure"] == "dispatch"]'

# ---- what is missing ----

vhot --what loads x.vt >loads.hot
t_status "no arguments" 3 vspec --args loads.hot
t_like "says how to record them" '^vspec: loads.hot: no arguments of calls \(vtrace record --full --args or --sample-values records them' "$T_ERR"
t_status "no callers" 3 vspec --callers loads.hot
t_status "no values at all" 3 vspec "$ROOT/tests/data/demo/none.vt"
vtrace decode "$ROOT/tests/data/demo/perf.data" -o demo.vt
t_status "samples without values" 3 vspec demo.vt
t_like "says so" '^vspec: demo.vt: no values \(vtrace record --full or --sample-values records them\)$' "$T_ERR"
t_status "two listings" 2 vspec --args --loads x.vt
t_status "an invariance below the least" 2 vspec --min-invariance 10 x.vt
t_status "no such event" 2 vspec -e nonsense x.vt

mv planted gone
vspec --json --top 0 --each 0 x.vt >gone.json 2>gone.err
check "without the program's file, places remain" gone.json '
assert doc["lists_without_code"] > 0
assert any(r["place.image"].endswith("/planted") and r["value"] == "8" for r in rows)'
mv gone planted
cp planted "$(printf 'red\033[31m\nname')"
vtrace record --full --args -o odd.vt -- "./$(printf 'red\033[31m\nname')" 100 >/dev/null
t_ok "a name with control characters" vspec --min-time 0 --top 0 odd.vt
t_unlike "sends no escape code" "$(printf '\033')" "$T_OUT"
t_status "a full device" 4 bash -c 'vspec x.vt >/dev/full'

strip -o stripped planted
vtrace record --full --args -o stripped.vt -- ./stripped 1000 >/dev/null
vspec --json --top 0 stripped.vt >stripped.json
check "a program without symbols has procedures all the same" stripped.json '
whole = json.load(open("all.json"))["rows"]
at = {r["place.address"]: r for r in rows if r["place.image"].endswith("/stripped")}
for r in whole:
    if r["procedure"] in ("by_eight", "add_offset", "dispatch") and r["kind"] != "number":
        other = at[r["place.address"]]
        assert other["kind"] == r["kind"] and abs(other["time"] - r["time"]) < 0.1, (r, other)'
head -c $(($(stat -c %s x.vt) * 2 / 3)) x.vt >cut.vt
t_status "a recording that was cut" 1 vspec cut.vt
t_done
