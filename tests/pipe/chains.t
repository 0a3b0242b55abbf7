#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof's reports of call chains: made-up chains whose sums are known, deep recursion, hostile
# chains, and what cannot be asked for.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" as ld
PATH=$VT_BUILD/tests/tools:$PATH

# check NAME JSON-FILE PYTHON-TEXT: the text may use `doc`, `rows`, and asserts.
check()
{
	t_ok "$1" "$PYTHON" -c 'import json, sys
doc = json.load(open(sys.argv[1]))
rows = doc["rows"]
by = {r.get("procedure"): r for r in rows}
'"$3" "$2"
}

# main, work, leaf: 16 bytes each, from 0x401000; main is called by nobody, and leaf has no frames.
# late, 15 bytes; and a signal trampoline at 0x401040, whose frame begins a byte before it, so that a
# handler's return address less 1 is in it, too.
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
late:	.cfi_startproc
	.skip 15, 0x90
	.cfi_endproc
	.type late, @function
	.size late, 15
	.cfi_startproc
	.cfi_signal_frame
	nop
tramp:	.skip 16, 0x90
	.cfi_endproc
	.type tramp, @function
	.size tramp, 16
_start:	nop
END
{ as -o prog.o prog.s && ld -Ttext=0x401000 -o prog prog.o; } || t_skip_all "no x86-64 assembler"

# A stream with the samples of standard input; $1: the program, unless it is prog.
stream()
{
	{
		echo "EVENT id=1 name=cycles policy=interrupt"
		echo "EVENT id=2 name=other policy=interrupt"
		echo "EVENT id=3 name=lbr policy=interrupt branch_type=0x800"
		echo "EVENT id=4 name=stack policy=interrupt regs_user_mask=0xff0fff"
		echo "EVENT id=5 name=arm policy=interrupt regs_user_mask=0x1ffffffff"
		echo "IMAGE id=1 path=$T_DIR/${1:-prog}"
		echo "MAP pid=10 tid=10 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5 misc=2"
		cat
	} | stream_make
}
USER=0xfffffffffffffe00
KERNEL=0xffffffffffffff80
sample="SAMPLE pid=10 tid=10 misc=2 has=0x121"

# main calls work at 0x401008 and at its very end (0x401010 is work's first byte), work calls leaf.
stream >x.vt <<END
$sample event=1 period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008
$sample event=1 period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401010
$sample event=1 period=1 ip=0x401026 callchain=$USER,0x401026,0x401004
$sample event=1 period=5 ip=0x401018 callchain=$USER,0x401018,0x401008
$sample event=1 period=1 ip=0x401002 callchain=$USER,0x401002
$sample event=2 period=1 ip=0x401002
END

# ---- inclusive totals ----

t_ok "--children" vprof --children x.vt
cp "$T_OUT" text
t_like "a row with both totals" '^ +5 +100\.00% +±53\.71 +1 +20\.00% +main +/.*/prog$' text
t_like "the header counts chains" '^Samples with a call chain: 5$' text
vprof --children --json x.vt >children.json
check "sums; a call at the end of a procedure belongs to it" children.json '
assert doc["schema"] == "vprof-children/1"
assert doc["chains"] == 5 and doc["events"][0]["name"] == "cycles"
got = {r["procedure"]: (r["children"], r["self"]) for r in rows}
assert got == {"main": (5, 1), "leaf": (3, 3), "work": (3, 1)}, got'
vprof --children --period --json x.vt >period.json
check "--period weighs" period.json '
assert [r["procedure"] for r in rows] == ["main", "work", "leaf"]
assert abs(by["work"]["children_percent"] - 100 * 7 / 9) < 1e-6, rows'
vprof --children --by image --csv x.vt >image.csv
t_like "--by image" '^5,100(\.0+)?,5,100' image.csv
vprof --children --by image x.vt | grep '%' >headed
t_like "whose heading says so" '^children +% +± +self +% +image$' headed
vprof --callers --by image x.vt | grep '%  ' >headed
t_like "that of callers, too" '^samples +% +± +of +image, callers$' headed
vprof x.vt --json >plain.json
check "the own samples are those of the plain listing" plain.json '
got = {}
for r in rows:
    for e in r["events"]:
        if e["name"] == "cycles" and e["samples"]:
            got[r["procedure"]] = e["samples"]
