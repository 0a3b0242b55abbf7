#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vpair of executed code with times in cycles: a trace of a known rate, and branch stacks, against what
# a script counts instruction by instruction; merged and listed; and code that cannot be used.

. "$(dirname "$0")/../lib.sh"
t_need jq

demo=$ROOT/tests/data/demo
symfs=$demo/symfs
orders=$demo/orders.vt

# Makes a stream of the records that the arguments are.
make() { printf '%s\n' "$@" | "$VT_BUILD/tests/tools/stream_make"; }

# same NAME FILE METRIC: FILE.sums are what the script counts; $T_OUT has places, instructions, others.
same()
{
	t_ok "$1" vpair --metric "$3" -o "$2.sums" "$2"
	cp "$T_ERR" told
	t_ok "$1: as counted one by one" "$PYTHON" "$ROOT/tests/windows_oracle.py" "$2" "$2.sums" "$3"
	read -r places measured others <"$T_OUT"
	t_is "$1: many" "$((places > 40 && measured > 3000 && others > 10))" 1
	t_like "$1: what is not used is told" \
		"^vpair: $2: $others of $((measured + others)) executed instructions are not used" told
}

# ---- a trace ----

vtrace record --full --blocks --count 60000 -o true.vt -- /bin/true >/dev/null 2>err
vtrace encode --perf-data --mtc 3 --cyc --tnt-bits 1 --cpi 2 -o x.data true.vt 2>err
t_ok "a trace with times" vtrace decode -o half.vt x.data
same "two cycles for each" half.vt ipc:30
t_is "are half an instruction in each, wherever" "$(vtrace dump -k PAIRSTAT -F value,method half.vt.sums | grep -v '^nan' | sort -u)" \
	"$(printf '0.5\tcounted')"
same "others within 7 cycles" half.vt retire-within:7
t_is "are 7.5 but for itself" "$(vtrace dump -k PAIRSTAT -F value half.vt.sums | grep -v '^nan' | awk '{ print ($1 > 6.49999 && $1 < 6.50001) }' | sort -u)" 1
vtrace encode --perf-data --mtc 3 --cyc --cpi 1.5 -o x.data true.vt 2>err
vtrace decode -o coarse.vt x.data 2>err
same "times of six branches" coarse.vt ipc:100
same "with windows that are shorter than many of these" coarse.vt ipc:60

# ---- branch stacks ----

vsim -m alpha21264 -S cycles:2003 --branches 32 --symfs "$symfs" -o stacks.vt "$orders" 2>err
t_ok "timed branch stacks" vtrace decode --lbr --symfs "$symfs" -o lbr.vt stacks.vt
same "windows in these" lbr.vt ipc:15
cp lbr.vt.sums ipc.sums
same "others in these" lbr.vt retire-within:4

# The same instructions by pairs: another estimate of the same.
vsim -m alpha21264 --profileme 400 --pairs 160 --interval geometric --symfs "$symfs" -o pairs.vt "$orders" 2>err
vpair --metric ipc:15 --learn always -o pairs.sums pairs.vt 2>err
image_ipc() { vpair --symfs "$symfs" --metric ipc:15 --by image --json "$1" 2>err | jq '.rows[0].value'; }
t_is "are what pairs tell, within a tenth" \
	"$(awk -v a="$(image_ipc lbr.vt)" -v b="$(image_ipc pairs.vt)" 'BEGIN { print (a > .9 * b && a < 1.1 * b) }')" 1

# ---- listings ----

