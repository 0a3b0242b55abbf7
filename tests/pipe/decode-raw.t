#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode on raw Intel PT: where the code comes from, and compressed inputs of any kind.

. "$(dirname "$0")/../lib.sh"
t_need gcc gzip valgrind

cat >prog.s <<'END'
	.text
	.type work,@function
work:
	mov $1000, %ecx
1:	dec %ecx
	jnz 1b
	ret
	.size work,.-work
	.globl _start
	.type _start,@function
_start:
	mov $20, %ebx
2:	call work
	dec %ebx
	jnz 2b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start,.-_start
END
gcc -nostdlib -static -no-pie -o prog prog.s
vtrace record --full --blocks -o run.vt -- ./prog
vtrace encode --pages code -o trace.pt run.vt

# instructions, blocks and calls of a stream
facts()
{
	vtrace info "$@" | sed -n '/^executed code/,/^$/{/instructions\|branches\|calls/p}'
}
# what vprof says of `work`
work()
{
	vprof "$@" | awk '$4 == "work" { print $1, $5 }'
}

facts run.vt >recorded
t_like "the recording is what the program does" ' 40104 instructions in 20061 blocks' recorded
t_ok "a trace, by its first packet" vtrace decode -o image.vt --image prog:0x400000 trace.pt
facts image.vt >got
t_same "gives what was recorded" got recorded
t_is "with symbols" "$(work image.vt)" "40040 $PWD/prog"
t_pipe "through pipes" 'vtrace decode --image prog:0x400000 - <trace.pt >pipe.vt; vprof pipe.vt | grep work >/dev/null'
t_ok "by its name" vtrace decode --format pt -o named.vt --image prog:4194304 trace.pt
{ printf '\3\4\5'; cat trace.pt; } >middle.pt
t_status "one that begins in the middle of a packet" 1 vtrace decode -o middle.vt --image prog:0x400000 middle.pt
t_like "says what is lost" 'middle.pt: 1 damaged place' "$T_ERR"
facts middle.vt 2>/dev/null >got
t_same "and nothing else" got recorded
{ head -c 100 prog; cat trace.pt; } >far.pt
t_status "or far in front of it" 3 vtrace decode -o far.vt --image prog:0x400000 far.pt
t_status "needs a word" 1 vtrace decode --format pt -o far.vt --image prog:0x400000 far.pt
facts far.vt 2>/dev/null >got
t_same "that is believed" got recorded
t_pipe "from pages" 'vtrace decode --pages code.dump,code.addr trace.pt -o pages.vt'
facts pages.vt >got
t_same "gives the same" got recorded
vtrace dump -k BLOCK -k EXEC image.vt >a
vtrace dump -k BLOCK -k EXEC pages.vt >b
t_same "to the byte" a b
t_is "of process 1" "$(vtrace dump -k EXEC -F pid,tid image.vt | sort -u | tr -d ' ')" "$(vtrace dump -k EXEC -F pid,tid pages.vt | sort -u | tr -d ' ')"
vtrace decode --pid 77 --image prog:0x400000 trace.pt -o pid.vt
t_is "or of another" "$(vtrace dump -k MAP -F pid pid.vt | grep -c 77)" 1
t_is "with symbols, too" "$(work pid.vt)" "40040 $PWD/prog"

# A part of a file is at an address of its own; what is named later lies above.
t_pipe "a part of a file" 'vtrace decode --image prog:0x401000:0x1000:0x21 trace.pt -o part.vt; vprof part.vt | grep work >/dev/null'
head -c 4096 /dev/zero >zero
t_pipe "later files lie above" \
	'vtrace decode --image zero:0x401000 --image prog:0x400000 trace.pt -o x.vt; vtrace dump -k BLOCK -k EXEC x.vt | cmp - a'
t_status "earlier ones below" 1 vtrace decode --image prog:0x400000 --image zero:0x401000 trace.pt -o x.vt
t_ok "a name with a colon" bash -c 'cp prog pro:7; vtrace decode --image pro:7:0x400000 trace.pt -o x.vt'
t_pipe "a file that is no ELF file" \
	'tail -c +4097 prog | head -c 33 >text; vtrace decode --image text:0x401000 trace.pt -o x.vt'
facts x.vt >got
t_same "has the same code" got recorded

# Code that is missing has an address, for both decoders: `work` is the first 10 bytes.
start=$(nm prog | awk '$3 == "_start" { sub(/^0*/, "0x", $1); print $1 }')
for engine in fast libipt; do
	t_status "a part of the code ($engine)" 1 \
		vtrace decode --engine $engine --image prog:0x401000:0x1000:10 trace.pt -o $engine.vt
	vtrace dump -k GAP $engine.vt >$engine.gaps
	t_is "the first gap is at _start ($engine)" \
		"$(vtrace dump -k GAP -F addr $engine.vt | head -1)" "$start"
done
t_same "and all gaps are the same" fast.gaps libipt.gaps
vtrace decode trace.pt -o x.vt 2>/dev/null
vtrace info x.vt >info.txt 2>/dev/null
t_like "info names the MiB where nothing is mapped" " 401[0-9a-f]{3} +401[0-9a-f]{3} +.nothing known to be mapped there.$" info.txt
t_status "a gap for another reason" 1 vtrace decode --image prog:0x400000 --format pt far.pt -o x.vt
t_is "has no address" "$(vtrace dump -k GAP x.vt | grep -c 'addr=')" 0

