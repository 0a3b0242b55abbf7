#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist --calc, --summary, --stall, --cfg: a copy loop with the cycles and culprits of DCPI's figure 2, as
# hand-written FREQ, EDGE and STALL records tell them.

. "$(dirname "$0")/../lib.sh"
t_need cc objdump jq readelf

text=$VT_BUILD/tests/tools/stream_make
mkdir -p root/opt
cat >copy.s <<'END'
	.globl copy, _start
	.type copy, @function
	.type _start, @function
copy:
	test %rdx, %rdx
	je 2f
1:	mov (%rsi), %r8
	add $4, %rcx
	mov 8(%rsi), %r9
	mov 16(%rsi), %r10
	mov 24(%rsi), %r11
	lea 32(%rsi), %rsi
	mov %r8, (%rdi)
	mov %r9, 8(%rdi)
	mov %r10, 16(%rdi)
	mov %r11, 24(%rdi)
	lea 32(%rdi), %rdi
	cmp %rdx, %rcx
	jne 1b
2:	ret
	.size copy, .-copy
_start:
	call copy
	hlt
	.size _start, .-_start
END
cc -nostdlib -static -Wl,-e,_start,--build-id=none -o root/opt/copy copy.s || t_skip_all "cannot assemble"

# The addresses of copy's 16 instructions, as offsets of the file.
mapfile -t at < <(objdump -d --no-show-raw-insn --disassemble=copy root/opt/copy |
	sed -nE 's/^ +([0-9a-f]+):.*/\1/p')
