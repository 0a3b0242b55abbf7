#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist against objdump, addr2line and perf script; names, missing and wrong images; colours.

. "$(dirname "$0")/../lib.sh"
t_need objdump addr2line readelf "$PYTHON"

demo=$ROOT/tests/data/demo
heat=$demo/symfs/opt/vtrace-demo/heat
[ -e "$heat" ] || heat=$(find "$demo/symfs" -name heat -type f | head -n 1)
t_ok "the sample trace is decoded" vtrace decode "$demo/perf.data" -o x.vt
list() { vlist -i x.vt --symfs "$demo/symfs" "$@"; }

# ---- code: objdump's ----

# "address<TAB>instruction" with single blanks, symbols in operands left out.
tidy() { sed -E 's/[[:space:]]*(#.*|<[^>]*>)//g; s/[[:space:]]+$//; s/[[:space:]]+/ /g'; }

for syntax in att intel; do
	objdump -d --no-show-raw-insn -M "$syntax" --disassemble=smooth "$heat" |
		sed -nE 's/^ +([0-9a-f]+):\t/\1 /p' | tidy >objdump.txt
	list --$syntax --asm --tsv smooth | "$PYTHON" -c '
import csv, sys
for row in csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE):
    print(row["address"][2:], row["code"])' | tidy >vlist.txt
	t_ok "smooth has code" test -s objdump.txt
	t_same "the code of smooth is objdump's, $syntax syntax" objdump.txt vlist.txt
done

# ---- samples: perf script's ----

# `column FIELD...` prints some fields of the CSV on standard input.
column()
{
	"$PYTHON" -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row[sys.argv[1]]:
        print(*(row[f] for f in sys.argv[1:]))' "$@"
}

if command -v perf >/dev/null; then
	perf script -i "$demo/perf.data" --symfs "$demo/symfs" -F event,ip,sym,symoff 2>/dev/null |
		sed -nE 's/^ *cpu-clock:.* smooth\+0x([0-9a-f]+).*/\1/p' | sort | uniq -c |
		awk '{ print $2, $1 }' | sort >perf.txt
	start=0x$(readelf -sW "$heat" | awk '$8 == "smooth" { print $2 }')
	list --asm --csv smooth | column cpu-clock address | while read -r n address; do
		printf '%x %d\n' $((address - start)) "$n"
	done | sort >vlist.txt
	t_ok "perf saw samples in smooth" test -s perf.txt
	t_same "each instruction has the samples that perf script shows" perf.txt vlist.txt
else
	t_skip "each instruction has the samples that perf script shows" "no perf"
fi

list --asm --csv smooth | column cpu-clock address | while read -r n address; do
	yes "$address" | head -n "$n"
done | addr2line -e "$heat" | sed -E 's/.*:([0-9]+).*/\1/' | sort | uniq -c |
	awk '{ print $2, $1 }' | sort >addr2line.txt
list --source --csv smooth | column cpu-clock line | awk '{ print $2, $1 }' | sort >vlist.txt
t_ok "addr2line found lines" test -s addr2line.txt
t_same "each source line has the samples of its instructions" addr2line.txt vlist.txt

list --json --all >all.json
t_ok "no sample is dropped: rows add up to procedures, procedures to all mapped samples" "$PYTHON" -c '
from listed import load
doc = load(open("all.json"))
for event in doc["events"]:
    name = event["name"]
    total = 0
    for p in doc["procedures"]:
        assert sum(r.get(name, 0) for r in p["rows"]) == p[name], p["procedure"]
        total += p[name]
    assert total == event["samples"] > 0, (name, total, event["samples"])'

# ---- source ----

list -I "$demo" smooth >mixed
grep -n 'from\[y\]\[x\]' "$demo/heat.c" | head -n 1 | cut -d: -f1 >number
t_like "source text stands between" "^ +$(cat number)  .*from\[y\]\[x\]" mixed
list smooth >mixed
t_like "without the file, file and line do" "heat\.c:$(cat number)\$" mixed
list --source -I "$demo" smooth >source
t_unlike "--source has no assembly" 'movsd' source
list --asm -I "$demo" smooth >asm
t_unlike "--asm has no source" 'from\[y\]' asm
list --asm --context 0 smooth >few
t_like "--context leaves out what has no samples" 'instructions? without samples' few
t_is "--context 0 keeps what has samples" \
	"$(list --asm --csv --context 0 smooth | column cpu-clock address)" \
	"$(list --asm --csv smooth | column cpu-clock address)"

