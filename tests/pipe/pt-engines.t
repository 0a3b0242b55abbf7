#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The two decoders of Intel PT make the same of everything: captures of real hardware, what the
# encoder writes, and damaged pieces of both.

. "$(dirname "$0")/../lib.sh"

compare=$VT_BUILD/tests/tools/pt_compare
captures=$VT_DATA/pt

# Compares a trace, and damaged pieces of it; $1 names it, the rest is for pt_compare.
same()
{
	local what=$1
	shift
	t_ok "$what, and $COUNT damaged pieces" "$compare" --window 4096 --mutate "$SEED" "$COUNT" "$@"
}

COUNT=250
SEED=1
if [ -d "$captures" ]; then
	for dump in "$captures"/*/*.dump; do
		folder=$(dirname "$dump")
		trace=
		for file in "$folder"/trace "$folder"/sample_raw_0 "$folder"/failed_trace* "$folder"/ptlog; do
			[ ! -f "$file" ] || trace=$file
		done
		[ -n "$trace" ] || continue
		same "$(basename "$folder")" --pages "$dump,${dump%.dump}.addr" "$trace"
	done
	# Processors whose errata are worked around.
	for model in 0x3d 0x4e 0x55 0x5c 0x7a; do
		SEED=$model COUNT=60
		same "model $model" --model "$model" --pages \
			"$captures/foo/data.dump,$captures/foo/data.addr" "$captures/foo/trace"
	done
else
	t_skip "captures" "there is no $captures"
fi

# ---- traces with times ----

# Of a kept recording, so that the pieces are the same everywhere.
COUNT=300 SEED=2
recording=$ROOT/tests/data/demo/orders.vt
for times in "" "--tsc" "--mtc 3" "--mtc 3 --cyc" "--cyc --tnt64" "--mtc 3 --cyc --tnt64 --psb 512" \
	"--no-retcomp --overflow 900"; do
	# shellcheck disable=SC2086 # words on purpose
	t_ok "it is encoded $times" vtrace encode $times --pages code -o orders.pt "$recording"
	same "the trace $times" --pages code.dump,code.addr orders.pt
done
t_done
