#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The scripts that repeat the papers' experiments: on programs of one's own, each told as it is done,
# beside what the papers have.
. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" valgrind

export PYTHONDONTWRITEBYTECODE=1
tools=$VT_BUILD/tests/tools
t_ok "value profiling, of two programs of one's own" bash -c "'$ROOT/scripts/paper/value-profiling' -o vp \
	-c 'one=$tools/rec_distinct 300' -c 'two=$tools/rec_rep 4' -t 'two=$tools/rec_rep 6' >log 2>&1"
t_is "the first is told before the second is recorded" \
	"$(grep -nE '^(Table 1, one|recording two, test|Table 6, two)' log | cut -d: -f2 | cut -c1-12 | tr '\n' ' ')" \
	"Table 1, one recording tw Table 6, two "
# In a list that lost counts of its values, all of them together lose less for each than the first.
t_is "by LRU, Diff-All is below Diff-Top, and above a third of it" \
	"$(sed -n '/^Table 1: /,/^paper/p' log | awk '$1 == "one" || $1 == "two" {
		print ($7 < $6 && $7 > $6 / 3 - 0.05) }' | sort | uniq -c | tr -s ' ')" " 2 1"
t_like "beside the paper's" '^paper +33.5 +0.3 +0.6 +99.8 +10.0 +4.8 +90.7$' log
t_status "a command without a name" 3 "$ROOT/scripts/paper/value-profiling" -o vp -c "=x"
t_status "a second input of nothing" 3 "$ROOT/scripts/paper/value-profiling" -o vp -c "a=true" -t "b=x"

t_is "DCPI's cost of a sample, daemon and all, as ours" "$("$PYTHON" -c '
import runpy, sys
sys.path.insert(0, sys.argv[1])
table = runpy.run_path(sys.argv[1] + "/dcpi")["PAPER_TABLE4"]
print(*(f"{n} {interrupt + daemon}" for n, _, interrupt, daemon in table[:2]))' "$ROOT/scripts/paper")" \
	"SPECint95 610 gcc 1332"
t_done
