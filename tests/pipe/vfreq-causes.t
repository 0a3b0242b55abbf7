#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs whose time has known causes (tests/data/cycles): they run, print times, and execute their marked
# instructions as often as arithmetic says (tests/counts.py), of which `vfreq --exact` tells.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

for p in causes late serial overlap; do
	t_ok "$p: compiles" gcc -O1 -no-pie -Wall -Wextra -Werror -o "$p" "$ROOT/tests/data/cycles/$p.c"
	read -ra args < <("$PYTHON" -c 'import counts, sys; print(*counts.ARGUMENTS[sys.argv[1]])' "$p")
	t_ok "$p: runs" "./$p" "${args[@]}"
	t_is "$p: tells ticks a visit" "$(awk -F '\t' '!($3 > 0)' "$T_OUT")" ""
	t_ok "$p: is recorded" vtrace record --full --mem --toggle main -o "$p.vt" -- "./$p" "${args[@]}"
	t_pipe "$p: counts" "vsim -S cycles:20 $p.vt 2>/dev/null | vfreq --exact $p.vt -o $p.freq"
	t_ok "$p: are what arithmetic says" "$PYTHON" -c '
import counts, sys
rows = list(counts.compare(sys.argv[1], sys.argv[1], sys.argv[1] + ".freq"))
truth = counts.PROGRAMS[sys.argv[1]]()
assert [r[0] for r in rows] == sorted(truth), (rows, truth)
assert all(r[1] == r[2] for r in rows), rows' "$p"
done
t_done
