#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What vexport writes for other tools: made-up chains whose stacks are known, totals as vprof's,
# and names that are hostile to the formats.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld
PATH=$VT_BUILD/tests/tools:$PATH

# main, work, leaf: 16 bytes each, from 0x401000; and a procedure with a name of bad characters.
cat >prog.s <<'END'
	.globl _start, main, work, leaf
	.text
main:	.skip 16, 0x90
	.type main, @function
	.size main, 16
work:	.skip 16, 0x90
	.type work, @function
	.size work, 16
leaf:	.skip 16, 0x90
	.type leaf, @function
	.size leaf, 16
"a;b <script>\"c\" \\n]]>":	.skip 16, 0x90
	.type "a;b <script>\"c\" \\n]]>", @function
	.size "a;b <script>\"c\" \\n]]>", 16
_start:	nop
END
{ as -o prog.o prog.s && ld -Ttext=0x401000 -o prog prog.o; } || t_skip_all "no x86-64 assembler"

USER=0xfffffffffffffe00
sample="SAMPLE pid=10 tid=10 misc=2 has=0x121"
stream()
{
	{
		echo "EVENT id=1 name=cycles policy=interrupt unit=cycles period=100"
		echo "EVENT id=2 name=other policy=precise"
		echo "IMAGE id=1 path=$T_DIR/prog"
		echo "MAP pid=10 tid=10 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5 misc=2"
		cat
	} | stream_make
}

# main calls work, work calls leaf; a chain of one frame; no chain; no mapping.  The precise event's
# own address is not where its chain begins, but in the same procedure.
stream >x.vt <<END
$sample event=1 period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008
$sample event=1 period=2 ip=0x401026 callchain=$USER,0x401026,0x401018,0x401010
$sample event=1 period=5 ip=0x401018 callchain=$USER,0x401018,0x401008
$sample event=1 period=1 ip=0x401002 callchain=$USER,0x401002
$sample event=1 period=7 ip=0x401035
$sample event=1 period=9 ip=0x999999
$sample event=2 period=3 ip=0x401025 callchain=$USER,0x401028,0x401018,0x401008
COUNT event=1 image=1 offset=0x1021 samples=4 period=40
END

# ---- folded ----

t_ok "folded stacks" vexport --to folded x.vt
cp "$T_OUT" folded
cat >expected <<'END'
[no mapping, user mode] 1
a:b <script>"c" \\n]]> 1
leaf 4
main 1
main;work 1
main;work;leaf 2
END
t_same "of the first event with call chains, sorted" folded expected
vexport --to folded -p x.vt | awk '{ print $NF }' | tr '\n' ' ' >periods
t_is "-p sums periods" "$(cat periods)" "9 7 40 1 5 3 "
t_ok "another event" vexport --to folded -e other x.vt
t_is "a skid inside a procedure is no call" "$(cat "$T_OUT")" "main;work;leaf 1"
t_pipe "a slice, from a pipe" 'vexport --to folded --symbol leaf <x.vt'
t_is "has its samples only" "$(tr '\n' ' ' <"$T_OUT")" "leaf 4 main;work;leaf 2 "

# ---- usage ----

t_status "no format" 2 vexport x.vt
t_like "asks for one" '--to' "$T_ERR"
t_status "an unknown one" 2 vexport --to nosuch x.vt
t_status "two events where there is room for one" 2 vexport --to folded -e cycles -e other x.vt
t_status "an unknown event" 2 vexport --to folded -e nosuch x.vt
t_status "two files" 2 vexport --to folded x.vt x.vt
t_status "no samples" 3 vexport --to folded --pid 11 x.vt
t_status "/dev/full" 4 vexport --to folded -o /dev/full x.vt

t_done
