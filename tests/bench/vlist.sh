#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist with source lines against perf annotate --stdio -l of the same procedure of a C++ program of
# some 50 MB with DWARF. The program is built once, which takes minutes.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/bigcxx

if ! command -v perf >/dev/null || ! command -v g++ >/dev/null; then
	echo "vlist: perf or g++ is not installed"
	exit 0
fi
[ -x "$dir/big" ] || echo "vlist  building a large C++ program, once"
"$here/../tools/mkbigcxx.sh" "$dir"
[ -s "$dir/big.data" ] ||
	perf record -q -o "$dir/big.data" -e cpu-clock -F 1000 "$dir/big" >/dev/null || {
	rm -f "$dir/big.data"
	echo "vlist: perf does not record here"
	exit 0
}
size=$(($(stat -c %s "$dir/big") / 1000000))
read -r theirs _ < <("$here/measure.py" 3 "perf annotate -i '$dir/big.data' --stdio -l hot")
read -r ours memory < <("$here/measure.py" 3 "vtrace decode '$dir/big.data' | vlist hot")
awk -v size="$size" -v theirs="$theirs" -v ours="$ours" -v memory="$memory" 'BEGIN {
	printf "vlist  %d MB of C++: perf annotate -l %.2f s, vtrace decode | vlist %.3f s: %.1f times as fast (aim: 20)\n",
		size, theirs, ours, theirs / ours
	printf "vlist  peak memory %.1f MB\n", memory
}'
