#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vinterp --path: what is known along executed code, against recordings of the same executions.

. "$(dirname "$0")/../lib.sh"

t_status "not of samples" 2 vinterp --path --frequency 1/2 x.vt
t_status "nor by chance" 2 vinterp --path --skip random x.vt
vtrace decode -o samples.vt "$ROOT/tests/data/demo/perf.data"
t_status "a stream that has none" 3 vinterp --path -o none.vt samples.vt
t_like "is told" 'no executed code' "$T_ERR"

# ---- ptwrite ----

# A page with ptwrite rax; lea rbx, [rax+5]; ptwrite ecx; mov edx, ecx; syscall.
{
	printf '\363\110\017\256\340\110\215\130\005\363\017\256\341\211\312\017\005'
	head -c 4079 /dev/zero
} >page.dump
printf '\0\020\100\0\0\0\0\0' >page.addr
# PSB, MODE.EXEC, PSBEND, TIP.PGE; PTW of 8 bytes, FUP; PTW of 4 bytes, FUP; TIP.PGD.
{
	for _ in 1 2 3 4 5 6 7 8; do printf '\002\202'; done
	printf '\231\001\002\043\161\0\020\100\0\0\0'
	printf '\002\262\360\336\274\232\170\126\064\022\175\0\020\100\0\0\0'
	printf '\002\222\357\276\255\336\175\011\020\100\0\0\0\001'
} >ptw.pt
vtrace decode --pages page.dump,page.addr -o ptw.vt ptw.pt
cat >want <<'END'
0x401000 ptwrite 0 8 0x123456789abcdef0
0x401005 result 1 8 0x123456789abcdef5
0x401009 ptwrite 0 4 0xdeadbeef
0x40100d result 3 8 0xdeadbeef
0x40100f result 2 8 0x401011
END
vinterp --path ptw.vt | vtrace dump -k VALUE -F ip,what,reg,size,value | tr '\t' ' ' >got
t_same "ptwrite tells what its operand holds" got want

# ---- real processors' traces ----

data=$VT_DATA/pt
while read -r name trace dump addr; do
	if [ ! -d "$data/$name" ]; then
		t_skip "$name" "no $data/$name"
		continue
	fi
	vtrace decode --pages "$data/$name/$dump,$data/$name/$addr" -o real.vt "$data/$name/$trace" 2>/dev/null
	vinterp --path --summary --json real.vt >real.json 2>/dev/null
	t_is "$name: nothing known contradicts the path" "$(jq .contradictions real.json)" 0
	t_is "$name: something is known" "$(jq '.values.result.known > 3000' real.json)" true
	echo "# $name: $(jq -r '"\(.insns) instructions, \(.values.result.known) of \(.values.result.count) results known"' real.json)"
done <<'END'
mruby trace data.dump data.addr
Unzip trace data.dump data.addr
foo trace data.dump data.addr
griffin-cve-2005-0105-poc trace pages.dump pages.addr
griffin-df-01-poc trace pages.dump pages.addr
griffin-hello trace pages.dump pages.addr
griffin-ovf-01-ben trace pages.dump pages.addr
griffin-ovf-01-poc trace pages.dump pages.addr
griffin-ovf-03-poc trace pages.dump pages.addr
griffin-uaf-04-ben trace pages.dump pages.addr
END

t_need valgrind
tools=$VT_BUILD/tests/tools

# record NAME COMMAND...: into NAME.vt
record()
{
	local name=$1
	shift
	vtrace record --full --values all --mem --follow -o "$name.vt" -- "$@" >/dev/null 2>"$name.err" || :
	t_ok "$name is recorded" vtrace info "$name.vt"
}

# same WHAT STREAM...: that all known values are those of the first stream; totals into `found`
same()
{
	local what=$1
	shift
	t_ok "$what: what is known is what was recorded" "$tools/interp_path" "$@"
	cp "$T_OUT" found
	t_is "$what: no contradiction" "$(grep '^contradictions' found)" "contradictions 0"
	t_is "$what: all of it is followed" "$(grep '^lost' found)" "lost 0"
}

head -c 1000 "$ROOT/LICENSE" >text
record pack "$tools/rec_work" pack text
record threads "$tools/rec_threads"
record signals "$tools/rec_signals"
record fork "$tools/rec_fork"
record jit "$tools/rec_jit"
for p in pack threads signals fork jit; do
	same $p $p.vt
	t_is "$p: nearly everything is known, from what was recorded of loads" \
		"$(awk '/^result / { n = $2 } /^result-known/ { print ($2 > 0.99 * n) }' found)" 1
	vtrace encode --perf-data -o $p.data $p.vt
	vtrace decode -o $p.pt.vt $p.data
	same "the trace of $p" $p.vt $p.pt.vt
	t_is "the trace of $p: something is known" "$(awk '/^result-known/ { print ($2 > 5000) }' found)" 1
	t_is "the trace of $p: values are inferred from branches" "$(awk '/^inferred/ { print ($2 > 1000) }' found)" 1
done

# The test itself can fail: the path of one program, the values of another.
t_status "differences are found" 1 "$tools/interp_path" jit.vt fork.vt

# ---- the program ----

vinterp --path -o one.vt pack.pt.vt
vinterp --path -o two.vt pack.pt.vt
t_same "twice the same" one.vt two.vt
summary() { vinterp --path --summary --json "$@"; }
t_is "every word of each known value is told" \
	"$(vtrace dump -k VALUE -F what,size,lane one.vt | awk -f "$ROOT/tests/told.awk")" \
	"$(summary pack.pt.vt | jq .values.all.known)"
t_is "all instructions" "$(summary pack.pt.vt | jq .insns)" \
	"$(vtrace dump -k EXEC -F insns pack.pt.vt | awk '{ n += $1 } END { print n }')"
t_is "totals are in the stream" "$(vtrace dump -k META -F key,value one.vt | awk '$1 == "vinterp.insns" { print $2 }')" \
	"$(summary pack.pt.vt | jq -r .insns)"
t_is "the table has the same numbers" "$(vinterp --path --summary pack.pt.vt | awk '$1 == "all" { print $2, $3 }')" \
	"$(summary pack.pt.vt | jq -r '.values.all | "\(.count) \(.known)"')"
vinterp --path -o values.vt pack.vt
t_is "recorded values go, for they would count twice" "$(vtrace dump -k BLOCK values.vt | grep -c slots=)" 0
t_is "the path stays" "$(vtrace dump -k EXEC -F insns values.vt | cksum)" "$(vtrace dump -k EXEC -F insns pack.vt | cksum)"
vinterp --path --keep -o kept.vt pack.vt
t_is "unless they are kept" "$(vtrace dump -k EXEC kept.vt | cksum)" "$(vtrace dump -k EXEC pack.vt | cksum)"
t_pipe "values are counted" 'vinterp --path pack.pt.vt | vhot -o hot.vt'
t_is "there are hot lists" "$(($(vtrace dump -k HOT hot.vt | wc -l) > 1000))" 1
t_done
