#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Processor seconds that vfreq and vculprit take for samples on every procedure of some 26 MB of
# executables (BENCH_FILES), for a machine that issues in order and one that does not.  What goes
# from one to the other is not compressed, as in a pipe.
#
# Then seconds and memory for a busy minute of a whole machine, with as many threads as it has
# processors: 384,000 samples of 9,415 procedures of big files (BENCH_SAMPLED), with stacks of their
# last 32 branches, so that there are counts, and without.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vfreq
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

files=()
for f in ${BENCH_FILES:-/usr/bin/python3.11 /usr/bin/gdb /usr/bin/cmake}; do
	[ ! -e "$f" ] || files+=("$f")
done
[ ${#files[@]} -gt 0 ] || {
	echo 'vfreq: none of the executables is there, nothing is measured'
	exit 0
}
"$build/tests/tools/count_all" "${files[@]}" >"$dir/all.vt" 2>"$dir/all.txt"
echo "vfreq: $(cat "$dir/all.txt") of code in $(cat "${files[@]}" | wc -c) bytes of executables"
for cpu in alpha21164 skylake; do
	"$here/cputime.py" vfreq --model $cpu --compress none -o "$dir/freq.vt" "$dir/all.vt" >"$dir/time1"
	"$here/cputime.py" vculprit "$dir/freq.vt" >"$dir/time2"
	printf 'vfreq | vculprit --model %-10s %6.2f + %.2f seconds\n' $cpu \
		"$(cat "$dir/time1")" "$(cat "$dir/time2")"
done

files=()
for f in ${BENCH_SAMPLED:-/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 /usr/bin/gdb /usr/bin/cmake \
	/usr/bin/python3.11 /usr/bin/git /usr/bin/perl}; do
	[ ! -e "$f" ] || files+=("$f")
done
[ ${#files[@]} -gt 0 ] || exit 0
for depth in 32 0; do
	"$build/tests/tools/sample_all" 9415 384000 $depth "${files[@]}" >"$dir/minute.vt"
	vfreq="vfreq --model skylake --compress none -o '$dir/freq.vt' '$dir/minute.vt'"
	read -r seconds mb <<<"$("$here/measure.py" 3 "$vfreq")"
	read -r seconds2 mb2 <<<"$("$here/measure.py" 3 "vculprit --compress none -o '$dir/stalls.vt' '$dir/freq.vt'")"
	printf 'a minute with %2d branches  %6.2f + %.2f seconds, %.0f and %.0f MB\n' \
		$depth "$seconds" "$seconds2" "$mb" "$mb2"
done