t_ok "JSON" vpair --symfs "$symfs" --metric ipc:15 --by procedure --json lbr.vt
t_is "tells how many" "$(jq '.executed == ([.rows[].pairs] | add) and .untimed == ([.rows[].missing] | add) and .untimed > 0 and .pairs == 0' "$T_OUT")" true
t_is "of all" "$(jq '.executed + .untimed' "$T_OUT")" "$(vtrace dump -k EXEC -F insns lbr.vt | awk '{ n += $1 } END { print n }')"
t_ok "a table" vpair --symfs "$symfs" --metric ipc:15 --top 3 lbr.vt
t_like "says what it is of" '^ipc:15, in instructions/cycle; [0-9]+ executed instructions$' "$T_OUT"
t_like "and what it counts" '^ *value +error +low +high +instructions +missing +confidence' "$T_OUT"
t_ok "beside the code" vlist --symfs "$symfs" --pairs --asm -i ipc.sums
t_like "with its own name" '^ *ipc:15, executed +error +instructions +missing +address' "$T_OUT"
# Much of a stack has no windows, and no error tells of that, also not of several such sums.
confidences()
{
	vtrace dump -k PAIRSTAT -F pairs,missing,confidence,value,error "$1" | awk '
		{ want = $2 > $1 ? "none" : $1 < 30 || $2 > int(($1 + $2) / 10) || $5 == "inf" || $5 > .5 * $4 ? "low" : "medium or high"
		  n[want, index(want, $3) > 0]++ }
		END { for (i in n) print i }' SUBSEP=: | sort | tr '\n' ' '
}
t_is "confidence is low of more than a tenth, none of more than half" "$(confidences ipc.sums)" \
	"low:1 medium or high:1 none:1 "
t_is "rows without a value are counted" \
	"$(vpair --symfs "$symfs" --metric ipc:15 --top 1 --json lbr.vt 2>err | jq .rows_without_value)" \
	"$(vtrace dump -k PAIRSTAT -F confidence ipc.sums | grep -c none)"
t_ok "options of pairs" vpair --metric ipc:15 --learn never --top 1 lbr.vt
t_like "do nothing, and say so" 'do nothing: they are of pairs, not of executed code' "$T_ERR"
t_status "a condition on samples" 3 vpair --metric ipc:15 --where 'ip > 0' --top 1 lbr.vt
t_like "is none on executed code" 'no condition on executed code' "$T_ERR"
t_ok "merged twice" vtrace merge -o twice.vt ipc.sums ipc.sums
t_is "of no more confidence" "$(confidences twice.vt)" "low:1 medium or high:1 none:1 "
t_is "is twice as many, of the same value" \
	"$(vtrace dump -k PAIRSTAT -F offset,pairs,value,method twice.vt)" \
	"$(vtrace dump -k PAIRSTAT -F offset,pairs,value,method ipc.sums | sort | awk -v OFS='\t' '{ $2 *= 2; print }')"
t_ok "merged with pairs" vtrace merge -o both.vt ipc.sums pairs.sums
t_is "is not added to them" "$(vtrace dump -k PAIRSTAT -F method both.vt | sort | uniq -c | awk '{ print $2, $1 }')" \
	"$(cat <(vtrace dump -k PAIRSTAT -F method ipc.sums) <(vtrace dump -k PAIRSTAT -F method pairs.sums) | sort | uniq -c | awk '{ print $2, $1 }')"
t_ok "both beside the code" vlist --symfs "$symfs" --pairs --all --json both.vt
t_is "have columns of their own" "$(jq -c '[.rows[].metrics[]?.name] | unique' "$T_OUT")" '["ipc:15","ipc:15, executed"]'
t_is "with their own counts" "$(jq '[.rows[].metrics[]? | select(.name == "ipc:15, executed") | .pairs // 0] | add' "$T_OUT")" \
	"$(vtrace dump -k PAIRSTAT -F pairs ipc.sums | awk '{ n += $1 } END { print n }')"

# ---- what cannot be used ----