assert got == {"leaf": 3, "main": 1, "work": 1}, got'
t_status "an event without chains" 3 vprof --children -e other x.vt
t_like "says so" 'no call chains' "$T_ERR"

# ---- callers and callees ----

vprof --callers --json x.vt >callers.json
check "--callers" callers.json '
got = {(r["procedure"], r.get("caller")): (r["samples"], r.get("share")) for r in rows}
assert got[("leaf", None)] == (3, None), got
assert got[("leaf", "work")][0] == 2 and abs(got[("leaf", "work")][1] - 200 / 3) < 1e-6
assert got[("leaf", "main")][0] == 1
assert got[("work", "main")] == (3, 100), got
assert got[("main", "[no caller]")] == (5, 100)
assert len(got) == 7'
vprof --callees --json --procedure 'w*' x.vt >callees.json
check "--callees of procedures of a name" callees.json '
assert [(r["procedure"], r.get("callee"), r["samples"]) for r in rows] == \
	[("work", None, 3), ("work", "leaf", 2), ("work", "[self]", 1)]'
vprof --callees -n 1 --min 50 x.vt >callees
t_like "-n and --min leave rows out" '^\(4 more rows\)$' callees

# ---- the tree ----

vprof --tree x.vt | sed '1,/^===/d' >tree
cat >expected <<END
children        %       ±  self       %  procedure  image
       5  100.00%  ±53.71     1  20.00%  main       $T_DIR/prog
       3   60.00%  ±42.96     1  20.00%    work     $T_DIR/prog
       2   40.00%  ±42.96     2  40.00%      leaf   $T_DIR/prog
       1   20.00%  ±50.12     1  20.00%    leaf     $T_DIR/prog
END
t_same "--tree" tree expected
vprof --tree --depth 2 --csv x.vt >depth.csv
t_is "--depth" "$(cut -d, -f5,6 depth.csv | tr '\n' ' ')" "depth,procedure 0,main 1,work 1,leaf "
vprof --tree -n 1 --csv x.vt >first.csv
t_is "-n is that many callees of each" "$(cut -d, -f6 first.csv | tr '\n' ' ')" "procedure main work leaf "

# ---- modes, call stacks of branch records ----

stream >lbr.vt <<END
SAMPLE pid=10 tid=10 misc=2 has=0x821 event=3 ip=0x401025 callchain=$USER,0x401025,0x1 br_from=0x401017,0x401007 br_to=0x401020,0x401010 br_flags=0,0
END
vprof --tree --csv lbr.vt >lbr.csv
t_is "a call stack of branch records replaces the user's part" "$(cut -d, -f1,3,6 lbr.csv | tr '\n' ' ')" \
	"children,self,procedure 1,0,main 1,0,work 1,1,leaf "
stream >kernel.vt <<END
SAMPLE pid=10 tid=10 misc=1 has=0x21 event=1 ip=0xffffffff81000010 callchain=$KERNEL,0xffffffff81000010,0xffffffff81000020,$USER,0x401010
END
vprof --tree --json kernel.vt >kernel.json
check "where the kernel was entered is no return address" kernel.json '
got = [(r["procedure"], r["self"]) for r in rows]
kernel = "[no mapping, kernel mode]"
assert got == [("work", 0), (kernel, 0), (kernel, 1)], got'

# ---- recursion, hostile chains ----

"$PYTHON" - "$sample" "$USER" >deep.txt <<'END'
import sys
sample, user = sys.argv[1:]
for n in 126, 126, 3:
    chain = ['0x401018'] * n + ['0x401008']
    print('%s event=1 period=1 ip=0x401018 callchain=%s,%s' % (sample, user, ','.join(chain)))
END
stream <deep.txt >deep.vt
vprof --children --json deep.vt >deep.json
check "recursion, 127 deep, counts each sample once" deep.json '
got = {r["procedure"]: (r["children"], r["self"]) for r in rows}
assert got == {"main": (3, 0), "work": (3, 3)}, got'
vprof --callers --procedure work --json deep.vt >deep2.json
check "so do its calls" deep2.json '
got = sorted((r.get("caller", ""), r["samples"]) for r in rows)
assert got == [("", 3), ("main", 3), ("work", 3)], got'
vprof --tree --json deep.vt >deep3.json
check "the tree is as deep" deep3.json '
assert len(rows) == 127 and rows[-1]["depth"] == 126 and rows[-1]["self"] == 2, rows[-1]
assert rows[3]["self"] == 1'

