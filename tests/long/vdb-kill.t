#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Eight writers of one database, killed in 200 rounds: nothing that was acknowledged is lost, nothing
# is counted twice.

. "$(dirname "$0")/../lib.sh"

t_ok "eight writers, killed in 200 rounds" \
	"$PYTHON" "$ROOT/tests/vdb_kill.py" "$VT_BUILD/tests/tools/stream_make" --rounds 200 --seed 2
sed 's/^/# /' "$T_OUT"
t_like "most of them" '^200 rounds: [0-9]{3,4} writers killed, 6400 inputs added' "$T_OUT"
t_done
