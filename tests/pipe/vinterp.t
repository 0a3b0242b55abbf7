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
t_is "one in four" "$(summary -f 1/4 | jq '.runs > 120 and .runs < 260 and .runs + .left_out == .samples')" true
t_status "samples without registers" 3 sh -c 'vtrace decode perf.data | vinterp >none.vt 2>errors'
t_like "say what is missing" 'no sample has registers .vtrace record --regs records them' errors
t_status "no such kind of value" 2 vinterp --what colour regs.vt
t_status "nothing to be found" 2 vinterp --what ptwrite regs.vt
head -c 20000 regs.vt >cut.vt
t_status "a stream that was cut" 1 sh -c 'vinterp cut.vt >none.vt'
t_done
