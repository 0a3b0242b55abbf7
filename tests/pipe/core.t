#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How much of what programs execute do the tables of timings know, in twelve programs.

. "$(dirname "$0")/../lib.sh"

known=$VT_BUILD/tests/tools/core_known

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi

# Programs that are built here: of the machine's own only what is in its C library matters.
demo=$ROOT/tests/data/demo
seq 3000 | sed 's/$/ some text for programs to work on/' >text
vtrace decode -o heat.vt "$demo/perf.data"
record()
{
	vtrace record --full --skip 100000 --count 400000 -o "$1.rec" -- "${@:2}" \
		>/dev/null 2>&1
}
record pack "$VT_BUILD"/tests/tools/rec_work pack text
record sort "$VT_BUILD"/tests/tools/rec_work sort text
record count "$VT_BUILD"/tests/tools/rec_work count text
record calls "$VT_BUILD"/tests/tools/rec_calls 200
record longjmp "$VT_BUILD"/tests/tools/rec_longjmp 20000
record vprof "$VT_BUILD"/bin/vprof heat.vt
record vlist "$VT_BUILD"/bin/vlist --symfs "$demo/symfs" heat.vt
record vfreq "$VT_BUILD"/bin/vfreq --symfs "$demo/symfs" --clock 2.5 heat.vt
record vinterp "$VT_BUILD"/bin/vinterp --symfs "$demo/symfs" heat.vt
record vdb "$VT_BUILD"/bin/vdb add heat.vt
record decode "$VT_BUILD"/bin/vtrace decode "$demo/perf.data"
record dump "$VT_BUILD"/bin/vtrace dump heat.vt

check()
{
	local core=$1 each=$2 all=$3
	"$known" "$core" ./*.rec >"$core.known"
	awk -F '\t' '{ printf "# %s of %s: %.2f%% %s\n", core, $1, 100 * $3 / $2, $4 }' core="$core" \
		"$core.known"
	t_is "$core: twelve programs" "$(wc -l <"$core.known")" 12
	t_is "$core: recordings are of programs" \
		"$(awk -F '\t' '$2 < 10000 { print $1 }' "$core.known")" ""
	t_is "$core: of each $each % is known" \
		"$(awk -F '\t' -v least="$each" '$3 < least / 100 * $2 { print $1 }' "$core.known")" ""
	t_is "$core: of all $all %" "$(awk -F '\t' -v least="$all" \
		'{ n += $2; k += $3 } END { print (k >= least / 100 * n) }' "$core.known")" 1
}
for core in ivybridge haswell broadwell skylake icelake alderlake zen2 zen3 zen4 zen5; do
	check "$core" 98 99.5
done
# It has no AVX, which the C library uses here.
check inorder 90 97

t_done
