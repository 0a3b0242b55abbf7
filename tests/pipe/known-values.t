#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# No value is wrong: a program whose values follow from one counter is sampled by the clock, system
# calls included, and what interpreting finds is compared with what it must have computed.

. "$(dirname "$0")/../lib.sh"

t_need vtrace perf nm
perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1 || t_skip_all "perf cannot record here"
program=$VT_BUILD/tests/tools/rec_known
nm --defined-only "$program" >symbols

vtrace record --regs -c 50021 -o known.vt -- "$program" 8000000 >said 2>errors
read -r loop parent <said

compare()
{
	vinterp "$@" known.vt 2>errors | vtrace dump -k VALUE -F time,tid,ip,what,reg,lane,size,value 2>errors |
		"$PYTHON" "$ROOT/tests/known_values.py" symbols "$loop" "$parent" >compared
	grep -v ^compared compared
	sed -n 's/^compared/# compared/p' compared
}

# Nothing of it is left to chance but how much there is to compare: no value may be wrong, however many there
# are. 8 million rounds of the loop take some .1 s of processor time, 2000 samples. A run of 48 instructions passes
# all of the loop but what comes from the stack that was not kept, and so has nearly every kind of value: that one kind
# of 40 is missing from all of 500 runs, if each run had it with a chance of 5 % alone, happens with 40 * .95^500 < 1e-9.
compare -l 48
t_is "many values are known" "$(awk '$1 == "compared" { print ($2 > 20000), ($3 == "runs"), ($4 > 500) }' compared)" "1 1 1"
t_is "each of them is what the program computed" "$(awk '$1 == "compared" { print $5, $6 }' compared)" "wrong 0"
t_is "each kind of value is known" "$(grep '^never' compared)" ''
compare -l 48 --skip random
t_is "nor is any wrong that comes later in a run" "$(awk '$1 == "compared" { print $5, $6 }' compared)" "wrong 0"
t_is "and many are compared" "$(awk '$1 == "compared" { print ($2 > 20000) }' compared)" 1

# Samples of the kernel have registers of another moment, and no run.
kernel=$(vtrace dump -k SAMPLE -F misc known.vt 2>errors | awk '$1 % 8 == 1 || $1 == "0x1" || $1 == "0x4001"' | wc -l)
t_is "samples of the kernel are left out" "$(vinterp --summary --json known.vt 2>errors | jq .elsewhere)" "$kernel"
t_done