# ---- names ----

list smooth >plain
start=$(printf '0x%x' "0x$(readelf -sW "$heat" | awk '$8 == "smooth" { print $2 }')")
for name in heat:smooth /opt/vtrace-demo/heat:smooth "heat:$start" "$start"; do
	list "$name" >named
	t_same "$name is smooth" plain named
done
if command -v perf >/dev/null; then
	ip=0x$(perf script -i "$demo/perf.data" --symfs "$demo/symfs" -F ip,sym 2>/dev/null |
		awk '$2 == "smooth" { print $1; exit }')
	list "$ip" >named
	t_same "an address of the process is the procedure there" plain named
fi
t_status "an unknown name" 2 list smoth
t_like "is answered with similar ones" 'smoth: no such procedure; did you mean smooth\?' "$T_ERR"
t_status "a name like nothing" 2 list zzzzzzzz
t_like "is referred to vprof" 'vprof lists them' "$T_ERR"
t_ok "a file behind the procedure" vlist --symfs "$demo/symfs" smooth "$demo/perf.data" </dev/null
t_same "is read" plain "$T_OUT"
t_ok "no name at all" list
t_same "is the hottest, smooth" plain "$T_OUT"
t_status "a file between procedures" 3 vlist smooth "$demo/perf.data" chase </dev/null
t_like "is told from them" "^vlist: $ROOT/tests/data/demo/perf.data is a file: vlist .*perf.data PROCEDURE" "$T_ERR"
cat >near.s <<'END'
	.globl _start
	.text
_start:	nop
	.irp name, work, homework, work_hard, play
	.type \name, @function
\name:	.skip 16, 0x90
	.size \name, 16
	.endr
END
if as -o near.o near.s && ld -Ttext=0x401000 -o near near.o; then
	"$VT_BUILD/tests/tools/stream_make" >near.vt <<END
EVENT id=0 name=cycles policy=1 unit=cycles
IMAGE id=1 path=$PWD/near machine=62
COUNT image=1 offset=0x1018 event=0 samples=3 period=3
COUNT image=1 offset=0x1028 event=0 samples=5 period=5
COUNT image=1 offset=0x1038 event=0 samples=9 period=9
END
	t_ok "a procedure without samples, whose name others contain" vlist --asm near.vt work
	t_like "is listed" '^work in .*/near' "$T_OUT"
	t_is "the others are named, most samples first" "$(cat "$T_ERR")" \
		"vlist: work: has no samples; did you mean work_hard, homework?"
	t_ok "one with samples is meant" vlist --asm near.vt homework
	t_is "without a question" "$(cat "$T_ERR")" ""
fi
t_status "two views" 2 list --asm --source smooth
t_ok "several procedures" list smooth chase
t_is "each has its header" "$(grep -c '^[a-z]* in /opt' "$T_OUT")" 2
t_ok "--top N" list --top 2
t_is "lists as many" "$(grep -c '^[a-z]* in /opt' "$T_OUT")" 2

# ---- images that are gone or others ----

# The program may lie where it was recorded: under another name of the same length it does not.
sed 's|/opt/vtrace-demo/heat|/opt/vtrace-dem0/heat|g' "$demo/perf.data" >moved.data
vtrace decode moved.data -o moved.vt
mkdir -p other/opt/vtrace-dem0
cp "$(type -P true)" other/opt/vtrace-dem0/heat
wrong=$(readelf -n other/opt/vtrace-dem0/heat | sed -n 's/.*Build ID: //p')
right=$(readelf -n "$heat" | sed -n 's/.*Build ID: //p')
t_status "a file with another build-id is refused" 3 vlist -i moved.vt --symfs other heat:smooth
t_like "both ids are named: the file's" "$wrong" "$T_ERR"
t_like "and the recorded one" "$right" "$T_ERR"
mkdir none
t_ok "without the file, samples are listed by address" vlist -i moved.vt --symfs none heat:smooth
t_like "a message tells why" 'heat: file not found: samples by address only' "$T_ERR"
t_like "and what helps" '1 image without its file: --symfs DIR .*.perf buildid-cache -a FILE' "$T_ERR"
t_like "the samples are there" '^ +[0-9]+ +[0-9.]+% .*[0-9a-f]{4} +\[file not found\]' "$T_OUT"

# ---- samples inside an instruction ----

