#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Processor seconds that vfreq and vculprit take for samples on every procedure of some 26 MB of
# executables (BENCH_FILES), for a machine that issues in order and one that does not.  What goes
# from one to the other is not compressed, as in a pipe.

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
