#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Both engines on more than 50 traces of real programs, as they are and damaged.
#
# Programs in other languages have variables of their own.
# shellcheck disable=SC2016
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/engines.sh"
t_need valgrind

programs=$VT_BUILD/tests/tools
cat "$ROOT"/man/*.1 | head -c 60000 >in.txt

engines_on calls "$programs/rec_calls" 2000
engines_on longjmp "$programs/rec_longjmp" 3000
engines_on signals "$programs/rec_signals"
engines_on threads "$programs/rec_threads" 200
engines_on generated "$programs/rec_jit"
engines_on libraries "$programs/rec_dlopen" libm.so.6 cos
engines_on fork "$programs/rec_fork"
engines_on crash "$programs/rec_crash"
engines_on true true
engines_on gzip gzip -9 -c in.txt
engines_on sort sort --parallel=2 in.txt
engines_on python "$PYTHON" -c 'print(sorted(str(i * i) for i in range(300))[:5])'
engines_on perl perl -e 'print join(",", map { $_ * 3 } grep { /7/ } 1 .. 500)'
engines_on bash bash -c 'for i in {1..200}; do x=$((x + i)); done; echo $x'
engines_on awk awk '{ n[length($0)]++ } END { for (i in n) s += n[i]; print s }' in.txt
engines_on sed sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' in.txt
engines_on grep grep -cE '(a|b)+c?d' in.txt
engines_on xz xz -1 -T1 -c in.txt
engines_total 50 2000
t_done
