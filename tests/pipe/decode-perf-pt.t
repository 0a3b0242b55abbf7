#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode of Intel PT in a perf.data: what was recorded, encoded and wrapped comes back, for
# each thread; real recordings decode as perf decodes them; raw traces travel in streams.

. "$(dirname "$0")/../lib.sh"

t_need valgrind
tools=$VT_BUILD/tests/tools

# record NAME COMMAND...: into NAME.vt
record()
{
	local name=$1
	shift
	vtrace record --full --blocks --follow -o "$name.vt" -- "$@" >/dev/null 2>"$name.err" || :
}

# same NAME FILE: each thread of NAME.vt executed what FILE says
same()
{
	local tid
	vtrace dump -k EXEC -F tid "$1.vt" 2>/dev/null | sort -u >tids
	[ -s tids ] || t_fail "$1 has no threads"
	while read -r tid; do
		"$tools/exec_ips" "$1.vt" "$tid" >want
		"$tools/exec_ips" "$2" "$tid" >got
		t_same "thread $((++n)) of $1 executed the same" got want
	done <tids
}

# round NAME OPTION...: NAME.vt, encoded with these options, comes back
round()
{
	local name=$1 n=0
	shift
	t_ok "$name${*:+, $*}" vtrace encode --perf-data "$@" -o x.data "$name.vt"
	t_ok "is decoded" vtrace decode -o back.vt x.data
	same "$name" back.vt
}

record calls "$tools/rec_calls"
record threads "$tools/rec_threads"
record signals "$tools/rec_signals"
record fork "$tools/rec_fork"
record dlopen "$tools/rec_dlopen"
record exec "$tools/rec_fork" "$tools/rec_longjmp" 5
for p in calls threads signals fork dlopen; do
	round $p
done
round exec --tsc
for p in threads signals fork; do
	round $p --tsc --cpi 2 --cpus 3 --slice 5000
	round $p --mtc 3 --cyc --cpi 2 --cpus 2 --cpu-wide --slice 20000
done

# The two engines, a pipe, and a stream that still has the trace, tell the same.
vtrace encode --perf-data --tsc --cpus 2 -o x.data threads.vt
vtrace decode --engine=libipt -o a.vt x.data
vtrace decode --engine=fast -o b.vt x.data
vtrace dump a.vt >want
vtrace dump b.vt >got
t_same "both engines" got want
vtrace decode --engine=none -o raw.vt x.data
t_is "raw traces stay where that is asked for" \
	"$(vtrace dump -k AUXTRACE raw.vt | wc -l) $(vtrace dump -k EXEC raw.vt | wc -l)" "2 0"
sed -i s/x.data/FILE/ want
vtrace decode raw.vt | vtrace dump | sed s/raw.vt/FILE/ >got
t_same "and are decoded later" got want
vtrace decode - <raw.vt | vtrace decode - | vtrace dump | sed 's/standard input/FILE/' >got
t_same "once" got want
t_is "and are not passed on" "$(grep -c ^AUXTRACE want)" 0
for kind in BLOCK EXEC TRACE; do
	vtrace dump -k $kind a.vt >want
	vtrace decode - <x.data | vtrace dump -k $kind >got
	# shellcheck disable=SC2002 # a pipe, not the file
	cat x.data | vtrace decode - | vtrace dump -k $kind >got2
	t_same "$kind of a redirected file" got want
	t_same "$kind out of a pipe" got2 want
done

# A program that is not there, or another one of the same name, gives gaps and no code.
cp "$tools/rec_threads" prog
record prog ./prog
vtrace encode --perf-data --tsc -o x.data prog.vt
rm prog
t_status "no image" 1 vtrace decode -o x.vt x.data
t_is "gaps say so" "$(vtrace dump -k GAP -F reason x.vt 2>/dev/null | sort -u)" "no code"
vtrace dump -k MAP -F start,length,prot,image x.vt 2>/dev/null |
	awk '$3 == "0x5" && $4 ~ /\/prog$/' >maps
outside=0
while read -r addr; do
	within=0
	while read -r from length _; do
		((addr >= from && addr < from + length)) && within=1
	done <maps
	outside=$((outside + !within))
done < <(vtrace dump -k GAP -F addr x.vt 2>/dev/null)
t_is "and where: all in the code of prog" "$(wc -l <maps) $outside" "1 0"
vtrace dump -k GAP -F addr,bytes x.vt >addrs 2>/dev/null
vtrace dump -k MAP -F start,length,offset,prot,image x.vt 2>/dev/null |
	awk '$4 == "0x5" && $5 ~ /\/prog$/' >maps
