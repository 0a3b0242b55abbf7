#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vreplay on executed code without addresses: interpreted along its path, it has each planted pair of
# tests/data/replay/conflicts.S whose addresses follow from the program alone.

. "$(dirname "$0")/../lib.sh"

t_need valgrind
. "$ROOT/tests/replay.sh"

for name in narrow partial twice vector alias divided same synonym dependent together clean; do
	vtrace record --full --values=none -o "$name.vt" -- ./conflicts "$name" 1000 >/dev/null 2>&1 ||
		t_fail "recording $name"
done
for name in narrow partial twice vector; do
	planted 1000 "$name" forward
done
planted 1000 alias alias-4k
planted 1000 divided order
for name in same synonym dependent together clean; do
	t_is "$name: nothing" "$(pairs "$name.vt")" ""
done

# Bursts begin with nothing known: addresses are relative to what a register held.
for name in narrow partial twice vector alias; do
	vsample -n 200 --burst 128 -o bursts.vt "$name.vt"
	t_like "$name: found in bursts" "^[a-z0-9-]+ $(at "$name.E") $(at "$name.L") [1-9]" <(pairs bursts.vt)
done
for name in same synonym dependent together clean; do
	vsample -n 200 --burst 128 -o bursts.vt "$name.vt"
	t_is "$name: nothing in bursts" "$(pairs bursts.vt)" ""
done
vsample -n 13 --burst 1 -o single.vt narrow.vt
t_is "registers of another burst are not the same" "$(pairs single.vt)" ""

t_ok "summary" vreplay --summary --json narrow.vt
t_like "how accesses came to be known" '"from": "the path, interpreted"' "$T_OUT"

# The same of a processor's trace, made from the recording.
vtrace encode --perf-data -o narrow.data narrow.vt 2>/dev/null
vtrace decode -o narrow.vt narrow.data
t_is "narrow: in a processor's trace" "$(pairs narrow.vt)" \
	"forward $(at narrow.E) $(at narrow.L) 1000"

# One run with its addresses and without: each pair of the latter, and how often it met, is in the former.
seq 1 1000 >numbers
vtrace record --full --mem --values=stores -o recorded.vt -- "$VT_BUILD/tests/tools/rec_work" pack numbers >/dev/null 2>&1
vinterp --path -w targets -o bare.vt recorded.vt
for f in recorded bare; do
	vreplay -m alpha --stores 0 "$f.vt" 2>/dev/null |
		vtrace dump -k CONFLICT -F type,image,offset,earlier_image,earlier,count - >"$f"
done
t_is "no pair, and none more often, than with recorded addresses" "$(awk -F '\t' '
	{ key = $1 FS $2 FS $3 FS $4 FS $5 }
	NR == FNR { count[key] = $6; next }
	!(key in count) || $6 > count[key]' recorded bare)" ""
t_is "hundreds of pairs" "$(($(wc -l <bare) > 300))" 1

t_done
