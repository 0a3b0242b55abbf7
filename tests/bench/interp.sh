#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Instructions a second that the interpreter runs, of its own processor time: in hot loops, and
# along recordings of real programs, lifting and reading included.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
speed=$build/tests/tools/interp_speed
dir=$build/bench/interp
mkdir -p "$dir"
trap 'rm -rf "$dir"' EXIT

"$speed" loops
seq 1 "${BENCH_NUMBERS:-60000}" >"$dir/numbers"

# replay NAME COMMAND...
replay()
{
	local name=$1
	shift
	if vtrace record --full -o "$dir/one.vt" -- "$@" >/dev/null 2>&1; then
		"$speed" replay "$name" "$dir/one.vt"
	else
		echo "interp replay $name: valgrind is not there, nothing is measured"
	fi
}

replay gzip gzip -c "$dir/numbers"
# shellcheck disable=SC2016 # $ is perl's
replay perl perl -e 'my %h; $h{$_ % 997} .= "x$_" for 1 .. 30000; print length(join ",", sort values %h)'
replay python /usr/bin/python3 -S -c 'print(sum(i * i % 7 for i in range(60000)))'
