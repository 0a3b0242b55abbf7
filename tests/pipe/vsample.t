#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vsample on made-up streams of executed code, against counts made by awk and Python from dumps of
# the full stream: where samples fall, how far they are apart, and that bursts hold exactly the
# values that the full stream has at the same positions.

. "$(dirname "$0")/../lib.sh"

make_stream=$VT_BUILD/tests/tools/stream_exec

# Three threads in each of two processes, parts of blocks, values.
"$make_stream" -n 200000 -v 3 --vary -B 50 --cut -c 30 -t 3 -p 2 -o random >full.vt
vtrace dump --values full.vt | sort >full.values
vtrace dump --blocks full.vt >full.blocks
t_is "the full stream has values" "$(($(wc -l <full.values) > 50000))" 1

# An interpreter of the dump that shares no code with the sampler: position and address of every
# instruction that was executed.
vtrace dump -k BLOCK -F id,addr,lengths full.vt >blocks
cat >walk.py <<'END'
import sys

blocks = {}
for line in open("blocks"):
    number, addr, lengths = line.rstrip("\n").split("\t")
    at, addrs = int(addr, 16), []
    for n in bytes.fromhex(lengths):
        addrs.append(at)
        at += n
    blocks[number] = addrs
for line in open(sys.argv[1]):
    pid, tid, first, block, ip, skip, insns, caller = line.split()
    for i in range(int(insns)):
        print(pid, int(first) + i, hex(blocks[block][int(skip) + i]), tid)
END
"$PYTHON" walk.py full.blocks | sort >full.insns
t_is "each of them once" "$(wc -l <full.insns)" 200000

while read -r name options; do
	# shellcheck disable=SC2086 # options are words
	t_ok "$name" vsample $options full.vt -o some.vt
	vtrace dump --values some.vt | sort >values
	t_is "$name: every value is the full stream's, at its position" \
		"$(comm -23 values full.values | wc -l)" 0
	t_is "$name: none twice" "$(uniq -d <values | wc -l)" 0
	t_is "$name: and there are some" "$(($(wc -l <values) > 30))" 1
	vtrace dump --blocks some.vt >runs
	vtrace dump -k BLOCK -F id,addr,lengths some.vt >blocks
	"$PYTHON" walk.py runs | sort >insns
	t_is "$name: every instruction is the full stream's" "$(comm -23 insns full.insns | wc -l)" 0
	comm -12 insns full.insns | awk '{ print $1, $2 }' >positions
	# All values of the instructions that were written, none of others.
	awk 'NR == FNR { in_run[$1 " " $2] = 1; next } ($1 " " $3) in in_run' positions full.values >want
	t_same "$name: all values of the instructions that were written" values want
	# shellcheck disable=SC2086
	vsample $options full.vt -o again.vt
	t_same "$name: the same again" some.vt again.vt
	# shellcheck disable=SC2086
	vsample $options -s 2 full.vt -o other.vt
	t_is "$name: another seed, other samples" \
		"$(vtrace dump -k SAMPLE some.vt | cmp -s - <(vtrace dump -k SAMPLE other.vt) && echo same)" ""
done <<'END'
single -n 100
bursts -n 100 --burst 4
geometric -n 40 --interval geometric --burst 6 -f 1/2
overlap -n 7 --burst 20
long -n 2000 --burst 500
loads -n 30 -e loads --burst 2
branches -n 13 -e branches --burst 3
blocks -n 11 -e blocks --burst 9
context -n 50 --burst 7 --context
turns --per-instruction -n 10 --burst 5
END

# Bursts are as long as they are to be, but for those that the end cut or that grew together.
vsample -n 1000 --burst 17 full.vt -o some.vt
t_is "each sample has its burst" \
	"$(vtrace dump --blocks some.vt | awk '{ n += $7 } END { print n }')" \
	"$(vtrace dump -k SAMPLE some.vt | wc -l | awk '{ print $1 * 17 }')"
