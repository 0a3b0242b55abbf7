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
# All procedures: twice as many take twice as long.
for n in 1000 2000; do
	if ! [ -s "$dir/all$n.vt" ]; then
		awk -v n="$n" 'BEGIN {
			for (i = 0; i < n; i++)
				printf "__attribute__((noinline)) int f%d(volatile int x) { return x * %d; }\n", i, i + 1
			print "int main(void) { int s = 0;"
			for (i = 0; i < n; i++)
				printf "s += f%d(s);\n", i
			print "return 0; }"
		}' >"$dir/all$n.c"
		gcc -O1 -o "$dir/all$n" "$dir/all$n.c"
		vtrace record --full --blocks -o "$dir/all$n.vt" -- "$dir/all$n" 2>/dev/null
	fi
	read -r seconds _ < <("$here/measure.py" 3 "vlist --all -i '$dir/all$n.vt'")
	echo "vlist  --all of $n procedures: $seconds s"
done
awk -v size="$size" -v theirs="$theirs" -v ours="$ours" -v memory="$memory" 'BEGIN {
	printf "vlist  %d MB of C++: perf annotate -l %.2f s, vtrace decode | vlist %.3f s: %.1f times as fast (aim: 20)\n",
		size, theirs, ours, theirs / ours
	printf "vlist  peak memory %.1f MB\n", memory
}'
