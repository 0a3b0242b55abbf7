#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast recorded blocks become Intel PT: the whole of vtrace encode, from a file to /dev/null, for
# Python (indirect branches that nobody can guess) and gzip (loops). Processor time counts, the best
# of three runs; and what a byte of trace holds.
set -eu
PATH=$(cd "${VT_BUILD:-build}" && pwd)/bin:$PATH
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

python=/usr/bin/python3
cat "$root"/lib/*/*.[ch] "$root"/formats/*/*.[ch] "$root"/cmd/*/*.[ch] "$root"/tests/*/*.c |
	head -c 3000000 >text
if ! vtrace record --full --blocks -o gzip.vt -- gzip -c text >text.gz 2>messages ||
	! vtrace record --full --blocks -o python.vt -- \
		"$python" -S -E -c 'print(sum(i * i % 7 for i in range(1000000)))' >sum 2>messages; then
	echo "encode: skipped, vtrace record --full does not work here"
	exit 0
fi

for name in python gzip; do
	insns=$(vtrace dump -k EXEC -F insns "$name.vt" | awk '{ n += $1 } END { printf "%d", n }')
	for options in "" "--mtc 3 --cyc"; do
		# shellcheck disable=SC2086 # options are words
		bytes=$(vtrace encode $options "$name.vt" | wc -c)
		for _ in 1 2 3; do
			# shellcheck disable=SC2086
			"$python" "$root/tests/bench/cputime.py" vtrace encode $options "$name.vt"
		done | sort -n | head -n 1 | awk -v insns="$insns" -v bytes="$bytes" \
			-v name="$name $options" '{
			printf "encode %-22s %5.0f million instructions a second (aim: 300), %.3f bytes each\n",
				name, insns / $1 / 1e6, bytes / insns
		}'
	done
done
