#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Eight writers of one database at a time, some of them killed: tests/vdb_kill.py.  In tests/long it
# goes on for 200 rounds.  What is asserted holds whenever they are killed and however they take turns,
# and each round has one that is killed for certain: nothing is left to chance but how much is tried.

. "$(dirname "$0")/../lib.sh"

t_ok "eight writers, killed in 10 rounds" \
	"$PYTHON" "$ROOT/tests/vdb_kill.py" "$VT_BUILD/tests/tools/stream_make" --rounds 10 --seed 1
sed 's/^/# /' "$T_OUT"
t_like "some were killed" '^10 rounds: [1-9][0-9]+ writers killed, 320 inputs added' "$T_OUT"

# The same input by all at once, while others read.
cp "$ROOT/tests/data/demo/perf.data" perf.data
for i in 1 2 3 4 5 6 7 8; do
	vdb -d same.vdb add perf.data >"out$i" 2>&1 &
done
for i in 1 2 3 4; do
	[ -s same.vdb ] && vdb -d same.vdb cat >/dev/null
done
wait
t_is "one of eight adds it" "$(cat out? | grep -c 'added to default')" 1
t_is "the others say so" "$(cat out? | grep -c 'is in default already')" 7
t_is "it counts once" "$(vdb -d same.vdb list --json | jq '.rows[].samples')" 3642
t_ok "the database is sound" vdb -d same.vdb check
t_done
