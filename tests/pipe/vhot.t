#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vhot: exact lists against sort and uniq over a dump of the values; counts of instructions against a
# dump of the blocks; what follows from the order of blocks, from streams written for the purpose;
# runs together and apart; damage.

. "$(dirname "$0")/../lib.sh"

tools=$VT_BUILD/tests/tools

# All lists of a profile, a line for each value: place, kind, register, lane, value, count.
lists()
{
	vtrace dump -k HOT -F offset,what,reg,lane,values,counts "$1" | awk -F '\t' '{
		n = split($5, value, ",")
		split($6, count, ",")
		for (i = 1; i <= n; i++)
			print $1, $2, $3, $4, value[i], count[i]
	}' | sort
}

# The same by sort and uniq; images are mapped at 0x400000, so that offsets are what is beyond it.
counted()
{
	vtrace dump --values "$1" | awk -F '\t' '{
		offset = substr($4, 3)
		sub(/^4/, "", offset)
		sub(/^0+/, "", offset)
		print "0x" offset, $5, $6, $8, $9
	}' | sort | uniq -c | awk '{ print $2, $3, $4, $5, $6, $1 }' | sort
}

# ---- values ----

for made in "-v 3 -o random" "-v 2 --size 1 --cut -c 50" "-v 4 --size 20 --vary" \
	"-v 3 -t 3 -o random --cut -c 7 -w 4" "-v 1 --size 4 -B 7"; do
	# shellcheck disable=SC2086
	"$tools/stream_exec" -n 60000 $made >made.vt
	counted made.vt >want
	t_ok "exact lists of: $made" vhot --algo exact made.vt -o exact.vt
	lists exact.vt >got
	t_same "are what sort and uniq count" got want
	t_is "and there are some" "$(($(wc -l <got) > 10))" 1
	t_is "instructions that were executed" "$(vtrace dump -k COUNT -F samples exact.vt |
		awk '{ n += $1 } END { print n }')" 60000
done

# How often each instruction ran: 6 in a block, blocks one after the other, the last one cut.
"$tools/stream_exec" -n 63 -B 4 -c 3 --cut >made.vt
vhot made.vt -o counts.vt
vtrace dump -k COUNT -F offset,samples counts.vt | awk '{ print $2 }' | tr -d '\n' >got
printf '%s' 333333333333333222222222 >want
t_same "an instruction's executions, when the last block is cut" got want
t_like "are of the event instructions, exact" 'EVENT.*name=instructions.*policy=exact' \
	<(vtrace dump -k EVENT counts.vt)

# Every algorithm's totals are those of the exact lists.
"$tools/stream_exec" -n 200000 -v 3 -B 50 -o random >made.vt
totals=offset,what,reg,lane,size,total,zero,same,stride,first,last
vhot --algo exact made.vt | vtrace dump -k HOT -F $totals >want
for algo in gm tnv lru convergent random space-saving; do
	t_pipe "$algo" "vhot --algo $algo made.vt | vtrace dump -k HOT -F $totals"
	t_same "$algo: totals" "$T_OUT" want
done
vhot --algo gm made.vt >one.vt
vhot --algo gm <made.vt >two.vt
t_same "the same seed, the same lists" <(lists one.vt) <(lists two.vt)
vhot --algo gm -s 2 made.vt >two.vt
t_is "another seed, other lists" "$(cmp -s <(lists one.vt) <(lists two.vt) || echo other)" other

# Two streams at once are as one after the other, and as their profiles joined.
"$tools/stream_exec" -n 60000 -v 3 -B 50 -o random -s 7 >more.vt
counted made.vt >a
counted more.vt >>a
awk '{ n[$1 " " $2 " " $3 " " $4 " " $5] += $6 } END { for (k in n) print k, n[k] }' a | sort >want
t_ok "two streams" vhot --algo exact made.vt more.vt -o both.vt
t_same "add up" <(lists both.vt) want
vhot --algo exact made.vt -o one.vt
vhot --algo exact more.vt -o two.vt
t_ok "profiles joined by vtrace merge" vtrace merge one.vt two.vt -o joined.vt
t_same "are the same" <(lists joined.vt) want

# ---- the order of blocks ----

# Block 0 calls (direct) the stub 1, which jumps to 2, a procedure that calls through a register 3;
# 3 returns to 4, which returns to 5. The arguments are rdi (5) and rsi (4).
cat >order <<'END'
image 1 /bin/made
map 10 0x1000 0x1000 0 1
block 0 10 0x1100 call 0x1200 4,5 0:load:8 1:arg:8:5 1:arg:8:4
block 1 10 0x1200 jump-indirect 0 6
block 2 10 0x1300 call-indirect 0 4,2 1:arg:8:5
block 3 10 0x1400 return 0 1 0:load:8
block 4 10 0x1306 return 0 1
block 5 10 0x1109 branch 0x1100 2
END
values()
{
	local v
	for v; do
		printf '%02x00000000000000' "$v"
	done
}
{
	cat order
	echo "exec 10 10 0 0 8 0 0,1,2,3,4,5 $(values 9 7 8 6 3)"
	echo "exec 10 10 8 0 8 0 0,1,2,3,4,5 $(values 9 7 5 6 3)"
} >text
"$tools/stream_exec" --script <text >made.vt
t_ok "calls, arguments, targets" vhot --algo exact -w default,callers made.vt -o hot.vt
lists hot.vt >got
sort >want <<'END'
0x100 load 0 0 0x9 2
0x200 target 0 0 0x1300 2
0x300 arg 4 0 0x5 1
0x300 arg 4 0 0x8 1
0x300 arg 5 0 0x7 2
0x300 return 0 0 0x1109 2
0x304 target 0 0 0x1400 2
0x400 arg 5 0 0x6 2
0x400 load 0 0 0x3 2
0x400 return 0 0 0x1306 2
END
t_same "are at the instructions that they belong to" got want

