#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vreplay on samples: each planted pair of tests/data/replay/conflicts.S is found by interpreting from
# the procedure's first instruction, with made-up registers and stack; events rank the pairs.

. "$(dirname "$0")/../lib.sh"

t_need readelf
. "$ROOT/tests/replay.sh"

base=0x555555554000
page=0x7fff00010000 # where rdi points to: the stack

# in_process LABEL: where it is mapped
in_process()
{
	printf '0x%x' $(($(at "$1") + base))
}

buildid=$(readelf -n conflicts | sed -n 's/.*Build ID: //p')
text=$(printf '0x%x' $(($(at narrow) & ~4095)))

# The page holds its own address at 256, and the process returns to nowhere.
stack=$("$PYTHON" -c "
import struct
print((bytes(256) + struct.pack('<Q', $page) + bytes(16)).hex())")

# make OUT: from lines of "sample" and "event"
make()
{
	{
		echo "map $(printf '%x' $((base + text))) 1000 ${text#0x} $PWD/conflicts $buildid"
		cat
	} | "$ROOT/tests/mksamples.py" made.data
	vtrace decode -o "$1" made.data
}

# sampled NAME [COUNT]: so many samples at the procedure's start
sampled()
{
	local i
	echo 'event cycles regs'
	for ((i = 1; i <= ${2:-1}; i++)); do
		echo "sample cycles $i $(in_process "$1") di=$page sp=$page stack=$stack"
	done
}

for name in narrow partial twice vector alias order divided same synonym dependent together clean; do
	sampled "$name" 7 | make "$name.vt" || t_fail "making samples of $name"
done

for model in generic skylake zen4; do
	for name in narrow partial twice vector; do
		planted 7 "$name" forward -m "$model"
	done
	planted 7 order order -m "$model"
	planted 7 divided order -m "$model"
	for name in same synonym dependent together clean; do
		t_is "$name: nothing ($model)" "$(pairs "$name.vt" -m "$model")" ""
	done
done
planted 7 alias alias-4k
t_is "alias: nothing on zen4" "$(pairs alias.vt -m zen4)" ""
planted 7 synonym synonym -m alpha
t_is "alpha: order" "$(pairs same.vt -m alpha)" "order $(at same.E) $(at same.L) 7"

# The run is as long as -l says: the 102nd instruction is the later one.
planted 7 alias alias-4k -l 102
t_is "alias: the run ends before" "$(pairs alias.vt -l 101)" ""

# Without its stack, the pointer that order's store goes through is not known.
sampled order 7 | sed 's/ stack=.*//' | make bare.vt
t_is "order: not without the pointer" "$(pairs bare.vt)" ""
t_ok "what is known is told" vreplay --summary bare.vt
t_like "as a share" '^accesses +28, 75\.00% of them with known addresses,$' "$T_OUT"
t_like "and what is relative to the pointer" '^ +25\.00% relative to an unknown register$' "$T_OUT"

t_ok "summary" vreplay --summary --json order.vt
cp "$T_OUT" summary.json
t_is "from samples" "$("$PYTHON" -c '
import json
s = json.load(open("summary.json"))
print(s["from"], s["runs"], s["instructions"], s["accesses"], s["known"])')" "samples, interpreted 7 28 28 28"

# What cannot be interpreted.
{
	echo 'event cycles'
	echo "sample cycles 1 $(in_process narrow)"
} | make none.vt
t_status "samples without registers" 3 vreplay none.vt
t_like "say so" "neither executed code .* nor samples with registers" "$T_ERR"
{
	echo 'event cycles regs'
	echo 'sample cycles 1 1234 di=1000'
} | make nowhere.vt
t_status "registers that point nowhere" 3 vreplay nowhere.vt
t_like "say so" "no address of any access is known behind the samples" "$T_ERR"

# ---- merging: two halves give the whole ----

{
	echo 'event cycles regs'
	for name in narrow partial twice vector alias order divided; do
		sampled "$name" 8 | grep -v '^event'
	done
} >whole
grep -v '[13579] 0x[0-9a-f]* di' whole >even
grep -v '[02468] 0x[0-9a-f]* di' whole >odd
for part in whole even odd; do
	make "$part.vt" <"$part"
	vreplay -o "$part.pairs" "$part.vt" 2>/dev/null
done
rest='IMAGE,EVENT,COUNT,CONFLICT,META'
t_ok "merging halves" vtrace merge -o sum.vt even.pairs odd.pairs
t_ok "merging the whole" vtrace merge -o one.vt whole.pairs
vtrace dump -k "$rest" sum.vt >sum
vtrace dump -k "$rest" one.vt >one
t_same "two halves give the whole" sum one
t_is "with all its pairs" "$(pairs_of() { vtrace dump -k CONFLICT -F type,earlier,offset,count,executions,distance,nearest "$1"; }
	pairs_of one.vt | sort >a; pairs_of whole.pairs | sort >b; cmp a b && wc -l <a)" 7