"$PYTHON" - "$sample" "$USER" >hostile.txt <<'END'
import sys
sample, user = sys.argv[1:]
chains = [
    [],
    [user],
    [user] * 500,
    ['0xfffffffffffff001'],  # a marker that nobody knows
    [user, '0x401025', '0xffffffffffffff00'],
    ['0', '0', '0'],
    [user, '0', '0xfffffffffffff000'],
    [user] + ['0x401018'] * 5000,
    [user] + [hex(0x401000 + i) for i in range(4000)],
]
for c in chains:
    print('%s event=1 period=1 ip=0x401025%s' % (sample, ' callchain=' + ','.join(c) if c else ''))
END
stream <hostile.txt >hostile.vt
for view in children callers callees tree; do
	t_ok "--$view of hostile chains" vprof --$view --json hostile.vt
done
vprof --children --json hostile.vt >hostile.json
check "what is damaged or cut is counted, no sample is lost" hostile.json '
assert doc["chains"] == 8 and doc["damaged_chains"] == 2 and doc["cut_chains"] == 2, doc
assert by["leaf"]["self"] == 9 and by["leaf"]["children"] == 9'

# ---- copies of stacks ----

# In work, with a stack pointer of 0x7000: the stack is a list of return addresses.
"$PYTHON" - >stacks.txt <<'END'
def sample(stack, misc=2):
    regs = [0] * 7 + [0x7000, 0x401014] + [0] * 11
    data = b''.join(w.to_bytes(8, 'little') for w in stack)
    print('SAMPLE pid=10 tid=10 misc=%d has=0x3001 event=4 ip=%#x uregs_abi=2 uregs=%s stack=%s' %
          (misc, 0x401014 if misc == 2 else 0xffffffff81000010, ','.join(map(str, regs)), data.hex()))
sample([0x401018, 0x401008])            # main, work, work
sample([0x401018, 0x401010], misc=1)    # main, work, work, the kernel; the call ends main
sample([0x401018, 0x401028, 0x401008])  # leaf, work, work: nothing is known above leaf
sample([0x401018, 0x666000])            # work, work: nothing is mapped there
sample([0x401018])                      # work, work
sample([0x401018, 0])
END
stream <stacks.txt >stacks.vt
vprof --tree --json stacks.vt >stacks.json
check "stacks are unwound" stacks.json '
got = [(r["depth"], r["procedure"], r["children"], r["self"]) for r in rows]
assert got == [
    (0, "work", 3, 0), (1, "work", 3, 3),
    (0, "main", 2, 0), (1, "work", 2, 0), (2, "work", 2, 1), (3, "[no mapping, kernel mode]", 1, 1),
    (0, "leaf", 1, 0), (1, "work", 1, 0), (2, "work", 1, 1)], got
assert doc["unwound_chains"] == doc["chains"] == 6
# The fifth: the caller of the second work is beyond the copy.  Others end for other reasons.
assert doc["shortened_chains"] == 1, doc'
vprof --tree stacks.vt >stacks.list
t_like "chains that end with the copy are told" \
	'^Samples with a call chain: 6, unwound 6, shortened 1$' stacks.list
t_like "and how to have more of them" 'vtrace record --call-graph dwarf,16384' stacks.list
# Return addresses in the last word that a stack of 8 MiB has, and in the next, which it has not.
cat >far.s <<'END'
	.globl _start
	.text
last:	.cfi_startproc
	.cfi_def_cfa_offset 0x800000
	.skip 16, 0x90
	.cfi_endproc
	.type last, @function
	.size last, 16
next:	.cfi_startproc
	.cfi_def_cfa_offset 0x800008
	.skip 16, 0x90
	.cfi_endproc
	.type next, @function
	.size next, 16
