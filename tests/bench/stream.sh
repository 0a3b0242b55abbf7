#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How many small records (COUNT) a writer and a reader move through a pipe, each on one processor.
# Figures are of each process's own processor time; the better of three runs counts, so that other
# work on the machine does not.
set -eu
speed=${VT_BUILD:-build}/tests/tools/stream_speed
n=${STREAM_RECORDS:-100000000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

for _ in 1 2 3; do
	"$speed" write "$n" 2>>"$tmp/log" | "$speed" read 2>>"$tmp/log"
	"$speed" write "$n" 2>>"$tmp/log" | "$speed" runs 2>>"$tmp/log"
done
for what in write read runs; do
	sed -n "s/^$what: .* \([0-9.]*\) million.*/\1/p" "$tmp/log" | sort -n | tail -n 1 |
		awk -v what=$what '{ printf "stream %-5s %7.1f million records a second (aim: 100)\n", what, $1 }'
done