"$PYTHON" - "$demo/perf.data" odd.data "$start" <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
start = int(sys.argv[3], 16)
at, size = struct.unpack_from('<QQ', data, 40)
end = at + size
sample_type = struct.unpack_from('<Q', data, struct.unpack_from('<Q', data, 24)[0] + 24)[0]
ip_at = 8 + 8 * bool(sample_type & 1 << 16)
while at + 8 <= end:
    kind, _, length = struct.unpack_from('<IHH', data, at)
    ip = struct.unpack_from('<Q', data, at + ip_at)[0] if kind == 9 else 0
    # smooth's first bytes are one instruction of three bytes.
    if kind == 9 and ip & 0xfff == (start & 0xfff) + 0x50:
        struct.pack_into('<Q', data, at + ip_at, ip + 1)
    at += length
open(sys.argv[2], 'wb').write(data)
END
t_pipe "samples that are not on an instruction" \
	"vtrace decode odd.data | vlist --symfs '$demo/symfs' smooth >odd"
t_like "have rows of their own" '[0-9]+\.[0-9]+%.*\[not the start of an instruction\]' odd

# ---- colour, forms, output ----

list --color always smooth >colour
t_like "--color always colours" $'\033\\[1;31m' colour
sed 's/\x1b\[[0-9;]*m//g' colour >stripped
t_same "and changes nothing else" plain stripped
t_unlike "no colour into a file" $'\033' plain
if command -v script >/dev/null; then
	TERM=xterm script -qec "vlist -i x.vt --symfs '$demo/symfs' smooth" /dev/null >terminal
	t_like "colour on a terminal" $'\033\\[' terminal
	NO_COLOR=1 TERM=xterm script -qec "vlist -i x.vt --symfs '$demo/symfs' smooth" /dev/null >terminal
	t_unlike "NO_COLOR is obeyed" $'\033\\[' terminal
fi
t_status "/dev/full" 4 list -o /dev/full smooth
t_status "an event that is not there" 2 list -e nothing smooth
t_like "the events are named" 'cpu-clock, page-faults' "$T_ERR"

# ---- several procedures of one name; C++; inlined code ----

cat >one.cc <<'END'
static long total;
__attribute__((noinline)) static long work(long n) { for (long i = 0; i < n; i++) total += i ^ n; return total; }
long first(long n) { return work(n); }
END
cat >two.cc <<'END'
static long total;
namespace deep {
static inline long twist(long a) { return a * 3 ^ a >> 7; }
__attribute__((noinline)) long spin(long n, int) { for (long i = 0; i < n; i++) total += twist(total ^ i); return total; }
}
__attribute__((noinline)) static long work(long n) { for (long i = 0; i < n; i++) total -= i | n; return total; }
long second(long n) { return work(n) + deep::spin(n, 1); }
END
cat >main.cc <<'END'
long first(long); long second(long);
int main() { long x = 0; for (int i = 0; i < 200; i++) x += first(1000000) + second(1000000); return x == 42; }
END
# Each procedure called work does 200 million steps, .05 s or more of a run of .5 s: all of 300 samples fall elsewhere
# than in one of them with a chance of 2 * .9^300 = 4e-14.
if ! command -v g++ >/dev/null || ! g++ -g -O1 -o pair one.cc two.cc main.cc 2>/dev/null; then
	t_skip "several procedures of one name" "no C++ compiler"
elif ! perf record -q -o pair.data -e cpu-clock -F 1000 ./pair >/dev/null 2>&1; then
	t_skip "several procedures of one name" "perf does not record here"
else
	vtrace decode pair.data -o pair.vt
	t_status "an ambiguous name" 2 vlist -i pair.vt work
	t_is "lists the candidates" "$(grep -c 'pair:0x[0-9a-f]*  work, [0-9]* samples' "$T_ERR")" 2
	t_like "and says how to choose" 'IMAGE:0xADDRESS' "$T_ERR"
	candidate=$(sed -n 's/.*\(pair:0x[0-9a-f]*\)  work.*/\1/p' "$T_ERR" | head -n 1)
	t_ok "a candidate can be named so" vlist -i pair.vt "$candidate"
	vlist -i pair.vt _ZN4deep4spinEli >mangled
	for name in 'deep::spin(long, int)' deep::spin spin pair:deep::spin; do
		vlist -i pair.vt "$name" >named
		t_same "$name is the mangled name's" mangled named
	done
	t_like "inlined code is marked" '(deep::)?twist, inlined into deep::spin at .*two\.cc:4' \
		mangled
fi
t_done
