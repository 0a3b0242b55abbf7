#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Where cycles went, of input that is not as one would have it: code that no compiler wrote, files
# without symbols, samples where no procedure is, none at all, processors that nobody knows, files
# that are gone or others, streams that end early. What can be told is told, and what cannot is said.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc jq objcopy strip
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

# run NAME COMMAND...: records it, and runs it on the model.
run()
{
	local name=$1
	shift
	vtrace record --full -o "$name.vt" -- "$@" >/dev/null 2>&1
	vsim -m alpha21164 -S cycles:20 --interval geometric --truth "$name.truth" -o "$name.s" \
		"$name.vt" 2>/dev/null
	vfreq -o "$name.f" "$name.s" 2>"$name.err"
	vculprit -o "$name.c" "$name.f" 2>>"$name.err"
}

# ---- code that no compiler wrote ----

t_ok "a program in assembly language" gcc -no-pie -o odd "$ROOT/tests/data/odd/odd.s"
run odd ./odd
# In order, the label in a procedure makes two of it, each with few samples: that calls contradict them is true.
t_is "is estimated, and at most calls are said to disagree" \
	"$(grep -v '^vfreq: [0-9]*% of direct calls disagree with ' odd.err)" ""
t_ok "a jump table in the text" vlist --calc -i odd.c switch3
cp "$T_OUT" switch.txt
t_is "is no code" "$(grep -c '(bad)\|\.byte' switch.txt)" 0
t_like "and leads to its targets" '^\*\*\* Block 1 of 5' switch.txt
t_is "all four of them" "$(grep -m1 '^\*\*\* Next' switch.txt | tr ',' '\n' | wc -l)" 4
# What is estimated of switch3 from samples of another seed deviates by 1.7 %: 10 % is six times that,
# which happens with one seed in 100 million, and the seed is always the same.
t_ok "labels within a procedure are parts of it" "$PYTHON" -c '
import json, subprocess
def dump(kind, fields, path):
    text = subprocess.run(["vtrace", "dump", "-k", kind, "-F", fields, path],
                          capture_output=True, text=True, check=True).stdout
    return [l.split("\t") for l in text.splitlines()]
nm = subprocess.run(["nm", "odd"], capture_output=True, text=True, check=True).stdout
start = int(next(l for l in nm.splitlines() if l.endswith(" switch3")).split()[0], 16) & 0xffff
true, mine = ({(i, int(o, 16)): float(x) for i, o, x in dump("FREQ", "image,offset,executions", p)}
              for p in ("odd.truth", "odd.f"))
key = next(k for k in mine if k[1] == start)
assert true[key] == 20000 and abs(mine[key] / true[key] - 1) < 0.1, (mine[key], true[key])'
t_ok "constants that are jumped over" vlist --calc -i odd.c data_user
t_is "are no code either" "$(grep -c 'Block .* of 2' "$T_OUT")" 2
for p in outer inner first second alias1 alias2 bare warm warm.cold; do
	t_ok "$p has a listing" vlist --calc -i odd.c $p
	t_like "with its samples" '% of [1-9][0-9]* samples' "$T_OUT"
done
t_ok "no instruction is in two procedures" "$PYTHON" -c '
import subprocess
from collections import Counter
for kind, fields in ("FREQ", "image,offset"), ("STALL", "image,offset,cause"):
    text = subprocess.run(["vtrace", "dump", "-k", kind, "-F", fields, "odd.c"],
                          capture_output=True, text=True, check=True).stdout
    assert text and max(Counter(text.splitlines()).values()) == 1, kind'

# ---- no symbols, no frames ----

strip -s -o bare odd
run bare ./bare
t_is "a stripped program: frames tell where procedures are" "$(vprof --json bare.s |
	jq -r '[.rows[] | select(.image | endswith("/bare"))][0].procedure[:4]')" "sub_"