t_is "each burst begins at its sample" "$(vtrace dump -k SAMPLE,EXEC -F kind,pid,tid some.vt |
	awk '$1 == "SAMPLE" { k = $2 " " $3 } $1 == "EXEC" && before == "SAMPLE" && $2 " " $3 != k { bad++ }
	{ before = $1 } END { print bad + 0 }')" 0
vsample -n 1 full.vt | vtrace dump --values | sort >values
t_same "every instruction sampled: every value" values full.values
t_is "no burst" "$(vsample -n 100 --burst 0 full.vt | vtrace dump -k EXEC,BLOCK | wc -l)" 0

# Periods are the distances; the mean is what was asked for.
for how in uniform geometric fixed; do
	vsample -n 100 --interval $how full.vt | vtrace dump -k SAMPLE -F pid,period >periods
	t_is "$how: mean interval" "$(awk '{ s += $2 } END { m = s / NR; print (m > 95 && m < 105) }' periods)" 1
	t_is "$how: periods add up to all but the last interval" "$(awk '
		NR == FNR { ran[$1] += $7; next }
		{ s[$1] += $2 }
		END { for (p in ran) bad += s[p] > ran[p] || s[p] < ran[p] - 1000; print bad + 0 }
	' full.blocks periods)" 0
	awk 'seen[$1]++ { print $2 }' periods | sort -n | sed -n '1p;$p' | tr '\n' ' ' >range
	case $how in
	uniform) t_is "uniform: DCPI's range, scaled" "$(cat range)" "96 104 " ;;
	fixed) t_is "fixed: always the same" "$(cat range)" "100 100 " ;;
	*) t_is "geometric: from one to many times the mean" \
		"$(awk '{ print ($1 < 5), ($2 > 500) }' range)" "1 1" ;;
	esac
done

# Each event counts once, whatever is passed over between two samples.
cat >distances.py <<'END'
import sys

unit, every = sys.argv[1], int(sys.argv[2])
lengths = {}
for line in open("all-blocks"):
    number, _, n = line.rstrip("\n").split("\t")
    lengths[number] = len(n) // 2
events = set()
for line in open("full.blocks"):
    pid, tid, first, block, ip, skip, insns, caller = line.split()
    first, skip, insns = int(first), int(skip), int(insns)
    if unit == "insns":
        events |= {(pid, first + i) for i in range(insns)}
    elif unit == "blocks" and skip == 0:
        events.add((pid, first))
    elif unit == "branches" and skip + insns == lengths[block]:
        events.add((pid, first + insns - 1))
for line in open("full.values"):
    pid, _, first = line.split("\t")[:3]
    if unit == "loads":
        events.add((pid, int(first)))
number = {e: i for i, e in enumerate(sorted(events))}
last, good, n = {}, True, 0
for line in open("samples"):
    pid, first = line.split()
    at = number[pid, int(first)]
    good &= pid not in last or at - last[pid] == every
    last[pid] = at
    n += 1
print(good and n > 100)
END
vtrace dump -k BLOCK -F id,addr,lengths full.vt >all-blocks
for unit in insns loads branches blocks; do
	for every in 17 100; do
		vsample -e $unit --interval fixed -n $every full.vt | vtrace dump -k EXEC -F pid,first >samples
		t_is "$unit: one in $every" "$("$PYTHON" distances.py $unit $every 2>&1)" True
	done
done
"$make_stream" -n 300000 -v 1 --vary -B 50 -c 3000 -w 4 -o random >wide.vt
vtrace dump --blocks wide.vt >full.blocks.wide
mv full.blocks full.blocks.kept && mv full.blocks.wide full.blocks
vtrace dump -k BLOCK -F id,addr,lengths wide.vt >all-blocks
for unit in insns branches blocks; do
	vsample -e $unit --interval fixed -n 250 wide.vt | vtrace dump -k EXEC -F pid,first >samples
	t_is "$unit: one in 250, long runs" "$("$PYTHON" distances.py $unit 250 2>&1)" True
