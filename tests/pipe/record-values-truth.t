#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # programs of awk, bash and perl
#
# A million instructions behind samples: each result that vinterp says to know, from the registers and
# the memory of the sample, is what the processor computed, and it knows nearly all loads.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/steps_values.sh"

seq -w 1 400000 | sed 's/\(.\)\(.\)/\2\1x/' >text
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "$ROOT"/man/*.1; done >pages

values_stepped gzip 98 150000 gzip -9 -c pages
values_stepped sort 95 150000 sort --parallel=1 -k 2 pages pages
values_stepped awk 95 100000 awk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (k in n) print k, n[k] }' pages pages
values_stepped sed 95 150000 sed -E 's/1x*2/yy/g' text
values_stepped perl 95 150000 perl -e 'for (1 .. 3000000) { $n{$_ % 97} .= "x$_"; } print length($n{5})'
values_stepped bash 95 100000 bash -c 'for ((i = 0; i < 60000; i++)); do s=${s//a/bb}x$((i * 7919 % 101)); s=${s:0:40}; done'
values_stepped strings 95 200000 "$VT_BUILD/tests/tools/rec_strings" 20000
t_is "a million instructions" "$((insns_compared >= 1000000))" 1

# A tool that sees no difference must be able to see one.
t_status "a falsified value is seen" 1 "$VT_BUILD/tests/tools/value_steps" -l 64 -w 1000 x.vt
t_done