vtrace info --json x.vt >info.json 2>/dev/null
cat >rows.py <<'END'
import json
start, _, offset = [int(x, 0) for x in open("maps").read().split()[:3]]
gaps = [[int(x, 0) for x in line.split()] for line in open("addrs")]
places = [a - start + offset for a, _ in gaps]
row, = json.load(open("info.json"))["missing_code"]
assert row["image"].endswith("/prog"), row
assert (int(row["first"], 0), int(row["last"], 0)) == (min(places), max(places)), row
assert (row["places"], row["bytes"]) == (len(gaps), sum(b for _, b in gaps)), row
END
t_ok "info sums it up" "$PYTHON" rows.py
vtrace info x.vt >info.txt 2>/dev/null
t_like "as text, too" '^missing code$' info.txt
vtrace decode -o x.vt x.data 2>err
t_like "and the warning" 'prog: no code' err
vtrace dump -k GAP x.vt >want 2>/dev/null
cp "$tools/rec_calls" prog
t_status "another image" 1 vtrace decode -o y.vt x.data
vtrace dump -k GAP y.vt >got 2>/dev/null
t_same "is none" got want
mkdir symfs
cp "$tools/rec_threads" "symfs/prog"
t_status "an image below symfs" 0 vtrace decode --symfs symfs -o y.vt x.data
t_is "has the code" "$(vtrace dump -k GAP y.vt | wc -l)" 0
t_status "a symfs that is none" 3 vtrace decode --symfs nowhere -o x.vt x.data
t_status "a kernel that is none" 3 vtrace decode --kernel "$ROOT/LICENSE" -o x.vt x.data

# Snapshots: what is there was executed.
vtrace encode --perf-data --tsc --psb 512 --snapshot 4000 -o x.data threads.vt
t_run vtrace decode -o x.vt x.data
t_is "the end of each thread is there" \
	"$(vtrace dump -k EXEC -F tid x.vt 2>/dev/null | sort -u)" \
	"$(vtrace dump -k EXEC -F tid threads.vt | sort -u)"
t_is "what came before is a gap" "$(vtrace dump -k GAP -F reason x.vt 2>/dev/null | sort -u)" \
	"overwritten before the snapshot"

# Real recordings.
data=$VT_DATA/perf
if [ -d "$data" ]; then
	t_run vtrace decode -o x.vt "$data/pt-tmon-ptwrite/perf.data"
	vtrace dump -k VALUE -F pid,tid,time,value x.vt 2>/dev/null |
		awk '{ printf "%d/%d %.6f %s\n", $1, $2, int($3 / 1000) / 1e6, $4 }' | sort >got
	if command -v perf >/dev/null; then
		perf script --itrace=w -F pid,tid,time,event,synth -i "$data/pt-tmon-ptwrite/perf.data" \
			2>/dev/null | sed -n 's|^ *\([0-9]*\)/\([0-9]*\) *\([0-9.]*\):.*payload: \(0x[0-9a-f]*\).*|\1/\2 \3 \4|p' |
			sort >want
		t_same "what PTWRITE wrote, by whom and when, as perf says" got want
	fi
	t_is "there are eleven" "$(wc -l <got)" 11
	for f in hase-control_flow-a quipper-file; do
		t_run vtrace decode -o x.vt "$data/pt-$f/perf.data"
		t_is "pt-$f: all gaps are for want of code" \
			"$(vtrace dump -k GAP -F reason x.vt 2>/dev/null | sort -u)" "no code"
	done
fi

# ---- what damage leaves, in words ----

demo=$ROOT/tests/data/demo
vtrace encode --perf-data -o whole.data "$demo/orders.vt"
cp whole.data holed.data
for at in 20000 26000 32000; do
	printf '\002\377\367\001\005\005' | dd of=holed.data bs=1 seek=$at conv=notrunc 2>/dev/null
done
t_status "a trace with holes" 1 vtrace decode --symfs "$demo/symfs" -o holed.vt holed.data
t_like "is said to have instructions" \
	" $(vtrace info --json holed.vt | jq .executed.instructions) instructions decoded$" "$T_ERR"
mkdir nothing
t_status "a trace without its code" 1 vtrace decode --symfs nothing -o none.vt whole.data
t_like "is said to have none" ' 0 instructions decoded$' "$T_ERR"
t_done
