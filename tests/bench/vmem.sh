#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Loads and stores a second that vmem counts, of its own processor time (the best of three runs): a
# recording of gzip with all addresses, by object, by type, by cache line and by static load.  Then
# its memory, for a million locations.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vmem
mkdir -p "$dir"
trap 'rm -f "$dir"/*.vt' EXIT

seq 1 "${BENCH_NUMBERS:-100000}" >"$dir/numbers"
vtrace record --full --mem --values=stores --heap -o "$dir/gzip.vt" -- gzip -c "$dir/numbers" >/dev/null 2>&1 || {
	echo 'vmem: valgrind is not there, nothing is measured'
	exit 0
}
n=$(vmem --json "$dir/gzip.vt" 2>/dev/null | awk '/^  "(loads|stores)":/ { n += $2 } END { print n }')
for options in "" --type --sharing --loads; do
	best=0
	for _ in 1 2 3; do
		# shellcheck disable=SC2086 # none or one word
		"$here/cputime.py" vmem $options -o "$dir/out" "$dir/gzip.vt" >"$dir/time" 2>/dev/null
		best=$(awk -v n="$n" -v best="$best" '{ g = n / $1 * 1e-6; print (g > best) ? g : best }' "$dir/time")
	done
	printf 'vmem %-10s %6.2f million loads and stores a second\n' "$options" "$best"
done

cat >"$dir/million.c" <<'END'
#include <stdlib.h>
int main(void)
{
	size_t i, n = 1000000;
	volatile long *a = malloc(n * sizeof(*a));
	long sum = 0;

	for (i = 0; a && i < n; i++)
		a[i] = (long)i;
	for (i = 0; a && i < n; i++)
		sum += a[i * 7919 % n];
	return sum == 0;
}
END
${CC:-gcc} -O1 -o "$dir/million" "$dir/million.c"
vtrace record --full --mem --values=stores --heap -o "$dir/million.vt" -- "$dir/million" >/dev/null 2>&1
"$here/cputime.py" vmem -o "$dir/out" "$dir/million.vt" >"$dir/time" 2>/dev/null
awk '{ printf "vmem, a million locations: %.2f million loads and stores a second\n", 2 / $1 }' "$dir/time"
python3 - "$dir/million.vt" <<'END'
import os, subprocess, sys
child = subprocess.Popen(['vmem', sys.argv[1]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
usage = os.wait4(child.pid, 0)[2]
print(f'vmem, a million locations: {usage.ru_maxrss / 1024:.0f} MB')
END