vreplay -m zen4 -o zen4.pairs even.vt 2>/dev/null
t_status "pairs of another core" 3 vtrace merge -o x.vt odd.pairs zen4.pairs
t_like "say so" "zen4.pairs: its pairs of accesses are of another model of a core .META replay.model. than the pairs of accesses of " "$T_ERR"

# ---- ranking ----

# ranked: the pairs as vlist lists them, "TYPE LATER SAMPLES"
ranked()
{
	vlist --replay --json -i - | "$PYTHON" -c '
import json, sys
for p in json.load(sys.stdin)["pairs"]:
    print(p["type"], p["procedure"], p["samples"])'
}

# Samples of events that count conflicts, and some of one that does not.
{
	cat whole
	n=100
	while read -r event label count; do
		echo "event $event"
		for ((i = 0; i < count; i++)); do
			echo "sample $event $((n++)) $(in_process "$label")"
		done
	done <<-END
		cpu/ld_blocks.store_forward/u partial.L 5
		LD_BLOCKS_PARTIAL.ADDRESS_ALIAS:u alias.L 3
		machine_clears.memory_ordering divided.L 2
		l1d.replacement narrow.L 40
	END
	echo "sample machine_clears.memory_ordering $((n++)) $(in_process alias.L)"
} | make events.vt
t_is "samples of the events that fit rank the pairs" "$(vreplay events.vt 2>/dev/null | ranked | sed -n 1,4p | tr '\n' ' ')" \
	"forward partial 5 alias-4k alias 3 order divided 2 forward narrow 0 "
t_pipe "for people, samples are a column" 'vreplay events.vt 2>/dev/null | vlist --replay -i - >list'
t_like "samples, how often they met, of how many executions" '^ +5 +8 +1\.0 +forward ' list
t_is "or those that are asked for" "$(vreplay -e l1d.replacement events.vt 2>/dev/null | ranked | sed -n 1,2p | tr '\n' ' ')" \
	"forward narrow 40 forward partial 0 "
t_is "the summary counts them" "$(vreplay --summary --json events.vt 2>/dev/null |
	"$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["samples"])')" 10
t_status "an event that is not there" 2 vreplay -e cache-misses -o x.vt events.vt

# The events were counted in another run than the one that was interpreted.
vtrace merge -o both.vt whole.pairs events.vt
t_is "samples of a stream that is merged" "$(ranked <both.vt | sed -n 1,3p | tr '\n' ' ')" \
	"forward partial 5 alias-4k alias 3 order divided 2 "
t_status "the event to rank by is in no stream of pairs" 2 vreplay -e l1d.replacement -o x.vt whole.vt

# A recording of all accesses, and events of another run.
if command -v valgrind >/dev/null; then
	vtrace record --full --mem --values=stores -o recorded.vt -- ./conflicts partial 1000 >/dev/null 2>&1
	vreplay --image conflicts -o recorded.pairs recorded.vt 2>/dev/null
	vtrace merge -o ranked.vt recorded.pairs events.vt
	t_is "a recording's pairs, ranked by samples of another run" \
		"$(ranked <ranked.vt | sed -n 1,1p)" "forward partial 5"
else
	t_skip "a recording's pairs, ranked by samples of another run" "valgrind is not there"
fi

t_done
