#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Samples of followed instructions a second that vevent, vpair and vpath take, of their own processor
# time (the best of three runs): of a model that runs gzip, from a file as vsim writes it and from one
# that is not compressed.  vpath looks for paths of 12 branches, so most of its time goes by place, and
# not by sample.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/followed
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

seq 1 "${BENCH_NUMBERS:-200000}" >"$dir/numbers"
vtrace record --full --mem --values=stores --count "${BENCH_COUNT:-5000000}" -o "$dir/gzip.vt" -- \
	gzip -c "$dir/numbers" >/dev/null 2>&1 || {
	echo 'followed: valgrind is not there, nothing is measured'
	exit 0
}

# rate SAMPLES NAME COMMAND...
rate()
{
	local samples=$1 name=$2 best
	shift 2
	best=$(for _ in 1 2 3; do
		"$here/cputime.py" "$@" 2>/dev/null
	done | sort -n | head -n 1)
	awk -v n="$samples" -v s="$best" -v name="$name" \
		'BEGIN { printf "%-40s %7.3f M samples/s, %.2f s\n", name, n / s / 1e6, s }'
}

for how in zlib none; do
	vsim -m alpha21264 --profileme 100 --pairs 80 --history 12 -z $how -o "$dir/run.vt" "$dir/gzip.vt" \
		2>/dev/null
	n=$(vtrace dump -k SAMPLE -F pair "$dir/run.vt" | wc -l)
	rate "$n" "vevent, $how" vevent -o "$dir/sums.vt" "$dir/run.vt"
	rate "$n" "vevent --by addr, $how" vevent --by addr --json "$dir/run.vt"
	for metric in wasted '2.lat_total > 1.lat_total'; do
		rate "$n" "vpair $metric, $how" vpair --metric "$metric" -o "$dir/sums.vt" "$dir/run.vt"
	done
	rate "$n" "vpath, $how" vpath -o "$dir/sums.vt" "$dir/run.vt"
done