_start:	nop
END
as -o far.o far.s && ld -Ttext=0x401000 -o far far.o
for ip in 0x401004 0x401014; do
	echo "SAMPLE pid=10 tid=10 misc=2 has=0x3001 event=4 ip=$ip uregs_abi=2" \
		"uregs=0,0,0,0,0,0,0,0x7000,$ip$(printf ',0%.0s' {1..11}) stack=1810400000000000"
done | stream far >far.vt
vprof --children --json far.vt >far.json
check "what can be no stack is not missing" far.json '
assert doc["unwound_chains"] == 2 and doc["shortened_chains"] == 1, doc'
# A signal's handler, work, returns to the trampoline, which returns to the first instruction of
# late, and to one in the middle: these were interrupted, and called nothing.
"$PYTHON" - >signals.txt <<'END'
for at in 0x401030, 0x401038:
    regs = [0] * 7 + [0x7000, 0x401014] + [0] * 11
    data = b''.join(w.to_bytes(8, 'little') for w in [0x401040, at, 0x401008])
    print('SAMPLE pid=10 tid=10 misc=2 has=0x3001 event=4 ip=0x401014 uregs_abi=2 uregs=%s stack=%s' %
          (','.join(map(str, regs)), data.hex()))
END
stream <signals.txt >signals.vt
vprof --tree --json signals.vt >signals.json
check "through signal trampolines" signals.json '
got = [(r["depth"], r["procedure"], r["children"], r["self"]) for r in rows]
assert got == [(0, "main", 2, 0), (1, "late", 2, 0), (2, "tramp", 2, 0), (3, "work", 2, 2)], got'
"$PYTHON" - >hostile-stacks.txt <<'END'
def sample(stack, ip=0x401014, event=4, abi=2, words=20, sp=0x7000):
    regs = ([0] * 7 + [sp, ip] + [0] * 200)[:words]
    data = b''.join(w.to_bytes(8, 'little') for w in stack)
    print('SAMPLE pid=10 tid=10 misc=2 has=0x3001 event=%d ip=0x401014 uregs_abi=%d uregs=%s stack=%s' %
          (event, abi, ','.join(map(str, regs)), data.hex()))
sample([0x401018] * 5000)                # deeper than any chain may be
sample([0x401018] * 50, event=5)         # registers of another machine
sample([0x401018] * 50, abi=1)
sample([0x401018] * 50, words=8)         # no instruction pointer
sample([0x401018] * 50, words=200)
sample([0x401018] * 50, sp=2 ** 64 - 8)  # the stack ends with the address space
sample([0x401018] * 50, sp=0)
sample([2 ** 64 - 1] * 50, ip=2 ** 64 - 1)
sample([0x401018] * 50, ip=0)
END
stream <hostile-stacks.txt >hostile-stacks.vt
t_ok "hostile stacks" vprof --children --json -e stack hostile-stacks.vt
cp "$T_OUT" hostile-stacks.json
check "no sample of theirs is lost" hostile-stacks.json '
assert by["work"]["self"] == 8 and doc["cut_chains"] == 1 and doc["unwound_chains"] == 6, doc
# Those with 200 words of registers and with the stack at 0.
assert doc["shortened_chains"] == 2, doc'
t_status "other machines are not unwound" 3 vprof --children -e arm hostile-stacks.vt

# ---- differences ----

