#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The most frequent values found by interpreting samples of a program are those of a full recording.
# The long test of this name looks at more programs.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/find-top.sh"

[ -z "$VT_SAN" ] || t_skip_all "compares figures: takes long with sanitizers"
top_needs
top_input 3000
# Compared are lists that chance misses once in 100 million at most.  Less than 90 % are found when one
# is missed that has a tenth of the executions, of which there are ten at most: one alarm in 10 million
# is false.  That five are compared is a matter of time, which a clock samples: where the processor is
# fast, or busy, there are more runs.
enough() { echo "$1" | awk '{ print $1, ($4 > 30), (substr($8, 2) + 0 >= 5) }'; }
work=$VT_BUILD/tests/tools/rec_work
for runs in 30 120 480 1920; do
	result=$(top_compare -c $runs "$work" pack text)
	echo "# pack: $result"
	[ "$(enough "$result")" != "find-top 1 1" ] || break
done
t_is "values are compared" "$(enough "$result")" "find-top 1 1"
t_is "at least 90 % of the most frequent values are found" \
	"$(echo "$result" | awk '{ print ($2 >= 90) }')" 1

# Of a program that works on something else, they would not be: full recordings, both, of which
# nothing is chance.
yes 'the same line' | head -n 3000 >other
vtrace record --full --values=all -o other.vt -- "$work" pack other >out 2>errors
vhot -o other.hot other.vt
t_is "those of another input are not" \
	"$("$PYTHON" "$ROOT/tests/find_top.py" other.hot other.hot full.hot | tee other.found | awk '{ print ($2 < 95) }')" 1
sed 's/^/# other input: /' other.found
t_done
