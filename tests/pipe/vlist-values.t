#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist --values: hot lists below their instructions, formats, what is left out, code without a
# file, lists that contradict themselves. The streams are written from texts; what their addresses
# are called comes from nm and objdump.

. "$(dirname "$0")/../lib.sh"
t_need gcc nm objdump readelf "$PYTHON"
text=$VT_BUILD/tests/tools/stream_make
[ -x "$text" ] || t_skip_all "no $text: make test-programs"

cat >vals.c <<'END'
#include <stdio.h>
struct node { long kind; struct node *next; double weight; char tag; };
static struct node pool[4096];
long table[8] = {1, 1, 1, 1, 1, 1, 1, 2};
__attribute__((noinline)) static double walk(struct node *n, long *sum)
{
	double w = 0;
	for (; n; n = n->next) {
		*sum += n->kind;
		w += n->weight;
		if (n->tag == 'x')
			*sum += table[n->kind & 7];
	}
	return w;
}
int main(int argc, char **argv)
{
	long sum = argc;
	pool[0].next = argv[0] ? &pool[1] : 0;
	printf("%g\n", walk(pool, &sum));
	return 0;
}
END
t_ok "a program to list" gcc -g -O1 -fno-pie -no-pie -o vals vals.c

# Addresses as in the file: `at SYMBOL`; the N-th instruction of walk that matches a pattern.
at() { printf '0x%s' "$(nm vals | awk -v s="$1" '$3 == s { print $1 }')"; }
insn()
{
	objdump -d --no-show-raw-insn --disassemble=walk vals | grep -E "^ +[0-9a-f]+:.*$1" |
		sed -nE 's/^ +([0-9a-f]+):.*/0x\1/p' | sed -n "${2:-1}p"
}
base=$((0x400000)) # of the file's offset 0, as of any such program
off() { printf '0x%x' $(($1 - base)); }
id=$(readelf -n vals | sed -n 's/.*Build ID: //p')

# The program's segments as IMAGE and MAP records; file offsets are vaddr - base in the code only.
preamble()
{
	echo "IMAGE id=1 path=$PWD/vals machine=62 ${id:+buildid=$id}"
	readelf -lW vals | awk '$1 == "LOAD" { print $2, $3, $5 }' |
		while read -r offset vaddr size; do
			printf 'MAP pid=7 tid=7 start=0x%x length=0x%x offset=0x%x image=1 prot=5\n' \
				$((vaddr & ~4095)) $((((vaddr & 4095) + size + 4095) & ~4095)) \
				$((offset & ~4095))
		done
	echo "EVENT id=0 name=instructions policy=exact"
}
hot() { echo "HOT image=1 algo=gm capacity=16 factor=1.0666666666666667 size=8 $*"; }

entry=$(at walk)
next=$(insn 'mov +0x8\(%rdi\),%rdi')
kind=$(insn 'mov +\(%rdi\),%r')
weight=$(insn 'addsd')
tag=$(insn 'cmpb')
{
	preamble
	echo "COUNT image=1 offset=$(off "$entry") event=0 samples=1000"
	echo "COUNT image=1 offset=$(off "$kind") event=0 samples=3000"
	hot "offset=$(off "$entry") what=arg reg=4 total=1000 profiled=1000 values=0x7ffe00001000 counts=1000"
	hot "offset=$(off "$entry") what=arg reg=5 total=1000 profiled=1000 values=$(at pool) counts=1000"
	hot "offset=$(off "$entry") what=return total=1000 profiled=1000 values=$(printf '0x%x' $(($(at main) + 3))) counts=1000"
	hot "offset=$(off "$next") what=load total=3000 profiled=3000 zero=1000 values=0,$(printf '0x%x' $(($(at pool) + 32))) counts=1000,2000"
	hot "offset=$(off "$kind") what=load total=64000 profiled=64000 values=3,0xfffffffffffffffb,1000000,70 counts=60000,3000,960,40"
	hot "offset=$(off "$weight") what=load level=12 total=3000 profiled=3000 values=0x3fb999999999999a,0x4004000000000000 counts=1100,64"
	hot "offset=$(off "$tag") size=1 what=load total=3000 profiled=3000 values=0x78,10 counts=2250,750"
} >vals.txt
t_pipe "the stream of hot lists" "'$text' <vals.txt >vals.vt"

