#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace merge --chains: the call trees of parts give those of the whole, in whatever order the parts
# come and however often they are merged, and damaged trees are refused.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld
PATH=$VT_BUILD/tests/tools:$PATH

# ---- made-up streams ----

# main, work, leaf: 16 bytes each, from 0x401000.
cat >prog.s <<'END'
	.globl _start, main, work, leaf
	.text
main:	.cfi_startproc
	.cfi_undefined %rip
	.skip 16, 0x90
	.cfi_endproc
	.type main, @function
	.size main, 16
work:	.cfi_startproc
	.skip 16, 0x90
	.cfi_endproc
	.type work, @function
	.size work, 16
leaf:	.skip 16, 0x90
	.type leaf, @function
	.size leaf, 16
_start:	nop
END
{ as -o prog.o prog.s && ld -Ttext=0x401000 -o prog prog.o; } || t_skip_all "no x86-64 assembler"

# A stream with the records of standard input.  $1: the number of the image and of an event, which
# differ between the streams of a merge.
stream()
{
	{
		echo "EVENT id=$1 name=cycles policy=interrupt unit=cycles regs_user_mask=0xff0fff"
		echo "EVENT id=$(($1 + 1)) name=other policy=interrupt"
		echo "IMAGE id=$1 path=$T_DIR/prog"
		echo "MAP pid=10 tid=10 start=0x401000 length=0x1000 offset=0x1000 image=$1 prot=5 misc=2"
		sed "s/@/$1/g"
	} | stream_make
}
USER=0xfffffffffffffe00
sample="SAMPLE pid=10 tid=10 misc=2 has=0x121"

# Samples of two parts: plain chains, one that is damaged, a second address near the first (skid),
# no chain at all, an address that is nowhere, and the copy of a stack that is unwound.
cat >one.txt <<END
$sample event=@ period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008
$sample event=@ period=7 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401010
$sample event=@ period=1 ip=0x401018 callchain=$USER,0x401019,0x401008
$sample event=@ period=2 ip=0x401002
$sample event=@ period=1 ip=0x401025 callchain=0xfffffffffffff001
END
regs=0,0,0,0,0,0,0,0x7000,0x401014,0,0,0,0,0,0,0,0,0,0,0
cat >two.txt <<END
$sample event=@ period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008
$sample event=@ period=5 ip=0x666000 callchain=$USER,0x666000,0x401018,0x401008
$sample event=@ period=1 ip=0x401018 callchain=$USER,0x401024,0x401008
SAMPLE pid=10 tid=10 misc=2 has=0x3121 event=@ period=3 ip=0x401014 uregs_abi=2 uregs=$regs stack=18104000000000000810400000000000
$sample event=$((3 + 1)) period=1 ip=0x401003
END
{
	cat one.txt
	grep -v "event=4" two.txt
	echo "$sample event=4 period=1 ip=0x401003"
} | stream 3 >whole.vt
stream 70 <one.txt >one.vt
stream 3 <two.txt >two.vt

# views NAME STREAM: all that is said of its chains, in files of that name.
views()
{
	local view
	for view in children callers callees tree; do
		vprof --$view --json "$2" >"$1.json" && "$PYTHON" -c 'import json, sys
o = json.load(sys.stdin)
print(json.dumps({k: v for k, v in o.items() if "chains" in k or k.startswith("rows")}, indent=1))' \
			<"$1.json" || return 1
	done >"$1.views"
	vexport --to folded "$2" >"$1.folded"
	vflame "$2" >"$1.svg" 2>/dev/null
	vprof --diff --children --json whole.vt "$2" >"$1.diff" && "$PYTHON" - "$1.diff" <<'END'
import json, sys
for r in json.load(open(sys.argv[1]))["rows"]:
    for e in r["events"]:
        assert e["before"] == e["after"], r
END
}

t_ok "the whole's own views" views whole whole.vt
t_ok "a merge of two parts" vtrace merge --chains one.vt two.vt -o both.vt
t_is "has nothing but sums" "$(vtrace dump both.vt | cut -f 1 | sort -u | tr '\n' ' ')" \
	"CHAIN COUNT EVENT IMAGE "
