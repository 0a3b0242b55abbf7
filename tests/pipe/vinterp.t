#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vinterp from the sample recording with registers: heat.c's loops say what their registers can hold.

. "$(dirname "$0")/../lib.sh"

cp -r "$ROOT/tests/data/demo" demo
cd demo || exit 99
chmod -R u+w .
vtrace decode -o regs.vt regs.data
interpret="vinterp --symfs symfs -l 16"
t_ok "interpreting" sh -c "$interpret regs.vt >one.vt"
t_ok "once more" sh -c "$interpret regs.vt >two.vt"
t_same "gives the same bytes" one.vt two.vt

# What was found at an address in a register (number, lane of it), each once, in decimal.
values()
{
	vtrace dump -k VALUE -F ip,reg,lane,value one.vt | awk -v want="$1 $2 $3" '$1 " " $2 " " $3 == want { print $4 }' |
		sort -u | while read -r value; do echo $((value)); done
}

# smooth() has x * 8 in rax: 16 to 0xff8 when it is added to.
values 0x40107c 0 0 >counter
t_is "the counter of smooth() is known" $(($(wc -l <counter) > 100)) 1
t_is "and is a multiple of 8 in its range" "$(awk '$1 % 8 || $1 < 16 || $1 > 4088' counter)" ''
t_is "a scalar load leaves no upper half" "$(values 0x401050 32 1)" 0

summary() { vinterp --symfs symfs --summary --json "$@" regs.vt; }
t_is "all samples are interpreted" "$(summary | jq .runs)" "$(vtrace dump -k SAMPLE regs.vt | wc -l)"
t_is "a run is as long as was asked for" "$(summary -l 1 | jq '.insns == .runs')" true
t_is "one in four" "$(summary --frequency 1/4 | jq '.runs > 120 and .runs < 260 and .runs + .left_out == .samples')" true
told() { vtrace dump -k VALUE -F what,size,lane one.vt | awk -f "$ROOT/tests/told.awk" -v kind="$1"; }

summary -l 16 >all.json
for kind in load store result arg target; do
	t_is "the summary counts each ${kind} that is told" \
		"$(jq ".values[\"$kind\"].known // 0" all.json)" "$(told $kind)"
done
t_is "all kinds together" "$(jq '([.values | del(.all)[].known] | add) == .values.all.known' all.json)" true
t_is "and how each run ended" "$(jq '([.stops[]] | add) == .runs' all.json)" true
t_is "what is left is at most one thing an instruction" \
	"$(jq '.leaving_known <= .leaving and .leaving < .insns and .leaving_known > .insns / 4' all.json)" true

# Weights of samples: of loads, where the sample's address is exact.
"$PYTHON" "$ROOT/tests/mkperfdata.py" -n 200 -t weights.data |
	awk -F '\t' '$10 && $NF == "4002" && $14 !~ /4$/ { printf "%s\t0x%s\t%s\n", $1, $6, $10 }' >want
vtrace decode --engine=none weights.data 2>errors | vinterp -w latency 2>>errors |
	vtrace dump -k VALUE -F time,ip,what,value 2>>errors |
	while read -r time ip _ value; do printf '%s\t%s\t%s\n' "$time" "$ip" "$((value))"; done >got
t_is "there are latencies of loads" $(($(wc -l <want) > 40)) 1
t_same "all of them are told" got want

# An image that is not there is missed, aloud.
vtrace encode --perf-data -o pt.data orders.vt
vtrace decode --symfs symfs -o pt.vt pt.data
for how in '' '--path'; do
	stream=regs.vt image=heat
	[ -z "$how" ] || stream=pt.vt image=orders
	t_ok "with its image ${how:-}" vinterp ${how:+"$how"} --symfs symfs --summary --json "$stream"
	t_is "nothing is missing" "$(jq .missing "$T_OUT")$(cat "$T_ERR")" 0
	mkdir -p empty
	t_ok "without its image ${how:-}" vinterp ${how:+"$how"} --symfs empty --summary --json "$stream"
	t_is "it is counted" "$(jq .missing "$T_OUT")" 1
	t_like "it is named" "^vinterp: /opt/vtrace-demo/$image: file not found: its code and constants are unknown" "$T_ERR"
	t_like "with a way out" '1 image without its file: --symfs DIR .*.perf buildid-cache -a FILE' "$T_ERR"
	t_ok "without its image, as a stage ${how:-}" vinterp ${how:+"$how"} --symfs empty -o none.vt "$stream"
	t_like "it is named" "^vinterp: /opt/vtrace-demo/$image: file not found" "$T_ERR"
	t_ok "and in a table" vinterp ${how:+"$how"} --symfs empty --summary "$stream"
	t_like "it is counted" '^images whose file was not found +1$' "$T_OUT"
done
t_status "conflicts without the image" 3 vreplay --symfs empty -o none.vt regs.vt
t_like "it is named as well" '^vreplay: /opt/vtrace-demo/heat: file not found' "$T_ERR"

t_status "samples without registers" 3 sh -c 'vtrace decode perf.data | vinterp >none.vt 2>errors'
t_like "say what is missing" 'no samples with registers .vtrace record --regs' errors
t_status "no such kind of value" 2 vinterp --what colour regs.vt
t_status "nothing to be found" 2 vinterp --what ptwrite regs.vt
head -c 20000 regs.vt >cut.vt
t_status "a stream that was cut before its samples" 3 sh -c 'vinterp cut.vt >none.vt'
head -c $(($(stat -c %s regs.vt) - 200)) regs.vt >cut.vt
t_status "a stream that was cut behind them" 1 sh -c 'vinterp cut.vt >some.vt'
t_done
