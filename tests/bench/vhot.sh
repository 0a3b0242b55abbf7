#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Values a second that vhot brings to their lists, of its own processor time, reading a plain stream
# from a pipe (the best of five runs, so that other work on the machine does not count); and its peak
# memory on streams of two lengths, which is to be the same. Made-up streams: 3 loads in each block of
# 6 instructions, whose values are constant, mostly 0, in steps, or random; the blocks come in loops,
# or each as if by chance (Zipf), which no program does and no cache likes. And, if valgrind is there,
# a recording of gzip.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
make_stream=$build/tests/tools/stream_exec
dir=$build/bench/vhot
values=${BENCH_VALUES:-100000000}
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

# figure WHAT FILE [OPTIONS]: one line, the ratio being that to the aim.
figure()
{
	local what=$1 file=$2 n best=0
	shift 2
	n=$(vtrace info --json "$file" |
		sed -n '/"load": {/,/}/s/^ *"count": \([0-9]*\),$/\1/p')
	for _ in 1 2 3 4 5; do
		# shellcheck disable=SC2002 # a pipe is what is measured
		cat "$file" | "$here/cputime.py" vhot "$@" >"$dir/time"
		best=$(awk -v n="$n" -v best="$best" '{ g = n / $1 * 1e-6; print (g > best) ? g : best }' "$dir/time")
	done
	awk -v what="$what" -v best="$best" 'BEGIN {
		printf "vhot   %-44s %6.1f million values a second: %.2f of the aim (50)\n", what, best, best / 50
	}'
}

# memory VALUES: peak on a stream of that length, in MB.
memory()
{
	local mb
	"$make_stream" -n $((2 * $1)) -v 3 -B 3000 -o random --pool 3000 >"$dir/memory.vt"
	read -r _ mb < <("$here/measure.py" 1 "cat '$dir/memory.vt' | vhot")
	echo "$mb"
}

"$make_stream" -n $((2 * values)) -v 3 -B 3000 --pool 3000 >"$dir/made.vt"
figure "gm, 3000 blocks in loops" "$dir/made.vt" --algo gm
for algo in space-saving tnv; do
	figure "$algo, the same" "$dir/made.vt" --algo $algo
done
"$make_stream" -n $((2 * values)) -v 3 -B 3000 -o random --pool 3000 >"$dir/made.vt"
figure "gm, 3000 blocks by chance" "$dir/made.vt" --algo gm
rm -f "$dir/made.vt"
printf 'vhot   peak memory %.1f MB for %d values, %.1f MB for %d\n' "$(memory $((values / 10)))" \
	$((values / 10)) "$(memory "$values")" "$values"
if vtrace record --full -o "$dir/probe.vt" true >/dev/null 2>&1; then
	seq 1 200000 >"$dir/numbers"
	vtrace record --full -z none -o "$dir/gzip.vt" -- gzip -c "$dir/numbers" >/dev/null
	figure "gm, gzip recorded" "$dir/gzip.vt" --algo gm
fi
