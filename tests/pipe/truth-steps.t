#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the interpreter says to know after each step of programs is what the processor has: every
# register, flag and store, of runs of 1 to 32 instructions. tests/long/truth-steps.t makes 200,000
# steps.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/truth.sh"
work=$VT_BUILD/tests/tools/rec_work

for _ in 1 2 3 4 5 6 7 8 9 10; do
	cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md
done >in.txt

steps_header
steps pack 12000 "$work" pack in.txt
steps count 12000 "$work" count in.txt
steps strings 20000 "$VT_BUILD/tests/tools/rec_strings" 1000

t_status "wrong registers are found" 1 "$VT_BUILD/tests/tools/interp_steps" -w 1000 3000 \
	"$work" pack in.txt
t_is "all of them" "$(steps_field differences) $(($(steps_field falsified) > 10))" \
	"$(steps_field falsified) 1"
t_done