# A shared object is placed by its lowest page.
gcc -nostdlib -shared -fPIC -o lib.so prog.s
vtrace decode --image lib.so:0x400000 trace.pt -o so.vt 2>/dev/null
t_is "a shared object" "$(work so.vt)" "40040 $PWD/lib.so"

# Compressed.
gzip -k trace.pt code.dump code.addr prog
t_pipe "everything compressed" 'vtrace decode --pages code.dump.gz,code.addr.gz trace.pt.gz -o x.vt; vtrace dump -k BLOCK -k EXEC x.vt | cmp - a'
t_pipe "a compressed image" 'vtrace decode --image prog.gz:0x400000 trace.pt.gz -o x.vt; vtrace dump -k BLOCK -k EXEC x.vt | cmp - a'
t_pipe "two members" '{ head -c 100 trace.pt | gzip; tail -c +101 trace.pt | gzip; } | vtrace decode --image prog:0x400000 - >x.vt;
	vtrace dump -k BLOCK -k EXEC x.vt | cmp - a'
demo=$ROOT/tests/data/demo/perf.data
vtrace decode "$demo" -o demo.vt
vtrace dump -k SAMPLE -k MAP demo.vt >samples
gzip -c "$demo" >perf.data.gz
t_pipe "a compressed perf.data" 'vtrace decode perf.data.gz -o x.vt; vtrace dump -k SAMPLE -k MAP x.vt | cmp - samples'
gzip -c demo.vt >demo.vt.gz
t_pipe "a compressed stream" 'vtrace decode demo.vt.gz -o x.vt; vtrace dump -k SAMPLE -k MAP x.vt | cmp - samples'
# What is for raw traces only and cannot be used is told.
for option in "--image prog:0x400000" "--pages code.dump,code.addr" "--pid 7" "--mtc 3" \
	"--nom-freq 30" "--cpuid-15h 2,176"; do
	for input in "$demo" demo.vt; do
		# shellcheck disable=SC2086 # words
		t_ok "$option with $input" vtrace decode $option -o x.vt "$input"
		t_is "is told" "$(cat "$T_ERR")" \
			"vtrace decode: $input: no raw trace of Intel PT: ${option%% *} is not used"
	done
done
t_ok "but not of a raw trace" vtrace decode --image prog:0x400000 --pid 7 trace.pt -o x.vt
t_is "where it is used" "$(cat "$T_ERR")" ""
head -c 1000 perf.data.gz >cut.gz
t_status "compressed data that is cut off" 3 vtrace decode cut.gz -o x.vt
t_like "is told" '^vtrace decode: cut.gz: the gzip data is cut off' "$T_ERR"
{ head -c 60 trace.pt.gz; head -c 400 /dev/zero; } >bad.gz
t_status "damaged compressed data" 3 vtrace decode --image prog:0x400000 bad.gz -o x.vt
t_like "is told" '^vtrace decode: bad.gz: damaged gzip data' "$T_ERR"

# Mistakes.
t_status "no code at all" 1 vtrace decode trace.pt -o x.vt
t_like "is told" 'no code is named: see --image and --pages' "$T_ERR"
vtrace info x.vt 2>/dev/null >told
t_like "and in the stream" 'no code' told
t_status "a file that is not there" 3 vtrace decode --image nosuch:0x400000 trace.pt -o x.vt
t_like "is told" '^vtrace decode: nosuch: No such file' "$T_ERR"
for arg in prog prog: :0x400000 prog:x prog:-1 '' prog:0x40000000000000000; do
	t_status "--image '$arg' is refused" 2 vtrace decode --image "$arg" trace.pt -o x.vt
done
for arg in prog:0x1000:0x100000:1 prog:0x1000:0:0x100000 prog:0x1000:0:0; do
	t_status "--image $arg is beyond the file" 2 vtrace decode --image "$arg" trace.pt -o x.vt
	t_like "as it says" 'not within its [0-9]* bytes' "$T_ERR"
done
t_status "code beyond the address space" 3 vtrace decode --image zero:0xfffffffffffff800 trace.pt -o x.vt
: >nothing
t_status "an empty image" 3 vtrace decode --image nothing:0x400000 trace.pt -o x.vt
head -c 100 prog >short
t_status "half an ELF file" 3 vtrace decode --image short:0x400000 trace.pt -o x.vt
for arg in code.dump 'code.dump,' ',code.addr'; do
	t_status "--pages '$arg' is refused" 2 vtrace decode --pages "$arg" trace.pt -o x.vt
done
head -c 4095 code.dump >short.dump
cat code.dump code.dump >long.dump
head -c 7 code.addr >short.addr
for arg in short.dump,code.addr long.dump,code.addr code.dump,short.addr code.dump,nothing nothing,nothing nosuch,code.addr code.dump,nosuch; do
	t_status "--pages $arg: not that many pages" 3 vtrace decode --pages "$arg" trace.pt -o x.vt
done
t_done