t_ok "lists by caller" vhot --algo exact --context caller -w loads,args made.vt -o hot.vt
vtrace dump -k HOT -F offset,what,reg,caller,values,counts hot.vt | tr '\t' ' ' | sort >got
sort >want <<'END'
0x100 load 0 0x0 0x9 2
0x300 arg 4 0x109 0x5,0x8 1,1
0x300 arg 5 0x109 0x7 2
0x400 arg 5 0x306 0x6 2
0x400 load 0 0x306 0x3 2
END
t_same "have the return address of their procedure" got want

# Nothing is guessed across a hole: the call is the last block before one, each time.
for hole in "exec 10 10 50 0 2 0 2 $(values 6)" "gap lost" "signal 10 10 11 0 0x9999"; do
	{
		cat order
		echo "exec 10 10 0 0 3 0 0,1 $(values 9 7 8)"
		echo "$hole"
		case $hole in
		exec*) ;;
		*) echo "exec 10 10 3 0 2 0 2 $(values 6)" ;;
		esac
	} >text
	"$tools/stream_exec" --script <text >made.vt
	vhot --algo exact -w args,targets,callers made.vt -o hot.vt 2>err
	t_is "nothing is guessed across: ${hole%% *}" "$(lists hot.vt)" ""
done
# Another thread in between is no hole.
{
	cat order
	echo "exec 10 10 0 0 3 0 0,1 $(values 9 7 8)"
	echo "exec 10 11 3 0 1 0 5"
	echo "exec 10 10 4 0 2 0 2 $(values 6)"
} >text
"$tools/stream_exec" --script <text >made.vt
vhot --algo exact -w args made.vt -o hot.vt
t_is "another thread in between is no hole" "$(lists hot.vt | tr '\n' ,)" \
	"0x300 arg 4 0 0x8 1,0x300 arg 5 0 0x7 1,"

# A guard says whether the load behind it happened.
"$tools/stream_exec" --script >made.vt <<'END'
image 1 /bin/made
map 10 0x1000 0x1000 0 1
block 0 10 0x1100 branch 0x1100 4,2 0:guard:1 0:load:4 1:load:2
exec 10 10 0 0 6 0 0,0,0 010700000001000000000000020001080000000300
END
vhot --algo exact made.vt -o hot.vt
t_is "a load that did not happen is in no list" "$(lists hot.vt | tr '\n' ,)" \
	"0x100 load 0 0 0x7 1,0x100 load 0 0 0x8 1,0x104 load 0 0 0x1 1,0x104 load 0 0 0x2 1,0x104 load 0 0 0x3 1,"

# ---- damage ----

cat >text <<END
image 1 /bin/made
map 10 0x1000 0x1000 0 1
block 0 10 0x1100 branch 0x1100 4 0:load:8
exec 10 10 0 0 1 0 0 $(values 1)
exec 10 10 1 0 1 0 3 $(values 2)
exec 10 10 2 0 2 0 0,0 $(values 4)
block 0 10 0x1200 branch 0x1100 4
exec 10 10 4 0 1 0 0 $(values 1)
END
"$tools/stream_exec" --script <text >made.vt
t_status "unknown blocks, missing values, an id twice" 1 vhot --algo exact made.vt -o hot.vt
t_like "are told" '^vhot: made.vt: 3 bad records, left out; the first, before 0x[0-9a-f]+: .*block' "$T_ERR"
t_is "the rest is there" "$(lists hot.vt | tr '\n' ,)" "0x100 load 0 0 0x1 2,0x100 load 0 0 0x4 1,"
t_like "and the output says that something is missing" lossy <(vtrace info hot.vt)

sed '/^map/d' text | grep -v '0 3\|0,0\|0x1200' >text2
"$tools/stream_exec" --script <text2 >made.vt
t_status "code in no image" 1 vhot --algo exact made.vt -o hot.vt
t_like "is told" '2 executed instructions .* in no image' "$T_ERR"
t_is "and listed by address" "$(lists hot.vt)" "0x1100 load 0 0 0x1 2"
t_like "in an image of the process" '//anon/10' <(vtrace dump -k IMAGE hot.vt)

"$tools/stream_exec" -n 2000000 -v 3 >made.vt
head -c 5000000 made.vt >cut.vt
t_status "a stream that was cut" 1 vhot cut.vt -o hot.vt
t_is "has lists of what there is" "$(($(lists hot.vt | wc -l) > 1000))" 1
t_status "no stream at all" 3 vhot /dev/null
t_status "no file" 3 vhot nowhere.vt
t_status "a full disk" 4 vhot made.vt -o /dev/full

# ---- options ----

t_status "no such algorithm" 2 vhot --algo best made.vt
t_status "no such kind" 2 vhot -w loads,lads made.vt
t_like "is named" lads "$T_ERR"
t_status "no entries of a table" 2 vhot --algo tnv -N 6 made.vt
t_status "no factor of a table" 2 vhot --algo tnv --factor 2 made.vt
t_status "a factor of 1" 2 vhot --algo gm --factor 1 made.vt
t_status "the output is the input" 2 vhot made.vt -o made.vt
t_pipe "sizes are as asked for" "vhot --algo tnv --steady 2 --clear 0 made.vt |
	vtrace dump -k HOT -F capacity,steady | sort -u"
t_is "and told" "$(tr '\t' ' ' <"$T_OUT")" "2 2"

t_done
