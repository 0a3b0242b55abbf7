#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Several threads make of a raw trace of Intel PT what one makes of it, damaged or not.

. "$(dirname "$0")/../lib.sh"

t_need_data pt/mruby
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
