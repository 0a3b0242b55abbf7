#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vspec finds from samples with memory alone what was planted in programs, and nothing in the same
# programs with values that change.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --sample-values -o probe.vt true >/dev/null 2>probe.err ||
	t_skip_all "vtrace record --sample-values does not work here: $(tail -1 probe.err)"

t_ok "the programs are compiled" gcc -O2 -g -o stories "$ROOT/tests/data/planted/stories.c"

# record STORY: and its advice.
record()
{
	vtrace record --sample-values -F 1000 -o "$1.vt" -- ./stories "$1" 1.2 >/dev/null 2>"$1.err" ||
		cat "$1.err"
	vspec --json --top 0 --each 0 "$1.vt" >"$1.json"
}

# check NAME JSON-FILE PYTHON-TEXT: the text may use `doc`, `rows` and at(LINE, KIND).
check()
{
	t_ok "$1" "$PYTHON" -c 'import json, sys
doc = json.load(open(sys.argv[1]))
source = open(sys.argv[2]).read().split("\n")
rows = [r for r in doc["rows"] if r["place.image"].endswith("/stories")]
told = [(r["procedure"], r["place.line"], r["advice"]) for r in rows]
def at(line, kind):
    numbers = [i + 1 for i, t in enumerate(source) if line in t]
    found = [r for r in rows if r["kind"] == kind and
             r["place.line"] in ["stories.c:%d" % n for n in numbers]]
    assert found, (line, kind, told)
    return max(found, key=lambda r: r["executions"])
'"$3" "$2" "$ROOT/tests/data/planted/stories.c"
}

for story in simulator exponentiation polynomials division; do
	record $story
	record changing-$story
done
check "a simulator's table of breakpoints that is nearly always empty" simulator.json '
r = at("breakpoints[i].code &&", "zero")
assert r["procedure"] == "check_breakpoints" and r["value"] == "0" and r["invariance"] > 99
assert r["time"] > 30 and r["executions"] > 300, r'
check "an exponent that is nearly always 10, at the call that passes it" exponentiation.json '
r = at("raise_power(x, m->exponent)", "argument")
assert r["procedure"] == "raise_power" and r["value"] == "10" and r["register"] == "rdi"
assert r["invariance"] > 97 and r["time"] > 20
assert r["advice"].startswith("specialise the procedure: argument 1 (rdi) of this call is "), r
assert at("raise_power(x, m->exponent)", "number")["value"] == "10"'
check "a degree that is nearly always 4, which is a bound" polynomials.json '
r = at("i <= p->degree", "bound")
assert r["procedure"] == "evaluate" and r["value"] == "4" and r["invariance"] > 97
assert r["advice"].startswith("unroll the loop: the bound is "), r'
check "a divisor that is nearly always 1009" division.json '
r = at("% t->size", "divisor")
assert r["procedure"] == "find_bucket" and r["value"] == "1009" and r["invariance"] > 97
assert r["advice"].startswith("divide by a constant: the divisor is "), r'
for story in simulator exponentiation polynomials division; do
	check "nothing where values change: $story" changing-$story.json '
assert doc["events"][0]["samples"] > 200 and doc["lists"]["load"] > 0 and not rows, told'
done

# ---- one way ----

vinterp -l 16 division.vt | vspec --json --top 0 --each 0 >piped.json
t_same "vinterp before it gives the same" piped.json division.json
t_pipe "standard input" 'vspec --json --top 0 --each 0 <division.vt >stdin.json'
t_same "gives the same" stdin.json division.json
vtrace record --sample-values --insns 6 --frequency 1/2 -o few.vt -- ./stories division 1 >/dev/null 2>&1
vinterp -l 6 few.vt | vspec --csv >piped.csv
vspec --csv few.vt >few.csv
t_same "as many instructions as were asked for" few.csv piped.csv
vinterp --keep -l 2 division.vt | vspec --csv >kept.csv
vinterp -l 2 division.vt | vspec --csv >two.csv
t_same "what was interpreted is not interpreted again" kept.csv two.csv
vinterp -l 16 division.vt | vhot | vspec --json --top 0 --each 0 >hot.json
check "from hot lists, the same is found" hot.json 'assert at("% t->size", "divisor")["value"] == "1009"'
t_is "time is the samples' event" "$(jq -r '.events[0].name' division.json)" \
	"$(vtrace dump --json -k EVENT division.vt | jq -rs '.[0].name')"

# ---- without symbols, calls are told from entries ----

strip -o bare stories
vtrace record --sample-values -o bare.vt -- ./bare exponentiation 1 >/dev/null 2>&1
t_is "without symbols, the same argument at the same place" \
	"$(vspec --args --json bare.vt | jq -c '[.rows[] | [."place.address", .value, .register]]')" \
	"$(vspec --args --json exponentiation.vt | jq -c '[.rows[] | [."place.address", .value, .register]]')"

t_status "samples do not tell callers" 3 vspec --callers division.vt
t_like "says so" '^vspec: division.vt: samples do not tell who calls' "$T_ERR"
head -c $(($(stat -c %s division.vt) - 8)) division.vt >cut.vt
t_status "a recording that was cut" 1 vspec cut.vt
t_status "a full device" 4 bash -c 'vspec division.vt >/dev/full'
t_done
