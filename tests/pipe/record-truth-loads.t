#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The values of loads in a recording against a program that logs what its instructions must read,
# through a reader that shares nothing with ours (tests/vt_exec.py).
. "$(dirname "$0")/../lib.sh"
t_need valgrind

tools=$VT_BUILD/tests/tools
t_ok "the program is recorded" vtrace record --full --values=all --mem -o loads.vt -- \
	"$tools/rec_loads" loads.log 3
t_ok "each instruction has read what it must have" "$PYTHON" "$ROOT/tests/check_loads.py" \
	loads.vt loads.log
sed 's/^/# /' "$T_OUT"
t_is "as many executions as logged" "$(sed -n 's/^executions //p' "$T_OUT")" "$(wc -l <loads.log)"
t_is "hundreds of different instructions" "$(awk '/^instructions/ { print ($2 > 300) }' "$T_OUT")" 1

# The test itself can fail: another value, another address, one execution less.
awk 'NR == 9 { sub(/.$/, $0 ~ /0$/ ? "1" : "0") }
	NR == 19 { sub(/.:/, $0 ~ /0:/ ? "1:" : "0:") }
	NR != 29' loads.log >other.log
t_status "differences are found" 1 "$PYTHON" "$ROOT/tests/check_loads.py" loads.vt other.log
t_is "all of them" "$(sed -n 's/^differences //p' "$T_OUT")" 4
t_done
