#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What `vtrace record --sample-values` costs programs, beside a bare signal and perf record:
# BENCH_ROUNDS rounds at 1000 and 5000 samples a second. A quiet machine is wanted.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${VT_BUILD:-$here/../../build}" && pwd)
PATH=$build/bin:$PATH
dir=$build/bench/record-values
mkdir -p "$dir"
cd "$dir"
trap 'rm -f bench.vt bench.data bench.data.old numbers' EXIT

seq 1 5000000 >numbers
gcc -O2 -shared -fPIC -o bare.so "$here/bare_signal.c"
if ! vtrace record --sample-values -o bench.vt -- true 2>/dev/null; then
	echo 'record-values: events raise no signals here, nothing is measured'
	exit 0
fi
for rate in ${BENCH_RATES:-1000 5000}; do
	"$here/sample_values.py" "$dir/bare.so" "${BENCH_ROUNDS:-5}" "$rate" gzip -9 -c numbers
	"$here/sample_values.py" "$dir/bare.so" "${BENCH_ROUNDS:-5}" "$rate" \
		python3 -c 'print(sum(i * i % 7 for i in range(30000000)))'
done
