#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Operations a second that vcoproc profiles, of its own processor time (the best of five runs), by
# program: a recording of gzip, reading it included, and as it is when it is not compressed.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vcoproc
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

seq 1 "${BENCH_NUMBERS:-300000}" >"$dir/numbers"
for how in zstd none; do
	vtrace record --full --mem --values=loads,stores --count 50000000 -z "$how" -o "$dir/$how.vt" -- \
		gzip -c "$dir/numbers" >/dev/null 2>&1 || {
		echo 'vcoproc: valgrind is not there, nothing is measured'
		exit 0
	}
done
for program in load-value simple-sample edge mem-dep silent-store; do
	n=$(vcoproc --program "$program" --report --json "$dir/zstd.vt" 2>/dev/null | awk '/"operations":/ { print $2 + 0 }')
	for how in zstd none; do
		best=0
		for _ in 1 2 3 4 5; do
			"$here/cputime.py" vcoproc --program "$program" --report "$dir/$how.vt" >"$dir/time" 2>/dev/null
			best=$(awk -v n="$n" -v best="$best" '{ g = n / $1 * 1e-6; print (g > best) ? g : best }' "$dir/time")
		done
		printf 'vcoproc %-14s %-5s %6.2f million operations a second\n' "$program" "$how" "$best"
	done
done
