#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Several threads make of a raw trace of Intel PT what one makes of it, damaged or not, and what a
# thread has walked ahead is not walked again.

. "$(dirname "$0")/../lib.sh"

# ---- of a program with deep recursion, with times and without ----

# compared WHAT OPTION...: one thread and several; leaves how many jobs were walked, and joined
compared()
{
	local what=$1
	shift
	t_ok "$what: several threads give what one does" "$VT_BUILD/tests/tools/pt_jobs" --pages code.dump,code.addr "$@"
	cp "$T_OUT" counts
}

vtrace record --full --blocks -o calls.vt -- "$VT_BUILD/tests/tools/rec_calls" 20000 >/dev/null 2>&1
for times in "" "--tsc" "--cyc" "--mtc 3" "--mtc 3 --cyc --tnt64" "--tsc --cyc --psb 512"; do
	# shellcheck disable=SC2086 # words on purpose
	vtrace encode $times --pages code -o calls.pt calls.vt 2>/dev/null
	for crystal in 256 0; do
		# How many jobs other threads come to is theirs to say; that they come to none is rare.
		for _ in 1 2 3 4 5 6 7 8; do
			"$VT_BUILD/tests/tools/pt_jobs" --pages code.dump,code.addr --crystal "$crystal" calls.pt >counts
			[ "$(awk '{ print ($2 > 1) }' counts)" = 0 ] || break
		done
		t_is "encoded $times, crystal $crystal: all jobs that were walked ahead join" \
			"$(awk '{ print ($2 > 1 && $4 == $2) }' counts)" 1
	done
	for how in "--threads 2" "--threads 2 --nominal 32" "--threads 5"; do
		# shellcheck disable=SC2086 # words on purpose
		compared "encoded $times, $how" $how calls.pt
	done
	"$PYTHON" - <<'END'
"""calls.pt, damaged in thirty places."""
import random

random.seed(5)
b = bytearray(open("calls.pt", "rb").read())
for _ in range(30):
    at, other, way = random.randrange(len(b) - 300), random.randrange(len(b) - 300), random.randrange(4)
    if way == 0:
        b[at] ^= 1 << random.randrange(8)
    elif way == 1:
        del b[at : at + random.randrange(200)]
    elif way == 2:
        b[at:at] = bytes(random.randrange(256) for _ in range(8))
    else:
        b[at:at] = b[other : other + 100]
open("damaged.pt", "wb").write(b)
END
	compared "encoded $times, damaged" --threads 3 damaged.pt
done

# ---- of a real processor ----

if [ ! -e "$VT_DATA/pt/mruby" ]; then
	t_skip "a real processor's trace" "no $VT_DATA/pt/mruby"
	t_done
fi
data=$VT_DATA/pt/mruby

# decoded THREADS TRACE: all records but those that tell how they were made
decoded()
{
	vtrace decode --engine fast -j "$1" --pages "$data/data.dump,$data/data.addr" "$2" \
		2>/dev/null | vtrace dump 2>/dev/null | grep -v decode
}

# Long enough for several jobs; the other one is damaged where no PSB is near.
cat "$data/trace" "$data/trace" "$data/trace" >long.pt
cp long.pt damaged.pt
for at in 300001 700003 710001 1500007; do
	printf '\002\377\367\001' | dd of=damaged.pt bs=1 seek=$at conv=notrunc 2>/dev/null
done
for trace in long damaged; do
	decoded 1 $trace.pt >$trace.1
	t_ok "$trace: there is something" test -s $trace.1
	for jobs in 2 3 8; do
		decoded $jobs $trace.pt >$trace.$jobs
		t_ok "$trace: $jobs threads give what one does" cmp $trace.1 $trace.$jobs
	done
done
t_done