t_ok "is read" views both both.vt
t_same "every view of it is that of the whole" both.views whole.views
t_same "so are folded stacks" both.folded whole.folded
t_like "an unwound chain is counted as such" '"unwound_chains": 1' both.views
t_like "and a damaged one" '"damaged_chains": 1' both.views
t_ok "a merge of the whole" vtrace merge --chains whole.vt -o sum.vt
vtrace dump sum.vt >sum
vtrace dump both.vt >both
t_same "has the same records" both sum
vtrace merge --chains two.vt one.vt | vtrace dump >turned
t_same "the order of inputs does not matter" turned both
vtrace merge --chains one.vt -o m1.vt
vtrace merge --chains two.vt -o m2.vt
vtrace merge --chains m2.vt m1.vt | vtrace dump >merged
t_same "nor do merges of merges" merged both
vtrace merge --chains m2.vt one.vt | vtrace dump >mixed
t_same "or of merges and recordings" mixed both
t_pipe "a merge is read from a pipe" 'vtrace merge --chains one.vt two.vt | vprof --tree --json >piped.json'

# By arithmetic, not only by comparison.
vprof --tree --json both.vt >tree.json
t_ok "the tree is the one that was made" "$PYTHON" -c '
import json
o = json.load(open("tree.json"))
got = [(r["depth"], r["procedure"], r["children"], r["self"]) for r in o["rows"]]
none = "[no mapping, user mode]"
assert got == [
    (0, "main", 8, 1), (1, "work", 6, 1), (2, "leaf", 3, 3), (2, "work", 1, 1), (2, none, 1, 1),
    (1, "leaf", 1, 0), (2, "work", 1, 1), (0, "leaf", 1, 1)], got
assert o["chains"] == 8, o["chains"]'

# Without the option, nothing has changed, whatever the inputs have.
vtrace merge one.vt two.vt | vtrace dump >plain
grep -v '^CHAIN' both >counts
t_same "without the option, there are counts alone" plain counts
vtrace merge both.vt | vtrace dump >plain
t_same "of what has chains, too" plain counts
t_status "which is no call tree" 3 bash -c 'vtrace merge one.vt two.vt | vprof --tree'

# Counts without chains have no caller; they are counted once.
vtrace merge one.vt -o counts.vt
vtrace merge --chains counts.vt two.vt -o rest.vt
vprof --children --json rest.vt >rest.json
t_ok "what has no chain is in the totals" "$PYTHON" -c '
import json
o = json.load(open("rest.json"))
got = {r["procedure"]: (r["children"], r["self"]) for r in o["rows"]}
assert got == {"leaf": (5, 4), "main": (5, 1), "work": (5, 3), "[no mapping, user mode]": (1, 1)}, got
assert o["chains"] == 4, o'
vtrace merge --chains rest.vt | vtrace dump >again
vtrace dump rest.vt >rest
t_same "and stays there" again rest
t_ok "a part of it is listed" vprof --image prog both.vt
t_status "but its tree is one of all samples" 3 vprof --tree --image prog both.vt
t_like "which is said" 'call trees' "$T_ERR"

# What is packed names the callers, too.
vtrace merge --chains one.vt two.vt | vtrace pack -o packed.vt
mv prog gone
vprof --tree --json packed.vt >packed.json
vprof --tree --json both.vt >unpacked.json
mv gone prog
t_ok "packed callers have their names" "$PYTHON" -c '
import json
rows = lambda f: [(r["depth"], r["procedure"], r["children"]) for r in json.load(open(f))["rows"]]
assert rows("packed.json") == rows("tree.json") != rows("unpacked.json")'

# ---- hostile trees ----

