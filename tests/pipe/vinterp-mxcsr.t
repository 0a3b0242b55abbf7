#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Floating point: what depends on MXCSR is known only where that is known, and then is what the
# processor computed. The truth is what a program says that came out when it ran natively.
. "$(dirname "$0")/../lib.sh"

tools=$VT_BUILD/tests/tools

t_status "no number" 2 vinterp --mxcsr nearest x.vt
t_status "a number of too many bits" 2 vinterp --mxcsr 11f80 x.vt
t_status "none" 2 vinterp --mxcsr '' x.vt
t_status "a sign" 2 vinterp --mxcsr -1 x.vt
t_like "says what there is" "vinterp: --mxcsr: '-1' is neither 'default' nor 0 to ffff" "$T_ERR"

# What does not depend on MXCSR at all, with these operands; and what nobody computes.
free='cvtdq2pd cvtsd2ss_one cvtsi2sd cvtss2sd cvttsd2si logic mulsd_exact '
never='cvtsi2sd_odd fdiv fist fld_denormal '

# usage: compare STREAM LOG: names of known results into `names`, of wrong ones into `wrong`.
compare()
{
	"$PYTHON" "$ROOT/tests/known_results.py" "$1" "$2" >found
	names="$(sed -n 1p found) "
	wrong=$(sed -n 2p found)
}

all=$("$tools/fp_modes" 1f80 1 | awk '{ print $1 }' | sort | tr '\n' ' ')
sure=$(for name in $all; do case " $never" in *" $name "*) ;; *) echo "$name" ;; esac; done | tr '\n' ' ')

if perf record -q -o probe.data -e cpu-clock:u --user-regs=AX,SP,IP true >/dev/null 2>&1; then
	# A run of 200 instructions passes the whole loop and so has each name, wherever the timer finds
	# the program: it ticks some 35 times, each .5 ms of its time, and one tick is enough.
	#
	# All four roundings, and denormal numbers taken as zero, flushed to it, both.
	for mxcsr in 1f80 3f80 5f80 7f80 1fc0 9f80 9fc0 ffc0; do
		vtrace record --regs -F 2000 -o $mxcsr.data -- "$tools/fp_modes" $mxcsr 1000000 >$mxcsr.log 2>/dev/null
		vtrace decode -o $mxcsr.vt $mxcsr.data
		vinterp -l 200 -w stores $mxcsr.vt >plain.vt
		compare plain.vt $mxcsr.log
		t_is "$mxcsr: what depends on MXCSR is unknown" "$names" "$free"
		t_is "$mxcsr: and nothing is wrong" "$wrong" wrong
		vinterp -l 200 -w stores --mxcsr $mxcsr $mxcsr.vt >told.vt
		compare told.vt $mxcsr.log
		t_is "$mxcsr: where MXCSR is told, all is known" "$names" "$sure"
		t_is "$mxcsr: and nothing of that is wrong" "$wrong" wrong
	done
	vinterp -l 200 -w stores --mxcsr default 1f80.vt >default.vt
	compare default.vt 1f80.log
	t_is "the default is 1f80" "$names$wrong" "${sure}wrong"
	sed '1s/.$/9/' 1f80.log >other.log
	compare default.vt other.log
	t_like "other truth would be seen" '^wrong .*divsd' found
	for mxcsr in 1f80 5f80 9fc0; do
		vtrace record --regs -F 2000 -o r.data -- "$tools/fp_modes" -r $mxcsr 1000000 >r.log 2>/dev/null
		vtrace decode r.data | vinterp -l 200 -w stores >told.vt
		compare told.vt r.log
		t_is "$mxcsr: an ldmxcsr on the way tells it" "$names$wrong" "${sure}wrong"
	done
else
	t_skip "samples" "perf record does not work here"
fi

# Along the path of a processor's trace, too; a recording has it.
if command -v valgrind >/dev/null; then
	LD_BIND_NOW=1 vtrace record --full --values all --mem -o full.vt -- "$tools/fp_modes" 1f80 20 >full.log
	vinterp --path -w stores full.vt >known.vt
	compare known.vt full.log
	t_is "a recording has MXCSR, and loads from the x87's stores" "$names$wrong" \
		"$(tr ' ' '\n' <<<"${sure}fdiv fist fld_denormal" | sort | xargs) wrong"
	# The dynamic linker saves and restores it.
	vtrace record --full --values all --mem -o full.vt -- "$tools/fp_modes" 1f80 20 >full.log
	vtrace encode --perf-data -o pt.data full.vt
	vtrace decode -o pt.vt pt.data
	vinterp --path -w stores pt.vt >plain.vt
	compare plain.vt full.log
	t_is "a trace has it not" "$names$wrong" "${free}wrong"
	vinterp --path -w stores --mxcsr default pt.vt >told.vt
	compare told.vt full.log
	t_is "unless it is told" "$names$wrong" "${sure}wrong"
fi
t_done