objcopy -R .eh_frame -R .eh_frame_hdr bare blank
run blank ./blank
t_like "without those, what is left out is counted, and why" \
	'vfreq: [0-9]+ of [0-9]+ samples are left out: .* in no procedure; most of those: .*/blank: file is stripped' \
	blank.err
vfreq --json blank.s >blank.json 2>/dev/null
vprof --json blank.s >blank.prof 2>/dev/null
t_is "as a profile has it" "$(jq .outside blank.json)" \
	"$(jq '[.rows[] | select(.procedure | startswith("[")) | .events[0].samples] | add' blank.prof)"
t_ok "the worst instructions" vculprit --top 1 blank.f
t_like "open with the share that has no estimate" '[89][0-9]\.[0-9] % without an estimate' "$T_OUT"
t_status "the first procedure has no code" 1 vlist --calc --top 3 -i blank.c
t_like "is said" 'blank: no procedure: no symbol covers it' "$T_ERR"
t_is "and the others are listed" "$(grep -c '^\*\*\* Confidence' "$T_OUT")" 2
t_ok "a summary of the image" vlist --summary --image "$PWD/blank" -i blank.c
t_like "says the same" 'no estimate [89][0-9]\.[0-9]% of [1-9][0-9]* samples' "$T_OUT"
t_ok "a summary of all" vlist --summary -i blank.c
t_like "has all samples in its heading" 'no estimate [89][0-9]\.[0-9]% of '"$(jq .samples blank.json)" \
	"$T_OUT"
t_ok "and so has the list of one cause" vlist --stall icache -i blank.c
t_like "all samples, too" 'no estimate [89][0-9]\.[0-9]% of '"$(jq .samples blank.json)" "$T_OUT"

# ---- samples where no procedure is ----

cat >jit.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Counts down from its argument. */
static const unsigned char code[] = {0x31, 0xc0, 0x01, 0xf8, 0xff, 0xcf, 0x75, 0xfa, 0xc3};

/* As just-in-time compilers tell perf of what they make. */
static void write_map(const void *p)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(name, "w");
	if (f) {
		fprintf(f, "%lx %zx made_just_in_time\n", (unsigned long)p, sizeof(code));
		fclose(f);
	}
	printf("%s\n", name);
}

int main(int argc, char **argv)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned (*f)(unsigned), i, s = 0;

	memcpy(p, code, sizeof(code));
	memcpy(&f, &p, sizeof(f));
	for (i = 0; i < 1000; i++)
		s += f(100);
	if (argc > 1)
		write_map(p);
	return argv[argc] || !s;
}
END
gcc -O1 -o jit jit.c
run jit ./jit
t_like "generated code is counted" 'in no procedure; most of those: //anon: generated code' jit.err
t_ok "and is in a summary" vlist --summary --image //anon -i jit.c
t_like "without any cycles" 'No cycles have been estimated here' "$T_OUT"
t_status "but cannot be listed" 3 vlist --calc --top 1 -i jit.c
t_like "why is said" '//anon: no procedure: generated code without a perf map' "$T_ERR"

# With a map, the blocks of the stream have the code; counts do not tell the process.
vtrace record --full -o map.vt -- ./jit map >map.name 2>/dev/null
vsim -m alpha21164 -S cycles:20 --interval geometric -o map.s map.vt 2>/dev/null
t_pipe "generated code with a map" 'vfreq map.s | vculprit >map.c'
t_ok "is listed" vlist --calc -i map.c made_just_in_time
cp "$T_OUT" map.txt
rm -f "$(cat map.name)"
t_is "instruction for instruction" "$(grep -oE '^[0-9a-f]+  [a-z]+' map.txt | sed 's/.* //' |
	tr '\n' ' ')" "xor add dec jne ret "
t_like "with cycles" '^[0-9a-f]+  dec .*cy' map.txt

# ---- no samples ----