t_ok "walk is listed with its values" vlist -i vals.vt --values walk
cp "$T_OUT" list
t_is "silently" "$(cat "$T_ERR")" ""
t_is "the first argument comes first, then the second, then the caller" \
	"$(grep -oE '(arg rdi|arg rsi|caller) ' list | tr -d '\n')" "arg rdi arg rsi caller "
t_like "an address of data that the file does not hold has its symbol" '100% pool$' list
t_like "with an offset" '66\.7% pool\+0x20  33\.3% 0$' list
t_like "and one of code" 'caller +1000 +1 +1 +100% main\+0x3$' list
t_like "an address that nothing has is hexadecimal" 'arg rsi .*100% 0x7ffe00001000$' list
t_like "small numbers are decimal, negative ones too; a rare value is left out" \
	'load +64000 +1 +4 +93\.8% 3 +4\.7% -5 +1\.5% 0xf4240  \.\.\.$' list
t_like "a double is a double, and a thinned list tells its threshold" \
	'load +3000 +2\.2 +2 +79\.[0-9]% 0\.1 +4\.6% 2\.5  \.\.\.$' list
t_like "a byte is a character where it prints" "75\.0% 'x' +25\.0% 10\$" list
t_is "each list stands below its instruction" \
	"$(grep -B1 "75.0% 'x'" list | head -n 1 | grep -c cmpb)" 1
t_like "the heading stands above the parts" ' code  what +executions  per  distinct  values$' list
t_is "headings end where numbers do" \
	"$(sed -nE 's/(.*executions).*/\1/p' list | tail -n 1 | wc -c)" \
	"$(sed -nE 's/(.*load +64000).*/\1/p' list | wc -c)"
t_like "time stands beside: percentages of the counts" '^75\.00% .*mov +\(%rdi\)' list
t_unlike "and no counts of samples" '^ *3000 ' list
t_unlike "without --values there are none" 'executions' <(vlist -i vals.vt walk)

# ---- what is shown ----

vlist -i vals.vt --values --show 1 walk >one
t_like "--show 1 shows one value" 'load +64000 +1 +4 +93\.8% 3  \.\.\.$' one
vlist -i vals.vt --values --cutoff 0 walk >all
t_like "--cutoff 0 leaves out none" '1\.5% 0xf4240 + 0\.1% 70$' all
vlist -i vals.vt --values --cutoff 90 --asm walk >few
t_like "--cutoff 90 leaves out the rarer" '93\.8% 3  \.\.\.$' few
for pair in 'hex 0xfffffffffffffffb' 'dec -5' 'dec 1000000' 'symbol pool\+0x20' 'char "x"|.x.' \
	'float 2\.5'; do
	vlist -i vals.vt --values --cutoff 0 --format "${pair%% *}" walk >form
	t_like "--format ${pair%% *}" "% (${pair#* })( |\$)" form
done
vlist -i vals.vt --values --what arg walk >args
t_is "--what arg shows those lists only" "$(grep -cE '(load|caller) +[0-9]' args)$(grep -c arg args)" 02
t_status "an unknown kind of value" 2 vlist -i vals.vt --values --what salt walk
t_status "an unknown format" 2 vlist -i vals.vt --values --format octal walk
t_status "--format without --values" 2 vlist -i vals.vt --format hex walk
t_status "--values with --source" 2 vlist -i vals.vt --values --source walk
t_status "a share above all" 2 vlist -i vals.vt --values --cutoff 101 walk

# ---- for programs ----