read -r offset vaddr < <(readelf -lW root/opt/copy | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
off() { printf '0x%x' $((0x${at[$1]} - vaddr + offset)); }

freq()
{
	echo "COUNT image=1 offset=$(off "$1") event=7 samples=$2 period=$(($2 * 1000))"
	echo "FREQ image=1 offset=$(off "$1") event=7 samples=$2 period=$(($2 * 1000)) cycles=$3" \
		"issue=$4 executions=${5:-1000000} low=${6:-980000} high=${7:-1020000}" \
		"confidence=${8:-high} method=flow"
}

# stall INSN CAUSE LOW HIGH [CULPRIT,...], in cycles of all executions
stall()
{
	local list='' i
	for i in ${5//,/ }; do list=$list,$(off "$i"); done
	echo "STALL image=1 offset=$(off "$1") cause=$2 low=$3 high=$4 culprits=${list#,} confidence=high"
}

edge()
{
	echo "EDGE image=1 from=$(off "$1") to=$(off "$2") executions=$3 low=$4 high=$5 confidence=$6 method=flow"
}

frequencies()
{
	local i cycles issue

	echo "IMAGE id=1 type=0 path=/opt/copy machine=62"
	echo "EVENT id=7 name=cycles unit=cycles"
	freq 0 4 2 1 2000 1000 3000 low
	freq 1 2 1 1 2000 1000 3000 low
	i=2
	while read -r cycles issue; do
		freq $i "$(awk "BEGIN { print $cycles * 1000 }")" "$cycles" "$issue"
		i=$((i + 1))
	done <<'END'
2 1
0 0
1 1
0.5 0.5
1 1
0 0
18 1
1 1
114.5 1
1 1
0 0
0 0
1 0.5
END
	echo "COUNT image=1 offset=$(off 15) event=7 samples=60000 period=7000"
	edge 14 2 998000 990000 1000000 high
	edge 14 15 2000 1000 3000 low
}

stalls()
{
	stall 2 mispredict 0 1000000 1,14
	stall 2 dtlb 0 1000000
	stall 8 dcache 0 17000000 2
	stall 8 write-buffer 0 17000000
	stall 8 dtlb 0 17000000
	stall 10 slotting 500000 500000
	stall 10 dcache 10000000 113500000 5
	stall 10 write-buffer 0 50000000
	stall 10 dtlb 0 40000000
	stall 11 slotting 500000 500000
	stall 13 gain 14000600 14000600
}

frequencies | "$text" >freq.vt
{ frequencies; stalls; } | "$text" >x.vt
list() { vlist -i x.vt --symfs root "$@"; }

# ---- figure 2 ----

t_ok "figure 2" list --calc copy
cp "$T_OUT" calc
t_like "opens with the share of each confidence" \
	'^\*\*\* Confidence +high 70.0%, medium 0.0%, low 0.0%, no estimate 30.0% of 200006 samples$' calc
t_is "that comes before any code" "$(sed -n 2p calc | cut -c1-14)" '*** Confidence'
t_like "the block of the loop, in the best case" '^\*\*\* Best-case +8\.0/13 = 0\.62CPI$' calc
t_like "and in truth" '^\*\*\* Actual +140\.0/13 = 10\.77CPI$' calc
t_like "its executions" ': executed 1000000 times \(980000 to 1020000\), high confidence$' calc
t_like "where it goes" "^\\*\\*\\* Next +.*${at[2]} 998000 \\(high\\)" calc
t_like "those of the block before" ': executed 2000 times \(1000 to 3000\), low confidence$' calc

# The bubbles above an instruction: from the line after the instruction before it.
above() { awk -v at="${at[$1]}" '$1 == at { printf "%s", s; exit } /^[0-9a-f]+ / { s = ""; next } { s = s $0 "\n" }' calc |
	sed -E '/^\*|^$/d; s/^ +//'; }
t_is "two half cycles of stall: letters and what they mean" "$(above 2)" \
	"Dp  (D = DTB miss)
Dp  (p = branch mispredict)"
t_is "a long stall is cut short" "$(above 8)" \
	"dDw  (d = D-cache miss)
dDw ... 18.0cy
dDw  (w = write-buffer overflow)"
t_is "static ones stand apart; letters are explained once" "$(above 10)" \
	"s  (s = slotting hazard)
dwD
dwD ... 114.5cy
dwD"
t_is "no stall, no bubble" "$(above 9)" ""
t_like "samples, cycles and culprit of the store" "^${at[8]} +mov .* 18000 +18\\.0cy +${at[2]}\$" calc
t_like "two culprits" "^${at[2]} +mov .* 2000 +2\\.0cy +${at[1]},${at[14]}\$" calc
t_like "what takes no time of its own" "^${at[3]} +add .* 0  \\(same cycle\\)\$" calc
objdump -d --no-show-raw-insn --disassemble=copy root/opt/copy | sed -nE 's/^ +([0-9a-f]+):.*/\1/p' >want
grep -oE '^[0-9a-f]{6,} ' calc | tr -d ' ' >got
t_same "every instruction is there" want got

t_ok "--cutoff" list --calc --cutoff 1 copy
t_unlike "leaves cold blocks out" "^${at[0]} " "$T_OUT"
t_like "and says so" '^\*\*\* 2 blocks of less than 1%' "$T_OUT"
t_pipe "colour only adds" \
	"vlist -i x.vt --symfs root --calc --color always copy | sed 's/\\x1b\\[[0-9;]*m//g' >stripped"
t_same "to the same text" calc stripped
t_ok "the hottest procedure" list --calc --top 1
t_same "is it" calc "$T_OUT"

# ---- figure 4 ----

t_ok "figure 4" list --summary copy
cp "$T_OUT" summary
t_is "opens with the same line" "$(sed -n 2p summary)" "$(sed -n 2p calc)"
# Of 140006000 cycles: 10000000 and 130500000; 0 and 58000000; 2 x 500000.
t_like "a range for each cause" '^\*\*\* +D-cache miss +7\.1% to +93\.2%$' summary
t_like "another" '^\*\*\* +DTB miss +0\.0% to +41\.4%$' summary
t_like "a static one" '^\*\*\* +slotting hazard +0\.7%$' summary
t_like "the gain is below 0" '^\*\*\* +unexplained gain +-10\.0% to +-10\.0%$' summary
t_like "samples that are covered" '140006000 cycles, 70\.0% of all samples' summary
value() { sed -nE "s/^\\*\\*\\* $1 +(-?[0-9.]+)%\$/\\1/p" summary; }
# 1 + 17 + 113.5 million cycles less the gain; half a million of the branch are nobody's fault.
t_is "the dynamic stalls, once each" "$(value 'Subtotal dynamic')" 83.9
t_is "all adds up" "$(awk "BEGIN { printf \"%.1f\", $(value 'Total stall') + $(value Execution) + $(value 'Net sampling error') }")" \
	"100.0"
t_ok "an image" list --summary --image copy
t_same "is all that its procedures are" <(tail -n +2 summary) <(tail -n +2 "$T_OUT")
t_ok "all images" list --summary
t_like "no image is named" '^All images$' "$T_OUT"
t_status "an image that is not there" 2 list --summary --image gone
t_ok "without vculprit, the summary is what vfreq knows" vlist -i freq.vt --symfs root --summary copy
t_like "it says so" 'vculprit finds them' "$T_ERR"
t_like "and has the best case" '^\*\*\* Best-case +8004000/13004000 = 0\.62CPI' "$T_OUT"

# ---- --stall ----

t_ok "the procedures that D-cache misses cost most" list --stall dcache
t_like "with their range" '^ +7\.14% +93\.21% +7\.14% +93\.21% +100\.00%  copy +/opt/copy$' "$T_OUT"
t_like "opens with the confidence" '^\*\*\* Confidence +high 70' "$T_OUT"
t_pipe "a letter means the same" "vlist -i x.vt --symfs root --stall d --csv | grep '^10000000,130500000,.*,copy,/opt/copy$' >/dev/null"
t_ok "what nobody loses" list --stall icache
t_unlike "has no rows" copy "$T_OUT"
t_ok "--cutoff leaves out" list --stall slotting --cutoff 1
t_unlike "those below it" '/opt/copy' "$T_OUT"
t_status "no such stall" 2 list --stall weather

# ---- JSON ----

jqs() { jq -r "$2" "$1"; }
list --calc --json copy >calc.json
t_is "blocks" "$(jqs calc.json '.procedures[0].blocks | length')" 3
t_is "executions" "$(jqs calc.json '.procedures[0].blocks[1].executions')" 1000000
t_is "causes of a stall, with culprits" "$(jqs calc.json \
	'.procedures[0].blocks[1].instructions[6].stalls[] | select(.cause == "dcache") | .culprits[0]')" "0x${at[2]}"
t_is "edges" "$(jqs calc.json ".procedures[0].blocks[1].next[] | select(.to == \"0x${at[2]}\") | .executions")" 998000
t_is "instructions" "$(jqs calc.json '[.procedures[0].blocks[].instructions[]] | length')" 16
list --summary --json copy >summary.json
t_is "the summary's parts make up all" "$(jqs summary.json \
	'.procedures[0].summary | .dynamic + .static + .execution + .net_sampling_error | . * 1000 | round')" 100000
t_is "confidence" "$(jqs summary.json '.procedures[0].summary.confidence.high | round')" 70
t_is "--stall" "$(list --stall dtlb --json | jq -r '.procedures[0].high_cycles')" 58000000

# ---- source ----

if cc -g -nostdlib -static -Wl,-e,_start,--build-id=none -o root/opt/lines copy.s 2>/dev/null; then
	sed 's|path=/opt/copy|path=/opt/lines|' <(frequencies) | "$text" >lines.vt
	t_ok "a program with line numbers" vlist -i lines.vt --symfs root --calc copy
	t_like "says where a block is from, with the text" \
		'^\*\*\* Source +copy\.s:7  1:.*mov \(%rsi\), %r8$' "$T_OUT"
	t_like "each line of it" '^\*\*\*  +copy\.s:8  add [$]4, %rcx$' "$T_OUT"
	t_like "but not all of a long one" '^\*\*\*  +\.\.\.$' "$T_OUT"
	t_like "and jumps within it go to addresses" ' jne +[0-9a-f]+ +[0-9]' "$T_OUT"
	mv copy.s copy.txt
	t_ok "without the text" vlist -i lines.vt --symfs root --calc copy
	mv copy.txt copy.s
	t_like "says where a block begins" '^\*\*\* Source +copy\.s:7$' "$T_OUT"
	t_is "and JSON each instruction's" "$(vlist -i lines.vt --symfs root --calc --json copy 2>/dev/null |
		jq -c '[.procedures[0].blocks[1].instructions[].line]')" "[7,8,9,10,11,12,13,14,15,16,17,18,19]"
else
	t_skip "line numbers" "no debug information"
fi

# ---- flow graphs ----

t_ok "SVG" list --cfg copy
cp "$T_OUT" copy.svg
cat >svg.py <<'END'
import sys
import xml.etree.ElementTree as et
ns = '{http://www.w3.org/2000/svg}'
root = et.parse(sys.argv[1]).getroot()
assert root.tag == ns + 'svg'
for g in root.iter(ns + 'g'):
    if g.get('class') == 'block':
        print('block', *(t.text for t in g.iter(ns + 'text')), sep='|')
for t in root.iter(ns + 'text'):
    print('text', t.text)
print('paths', sum(p.get('marker-end') is not None for p in root.iter(ns + 'path')))
END
t_pipe "it is XML" "'$PYTHON' svg.py copy.svg >svg.txt"
t_is "blocks, entry and exit" "$(grep -c '^block' svg.txt)" 5
# entry, test's two ways, the loop, its end, ret's
t_like "an arrow for each edge" '^paths 6$' svg.txt
t_like "instructions with cycles and letters" "\\|${at[8]} mov .* 18\\.0cy d(Dw|wD)\\|" svg.txt
t_like "executions of blocks" "^block\\|${at[2]} +x 1\\.0M \\(high\\)\\|100\\.0% of cycles, CPI 10\\.77, best 0\\.62" svg.txt
t_like "and of edges" '^text 998\.0k$' svg.txt
t_like "the confidence" '^text samples: high 70\.0%' svg.txt
t_ok "DOT" list --cfg=dot copy
cp "$T_OUT" copy.dot
t_is "has the same blocks" "$(grep -c 'label=.*fillcolor' copy.dot)" 5
t_is "and edges" "$(grep -c -- '->' copy.dot)" 6
if command -v dot >/dev/null; then
	t_ok "Graphviz reads it" dot -Tplain copy.dot
else
	t_skip "Graphviz reads it" "no dot"
fi
t_ok "--cutoff" list --cfg=dot --cutoff 1 copy
t_is "leaves blocks out" "$(grep -c 'label=.*fillcolor' "$T_OUT")" 3
t_status "a form that is none" 2 list --cfg=gif copy
t_status "SVG of no procedure" 2 list --cfg
vtrace decode "$ROOT/tests/data/demo/perf.data" -o demo.vt
demo() { vlist -i demo.vt --symfs "$ROOT/tests/data/demo/symfs" "$@"; }
t_ok "the graph of a procedure without frequencies" demo --cfg smooth
cp "$T_OUT" smooth.svg
t_pipe "is XML" "'$PYTHON' svg.py smooth.svg >smooth.txt"
jumps=$(objdump -d --no-show-raw-insn --disassemble=smooth "$(find "$ROOT/tests/data/demo/symfs" -name heat)" |
	grep -cE '^ .*\bj[a-z]+ ')
t_ok "a block for each jump at least" test "$(grep -c '^block' smooth.txt)" -gt "$jumps"

# Names may hold anything.
if objcopy --redefine-sym copy='a<b&"c>\d' root/opt/copy root/opt/odd 2>/dev/null &&
	readelf -sW root/opt/odd | grep -qF 'a<b&"c>'; then
	sed 's|path=/opt/copy|path=/opt/odd|' <(frequencies) | "$text" >odd.vt
	t_pipe "names of odd characters in SVG" \
		"vlist -i odd.vt --symfs root --cfg --top 1 >odd.svg; '$PYTHON' svg.py odd.svg | grep -F 'a<b&\"c>' >/dev/null"
	t_pipe "and in DOT" "vlist -i odd.vt --symfs root --cfg=dot --top 1 >odd.dot; grep -qF 'digraph \"a<b&\\\"c>' odd.dot"
else
	t_skip "names of odd characters" "objcopy makes none"
fi

# ---- what it cannot do ----

t_status "a stream without frequencies" 3 vlist -i demo.vt --calc smooth
t_like "tells what makes them" 'vfreq' "$T_ERR"
t_status "two views" 2 list --calc --summary copy
t_status "no procedure" 2 list --calc
t_status "CSV of what is no table" 2 list --calc --csv copy
t_status "a percentage" 2 list --calc --cutoff 101 copy
t_status "--image with a procedure" 2 list --summary --image copy copy
t_status "--image with another listing" 2 list --image copy copy
mkdir none
t_ok "a summary needs no code" vlist -i x.vt --symfs none --summary --image copy
t_status "--calc does" 2 vlist -i x.vt --symfs none --calc copy
{
	echo "IMAGE id=2 type=1 path=[kernel.kallsyms] machine=62"
	echo "EVENT id=7 name=cycles unit=cycles"
	for i in $(seq 10 21); do
		place="image=2 offset=0xffffffff81000${i}0"
		echo "SYMBOL image=2 addr=0xffffffff81000${i}0 size=16 name=k$i"
		echo "COUNT $place event=7 samples=5 period=500"
		echo "FREQ $place event=7 samples=5 period=500 executions=5 low=4 high=6 cycles=1"
	done
} | "$text" >kernel.vt
t_status "twelve procedures without code" 3 vlist -i kernel.vt --calc --all
t_is "ten are named" "$(grep -c '^vlist: k[0-9]*: its code is not there$' "$T_ERR")" 10
t_like "the others are counted" '^vlist: 2 more procedures that are not listed$' "$T_ERR"
t_status "a full disk" 4 list --calc copy -o /dev/full

# What a simulator knows has no samples: cycles stand for them.
frequencies | grep -v COUNT | sed 's/ samples=[0-9]* period=[0-9]*//; s/confidence=[a-z]*/confidence=exact/' |
	"$text" >truth.vt
t_ok "the truth, without samples" vlist -i truth.vt --symfs root --calc copy
t_like "shares of cycles instead" '^\*\*\* Confidence +exact 100.0%, .*no estimate 0.0% of the cycles$' "$T_OUT"

# Numbers at their limits do not break lines or JSON.
{
	frequencies
	echo "FREQ image=1 offset=$(off 15) event=7 executions=1e300 low=0 high=inf cycles=nan issue=nan"
	stall 14 dcache 0 inf
} | "$text" >wild.vt
t_ok "infinite bounds" vlist -i wild.vt --symfs root --calc copy
t_pipe "in JSON, too" "vlist -i wild.vt --symfs root --calc --json copy | jq -e '.procedures | length == 1' >/dev/null"

t_done