done
mv full.blocks.kept full.blocks

# Each instruction of a loop is sampled in proportion to its executions: chi-square over 42
# instructions, 41 degrees of freedom, whose 0.001 and 0.999 quantiles are 18.6 and 74.7.
"$make_stream" -n 4200000 -B 7 >loop.vt
for how in uniform geometric; do
	for seed in 1 2 3; do
		vsample -n 420 --interval $how -s $seed loop.vt | vtrace dump -F ip | sort | uniq -c |
			awk '{ n++; s += $1; q += $1 * $1 } END { e = s / 42; x = q / e - s
				print (n == 42 && x < 74.7 && (x > 18.6 || "'$how'" == "uniform")) ? "even" : n " " x }' >even
		t_is "$how, seed $seed: samples fall evenly on a loop" "$(cat even)" even
	done
done

# One in k samples is interpreted.
t_is "one in two" "$(vsample -n 20 -f 1/2 full.vt | vtrace dump -k SAMPLE,EXEC -F kind | sort | uniq -c |
	awk '{ n[$2] = $1 } END { r = n["EXEC"] / n["SAMPLE"]; print (r > 0.48 && r < 0.52) }')" 1
t_is "one in ten" "$(vsample -n 10 -f 1/10 full.vt | vtrace dump -k SAMPLE,EXEC -F kind | sort | uniq -c |
	awk '{ n[$2] = $1 } END { r = n["EXEC"] / n["SAMPLE"]; print (r > 0.09 && r < 0.11) }')" 1

# By turns: all of an instruction's first executions, then none for a while.
cat >turns.py <<'END'
import collections, sys

full, some = (open(f).read().split("\n")[:-1] for f in sys.argv[1:3])
some = set(some)
runs = collections.defaultdict(list)
for line in sorted(full, key=lambda l: int(l.split("\t")[2])):
    pid, tid, first, ip = line.split("\t")[:4]
    runs[ip].append(line in some)
good = True
for marks in runs.values():
    text = "".join("x" if m else "." for m in marks)
    bursts = [b for b in text.split(".") if b]
    rests = [r for r in text.strip("x").split("x") if r]
    good &= text.startswith("xxxxx"[:len(text)])
    good &= all(len(b) == 5 for b in bursts[:-1])
    # The bound doubles each time: 10, 20, 40, ...
    good &= all(10 <= len(r) <= 10 << i for i, r in enumerate(rests))
print(good and len(runs))
END
"$make_stream" -n 30000 -v 2 -B 5 -o random >turns.vt
vtrace dump --values turns.vt >turns.full
vsample --per-instruction -n 10 --burst 5 turns.vt -o turns.out
vtrace dump --values turns.out >turns.values
t_is "by turns: bursts of 5, back-off from 10 with a doubling bound" \
	"$("$PYTHON" turns.py turns.full turns.values)" 10
vtrace dump -F ip,period turns.out | awk '{ s[$1] += $2 } END { for (a in s) print a, s[a] }' | sort >sums
cut -f 4 turns.full | sort | uniq -c | awk '{ print $2, $1 }' >executions
t_same "by turns: periods add up to all executions" sums executions