vlist -i vals.vt --values --json walk >walk.json
t_ok "JSON has every value of a list, with counts and shares" "$PYTHON" -c '
import json, sys
rows = json.load(open("walk.json"))["procedures"][0]["rows"]
lists = {(r["of"], r["what"], r.get("register")): r for r in rows if "list" in r}
assert len(lists) == 7, len(lists)
kind = lists[sys.argv[1], "load", None]
assert kind["total"] == 64000 and kind["distinct"] == 4 and kind["per"] == 1
assert [v["value"] for v in kind["list"]] == ["0x3", "0xfffffffffffffffb", "0xf4240", "0x46"]
assert [v["text"] for v in kind["list"]] == ["3", "-5", "0xf4240", "70"]
assert [v["count"] for v in kind["list"]] == [60000, 3000, 960, 40]
assert abs(kind["list"][0]["percent"] - 93.75) < 1e-9
weight = lists[sys.argv[2], "load", None]
scale = (16 / 15) ** 12
assert abs(weight["per"] - scale) < 1e-6
assert weight["algo"] == "gm" and weight["capacity"] == 16 and weight["level"] == 12
assert abs(weight["list"][0]["percent"] - 100 * 1100 * scale / 3000) < 1e-5
args = [k[2] for k in lists if k[1] == "arg"]
assert args == ["rdi", "rsi"], args' "$kind" "$weight"
vlist -i vals.vt --values --csv walk >walk.csv
t_is "CSV has a row for each list" "$("$PYTHON" -c '
import csv
print(*sorted(r["what"] + r["register"] for r in csv.DictReader(open("walk.csv")) if r["what"]))')" \
	"argrdi argrsi load load load load return"

vlist -i vals.vt --values --asm --context 0 walk >context
t_like "--context leaves out instructions with neither samples nor lists" \
	'9 instructions without samples' context
t_is "and keeps the lists of what it keeps" "$(grep -cE '(load|arg rdi|arg rsi|caller) +[0-9]' context)" 7

# ---- by caller ----

{
	preamble
	for i in 1 2 3; do
		hot "offset=$(off "$kind") what=load caller_image=1 caller=$(off $(($(at main) + i)))" \
			"total=$((1000 / i / i / i)) profiled=$((1000 / i / i / i)) values=$i counts=$((1000 / i / i / i))"
	done
	hot "offset=$(off "$kind") what=load caller_image=0xffffffff caller=0x99 total=5 profiled=5 values=9 counts=5"
} | "$text" >callers.vt
t_ok "lists by caller" vlist -i callers.vt --values --asm walk
cp "$T_OUT" callers
t_like "name the caller" '100% 1  from main\+0x1$' callers
t_is "the busiest comes first" "$(grep -o '100% [123]  from' callers | cut -c6 | tr -d '\n')" 123
t_like "rare callers are left out and counted" '\.\.\. 1 more caller, 0\.4% of the executions$' callers
t_like "a stream of lists without counts is listed all the same" 'executions' callers
vlist -i callers.vt --values --asm --cutoff 0 walk >callers
t_like "a caller that nothing is known of is an address" '100% 9  from 0x99$' callers

# ---- code without a file ----

{
	echo "IMAGE id=1 path=/nowhere/prog machine=62 buildid=0102030405060708090a0b0c0d0e0f1011121314"
	echo "IMAGE id=2 type=4 path=//anon"
	echo "MAP pid=7 tid=7 start=0x500000 length=0x1000 offset=0x1000 image=1 prot=5"
	echo "MAP pid=7 tid=7 start=0x600000 length=0x1000 offset=0x600000 image=2 prot=5"
	# mov (%rdi),%eax; movsd (%rdi),%xmm0
	for addr in 0x500010 0x600010 0x700010; do
		echo "BLOCK id=$((addr >> 20)) pid=7 addr=$addr size=6 insns=2 lengths=0204 code=8b07f20f1007 end=fall"
	done
	for place in "image=1 offset=0x1010" "image=2 offset=0x600010" "image=0xffffffff offset=0x700010"; do
		echo "HOT $place what=load size=4 total=9 profiled=9 values=7 counts=9"
	done
	for place in "image=1 offset=0x1012" "image=2 offset=0x600012" "image=0xffffffff offset=0x700012"; do
		echo "HOT $place what=load size=8 total=9 profiled=9 values=0x3ff8000000000000 counts=9"
	done
	echo "HOT image=1 offset=0x1100 what=load size=8 total=9 profiled=9 values=8 counts=9"
} | "$text" >gone.vt
t_ok "values of code that no file has" vlist -i gone.vt --values --asm --all
cp "$T_OUT" gone
t_is "the instructions come from the recorded blocks" "$(grep -c 'mov  *(%rdi),%eax' gone)" 3
t_is "and so does the type of their values" "$(grep -c '100% 1\.5$' gone)" 3
t_like "where there is none, the values stand alone" 'load +9 +1 +1 +100% 8$' gone
t_like "a message tells why" '/nowhere/prog: file not found: values by address only' "$T_ERR"
t_ok "an address where nothing was mapped" vlist -i gone.vt --values --asm 0x700010
t_like "is listed" '700012 +movsd' "$T_OUT"

