#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# An exact list of more values than one record has room for, from a program that loads
# 1,200,000 different ones: nothing of it is lost on its way through other programs.
. "$(dirname "$0")/../lib.sh"
t_need valgrind

n=1200000
vtrace record --full -o run.vt -- "$VT_BUILD/tests/tools/rec_distinct" $n >/dev/null 2>&1
t_ok "the list is kept" vhot --algo exact -w loads -o hot.vt run.vt

# usage: list STREAM: records, values, executions, and how often the first value came, of that load.
list()
{
	vtrace dump -k HOT -F total,values,counts "$1" | awk -F '\t' '{
		k = split($2, value, ",")
		split($3, count, ",")
		if (k > 100000) {
			n++
			values += k
			total += $1
			for (i = 1; i <= k; i++)
				if (value[i] == "0x5")
					five += count[i]
		}
	} END { print n, values, total, five }'
}
t_is "in two records: all values, all executions" "$(list hot.vt)" "2 $n $((n + 1)) 2"
t_ok "reading them" vinv --tsv -n 1 hot.vt
t_like "is one list" "^$((n + 1))	" "$T_OUT"
t_ok "joined with themselves" vtrace merge -o two.vt hot.vt hot.vt
t_is "they are twice as many executions" "$(list two.vt)" "2 $n $((2 * n + 2)) 4"
t_ok "compared with themselves" vcmp hot.vt hot.vt
t_done