# main calls leaf 40 times through work, and 10 times itself.
{
	for _ in $(seq 40); do
		echo "$sample event=1 period=1 ip=0x401025 callchain=$USER,0x401025,0x401018,0x401008"
	done
	for _ in $(seq 10); do
		echo "$sample event=1 period=1 ip=0x401026 callchain=$USER,0x401026,0x401004"
	done
} | stream >more.vt
t_ok "--diff --children" vprof --diff --children x.vt more.vt
t_like "says what is counted" 'samples of its event in a procedure or in what it called,$' "$T_OUT"
vprof --diff --children --json x.vt more.vt >diff.json
check "compares inclusive totals" diff.json '
assert doc["children"] is True
e = {n: [r["events"][0][k] for k in ("before", "after")] for n, r in by.items()}
assert e == {"main": [5, 50], "work": [3, 40], "leaf": [3, 50]}, e
assert doc["total"]["events"][0]["after"] == 50 and doc["before"][0]["events"][0]["samples"] == 5'
vprof --diff --json x.vt more.vt >own.json
check "without it, own samples" own.json '
assert doc["children"] is False
e = {n: [r["events"][0][k] for k in ("before", "after")] for n, r in by.items()}
assert e == {"main": [1, 0], "work": [1, 0], "leaf": [3, 50]}, e'
vprof --diff --children --period -b image --json x.vt more.vt >image.json
check "by image, by period" image.json '
assert len(rows) == 1 and rows[0]["events"][0]["before"] == 5
assert rows[0]["events"][0]["before_percent"] == 100'
t_status "--check finds what a procedure called" 5 vprof --diff --children --check=10 x.vt more.vt
t_like "and names it" 'work' "$T_ERR"
# Without symbols on one side, procedures are named by their addresses there, and nothing is known to
# be as it was.
if command -v gcc >/dev/null; then
	mkdir stripped
	echo 'int main(int argc, char **argv) { return argc + (argv == 0); }' >whole.c
	gcc -O1 -no-pie -Wl,-Ttext-segment=0x400000 -o whole whole.c
	strip -o stripped/whole whole
	at=$("$PYTHON" -c "print(0x$(nm whole | sed -n 's/ T main$//p') + 1)")
	for n in 5 40; do
		for _ in $(seq $n); do
			echo "$sample event=1 period=1 ip=$at callchain=$USER,$at"
		done >samples.txt
		[ $n = 5 ] && where=whole || where=stripped/whole
		stream "$where" <samples.txt >half$n.vt
	done
	vprof --csv half40.vt >names.csv
	t_like "a procedure named by its address" 'sub_[0-9a-f]+' names.csv
	t_status "--check of an image stripped on one side" 6 \
		vprof --diff --children --check=10 half40.vt half5.vt
	t_like "is inconclusive" 'stripped of symbols on one side alone' "$T_ERR"
fi
t_status "--diff of callers" 2 vprof --callers --diff x.vt x.vt
t_like "says what there is" 'vflame --diff compares call trees' "$T_ERR"
t_status "--procedure with --diff" 2 vprof --children --procedure main --diff x.vt x.vt

# ---- usage ----

t_status "two reports" 2 vprof --children --tree x.vt
t_status "chains by instruction" 2 vprof --children --by instruction x.vt
t_status "--depth without --tree" 2 vprof --depth 3 x.vt
t_status "--procedure without a report" 2 vprof --procedure main x.vt
for view in children callers callees; do
	t_status "--$view of no procedure" 2 vprof --$view --procedure 'no*' x.vt
	t_like "which is said" 'no\*: no such procedure in the call chains' "$T_ERR"
done
t_status "two events" 2 vprof --children -e cycles -e other x.vt
stream </dev/null >empty.vt
t_ok "events without samples" vprof empty.vt
t_like "are told" '^No samples$' "$T_OUT"
for view in "--children" "--tree" "--diff --children x.vt"; do
	# shellcheck disable=SC2086 # several words
	t_status "no call chains of them: $view" 3 vprof $view empty.vt
	t_like "nothing was sampled, with or without" '^vprof: empty.vt: no samples: ' "$T_ERR"
done
t_status "/dev/full" 4 vprof --tree -o /dev/full x.vt

# ---- a recording ----

if ! command -v gcc >/dev/null || ! perf record -q -g -o probe.data -e cpu-clock true >/dev/null 2>&1; then
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
__attribute__((noinline)) long deeper(int d, long n) { return d ? deeper(d - 1, n) + 1 : spin(n); }
int main(void)
{
	long t = 0;
	for (int i = 0; i < 1000; i++)
		t += twice(50000) + deeper(100, 100000);
	return t == 1;
}
END
gcc -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o run run.c
perf record -q -g -o run.data -e cpu-clock -F 2000 ./run
vprof --children --json run.data >run.json
check "main has nearly all of a recording, spin too, its callers half each" run.json '
share = {r["procedure"]: r["children_percent"] for r in rows}
assert share["main"] > 90 and share["spin"] > 90, share
assert 25 < share["twice"] < 75 and 25 < share["deeper"] < 75, share
assert by["deeper"]["children"] <= by["main"]["children"]'
t_done
