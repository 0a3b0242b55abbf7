#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Samples a second that vinterp interprets, 16 instructions each, of its own processor time, reading
# included (the best of five runs, so that other work on the machine does not count): a recording of
# gzip, many times over. The code is lifted once. And instructions a second along a path.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vinterp
samples=${BENCH_SAMPLES:-2000000}
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

if ! perf record -q -e cpu-clock -o "$dir/probe.data" true >/dev/null 2>&1; then
	echo "vinterp: perf record does not work here"
	exit 0
fi
seq 1 1500000 >"$dir/numbers"

# seconds FILE OPTIONS...: the least of five runs
seconds()
{
	local file=$1
	shift
	for _ in 1 2 3 4 5; do
		"$here/cputime.py" vinterp "$@" -o /dev/null "$file"
	done | sort -g | head -n 1
}

# figure WHAT STACK SAMPLES OPTIONS...
figure()
{
	local what=$1 stack=$2 samples=$3 n cold all
	shift 3
	vtrace record --regs --stack "$stack" -o "$dir/one.data" -- gzip -c "$dir/numbers" >/dev/null 2>&1
	"$here/multiply.py" "$samples" "$dir/one.data" "$dir/many.data"
	for n in one many; do
		vtrace decode -z none -o "$dir/$n.vt" "$dir/$n.data" 2>/dev/null
		vinterp --summary --json "$dir/$n.vt" | sed -n 's/^ *"samples": \([0-9]*\),$/\1/p' >"$dir/$n"
	done
	cold=$(seconds "$dir/one.vt" "$@")
	all=$(seconds "$dir/many.vt" "$@")
	n=$(($(cat "$dir/many") - $(cat "$dir/one")))
	printf 'vinterp %-44s %8.0f thousand samples a second (aim: 500)\n' "$what" \
		"$(awk -v n="$n" -v all="$all" -v cold="$cold" 'BEGIN { print n / (all - cold) / 1000 }')"
	rm -f "$dir"/*.data "$dir"/*.vt
}

figure "registers, -l 16, summary" 0 "$samples" -l 16 --summary
figure "registers, -l 16, values written" 0 "$samples" -l 16
figure "registers and 256 bytes of stack, -l 16" 256 "$((samples / 2))" -l 16
figure "registers and 8 KB of stack, -l 16" 8192 "$((samples / 20))" -l 16

# path WHAT FILE: instructions a second along a path
path()
{
	local n best=0
	n=$(vinterp --path --summary --json "$2" | sed -n 's/^ *"insns": \([0-9]*\),$/\1/p')
	for _ in 1 2 3 4 5; do
		"$here/cputime.py" vinterp --path --summary "$2" >"$dir/time"
		best=$(awk -v n="$n" -v best="$best" '{ g = n / $1; print (g > best) ? g : best }' "$dir/time")
	done
	printf 'vinterp %-44s %8.1f million instructions a second (aim: 30)\n' "$1" \
		"$(awk -v b="$best" 'BEGIN { print b / 1e6 }')"
}

if command -v valgrind >/dev/null; then
	seq 1 30000 >"$dir/numbers"
	vtrace record --full -z none -o "$dir/gzip.vt" -- gzip -c "$dir/numbers" >/dev/null 2>&1
	vtrace encode --perf-data -o "$dir/gzip.data" "$dir/gzip.vt"
	vtrace decode -z none -o "$dir/gzip.pt.vt" "$dir/gzip.data"
	path "--path, a trace of gzip" "$dir/gzip.pt.vt"
	path "--path, a recording of gzip" "$dir/gzip.vt"
fi
