#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The most frequent values found by interpreting samples of gzip are those of a full recording. The
# long test of this name looks at more programs.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/find-top.sh"

[ -z "$VT_SAN" ] || t_skip_all "compares figures: takes long with sanitizers"
top_needs
top_input 3000
# Compared are lists that chance misses once in 100 million at most, of some ten: no alarm is false more often than
# once in a million runs. (That there are so many is a matter of time, which a clock samples: of ten or more, unless the processor is fast.)
enough() { echo "$1" | awk '{ print $1, ($4 > 30), (substr($8, 2) + 0 >= 5) }'; }
# Fast processors run it in less time, and busy ones lose samples.
for runs in 60 240 960; do
	result=$(top_compare -c $runs gzip -6 -c text)
	echo "# gzip: $result"
	[ "$(enough "$result")" != "find-top 1 1" ] || break
done
t_is "values are compared" "$(enough "$result")" "find-top 1 1"
t_is "at least 90 % of the most frequent values are found" "$(echo "$result" | awk '{ print ($2 >= 90) }')" 1


# Of a program that works on something else, they would not be. (Full recordings, both: nothing of chance.)
tr 0-9 a-j <text >other
vtrace record --full --values=all -o other.vt -- gzip -1 -c other >out 2>errors
vhot -o other.hot other.vt
t_is "those of another input are not" \
	"$("$PYTHON" "$ROOT/tests/find_top.py" other.hot other.hot full.hot | tee other.found | awk '{ print ($2 < 95) }')" 1
sed 's/^/# other input: /' other.found
t_done
