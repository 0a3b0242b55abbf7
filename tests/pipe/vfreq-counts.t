#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vfreq from branch stacks: programs whose counts follow from their sources by arithmetic
# (tests/counts.py), sampled on models of processors, and with stacks that are spoilt in the ways
# that processors spoil them (tests/stackbias.py).  How near the counts are, and how often an
# interval that is said to hold the truth 95 % of the time does.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"
export PYTHONPATH=$ROOT/tests

# Recorded from main() on, which aligns its stack: what runs before it and where the stack lies are the
# environment's.
programs='nested tenths choices recursion calls collatz sorting text'
for p in $programs; do
	if ! gcc -O1 -no-pie -I"$ROOT/tests/data/counts" -o "$p" "$ROOT/tests/data/counts/$p.c" ||
		! vtrace record --full --mem --toggle main -o "$p.vt" -- "./$p" >/dev/null 2>&1; then
		t_fail "$p runs"
	fi
done

# The arithmetic itself, held against the recording.
for p in $programs; do
	t_pipe "$p: counts" "vsim -S cycles:20 $p.vt 2>/dev/null | vfreq --exact $p.vt -o exact.vt"
	t_ok "$p: are what arithmetic says" "$PYTHON" -c '
import counts, sys
rows = list(counts.compare(sys.argv[1], sys.argv[1], "exact.vt"))
assert len(rows) == len(counts.PROGRAMS[sys.argv[1]]()), rows
assert all(r[1] == r[2] for r in rows), rows' "$p"
done

# usage: judge NAME HELD ERROR STREAM-PATTERN [PROGRAMS]: of all programs' marks, this part must be held by
# their intervals, and the estimates be off by this part of the truth on the average.
judge()
{
	local list=${5:-$programs}

	# shellcheck disable=SC2086 # programs are words
	t_ok "$1: intervals hold the truth, and counts are near" "$PYTHON" -c '
import counts, sys
share, limit, pattern, *programs = sys.argv[1:]
held = marks = error = 0
for p in programs:
	rows = list(counts.compare(p, p, pattern % p))
	assert rows, p
	held += sum(low <= truth <= high for _, truth, _, low, high, *_ in rows)
	marks += len(rows)
	error += sum(abs(x - truth) for _, truth, x, *_ in rows) / \
		sum(truth for _, truth, *_ in rows) / len(programs)
print("# %d of %d marks, %.1f %% off" % (held, marks, 100 * error))
assert held >= float(share) * marks and error <= float(limit), (held, marks, error)' \
		"$2" "$3" "$4" $list
	cat "$T_OUT"
}

for core in skylake icelake zen3; do
	for p in $programs; do
		if ! vsim -m $core -S cycles:500 --interval geometric --branches 32 -o "$p.$core.vt" \
			"$p.vt" 2>/dev/null || ! vfreq -o "$p.$core.freq" "$p.$core.vt"; then
			t_fail "$core: $p"
		fi
	done
	judge $core 0.9 0.1 "%s.$core.freq"
done
t_ok "the way that divides is told from the other" "$PYTHON" -c '
import counts
rows = {r[0]: r for r in counts.compare("tenths", "tenths", "tenths.skylake.freq")}
assert all(r[5] == "branches" for r in rows.values()), rows
assert abs(rows[2][2] / (rows[2][2] + rows[3][2]) - 0.4) < 0.03, rows'

# Of events that say how many branches or instructions there were, counts need no times.
for event in taken:50 retired:300; do
	for p in $programs; do
		if ! vsim -m skylake -S cycles:2000 -S $event --interval geometric --branches 32 \
			-o "$p.$event.vt" "$p.vt" 2>/dev/null || ! vfreq -o "$p.$event.freq" "$p.$event.vt"; then
			t_fail "$event: $p"
		fi
	done
	judge $event 0.9 0.05 "%s.$event.freq"
done

# They need no event of time either, and reach procedures that have no samples of it.
for event in taken:50 "taken:50 -S cycles:400000"; do
	how=${event##*:}
	for p in $programs; do
		# shellcheck disable=SC2086 # options are words
		if ! vsim -m skylake -S $event --interval geometric --branches 32 -o "$p.$how.vt" \
			"$p.vt" 2>/dev/null || ! vfreq -o "$p.$how.freq" "$p.$how.vt" 2>/dev/null; then
			t_fail "$event: $p"
		fi
	done
	judge "$event" 0.9 0.05 "%s.$how.freq"
done
t_is "without time, no cycles are known" \
	"$(vtrace dump -k FREQ -F cycles nested.50.freq | sort -u)" nan
vlist --calc --json nested.50.freq main >calc.json
t_ok "and no CPI" "$PYTHON" -c '
import json
p, = json.load(open("calc.json"))["procedures"]
assert p["summary"]["instructions"] > 0 and p["summary"]["best_cpi"] > 0, p["summary"]
assert p["summary"]["cpi"] is None and p["summary"]["cycles"] is None, p["summary"]
for b in p["blocks"]:
	assert b["cpi"] is None and (b["cycles"] is None) == (b["executions"] > 0), b'
t_ok "listed" vlist --calc nested.50.freq main
t_like "with why" '^\*\*\* Actual      unknown: no samples of time$' "$T_OUT"
t_status "what rests on time is refused" 2 \
	vfreq --model alpha21164 --method paper -o refused.vt nested.50.vt
t_like "with why" '--method paper: needs samples of time, not of taken$' "$T_ERR"

# Stacks without times have no unit but that of the time that code takes at best: what is told of
# them is little, and said to be.
some='tenths calls collatz sorting'
for how in none held favoured twice clamped shallow empty untimed; do
	for p in $some; do
		if ! "$PYTHON" "$ROOT/tests/stackbias.py" $how "$p.skylake.vt" "$p.data" ||
			! vtrace decode "$p.data" | vfreq --model skylake -o "$p.$how.freq"; then
			t_fail "$how: $p"
		fi
	done
	case $how in
	untimed) judge $how 0.8 1 "%s.$how.freq" "$some" ;;
	# Stacks do not show that samples are likelier behind waits, and intervals do not allow for
	# it: how many hold depends on where the program's waits are, as by the place of its stack.
	favoured) judge $how 0.75 0.13 "%s.$how.freq" "$some" ;;
	*) judge $how 0.9 0.13 "%s.$how.freq" "$some" ;;
	esac
done
t_ok "stacks of mispredicted branches" \
	"$PYTHON" "$ROOT/tests/stackbias.py" mispredicted tenths.skylake.vt wrong.data
t_pipe "count nothing" "vtrace decode wrong.data | vfreq --model skylake -o wrong.freq"
t_like "and it is said" 'the branch stacks of cycles lack branches, by a filter' "$T_ERR"
t_is "nothing is" "$(vtrace dump -k FREQ -F method wrong.freq | grep -c branches)" 0
t_ok "nothing is trusted where stacks have no times" "$PYTHON" -c '
import counts
assert all(r[6] == "low" for r in counts.compare("tenths", "tenths", "tenths.untimed.freq"))'

t_done