# hostile NAME TEXT: the first three records are good, what follows is refused.
hostile()
{
	{
		echo "EVENT id=1 name=cycles policy=interrupt"
		echo "EVENT id=2 name=other policy=interrupt"
		echo "IMAGE id=1 path=$T_DIR/prog"
		echo "COUNT image=1 offset=0x1005 event=1 samples=2 period=2"
		echo "CHAIN id=1 event=1 chains=2"
		echo "CHAIN id=2 parent=1 event=1 image=1 offset=0x1005 samples=2 period=2"
		echo "$2"
	} | stream_make >hostile.vt
	t_status "$1" 1 vprof --tree --json hostile.vt
	t_like "$1: the input and the record are named" \
		"^vprof: hostile.vt: 1 CHAIN record.*CHAIN [0-9]+.*$3" "$T_ERR"
	cp "$T_OUT" hostile.json
	t_ok "$1: the others are there" "$PYTHON" -c '
import json
o = json.load(open("hostile.json"))
assert [(r["procedure"], r["children"]) for r in o["rows"]] == [("main", 2)] and o["chains"] == 2, o'
	t_status "$1: so says a merge" 1 vtrace merge --chains hostile.vt -o merged.vt
	vtrace dump -k CHAIN merged.vt >merged 2>/dev/null
	t_is "$1: which has the rest" "$(wc -l <merged)" 2
}
place="image=1 offset=0x1005 samples=1"
hostile "a parent that comes later" "CHAIN id=3 parent=4 event=1 $place" 'parent 4'
hostile "its own parent" "CHAIN id=3 parent=3 event=1 $place" 'parent 3'
hostile "a parent far away" "CHAIN id=3 parent=0xffffffffffffffff event=1 $place" 'parent'
hostile "an id that was there" "CHAIN id=2 parent=1 event=1 $place" 'ids rise'
hostile "a high id" "CHAIN id=4194305 parent=1 event=1 $place" 'ids rise'
hostile "no id" "CHAIN event=1" 'ids rise'
hostile "a parent of another event" "CHAIN id=3 parent=2 event=2 $place" 'another event'
hostile "an image that is not there" "CHAIN id=3 parent=2 event=1 image=9 samples=1" 'no image 9'
hostile "the number of no image" "CHAIN id=3 parent=2 event=1 image=0x100000001 samples=1" 'no image'
hostile "samples beyond counting" \
	"CHAIN id=3 parent=2 event=1 image=1 samples=0xffffffffffffffff" 'impossibly high'
hostile "periods beyond counting" \
	"CHAIN id=3 parent=2 event=1 image=1 samples=1 period=0xffffffffffffffff" 'impossibly high'
hostile "chains beyond counting" "CHAIN id=3 event=1 chains=0xffffffffffffffff" 'impossibly high'
hostile "a root with samples" "CHAIN id=3 event=1 $place" 'no parent'
hostile "no room below a place" "CHAIN id=3 parent=2 event=1 flags=2 samples=1" 'without chains'
{
	echo "EVENT id=1 name=cycles policy=interrupt"
	echo "IMAGE id=1 path=$T_DIR/prog"
	echo "COUNT image=1 offset=0x1005 event=1 samples=2000 period=2000"
	echo "CHAIN id=1 event=1 chains=2000"
	for i in $(seq 2 2001); do
		echo "CHAIN id=$i parent=$((i - 1)) event=1 image=1 offset=0x1005 samples=1 period=1"
	done
} | stream_make >deep.vt
t_status "a chain that is too deep" 1 vprof --children --json deep.vt
t_like "is refused from there on" '976 CHAIN records .*more than 1024 frames' "$T_ERR"
t_like "its samples are where they were" '"self": 2000' "$T_OUT"
{
	echo "EVENT id=1 name=cycles policy=interrupt"
	echo "IMAGE id=1 path=$T_DIR/prog"
	echo "COUNT image=1 offset=0x1005 event=1 samples=10 period=10"
	echo "CHAIN id=1 event=1 chains=10"
	echo "CHAIN id=2 parent=1 event=1 flags=2 samples=10 period=10"
} | stream_make >full.vt
t_ok "samples for whose chains there was no room" vprof --tree full.vt
t_like "are told as such" '^ +10 .*\[call tree is full\]' "$T_OUT"
vtrace merge --chains full.vt full.vt -o full2.vt
t_ok "and merged" vprof --tree full2.vt
t_like "as such" '^ +20 .*\[call tree is full\]' "$T_OUT"

# ---- a recording ----

if ! command -v gcc >/dev/null ||
	! perf record -q -g -o probe.data -e cpu-clock true >/dev/null 2>&1; then
	t_skip "a recording" "perf cannot record call chains here"
	t_done
fi
cat >run.c <<'END'
__attribute__((noinline)) long spin(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += i;
	return s;
}
__attribute__((noinline)) long twice(long n) { return spin(n) + spin(n); }
int main(void)
{
	long t = 0;
	for (int i = 0; i < 300; i++)
		t += twice(50000) + spin(100000);
	return t == 1;
}
END
gcc -O1 -g -fno-optimize-sibling-calls -o run run.c
for how in fp dwarf,4096; do
	perf record -q --call-graph $how -o run.data -e cpu-clock -F 1000 ./run 2>/dev/null
	vtrace decode run.data -o whole.vt
	stream_split whole.vt one.vt two.vt
	vtrace merge --chains two.vt one.vt -o both.vt
	views whole whole.vt
	t_ok "a recording with $how in two parts" views both both.vt
	t_same "every view is that of the whole" both.views whole.views
	t_same "and the folded stacks" both.folded whole.folded
done
t_done
