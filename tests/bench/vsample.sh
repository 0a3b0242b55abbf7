#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Instructions a second that vsample passes over, of its own processor time (the best of five runs,
# so that other work on the machine does not count): made-up streams of 6 instructions a block, and,
# if valgrind is there, recordings of gzip.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
make_stream=$build/tests/tools/stream_exec
dir=$build/bench/vsample
insns=${BENCH_INSNS:-1000000000}
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

# figure WHAT FILE [OPTIONS]: one line; "-" before the file's name: through a pipe.
figure()
{
	local what=$1 file=$2 n best=0
	shift 2
	n=$(vtrace info --json "${file#-}" | sed -n 's/^ *"instructions": \([0-9]*\),$/\1/p')
	for _ in 1 2 3 4 5; do
		if [ "$file" = "${file#-}" ]; then
			seconds "$dir/time" vsample "$@" "$file"
		else
			# shellcheck disable=SC2002 # a pipe is what is measured
			cat "${file#-}" | seconds "$dir/time" vsample "$@"
		fi
		best=$(awk -v n="$n" -v best="$best" '{ g = n / $1 * 1e-9; print (g > best) ? g : best }' "$dir/time")
	done
	printf 'vsample %-44s %6.2f billion instructions a second (aim: 2)\n' "$what" "$best"
}

# seconds FILE CMD...: user and system time of a command into the file.
seconds()
{
	local out=$1
	shift
	"$here/cputime.py" "$@" >"$out"
}

"$make_stream" -n "$insns" --pool 64 -B 8000 -o random >"$dir/blocks.vt"
figure "blocks, a file" "$dir/blocks.vt" -n 64000
figure "blocks, a pipe" "-$dir/blocks.vt" -n 64000
figure "blocks, every 64000th branch" "$dir/blocks.vt" -n 64000 -e branches
figure "blocks, callers" "$dir/blocks.vt" -n 64000 --context
"$make_stream" -n "$((insns / 4))" --pool 64 -B 8000 -o random -v 2 --size 4 >"$dir/values.vt"
figure "blocks and 2 values of 4 bytes, a file" "$dir/values.vt" -n 64000
figure "blocks and 2 values of 4 bytes, a pipe" "-$dir/values.vt" -n 64000
rm -f "$dir"/*.vt
if vtrace record --full -o "$dir/probe.vt" true >/dev/null 2>&1; then
	seq 1 200000 >"$dir/numbers"
	for values in none loads; do
		vtrace record --full --values=$values -z none -o "$dir/$values.vt" -- gzip -c "$dir/numbers" >/dev/null
		figure "gzip recorded, values: $values, a file" "$dir/$values.vt" -n 64000
		vtrace record --full --values=$values -z zstd -o "$dir/$values.vt" -- gzip -c "$dir/numbers" >/dev/null
		figure "gzip recorded, values: $values, zstd" "$dir/$values.vt" -n 64000
	done
fi