# Callers: a call from 0x1000 and one from 0x1010 to 0x2000, which is what its runs are told to be in.
"$make_stream" --script >calls.vt <<'END'
image 1 /x
map 7 0x1000 0x2000 0 1
block 0 7 0x1000 call 0x2000 4,4
block 1 7 0x2000 return 0 4,1 0:load:4
block 2 7 0x1008 jump 0x1010 4,4
block 3 7 0x1010 call 0x2000 4,4
block 4 7 0x1018 jump 0x1000 4,4
exec 7 7 0 0 5 0 0,1,2 0100000002000000
exec 7 7 6 1 7 0 2,3,1,4 03000000
END
# The first run is cut short: two values, but one load; and blocks left over.
t_status "a run that contradicts itself" 1 vsample -n 1 --context calls.vt -o bad.vt
t_like "it is told" '^vsample: calls.vt: 1 bad record, left out; the first, before 0x[0-9a-f]+: executed blocks: ' "$T_ERR"
t_is "and is a gap" "$(vtrace dump -k GAP -F records bad.vt 2>/dev/null)" 1
"$make_stream" --script >calls.vt <<'END'
image 1 /x
map 7 0x1000 0x2000 0 1
block 0 7 0x1000 call 0x2000 4,4
block 1 7 0x2000 return 0 4,1 0:load:4
block 2 7 0x1008 jump 0x1010 4,4
block 3 7 0x1010 call 0x2000 4,4
block 4 7 0x1018 jump 0x1000 4,4
exec 7 7 0 0 5 0 0,1,2 01000000
exec 7 7 5 1 7 0 2,3,1,4 02000000
END
vsample -n 1 -e loads --context calls.vt | vtrace dump --blocks | cut -f 5,8 >callers
printf '0x2000\t0x1008\n0x2000\t0x1018\n' >want
t_same "each load with its caller" callers want
vsample -n 1 -e loads calls.vt | vtrace dump --blocks | cut -f 5,8 >callers
printf '0x2000\t0x0\n0x2000\t0x0\n' >want
t_same "not unless asked" callers want

# A burst goes on in its thread's next run, whoever runs between them.
cat >bursts.py <<'END'
import collections, sys

order = collections.defaultdict(list)
for line in sorted(open("full.insns"), key=lambda l: (l.split()[0], int(l.split()[1]))):
    pid, pos, ip, tid = line.split()
    order[pid, tid].append(int(pos))
want, begun = set(), None
for line in open("bursts"):
    kind, pid, tid, first = line.rstrip("\n").split("\t")
    if kind == "SAMPLE":
        begun = True
    elif begun:
        at = order[pid, tid].index(int(first))
        want |= {(pid, p) for p in order[pid, tid][at:at + 300]}
        begun = False
got = {tuple(l.split()) for l in open("positions")}
print(got == {(pid, str(p)) for pid, p in want} and len(got) > 10000)
END
vsample -n 2000 --burst 300 full.vt -o some.vt
vtrace dump -k SAMPLE,EXEC --json some.vt |
	sed -E 's/.*"kind": "([A-Z]*)".*"pid": ([0-9]*), "tid": ([0-9]*).*/\1\t\2\t\3\t&/; s/\{.*"first": ([0-9]*).*/\1/; s/\{.*//' >bursts
vtrace dump -k BLOCK -F id,addr,lengths some.vt >blocks
vtrace dump --blocks some.vt >runs
"$PYTHON" walk.py runs | awk '{ print $1, $2 }' >positions
t_is "bursts of 300 in runs of 90 by six threads" "$("$PYTHON" bursts.py 2>&1)" True

# It does not go on behind a gap.
for between in 'gap hole' 'thread 7 7 exec' 'state 7 7 1' ''; do
	"$make_stream" --script >gap.vt <<END
block 0 7 0x1000 jump 0x1000 4,4
exec 7 7 0 0 12 0 0,0,0,0,0,0
$between
exec 7 8 12 0 12 0 0,0,0,0,0,0
exec 7 7 24 0 12 0 0,0,0,0,0,0
END
	for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
		vsample -n 36 --interval fixed --burst 1000 -s $seed gap.vt 2>/dev/null |
			vtrace dump -k EXEC -F tid,first,insns 2>/dev/null | awk -v broken="$between" '
			NR == 1 { tid = $1; pos = $2 }
			{ n += $3 }
			END {
				want = 12 - pos
				if (tid == 8)
					want = 24 - pos
				else if (pos >= 24)
					want = 36 - pos
				else if (broken == "")
					want += 12
				print (n == want) ? "right" : "wrong", tid == 7 && pos < 12
			}'
	done | sort | uniq -c >gaps
	t_is "bursts and '$between': none is wrong" "$(grep -c wrong gaps)" 0
	t_is "bursts and '$between': some meet it" "$(grep -c 'right 1' gaps)" 1