t_status "code without times" 3 vpair --metric ipc:30 --top 1 "$orders"
t_like "is told" 'no pairs of samples, and no window of that many cycles in its executed code' "$T_ERR"
t_status "windows longer than runs" 3 vpair --metric ipc:100000 -o none.vt lbr.vt
t_like "are told" 'no window of that many cycles in its executed code' "$T_ERR"
t_status "samples with branch stacks that are not decoded" 3 vpair --metric ipc:15 --top 1 stacks.vt
t_like "need that" 'no pairs of samples .*, and no executed code \(vtrace decode makes it .* with --lbr\)' "$T_ERR"
t_status "a metric that times do not tell" 3 vpair --metric wasted --top 1 lbr.vt
t_like "needs pairs" 'no pairs of samples \(vsim' "$T_ERR"
t_status "a condition that splits" 3 vpair --metric ipc:15 --split 'period > 1' --top 1 lbr.vt
t_like "is of samples" 'executed code, which --split, a condition on samples, does not tell apart' "$T_ERR"

code=('MAP pid=5 start=0x1000 length=0x1000 prot=5' 'BLOCK pid=5 addr=0x1000 size=4 insns=4 lengths=01010101')
run='EXEC pid=5 tid=5 blocks=6 insns=24 width=2 ids=000000000000000000000000 cycles=100'
tsc='time_tsc=0,0,0,0,0'
good="$run time_at=1,2,3,4,5 $tsc time_cycles=108,116,124,132,140"
pair=('META key=vsim.window value=10' 'EVENT id=5 name=profileme policy=4')
for nth in 1 2; do
	pair+=("SAMPLE pid=1 tid=1 event=5 period=100 pm_has=$(((1 << 22) - 1)) events_told=3 events=1 pair=$nth pair_distance=$((nth - 1)) pair_weight=1")
done
make "${code[@]}" "$good" "${pair[@]}" >first.vt
make "${pair[@]}" "${code[@]}" "$good" >last.vt
for f in first last; do
	t_status "pairs and code, that $f" 3 vpair --metric ipc:4 -o none.vt $f.vt
	t_like "are told" 'both pairs of samples and executed code with times' "$T_ERR"
done
t_ok "pairs alone, of another metric" vpair --metric useful-concurrency --top 1 first.vt

# check NAME RECORD: the record is not used, but the one behind it is.
check()
{
	make "${code[@]}" "$2" "$good" >bad.vt
	t_status "$1" 1 vpair --metric ipc:4 -o bad.sums bad.vt
	t_like "$1: is told" '1 EXEC record contradicts itself: not used' "$T_ERR"
	t_is "$1: the rest is used" "$(vtrace dump -k PAIRSTAT -F offset,pairs,value bad.sums | tr '\t\n' '  ')" \
		"0x0 4 0.5 0x1 4 0.5 0x2 4 0.5 0x3 4 0.5 "
}
check "times that go back" "$run time_at=1,2,3,4,5 $tsc time_cycles=108,116,115,132,140"
check "a start behind the first time" "${run%=*}=109 time_at=1,2,3,4,5 $tsc time_cycles=108,116,124,132,140"
check "times in no order" "$run time_at=1,3,2,4,5 $tsc time_cycles=108,116,124,132,140"
check "times of blocks that are not there" "$run time_at=1,2,3,4,6 $tsc time_cycles=108,116,124,132,140"
check "more times than places" "$run time_at=1,2,3,4 $tsc time_cycles=108,116,124,132,140"
check "a time too few" "$run time_at=1,2,3,4,5 $tsc time_cycles=108,116,124,132"
check "centuries" "$run time_at=1,2,3,4,5 $tsc time_cycles=108,116,124,132,18446744073709551615"
check "more instructions than blocks have" "${good/insns=24/insns=25}"
check "fewer blocks than ids" "${good/blocks=6/blocks=5}"
check "an unknown block" "${good/ids=0000/ids=0700}"

head -c -8 half.vt >cut.vt
t_status "a stream that is cut" 1 vpair --metric ipc:15 -o cut.sums cut.vt
t_is "what there is" "$(($(vtrace dump -k PAIRSTAT cut.sums 2>/dev/null | wc -l) > 0))" 1

t_done
