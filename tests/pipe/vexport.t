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
{
	echo "EVENT id=1 name=cycles policy=interrupt"
	echo "IMAGE id=1 path=/nowhere/gone.so"
	echo "COUNT event=1 image=1 offset=0x1021 samples=4 period=40"
} | stream_make >gone.vt

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
vexport --to folded --period x.vt | awk '{ print $NF }' | tr '\n' ' ' >periods
t_is "-p sums periods" "$(cat periods)" "9 7 40 1 5 3 "
t_is "code without a name" "$(vexport --to folded gone.vt)" "[file not found] gone.so 4"
t_ok "another event" vexport --to folded -e other x.vt
t_is "a skid inside a procedure is no call" "$(cat "$T_OUT")" "main;work;leaf 1"
t_pipe "a slice, from a pipe" 'vexport --to folded --symbol leaf <x.vt'
t_is "has its samples only" "$(tr '\n' ' ' <"$T_OUT")" "leaf 4 main;work;leaf 2 "

# ---- pprof ----

go=/usr/lib/go-1.19/bin/go
pprof()
{
	HOME=$T_DIR/go GOCACHE=$T_DIR/go/cache PPROF_TMPDIR=$T_DIR/go PPROF_BINARY_PATH='' \
		$go tool pprof -symbolize=none "$@"
}
t_ok "a pprof profile" vexport --to pprof -o x.pb.gz x.vt
vexport --to pprof <x.vt >y.pb.gz
t_is "no time is in it" "$(od -An -tx1 -N 10 x.pb.gz)" " 1f 8b 08 00 00 00 00 00 00 03"
vexport --to pprof -o y.pb.gz x.vt
t_same "the same bytes" x.pb.gz y.pb.gz
t_status "not to a terminal" 2 script -qec "vexport --to pprof x.vt" /dev/null
if [ -x "$go" ]; then
	t_ok "go tool pprof reads it" pprof -raw x.pb.gz
	cp "$T_OUT" raw
	sed -n '/^Samples/,/^Locations/p' raw | sed '1d;$d;s/ *[0-9]* *$//' >samples
	t_like "samples and periods of each event" \
		'^cycles/count\[dflt\] cycles/period/cycles other/count other/period/events$' samples
	t_is "their sums" "$(awk 'NR > 1 { sub(/:.*/, ""); for (i = 1; i <= NF; i++) s[i] += $i }
		END { print s[1], s[2], s[3], s[4] }' samples)" "10 65 1 3"
	t_like "the period" '^PeriodType: cycles cycles$' raw
	t_like "the period" '^Period: 100$' raw
	t_like "the image" "^1: 0x401000/0x401041/0x1000 $T_DIR/prog  \[FN\]$" raw
	t_like "a place of it" '^ +[0-9]+: 0x401025 M=1 leaf :0 s=0$' raw
	t_like "a caller's place is in its call" '^ +[0-9]+: 0x401017 M=1 work :0 s=0$' raw
	t_like "bad characters stay in the name" '0x401035 M=1 a;b <script>"c" ' raw
	{
		for tid in 21 22 22; do
			echo "THREAD op=0 pid=10 tid=$tid comm=worker$tid"
			echo "SAMPLE pid=10 tid=$tid cpu=$((tid - 20)) misc=2 has=0x1ab event=1 period=1 ip=0x401025" \
				"callchain=$USER,0x401025,0x401018"
		done
		echo "$sample event=1 period=1 ip=0x401025"
	} | stream >threads.vt
	vexport --to pprof -o threads.pb.gz threads.vt
	pprof -raw threads.pb.gz | sed -n '/^cycles/,/^Locations/p' | sed '1d;$d' | tr -s ' \n' ' ' >tags
	t_is "threads and CPUs are labels" "$(sed 's/ : / /g; s/^ //; s/ $//' tags)" \
		"1 1: 1 2 comm:[worker21] cpu:[1] pid:[10] tid:[21] 2 2: 1 2 comm:[worker22] cpu:[2] pid:[10] tid:[22] 1 1: 1"
	pprof -top x.pb.gz >top
	t_like "leaf has 6 of 10" '^ +6 60.00% .* leaf$' top
	t_like "main has 1, with callees 4" '^ +1 10.00% +[0-9.]+% +4 40.00% +main$' top
	pprof -top -sample_index=cycles/period x.pb.gz >top
	t_like "periods" '^ +43cycles? 66.15% .* leaf$' top
