#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Samples a second that vpair adds up, of its own processor time (the best of five runs): pairs of a
# model that runs gzip, from a file as vsim writes it and from one that is not compressed.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vpair
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

seq 1 "${BENCH_NUMBERS:-200000}" >"$dir/numbers"
vtrace record --full --mem --values=stores --count "${BENCH_COUNT:-20000000}" -o "$dir/gzip.vt" -- \
	gzip -c "$dir/numbers" >/dev/null 2>&1 || {
	echo 'vpair: valgrind is not there, nothing is measured'
	exit 0
}
for how in zlib none; do
	vsim -m alpha21264 --profileme 100 --pairs 80 -z $how -o "$dir/pairs.vt" "$dir/gzip.vt" 2>/dev/null
	n=$(vtrace dump -k SAMPLE -F pair "$dir/pairs.vt" | wc -l)
	for metric in wasted '2.lat_total > 1.lat_total'; do
		best=$(for _ in 1 2 3 4 5; do
			"$here/cputime.py" vpair --metric "$metric" -o "$dir/sums.vt" "$dir/pairs.vt" 2>/dev/null
		done | sort -n | head -1)
		echo "$n $best" | awk -v how=$how -v m="$metric" \
			'{ printf "vpair %-28s %s: %.1f M samples/s\n", m, how, $1 / $2 / 1e6 }'
	done
done
