#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A million values that the interpreter says to know of real programs are those that were recorded.
# tests/long/truth.t compares many more.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/truth.sh"
t_need valgrind gzip sort perl sha256sum

cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md | head -c 100000 >in.txt
head -c 30000 in.txt >small.txt

truth_header
truth gzip 4000000 250000 400000 gzip -6 -c in.txt
truth sort 0 350000 400000 sort in.txt
# shellcheck disable=SC2016 # for perl
truth perl 1500000 250000 400000 perl -ne '$n{length $_} += 1.5; END { print sqrt $n{$_} for keys %n }' small.txt
truth sha256sum 0 300000 400000 sha256sum in.txt
truth jit 0 10000000 20000 "$VT_BUILD/tests/tools/rec_jit"
truth signals 0 10000000 20000 "$VT_BUILD/tests/tools/rec_signals"
truth threads 0 10000000 20000 "$VT_BUILD/tests/tools/rec_threads"
t_is "a million values" "$((truth_values >= 1000000))" 1

# Each value that is made wrong is found.
vtrace record --full --values=all --mem --count 30000 -o r.vt -- gzip -6 -c in.txt >/dev/null 2>&1
t_status "wrong values are found" 1 "$VT_BUILD/tests/tools/interp_truth" -w 100 r.vt
falsified=$(sed -n 's/^falsified //p' "$T_OUT")
t_is "all of them" "$(truth_field all differences) $((falsified > 100))" "$falsified 1"
t_done
