#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Repeated string instructions: each repetition counts once, as where a processor is single-stepped,
# and so does one that has nothing to do. What there must be is arithmetic (tests/tools/rec_rep.c).
. "$(dirname "$0")/../lib.sh"
t_need valgrind

tools=$VT_BUILD/tests/tools
for values in stores all; do
	vtrace record --full --values=$values --mem -o $values.vt -- "$tools/rec_rep" 20 >$values.log
	t_ok "executions, loads and stores are recorded one by one: --values $values" \
		"$PYTHON" "$ROOT/tests/check_rep.py" $values.vt $values.log
	t_is "all instructions" "$(cat "$T_OUT")" "compared $(wc -l <$values.log) differences 0"
done
awk '{ $3++; print }' all.log >other.log
t_status "one more would be found" 1 "$PYTHON" "$ROOT/tests/check_rep.py" all.vt other.log

vprof -b instruction --tsv all.vt >rows
t_is "vprof counts them" "$("$PYTHON" -c '
rows = [line.rstrip("\n").split("\t") for line in open("rows")]
for line in open("all.log"):
    name, addr, want = line.split()[:3]
    print([r[0] for r in rows if r[4].split("+")[0] in ("at_" + name, "run_" + name)
           and int(r[3], 16) % 4096 == int(addr, 16) % 4096] == [want])
' | sort | uniq -c | tr -s ' ')" " $(wc -l <all.log) True"

t_ok "known values are the recorded ones" "$tools/interp_path" all.vt
t_is "all of it is followed" "$(grep -c '^lost 0\|^contradictions 0' "$T_OUT")" 2
t_is "and known" "$(awk '/^result / { n = $2 } /^result-known/ { print ($2 > 0.99 * n) }' "$T_OUT")" 1
t_ok "runs from any place of it too" bash -c "'$tools/interp_truth' <all.vt"

# A processor's trace has each once, and once what has nothing to do.
vtrace encode --pages all -o all.pt all.vt
"$tools/exec_ips" all.vt >want
"$tools/pt_ips" all.pt all >got
t_same "as a processor's trace has them" got want

# Windows by numbers of instructions count the same.
vtrace dump -k EXEC -F insns all.vt | awk '{ n += $1 } END { print n }' >n
for skip in 1000 5000 "$(($(cat n) - 700))"; do
	vtrace record --full --skip "$skip" --count 500 -o w.vt -- "$tools/rec_rep" 20 >w.log
	t_is "a window of 500 behind $skip" \
		"$(vtrace dump -k EXEC -F insns w.vt | awk '{ n += $1 } END { print n }')" 500
	t_ok "its registers are those of its start" "$tools/interp_path" w.vt
done
t_done
