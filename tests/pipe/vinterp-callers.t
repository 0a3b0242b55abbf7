#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The return addresses that vinterp tells, against objdump and perf.

. "$(dirname "$0")/../lib.sh"

t_need objdump
cp -r "$ROOT/tests/data/demo" demo
chmod -R u+w demo
heat=demo/symfs/opt/vtrace-demo/heat
vtrace decode -o regs.vt demo/regs.data

# The call in front of each return address: "RETURN-ADDRESS TARGET" in hexadecimal.
objdump -d --no-show-raw-insn "$heat" | awk -F '[:\t ]+' '
	call != "" { print $2, call; call = "" }
	/\tcall/ { call = $4 }' | sort >calls
# The procedure of each instruction: "ADDRESS START".
objdump -d --no-show-raw-insn "$heat" | awk '
	/^[0-9a-f]+ </ { start = substr($1, 11) }
	/^ / { sub(":", "", $1); print $1, start }' | sort >procedures

# Values, as "ADDRESS CALLER", of which the caller is known or not.
vinterp --symfs demo/symfs -l 16 -w all regs.vt >values.vt
vtrace dump -k VALUE -F ip,what,caller values.vt | sed 's/0x//g' >values
awk '$3 != 0 { print $1, $3 }' values | sort -u | join - procedures | awk '{ print $2, $3 }' | sort -u >told
t_is "callers are found in most procedures" "$(($(awk '{ print $2 }' told | sort -u | wc -l) >= 5))" 1
t_is "each caller called the procedure" "$(join -v 1 told <(awk '{ print $1 }' calls) | wc -l)$(
	join told calls | awk '$2 != $3' | wc -l)" 00
t_is "only the program's first procedure has none" \
	"$(awk '$3 == 0 { print $1 }' values | sort -u | join - procedures | awk '{ print $2 }' | sort -u)" \
	"$(nm "$heat" | awk '$3 == "start" { print substr($1, 11) }')"

# Calls that were run: at the first instruction of what was called.
vinterp --symfs demo/symfs -l 200 -w callers -o entered.vt regs.vt
vtrace dump -k VALUE -F ip,what,value,caller entered.vt | sed 's/0x//g' | sort -u >entered
t_is "calls are told" "$(grep -c ' return \|	return	' entered | awk '{ print ($1 > 0) }')" 1
t_is "with the address behind the call" "$(awk '{ print $3, $1 }' entered | sort | comm -23 - calls)" ''
t_is "as the caller of what follows" "$(awk '$3 != $4' entered)" ''

t_ok "lists by caller" sh -c 'vhot --context caller -w results,callers -o by.hot values.vt'
t_is "are kept" "$(vtrace dump -k HOT -F caller by.hot | grep -c 0x | awk '{ print ($1 > 20) }')" 1

# perf's own unwinding of a program with libraries, which it stops for pieces of the stack.  Which
# samples there are is chance: that perf and vinterp agree on each is not.  More than 20 there are of
# the .1 s or more that it works, 200 samples: were these thrown at random, which is worse than a timer,
# 20 or fewer of them would come with a chance below 1e-58.
registers=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,R9,R10,R11,R12,R13,R14,R15
seq 1 1000000 >text
if perf record -q -o work.data -e cpu-clock:u -F 2000 --user-regs=$registers --call-graph dwarf,4096 \
	-- "$VT_BUILD/tests/tools/rec_work" count text >/dev/null 2>&1; then
	vtrace decode -o work.vt work.data
	# Pages and time of a sample's caller; perf gives addresses in the file.
	vinterp -l 1 -w all work.vt | vtrace dump -k VALUE -F time,caller |
		awk '$2 != "0x0" { print $1, substr($2, length($2) - 2) }' | sort -u >ours
	perf script -i work.data --ns --no-inline -F time,ip 2>/dev/null | awk '
		/: *$/ { sub(":", ""); sub("\\.", ""); sub("^ *0*", ""); time = $1; n = 0; next }
		NF && ++n == 2 { print time, substr("00" $1, length($1)) }' | sort >theirs
	join ours theirs >both
	t_is "perf unwinds the samples" "$(awk 'END { print (NR > 20) }' both)" 1
	t_is "to the same callers" "$(while read -r _ our their; do
		[ $((16#$our)) = $((16#$their)) ] || [ $((16#$our)) = $(((16#$their + 1) % 4096)) ] || echo "$our $their"
	done <both)" ''
else
	t_skip "perf's callers" "perf record does not work here"
fi
t_done