vsim -m alpha21164 -S cycles:1000000000 -o none.s odd.vt 2>/dev/null
t_ok "a stream without samples" vfreq -o none.f none.s
t_like "is told" 'none.s: no samples: nothing is estimated' "$T_ERR"
t_ok "causes of nothing" vculprit -o none.c none.f
t_like "are none, and why" 'no frequencies: vfreq had no samples that it could use' "$T_ERR"
for view in "--calc main" --summary "--stall icache"; do
	# shellcheck disable=SC2086
	t_status "vlist $view" 3 vlist $view -i none.c
	t_like "says the same" 'no frequencies: vfreq had no samples that it could use' "$T_ERR"
done
t_status "there is nothing to compare" 3 vprof --diff --check 5 odd.f none.f
t_like "which does not pass for a check" 'none.f: no samples \(' "$T_ERR"
t_ok "runs of nothing" vstats none.s none.s
t_like "are counted" '^TOTAL 0$' "$T_OUT"
t_ok "a profile of nothing is kept" vdb --db none.db add none.s
t_like "and told" '0 samples in 0 images' "$T_OUT"
: >zero
for c in vfreq vculprit "vlist --summary -i" "vprof --diff odd.f" "vstats odd.f" vsim \
	"vdb --db zero.db add"; do
	# shellcheck disable=SC2086
	t_status "$c of a file of no bytes" 3 $c zero
	t_like "is an error" 'zero: (0 bytes|the file is empty)' "$T_ERR"
done
vsim -m alpha21164 -S imiss:1 -o miss.s odd.vt 2>/dev/null
t_status "samples of other events only" 3 vfreq -o miss.f miss.s
t_like "are named" 'no samples of cycles or other time, but of imiss' "$T_ERR"

# ---- processors that nobody knows ----

# A kept recording of a clock's samples.
demo=$ROOT/tests/data/demo
"$PYTHON" - "$demo/perf.data" <<'END'
import re, sys
data = open(sys.argv[1], "rb").read()
def other(m):
    return b"Z80" + b"x" * (len(m.group()) - 3)
data = re.sub(rb"(?<=\0)(GenuineIntel|AuthenticAMD),\d+,\d+,\d+", other, data)
data = re.sub(rb"(?<=\0)(Intel|AMD)[^\0]*", other, data)
open("z.data", "wb").write(data)
END
vtrace decode -o z.vt z.data 2>/dev/null
t_ok "a processor that no table knows" vfreq --symfs "$demo/symfs" -o z.f z.vt
t_like "which table was taken is said" 'Z80x*: taken for skylake; --model chooses another' "$T_ERR"
t_is "and kept in the stream" \
	"$(vtrace dump -k META -F key,value z.f | sed -n 's/^vfreq.model\t//p')" skylake
t_ok "vculprit takes the same" vculprit --symfs "$demo/symfs" -o z.c z.f
t_is "and says so" "$(vculprit --symfs "$demo/symfs" --json --top 1 z.f | jq -r .cpu)" skylake
t_ok "a machine without a clock" vfreq --symfs "$demo/symfs" --exact "$demo/counts.vt" -o z.f z.vt
t_like "does not get one in silence" 'does not have the processor.s clock: assuming 1 GHz' "$T_ERR"
t_ok "its culprits" vculprit --symfs "$demo/symfs" --top 1 z.f
t_like "do not pass it on in silence" 'z.f: the clock is assumed to be 1 GHz' "$T_ERR"
{
	printf 'META\tkey=arch\tvalue=aarch64\n'
	vtrace dump z.vt | grep -P '^(EVENT|IMAGE|SAMPLE)\t'
} | "$VT_BUILD/tests/tools/stream_make" >arm.vt
t_ok "a machine of which no processor is modelled" vfreq --symfs "$demo/symfs" -o arm.f arm.vt
t_like "takes no other's model" 'no processor of aarch64 is modelled: nothing is estimated' "$T_ERR"
t_is "nor anything from it" "$(vtrace dump -k FREQ arm.f | wc -l)" 0
t_ok "with a model" vfreq --symfs "$demo/symfs" --model zen4 -o arm.f arm.vt
t_unlike "it is estimated" 'aarch64' "$T_ERR"
t_unlike "where no executions are known, it is not needed" '1 GHz' \
	<(vfreq --symfs "$demo/symfs" -o z.f z.vt 2>&1)
