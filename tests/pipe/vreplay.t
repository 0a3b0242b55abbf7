#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vreplay: finds each planted pair of tests/data/replay/conflicts.S, recorded by valgrind, at the
# addresses that nm tells, and nothing in the procedure that has none.

. "$(dirname "$0")/../lib.sh"

t_need valgrind
. "$ROOT/tests/replay.sh"

record()
{
	vtrace record --full --mem --values=stores -o "$1.vt" -- ./conflicts "$1" 1000 >/dev/null 2>&1
}

for name in narrow partial twice vector alias order divided same synonym dependent together clean line page half apart; do
	record "$name" || t_fail "recording $name"
done

for model in generic skylake zen4; do
	for name in narrow partial twice vector; do
		planted 1000 "$name" forward -m "$model"
	done
	planted 1000 order order -m "$model"
	planted 1000 divided order -m "$model"
	for name in same synonym dependent together clean; do
		t_is "$name: nothing ($model)" "$(pairs "$name.vt" -m "$model")" ""
	done
done
planted 1000 alias alias-4k
planted 1000 alias alias-4k -m skylake
t_is "alias: nothing on zen4" "$(pairs alias.vt -m zen4)" ""

# A distance of 101 instructions, and less.
planted 1000 alias alias-4k --distance 101
t_is "alias: too far apart" "$(pairs alias.vt --distance 100)" ""
t_is "narrow: no store may wait" "$(pairs twice.vt --stores 1)" \
	"forward $(at twice.E) $(at twice.L) 1000"

# What depends on the earlier one, with --dependent.
planted 1000 dependent alias-4k --dependent

# The paper's traps.
t_like "alpha: order" "^order $(at same.E) $(at same.L) 1000\$" <(pairs same.vt -m alpha)
t_like "alpha: size" "^size $(at narrow.E) $(at narrow.L) 1000\$" <(pairs narrow.vt -m alpha)
t_like "alpha: synonym" "^synonym $(at synonym.E) $(at synonym.L) 1000\$" <(pairs synonym.vt -m alpha)
pairs dependent.vt -m alpha --distance 5 --loads 5 >found
t_unlike "alpha: no pair of what depends on the other" "$(at dependent.E) $(at dependent.L) " found
pairs same.vt -m alpha >found
t_unlike "alpha: no size, no synonym of one store and load" "^(size|synonym)" found
pairs synonym.vt -m alpha --cache 128k:2:64 >found
t_unlike "alpha: no synonym in a larger cache" "^synonym $(at synonym.E)" found

# What crosses a line or a page: only where that is asked for.
for name in line page half; do
	t_is "$name: forwarded" "$(pairs "$name.vt")" ""
	planted 1000 "$name" forward --crossing 64
done
planted 1000 page forward --crossing 4096 -m zen4
for name in line half same; do
	t_is "$name: crosses no page" "$(pairs "$name.vt" --crossing 4096)" ""
done
t_is "same: crosses no line" "$(pairs same.vt --crossing 64)" ""

# Nothing in what has none, whatever is asked.
for model in generic skylake zen4; do
	for how in '-d 960' '-d 1' '--stores 0' '--stores 1' '--crossing 64' '--crossing 4096' '--dependent'; do
		for name in clean apart; do
			# shellcheck disable=SC2086 # an option and its value
			t_is "$name: nothing ($model $how)" "$(pairs "$name.vt" -m "$model" $how)" ""
		done
	done
done
for how in '' '--stores 5' '--crossing 64' '-d 150 --loads 150' '--cache 64k:1:64' '--dependent'; do
	# shellcheck disable=SC2086 # options and their values, or none
	t_is "apart: nothing (alpha $how)" "$(pairs apart.vt -m alpha $how)" ""
done

# Samples of the recording: bursts around one instruction in 50 or so.
for name in narrow partial twice vector alias order divided; do
	vsample -n 200 --burst 128 "$name.vt" -o bursts.vt
	t_like "$name: found in bursts" "^[a-z0-9-]+ $(at "$name.E") $(at "$name.L") [1-9]" <(pairs bursts.vt)