else
	t_skip "go tool pprof" "golang-1.19-go is not installed"
fi

# ---- speedscope ----

t_ok "a file for speedscope" vexport --to speedscope -o x.json x.vt
# shellcheck disable=SC2016 # "$schema" is a name
t_ok "has stacks and weights" "$PYTHON" -c 'import json
doc = json.load(open("x.json"))
assert doc["$schema"] == "https://www.speedscope.app/file-format-schema.json"
assert set(doc) == {"$schema", "exporter", "name", "activeProfileIndex", "shared", "profiles"}
frames, (p,) = doc["shared"]["frames"], doc["profiles"]
assert set(p) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
assert (p["type"], p["name"], p["unit"]) == ("sampled", "cycles", "none")
assert p["startValue"] == 0 and p["endValue"] == 10 == sum(p["weights"])
got = {tuple(frames[i]["name"] for i in s): w for s, w in zip(p["samples"], p["weights"])}
assert got == {("[no mapping, user mode]",): 1, ("a;b <script>\"c\" \\n]]>",): 1, ("leaf",): 4,
    ("main",): 1, ("main", "work"): 1, ("main", "work", "leaf"): 2}, got
assert len(p["samples"]) == len(got)
assert all(set(f) <= {"name", "file", "line", "col"} for f in frames)'
vexport --to speedscope --period x.vt >period.json
t_is "-p weighs" "$(jq -c '.profiles[0].endValue, .profiles[0].unit' period.json | tr '\n' ' ')" \
	'65 "none" '

# ---- source lines, inlined functions ----

if command -v gcc >/dev/null; then
	cat >inline.c <<'END'
static inline __attribute__((always_inline)) long
step(long i)
{
	return i * 3 ^ i >> 2;
}
__attribute__((noinline)) long work(long n)
{
	volatile long s = 0;
	for (long i = 0; i < n; i++)
		s += step(i);
	return s;
}
int main(void)
{
	return work(7) == 1;
}
END
	gcc -O1 -g -no-pie -o inline inline.c
	# An instruction of step, by its line.
	start=$(nm inline | sed -n 's/ T work$//p')
	at=$("$PYTHON" - "$start" <<'END'
import re, subprocess, sys
start = int(sys.argv[1], 16)
out = subprocess.run(['addr2line', '-i', '-e', 'inline'] + [hex(start + i) for i in range(64)],
                     stdout=subprocess.PIPE, text=True).stdout
for i in range(64):
    one = subprocess.run(['addr2line', '-i', '-e', 'inline', hex(start + i)], stdout=subprocess.PIPE,
                         text=True).stdout.split('\n')
    if one[0].endswith('inline.c:4'):
        print(hex(start + i))
        break
END
)
	offset=$("$PYTHON" -c "print(hex($at - 0x400000))")
	{
		echo "EVENT id=1 name=cycles policy=interrupt"
		echo "IMAGE id=1 path=$T_DIR/inline"
		echo "COUNT event=1 image=1 offset=$offset samples=5 period=5"
	} | stream_make >inline.vt
	t_is "procedures" "$(vexport --to folded inline.vt)" "work 5"
	t_is "inlined functions" "$(vexport --to folded --inline inline.vt)" "work;step 5"
	t_is "lines of functions" "$(vexport --to speedscope --inline inline.vt |
		jq -c '.shared.frames[] | [.name, (.file | sub(".*/"; "")), .line]' | tr '\n' ' ')" \
		'["work","inline.c",6] ["step","inline.c",null] '
	if [ -x "$go" ]; then
		vexport --to pprof -o inline.pb.gz inline.vt
		pprof -raw inline.pb.gz | sed "s|$T_DIR|.|g" | grep -A 1 "$at" >places
		t_like "pprof has both lines" 'M=1 step ./inline.c:4 s=0' places
		t_like "and where the procedure begins" ' work ./inline.c:[0-9]+ s=6' places
		pprof -raw inline.pb.gz >raw
		t_like "which the mapping says" "$T_DIR/inline  \[FN\]\[FL\]\[LN\]\[IN\]" raw
	fi
fi

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