# ---- bad input ----

t_status "a stream without hot lists" 3 bash -c "'$text' </dev/null | vlist --values walk"
t_like "tells what makes them" 'standard input: no hot lists \(vhot makes them\)' "$T_ERR"
{
	cat vals.txt
	hot "offset=$(off "$entry") what=load total=1 profiled=2 values=1,2 counts=5"
	hot "offset=$(off "$entry") what=load total=10 profiled=10 values=1,1 counts=5,5"
} | "$text" >bad.vt
t_status "lists that contradict themselves" 1 vlist -i bad.vt --values walk
t_like "are counted" '2 hot lists contradict themselves, left out; the first: ' "$T_ERR"
sed 's/, 2 hot.*//' "$T_OUT" >rest
t_same "and the others are there" list rest
{
	preamble
	# Numbers that no producer writes: kinds, registers, lanes and sizes that do not exist.
	hot "offset=$(off "$entry") what=250 reg=4000000000 lane=4000000000 size=4000000000 total=3 profiled=3 values=1 counts=3"
	hot "offset=$(off "$entry") what=arg reg=77 lane=9 size=0 total=3 profiled=3 values=1 counts=3"
	hot "offset=$(off "$entry") what=result reg=63 size=65535 total=3 profiled=3 values=1 counts=3"
	hot "offset=$(off "$entry") what=load size=3 total=0 profiled=0"
	hot "offset=0xffffffffffffffff what=load total=3 profiled=3 values=1 counts=3"
	hot "offset=$(off "$entry") what=store caller_image=77 caller=0xffffffffffffffff total=3 profiled=3 values=0xffffffffffffffff counts=3"
} | "$text" >odd.vt
for format in auto hex dec float char symbol; do
	t_ok "odd numbers do no harm: $format" vlist -i odd.vt --values --format $format --all
done
{
	printf 'IMAGE id=1 path=/x/%%1b[31mred%%0a machine=62\n'
	echo "MAP pid=7 tid=7 start=0x500000 length=0x1000 offset=0 image=1 prot=5"
	echo "HOT image=1 offset=0x10 what=load size=8 total=9 profiled=9 values=0x500020 counts=9"
} | "$text" >control.vt
t_ok "an image with control characters in its name" vlist -i control.vt --values --all
t_is "no two columns of hot lists alone have the same name" \
	"$(vlist -i control.vt --values --all --csv | head -n 1 | tr , '\n' | sort | uniq -d)" ""
t_unlike "does not reach the terminal raw" $'\033' "$T_OUT"
t_like "not as a value's name either" '100% \\x1b\[31mred\\n\+0x20$' "$T_OUT"

# ---- a program whose values are known, recorded ----