done
for name in same synonym dependent together clean; do
	vsample -n 200 --burst 128 "$name.vt" -o bursts.vt
	t_is "$name: nothing in bursts" "$(pairs bursts.vt)" ""
done
vsample -n 13 --burst 1 narrow.vt -o single.vt
t_is "a pair never spans a gap" "$(pairs single.vt)" ""

# The stream that is written, and the summary.
t_pipe "twice the same" 'vreplay narrow.vt >a.vt; vreplay narrow.vt >b.vt; cmp a.vt b.vt'
t_ok "summary" vreplay --summary --json narrow.vt
cp "$T_OUT" summary.json
t_is "summary: all accesses have addresses" "$("$PYTHON" -c '
import json
s = json.load(open("summary.json"))
print(s["known"] > 0.99 * s["accesses"] > 10000, s["model"], s["distance"])')" "True generic 224"

# Executions of a known number: nm and the argument say how often the load runs.
vreplay --image conflicts narrow.vt 2>/dev/null | vtrace dump -k CONFLICT -F offset,executions,nearest,distance - >found
t_like "executions, nearest, distance" "^$(at narrow.L)	1000	1	1000\$" found

# The list of pairs.
t_pipe "vlist --replay" 'vsample -n 200 --burst 128 narrow.vt | vreplay --image conflicts | vlist --replay --json >list.json'
t_is "the planted pair is the first of the list" "$("$PYTHON" -c '
import json
p = json.load(open("list.json"))["pairs"][0]
print(p["type"], p["procedure"], p["earlier_procedure"], p["distance"], p["instruction"].split()[0], p["earlier_instruction"].split()[0])')" \
	"forward narrow narrow 1.0 mov movb"
# On zen4, no access of the start-up code can conflict by chance with the stack of another page.
t_ok "vlist --replay for people" bash -c 'vreplay -m zen4 --image conflicts narrow.vt 2>/dev/null | vlist --replay --top 1'
t_like "with a header" "^1 pair of accesses that may conflict, in [0-9]+ instructions;\$" "$T_OUT"
t_like "of two lines" "^100\.00% of [0-9]+ accesses had known addresses\$" "$T_OUT"
t_like "the later access" '^ +1000 +1\.0 +forward +[0-9a-f]+  mov 0x40\(%rdi\),%rax +narrow$' "$T_OUT"
t_like "and the earlier one" "^of 1000 +from 1 +after +[0-9a-f]+  movb .0x1,0x40\\(%rdi\\) +narrow\$" "$T_OUT"
t_is "without columns that say nothing" "$(grep -c samples "$T_OUT")" 0
for name in narrow partial twice vector order divided; do
	vlist --replay --top 100 -i <(vreplay -m zen4 --image conflicts "$name.vt" 2>/dev/null)
done >lists
vlist --replay --top 1 -i <(vreplay --image conflicts alias.vt 2>/dev/null) >>lists
t_is "in 80 columns" "$(awk 'length > 80' lists)" ""
t_status "vlist --replay of a recording" 3 vlist --replay -i narrow.vt
t_status "vlist --replay main" 2 vlist --replay main -i narrow.vt

# Input that will not do.
vtrace record --full --values=none -o none.vt -- ./conflicts narrow 10 >/dev/null 2>&1
t_status "no addresses recorded" 0 vreplay --summary none.vt
t_like "says how they are recorded" "vtrace record --full --mem" "$T_ERR"
t_status "an empty stream" 3 vreplay /dev/null
head -c -1000 narrow.vt >cut.vt
t_status "a truncated stream" 1 vreplay -o cut.pairs cut.vt
t_like "says so" 'cut\.vt' "$T_ERR"
t_status "--cache without a cache" 2 vreplay --cache 64k:2:64 narrow.vt
t_status "a cache that makes no sense" 2 vreplay -m alpha --cache 64k:0:64 narrow.vt
t_status "an event that is not there" 2 vreplay -e nonsense -o x.vt narrow.vt
t_status "--json without --summary" 2 vreplay --json narrow.vt

t_done
