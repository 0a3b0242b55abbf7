#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vsim on machines that issue out of order: what must be the same as in order, what adds up, and
# what more room in the machine does.

. "$(dirname "$0")/../lib.sh"

cp "$ROOT/tests/data/demo/orders.vt" .

# A machine of these widths and queues: order, width, reorder buffer.
core()
{
	cat <<END
order $1
sample $([ "$1" = in ] && echo issue || echo commit)
skid 0
fetch $2
decode $2
issue $2
retire $2
front 5
rob $3
queue $3
loads $3
stores $3
registers int 300 fp 300
unit a int shift branch divide multiply fadd fmul fdiv vint shuffle sync slow store load
unit b int shift branch fadd vint load
unit c int shift branch fmul vint load
class int 1
class load 4
class multiply 3
class divide 20 10
class fadd 4
class fmul 4
branch gshare bits 10 history 8 targets 64 returns 4 penalty 9
forward latency 4 blocked 9
icache size 4K line 32 ways 2 latency 0
memory latency 30
END
}
core in 3 1 >in.core
for rob in 8 32 128; do
	core out 3 $rob >rob$rob.core
done
core out 1 128 >narrow.core

meta() { vtrace dump -k META -F key,value "$1" | awk -F '\t' -v k="$2" '$1 == k { print $2 }'; }
run()
{
	vsim -m "./$1.core" -S cycles:200 -S branchmp:1 --interval fixed --truth "$1.truth" -o "$1.vt" \
		orders.vt 2>/dev/null
}

for m in in rob8 rob32 rob128 narrow; do
	t_ok "on $m" run $m
done
t_is "the machine is told" "$(meta rob32.vt cpu.model)" rob32

# ---- what is the same in any order ----

for m in rob8 rob128; do
	for k in "FREQ -F image,offset,executions" "EDGE -F image,from,to,executions"; do
		# shellcheck disable=SC2086
		vtrace dump -k $k in.truth >want
		# shellcheck disable=SC2086
		vtrace dump -k $k $m.truth >got
		t_same "on $m, ${k%% *} of the program" got want
	done
	vtrace dump -k SAMPLE -F event,ip in.vt | grep branchmp | sort | uniq -c >want
	vtrace dump -k SAMPLE -F event,ip $m.vt | grep branchmp | sort | uniq -c >got
	t_same "on $m, the same branches are mispredicted" got want
done
t_is "which are some" "$(($(awk '{ n += $1 } END { print n }' want) > 1000))" 1

# ---- what adds up ----

for m in rob8 rob128 narrow; do
	t_is "on $m, head times are all the time" "$(vtrace dump -k FREQ -F executions,cycles $m.truth |
		awk '{ n += $1 * $2 } END { printf "%.0f\n", n }')" "$(meta $m.vt vsim.cycles)"
	t_is "on $m, samples are where head times are" "$(vtrace dump -k FREQ -F samples,cycles $m.truth |
		awk '$1 > 0 && !($2 > 0)' | wc -l)" 0
done
# With one slot in a cycle, each cycle is one micro-operation's or lost.
lost=$(vtrace dump -k STALL -F low narrow.truth | awk '{ n += $1 } END { printf "%.0f\n", n }')
insns=$(meta narrow.vt vsim.instructions)
t_is "what is not lost is an instruction's slot, or one of two" "$(awk -v c="$(meta narrow.vt vsim.cycles)" \
	-v l="$lost" -v i="$insns" 'BEGIN { print (c - l >= i && c - l <= 2 * i) }')" 1

# ---- what more room does ----

for m in narrow rob8 in rob32 rob128; do
	eval "cycles_$m=$(meta $m.vt vsim.cycles)"
done
# shellcheck disable=SC2154
t_is "a larger reorder buffer is faster" "$((cycles_rob8 > cycles_rob32 && cycles_rob32 > cycles_rob128))" 1
# shellcheck disable=SC2154
t_is "wide and out of order is faster than either alone" \
	"$((cycles_rob128 < cycles_in && cycles_rob128 < cycles_narrow))" 1

# ---- the same again ----

vsim -m skylake -S cycles:100 -S imiss:10 --truth a.truth -o a.vt orders.vt 2>/dev/null
vsim -m skylake -S cycles:100 -S imiss:10 --truth b.truth -o b.vt orders.vt 2>/dev/null
t_same "the same again" a.vt b.vt
t_same "and the same truth" a.truth b.truth
t_done
