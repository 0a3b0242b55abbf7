#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Instructions a second that vreplay looks at, of its own processor time (the best of three runs): a
# recording of gzip with all addresses, for each model.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vreplay
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

seq 1 "${BENCH_NUMBERS:-20000}" >"$dir/numbers"
vtrace record --full --mem --values=stores -o "$dir/gzip.vt" -- gzip -c "$dir/numbers" >/dev/null 2>&1 || {
	echo 'vreplay: valgrind is not there, nothing is measured'
	exit 0
}
n=$(vtrace info --json "$dir/gzip.vt" | sed -n 's/^ *"instructions": \([0-9]*\),$/\1/p')
for model in generic zen4 alpha; do
	best=0
	for _ in 1 2 3; do
		"$here/cputime.py" vreplay -m "$model" -o "$dir/out.vt" "$dir/gzip.vt" >"$dir/time" 2>/dev/null
		best=$(awk -v n="$n" -v best="$best" '{ g = n / $1 * 1e-6; print (g > best) ? g : best }' "$dir/time")
	done
	printf 'vreplay -m %-8s %6.2f million instructions a second\n' "$model" "$best"
done
