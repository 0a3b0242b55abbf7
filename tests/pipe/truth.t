#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A million values that the interpreter says to know of programs are those that were recorded.
# tests/long/truth.t compares many more.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/truth.sh"
t_need valgrind

cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md | head -c 100000 >in.txt
head -c 30000 in.txt >small.txt
work=$VT_BUILD/tests/tools/rec_work

truth_header
truth pack 4000000 250000 400000 "$work" pack in.txt
truth sort 0 350000 400000 "$work" sort in.txt
truth count 500000 250000 400000 "$work" count small.txt
truth decode 3000000 300000 400000 "$VT_BUILD/bin/vprof" "$ROOT/tests/data/demo/orders.vt"
truth jit 0 10000000 20000 "$VT_BUILD/tests/tools/rec_jit"
truth signals 0 10000000 20000 "$VT_BUILD/tests/tools/rec_signals"
truth threads 0 10000000 20000 "$VT_BUILD/tests/tools/rec_threads"
t_is "a million values" "$((truth_values >= 1000000))" 1

# Each value that is made wrong is found.
vtrace record --full --values=all --mem --count 30000 -o r.vt -- "$work" pack in.txt >/dev/null 2>&1
t_status "wrong values are found" 1 "$VT_BUILD/tests/tools/interp_truth" -w 100 r.vt
falsified=$(sed -n 's/^falsified //p' "$T_OUT")
t_is "all of them" "$(truth_field all differences) $((falsified > 100))" "$falsified 1"
t_done