cat >real.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
struct node { long kind; struct node *next; double weight; char tag; };
static struct node pool[64];
static const unsigned char code[] = {
	0x31, 0xc0,			/* xor %eax,%eax */
	0x48, 0x03, 0x07,		/* 1: add (%rdi),%rax */
	0x48, 0x8b, 0x7f, 0x08,		/* mov 8(%rdi),%rdi */
	0x48, 0x85, 0xff,		/* test %rdi,%rdi */
	0x75, 0xf4,			/* jne 1b */
	0xc3,				/* ret */
};
__attribute__((noipa)) static double walk(struct node *n, long *sum)
{
	double w = 0;
	for (; n; n = n->next) {
		*sum += n->kind;
		w += n->weight;
		if (n->tag == 'x')
			++*sum;
	}
	return w;
}
int main(void)
{
	long (*generated)(struct node *), sum = 0;
	double w = 0;
	void *p = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;
	if (p == MAP_FAILED)
		return 1;
	memcpy(p, code, sizeof(code));
	memcpy(&generated, &p, sizeof(p));
	for (i = 0; i < 64; i++) {
		pool[i].kind = i % 16 ? 3 : -5;
		pool[i].weight = i % 8 ? 0.1 : 2.5;
		pool[i].tag = i % 4 ? 'x' : 10;
		pool[i].next = i < 63 ? &pool[i + 1] : 0;
	}
	for (i = 0; i < 100; i++)
		w += walk(pool, &sum) + generated(pool);
	printf("%g %ld\n", w, sum);
	return 0;
}
END
if ! gcc -g -O1 -o real real.c || ! vtrace record --full --values=loads -o real.vt -- ./real \
	>/dev/null 2>record.err; then
	t_skip "a recorded program" "vtrace record --full does not work here: $(head -n 1 record.err)"
else
	t_pipe "from a recording to a listing" \
		"vtrace decode real.vt | vhot --algo exact | vlist --values walk >real.list"
	t_like "integers" '  load +6400 +1 +2 +93\.8% 3 +6\.2% -5$' real.list
	t_like "doubles" '  load +6400 +1 +2 +87\.5% 0\.1 +12\.5% 2\.5$' real.list
	t_like "characters" "  load +6400 +1 +2 +75\\.0% 'x' +25\\.0% 10\$" real.list
	t_like "addresses of data" '  load +6400 +1 +64 .* 1\.6% pool\+0x[0-9a-f]+' real.list
	t_like "where it returns to" '  load +100 +1 +1 +100% main\+0x[0-9a-f]+$' real.list
	t_like "time beside" '^[0-9. ]+%  +[0-9a-f]+ .*addsd' real.list
	vtrace decode real.vt | vhot --algo exact | vlist --values --json walk >real.json
	t_ok "every value with its count" "$PYTHON" -c '
import json
rows = json.load(open("real.json"))["procedures"][0]["rows"]
counts = [sorted((v["text"], v["count"]) for v in r["list"]) for r in rows if "list" in r]
assert [("-5", 400), ("3", 6000)] in counts
assert [("0.1", 5600), ("2.5", 800)] in counts
assert [("\x27x\x27", 4800), ("10", 1600)] in counts
next = [c for c in counts if len(c) == 64 and ("0", 100) in c]
assert len(next) == 1 and all(n == 100 for _, n in next[0])'
	vtrace decode real.vt | vhot --algo exact | vlist --values --asm --all >all.list 2>/dev/null
	sed -n '/generated code/,/^$/p; /generated code/,/ret/p' all.list >generated
	t_like "generated code is shown as it was recorded" 'add +\(%rdi\),%rax' generated
	t_like "with its values" '  load +6400 +1 +2 +93\.8% 3 +6\.2% -5$' generated
fi

# ---- without a procedure ----

vlist -i vals.vt --values >none
vlist -i vals.vt --values --top 10 >ten
t_same "no procedure means the ten with the most samples" none ten
t_like "and there are some" '^walk in ' none
vlist -i vals.vt >one
vlist -i vals.vt --top 1 >top
t_same "without values, the one" one top

# ---- colour, output ----

vlist -i vals.vt --values --color always walk >colour
t_like "a value that hardly changes stands out" $'\033\\[1m.*93\\.8% 3' colour
sed 's/\x1b\[[0-9;]*m//g' colour >stripped
t_same "and colour changes nothing else" list stripped
t_status "/dev/full" 4 vlist -i vals.vt --values -o /dev/full walk
t_done
