#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode | vprof against perf report on a perf.data of a million samples: time as a ratio in
# one run, and peak memory, which must not grow with the recording.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${VT_BUILD:-$here/../../build}
PATH=$build/bin:$PATH
dir=$build/bench/vprof
million=${BENCH_SAMPLES:-1000000}

command -v perf >/dev/null || {
	echo "vprof: perf is not installed"
	exit 0
}
mkdir -p "$dir"
if [ ! -s "$dir/base.data" ]; then
	seq 1 200000 >"$dir/numbers"
	perf record -q -o "$dir/base.data" -e cpu-clock -F 5000 sh -c "gzip -kf '$dir/numbers'
		sort -r '$dir/numbers' >/dev/null
		python3 -c 'print(sum(hash(str(i)) % 7 for i in range(1500000)))'
		perl -e 'my \$x = 0; for (1..3000000) { \$x += \$_ % 7 } print \$x'" >/dev/null || {
		rm -f "$dir/base.data"
		echo "vprof: perf does not record here"
		exit 0
	}
fi
"$here/multiply.py" "$million" "$dir/base.data" "$dir/large.data"

read -r theirs _ < <("$here/measure.py" 3 "perf report -i '$dir/large.data' --stdio --no-children")
read -r ours memory < <("$here/measure.py" 3 "vtrace decode '$dir/large.data' | vprof")
awk -v n="$million" -v theirs="$theirs" -v ours="$ours" -v memory="$memory" 'BEGIN {
	printf "vprof  %d samples: perf report %.2f s, vtrace decode | vprof %.2f s: %.1f times as fast (aim: 3)\n",
		n, theirs, ours, theirs / ours
	printf "vprof  peak memory %.1f MB (aim: 64 and the images)\n", memory
}'
rm -f "$dir/large.data"