done
"$make_stream" --script >gap.vt <<'END'
block 0 7 0x1000 jump 0x1000 4,4
exec 7 7 0 0 12 0 0,0,0,0,0,0
gap hole
END
vsample -n 1000000 gap.vt 2>/dev/null | vtrace dump -k SAMPLE 2>/dev/null | wc -l >none
t_is "an interval longer than the run" "$(cat none)" 0
vsample -n 4 gap.vt 2>/dev/null | vtrace dump -k GAP -F reason >kinds 2>/dev/null
t_is "the gap is passed on" "$(cat kinds)" hole

# Time: a nanosecond an instruction, a cycle a nanosecond.
"$make_stream" -n 100000 --times -c 5 -B 10 >times.vt
t_ok "cycles" vsample -e cycles -n 300 times.vt -o cycles.vt
vtrace dump -F period,event cycles.vt | awk '{ n++; s += $1; e[$2]++ } END { print (n > 300 && n < 340), (s > 99000), (e["cycles"] == n) }' >cycles
t_is "cycles: as many samples as intervals" "$(cat cycles)" "1 1 1"
t_like "cycles: the pc is where the time was looked at" 'interrupt +cycles' <(vtrace info cycles.vt)
t_status "cycles of a stream without times" 3 vsample -e cycles full.vt -o none.vt
t_like "it says so" 'full.vt: no times of executed code' "$T_ERR"

t_status "stores where there are none" 3 vsample -e stores full.vt -o none.vt
t_like "it says so" 'full.vt: no stores' "$T_ERR"
t_status "a sample of a sample" 3 vsample some.vt -o none.vt
t_like "it says so" 'samples of executed code, not all of it' "$T_ERR"
vtrace decode "$ROOT/tests/data/demo/perf.data" -o perf.vt
t_status "samples, but nothing to take them from" 3 vsample perf.vt -o none.vt
t_like "it says so" 'no executed code' "$T_ERR"
for bad in "-n 0" "-f 2/3" "-f 1/0" "-f x" "-e sheep" "--per-instruction -e loads" "--per-instruction --burst 0" "-n x"; do
	# shellcheck disable=SC2086
	t_status "wrong: $bad" 2 vsample $bad full.vt -o none.vt
done

if [ -w /dev/full ]; then
	t_status "a full disk" 4 vsample -n 2 -o /dev/full full.vt
	t_like "it says so" 'vsample: /dev/full: ' "$T_ERR"
fi
t_status "its own input" 2 vsample -o full.vt full.vt

# What re-execution needs is left out, or kept.
printf 'state 7 7\nsignal 7 7 2 0x1000 0x2000\n' | cat - <(printf 'block 0 7 0x1000 jump 0 4\nexec 7 7 0 0 1 0 0\n') |
	"$make_stream" --script >state.vt
t_is "registers are left out" "$(vsample state.vt | vtrace dump -k STATE,SIGNAL -F kind | tr '\n' ' ')" "SIGNAL "
t_is "unless they are to be kept" "$(vsample --keep state.vt | vtrace dump -k STATE,SIGNAL -F kind | tr '\n' ' ')" "STATE SIGNAL "

# The programs behind it.
t_is "vprof counts samples, not bursts" \
	"$(vsample -n 100 --burst 50 full.vt | vprof --by image --csv | sed -n '2p' | cut -d , -f 1)" \
	"$(vsample -n 100 --burst 50 full.vt | vtrace dump -k SAMPLE | wc -l)"
t_is "blocks are numbered from 0 without holes" "$(vtrace dump -k BLOCK -F id some.vt | awk '$1 != NR - 1' | wc -l)" 0
t_done