t_ok "nor does a listing" vlist --symfs "$demo/symfs" --summary z.f
t_like "in silence" '^vlist: z.f: the clock is assumed to be 1 GHz' "$T_ERR"
t_status "a model of another order than the estimates" 3 vculprit --symfs "$demo/symfs" --model alpha21164 --top 1 z.f
t_like "is refused" '^vculprit: z.f: its frequencies are of skylake, which issues out of order, as alpha21164 does' "$T_ERR"
printf 'META\tkey=vfreq.slowed\tvalue=2\n' | "$VT_BUILD/tests/tools/stream_make" >slowed.f
t_status "a number that cannot be" 3 vculprit --top 1 slowed.f
t_like "is told with file and offset" '^vculprit: slowed.f: before 0x[0-9a-f]+: vfreq.slowed is no share of time$' "$T_ERR"
: >none.vt
t_status "a file of no bytes" 3 vlist none.vt main
t_like "is what it is, and no procedure" '^vlist: none.vt: the file is empty$' "$T_ERR"
t_status "a processor that cannot be chosen" 2 vculprit --model z80 --top 1 odd.f
t_like "is named" 'z80' "$T_ERR"

# ---- files that are gone, or others ----

for how in gone another; do
	mv odd odd.keep
	[ $how = gone ] || cp jit odd
	why='file not found'
	[ $how = gone ] || why='file has another build-id'
	t_ok "$how: frequencies of the rest" vfreq -o again.f odd.s
	t_like "what is left out is counted" "samples are left out: .*/odd: $why" "$T_ERR"
	t_ok "$how: causes of the rest" vculprit --top 3 odd.f
	t_like "are of so many samples" '[89][0-9]\.[0-9] % without an estimate' "$T_OUT"
	t_status "$how: what cannot be listed" 2 vlist --calc -i odd.c switch3
	t_like "may be there" "samples in no procedure are there of .*/odd: $why" "$T_ERR"
	t_status "$how: the others" 1 vlist --calc --top 2 -i odd.c
	t_like "are listed" '^\*\*\* Actual' "$T_OUT"
	t_ok "$how: what was estimated before" vlist --summary --image "$PWD/odd" -i odd.c
	t_like "is still there" 'Total tallied .*100\.0%' "$T_OUT"
	[ $how = gone ] || t_like "both build-ids are told" \
		'odd has build-id [0-9a-f]{40}, but [0-9a-f]{40} was recorded' <(vfreq odd.s 2>&1 >again.f)
	mv odd.keep odd
done

# ---- streams that end early ----

# All that the parts of the stream say can be read before it ends is used; the end is told.  In the
# first part there are no frequencies yet.
size=$(stat -c %s odd.c)
for part in 10 30 50 70 90; do
	head -c $((size * part / 100)) odd.c >cut.vt
	for c in "vculprit --top 2" "vculprit -o cut.c" "vfreq -o cut.f" "vprof --diff odd.f" \
		"vstats odd.f"; do
		case $c$part in vculprit*10) want=3 ;; *) want=1 ;; esac
		# shellcheck disable=SC2086
		t_status "$c of $part % of a stream" "$want" $c cut.vt
	done
	t_like "is told" 'cut.vt: truncated at 0x' "$T_ERR"
	for c in "--summary" "--calc --top 2" "--stall dcache" "--cfg=dot --top 1"; do
		# shellcheck disable=SC2086
		t_run vlist $c -i cut.vt
		case $T_STATUS in
		1) t_like "vlist $c of $part % lists what is there" '\*\*\*|digraph' "$T_OUT" ;;
		2 | 3) t_like "vlist $c of $part % has nothing to list" \
			'truncated at|name a procedure|no procedure|nothing' "$T_ERR" ;;
		*) t_fail "vlist $c of $part %" "$(t_last)" ;;
		esac
	done
done

t_done
