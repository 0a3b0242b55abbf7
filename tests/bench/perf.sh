#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof and vlist against perf report and perf annotate on the same perf.data: processor time and
# wall time as ratios, minima of alternating runs, and peak memory, which must not grow with the
# file. Files given as operands are measured too, as one with branch stacks, which not every machine
# records. BENCH_LARGE=1 adds a file
# of 3 GB.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/perf
report='perf report --stdio -g none'

command -v perf >/dev/null || {
	echo "perf: perf is not installed"
	exit 0
}
mkdir -p "$dir"
cat >"$dir/deep.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long sum;
static int __attribute__((noinline)) leaf(unsigned long x)
{
	for (int i = 0; i < 200; i++)
		sum += (x * i) ^ (sum >> 3);
	return (int)sum;
}
static int __attribute__((noinline)) descend(int n, unsigned long x)
{
	volatile char b[128];
	b[x & 127] = (char)x;
	return n ? descend(n - 1, x + b[(x >> 3) & 127]) + 1 : leaf(x);
}
int main(int argc, char **argv)
{
	unsigned long t = 0, n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	for (unsigned long i = 0; i < n; i++)
		t += descend(i % 40, i);
	printf("%lu\n", t);
	return 0;
}
EOF
gcc -O1 -g -fomit-frame-pointer -o "$dir/deep" "$dir/deep.c"
# Recorded, not multiplied: how perf writes a file decides how fast it is read.
record()
{
	local out=$1 loops=$2
	shift 2
	[ -s "$dir/$out" ] ||
		perf record -q -o "$dir/$out" -e cpu-clock "$@" "$dir/deep" "$loops" >/dev/null 2>&1 || {
		rm -f "$dir/$out"
		echo "perf: perf does not record here"
		exit 0
	}
}
record small.data 3000000 -F 2000
record deep8.data 11500000 -F 4900 --call-graph dwarf,8192
"$here/multiply.py" 89000 "$dir/small.data" "$dir/plain.data"

against()
{
	"$here/alternate.py" "$@"
}

against "vprof, 89,000 samples" 15 3 "vprof $dir/plain.data" "$report --no-children -i $dir/plain.data"
against "vprof, 8 KB stacks, 159 MB" 5 3 "vprof $dir/deep8.data" "$report --no-children -i $dir/deep8.data"
against "vprof --children, the same" 1 5 "vprof --children $dir/deep8.data" "$report --children -i $dir/deep8.data"
against "vlist leaf" 5 10 "vlist $dir/small.data leaf" "perf annotate --stdio -l -i $dir/small.data leaf"
if [ "${BENCH_LARGE:-0}" = 1 ]; then
	record deep16.data 12500000 -F 20000 --call-graph dwarf,16384
	against "vprof, 16 KB stacks, 3 GB" 2 3 "vprof $dir/deep16.data" \
		"$report --no-children -i $dir/deep16.data"
	rm -f "$dir/deep16.data"
fi
for f in "$@"; do
	against "vprof $(basename "$f")" 15 3 "vprof $f" "$report --no-children -i $f"
done
