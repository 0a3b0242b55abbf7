#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How many samples in memory --where evaluates on one processor. Figures are of the process's own
# processor time; the best of three runs counts, so that other work on the machine does not.
set -eu
speed=${VT_BUILD:-build}/tests/tools/where_speed
n=${WHERE_RECORDS:-50000000}

for expr in 'lat_load > 200' 'lat_load > 200 && events & dcache_miss' \
	'(lat_load - lat_exec) * 2 > 200 || ip % 64 < 8'; do
	for _ in 1 2 3; do
		"$speed" "$expr" "$n"
	done | sed -n 's/.*: \([0-9.]*\) million.*/\1/p' | sort -n | tail -n 1 |
		awk -v expr="$expr" '{ printf "where %-48s %7.1f million records a second%s\n", expr, $1,
			expr ~ /dcache_miss/ ? " (aim: 50)" : "" }'
done
