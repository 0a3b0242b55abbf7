#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What people ask of a profiler: each command in the table of vtrace-tutorial(7) runs as it stands
# there, on input of which the truth is known, and gives the answer. The table has no other commands.

. "$(dirname "$0")/../lib.sh"
t_need gcc nm readelf objdump addr2line zstd tar bzip2 valgrind "$PYTHON" jq
PATH=$VT_BUILD/tests/tools:$PATH

# The table as lines of a number, a tab and a command.
awk -F '\t' '/^\.TS$/ { inside = 1 } /^\.TE$/ { inside = 0 }
	inside && $1 ~ /^[0-9]+$/ { n = $1 }
	inside && n && $3 != "" { print n "\t" $3 }' "$ROOT/man/vtrace-tutorial.7" >table
t_is "the table has 23 requests, in order" "$(cut -f 1 table | uniq | tr '\n' ' ')" "$(seq -s ' ' 23) "
if command -v mandoc >/dev/null; then
	mandoc -T ascii -O width=78 "$ROOT/man/vtrace-tutorial.7" | sed 's/.\x08//g' | sed -n '/^EXAMPLES/,$p' >page
	while IFS=$'\t' read -r _ command; do
		grep -qF "  $command" page || echo "$command"
	done <table >broken
	t_same "a page of 78 columns has each command in one line" broken /dev/null
	t_unlike "and is no wider" '^.{79}' page
else
	t_skip "a page of 78 columns has each command in one line" "no mandoc"
fi
: >ran

# asked N COMMAND [STATUS]: of row N
asked()
{
	printf '%s\t%s\n' "$1" "$2" >>ran
	t_status "$1: $2" "${3-0}" bash -o pipefail -c "$2"
}

cat >prog.c <<'END'
static inline __attribute__((always_inline)) unsigned twist(unsigned a)
{
	return (a >> 3) ^ (a * 5);
}

__attribute__((noinline, aligned(4096))) unsigned work(unsigned n, unsigned scale)
{
	unsigned sum = scale;

	for (unsigned i = 0; i < n; i++)
		sum += twist(sum);
	return sum;
}

__attribute__((noinline, aligned(4096))) unsigned other(unsigned n)
{
	return n * 3 + (MARK + 98) / (n | 1);
}

int main(int argc, char **argv)
{
	unsigned sum = 0;

	(void)argv;
	for (unsigned i = 0; i < 3000; i++)
		sum += work(i % 10 ? 16 : 16 + i % 300, 8) + other(i);
	return sum == (unsigned)argc;
}
END
# built MARK: prog, of another build-id for another mark
built()
{
	gcc -O1 -g -no-pie -Wl,--build-id=sha1 -DMARK="$1" -o prog prog.c
}
buildid() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
built 1
id=$(buildid prog)
objdump -d --no-show-raw-insn prog >code
# insn FUNCTION PATTERN: the address of the first such instruction
insn() { awk -v name="<$1>:" -v pattern="$2" '$2 == name { inside = 1 } /^$/ { inside = 0 }
	inside && $0 ~ pattern { sub(/:.*/, ""); print "0x" $1; exit }' code; }
symbols() { nm "$1" | sed -nE 's/^0*([0-9a-f]+) [Tt] (work|other|main|first|last)$/\2=0x\1/p' | tr '\n' ' '; }
mul=$(insn work 'lea ') div=$(insn other 'div ') call=$(insn main 'call.*<work>')
# The instruction behind the division: where an interrupt is taken once that has retired.
after=$(awk -v div="${div#0x}:" '$1 == div { getline; sub(/:.*/, ""); print "0x" $1 }' code)
names="$(symbols prog) mul=$mul div=$div after=$after call=$call"
other=$(sed -E 's/.*other=([0-9a-fx]+).*/\1/' <<<"$names")

cat >recorder.py <<'END'
"""Makes perf.data files. A line is the arguments of mkperfdata.py, or has tabs: OUT, PROGRAM,
BUILD-ID, NAME=ADDRESS..., and an expression, which says what to record."""
import json
import sys

import mkperfdata


def at(ip, n, **more):
    return [dict(ip=ip, **more)] * n


def described(out, program, buildid, names, text):
    names = {name: int(value, 16) for name, value in (a.split('=') for a in names.split())}
    start = min(names.values()) & ~0xfff
    spec = {'maps': [[start, 0x80000, start - 0x400000, program]], 'buildids': {program: buildid},
            'type': 1, 'config': 0, 'flags': ['exclude_guest']}
    spec.update(eval(text, dict(names, at=at, program=program)))
    with open('x.json', 'w') as f:
        json.dump(spec, f)
    return ['-d', 'x.json', out]


for line in sys.stdin:
    fields = line.split('\t', 4)
    sys.argv[1:] = described(*fields) if len(fields) > 1 else line.split()
    mkperfdata.main()
    print('made', flush=True)
END
# One process for all, which ends with the test.
coproc RECORDER { exec "$PYTHON" recorder.py; }
made()
{
	local told=
	echo "$*" >&"${RECORDER[1]}"
	read -r told <&"${RECORDER[0]}"
	[ "$told" = made ] || t_fail "mkperfdata.py $*"
}
# recorded_of PROGRAM BUILD-ID NAMES FILE EXPRESSION: samples of time of it, or what the expression has
recorded_of()
{
	made "$4"$'\t'"$PWD/$1"$'\t'"$2"$'\t'"$3"$'\t'"${5//$'\n'/ }"
}
recorded() { recorded_of prog "$id" "$names" "$@"; }
recorded usual.data '{"samples": at(mul, 70) + at(other, 25) + at(0x10, 5)}'
rows() { grep -E "^ +[0-9]+ +[0-9.]+%" "${1-$T_OUT}" | sed -E 's/^ +//; s/ +/ /g'; }

# ---- lines, without a process for each ----

cat >alone.c <<'END'
void _exit(int status);
#define REFUSED(name) int name(void) { _exit(97); return -1; }
REFUSED(fork)
REFUSED(vfork)
REFUSED(system)
REFUSED(popen)
REFUSED(execve)
REFUSED(posix_spawn)
REFUSED(posix_spawnp)
END
gcc -shared -fPIC -w -fno-builtin -o alone.so alone.c
t_status "a program that starts another is found" 97 env LD_PRELOAD="$PWD/alone.so" bash -c '/bin/true; :'
# alone COMMAND...: with no program in PATH, and none that could start another
alone()
{
	local program=$VT_BUILD/bin/$1
	shift
	if [ -n "$VT_SAN" ]; then
		PATH=/none "$program" "$@"
	else
		PATH=/none LD_PRELOAD=$PWD/alone.so "$program" "$@"
	fi
}
line_of() { addr2line -e prog "$1" | sed 's/ (disc.*//'; }

cp usual.data perf.data
asked 1 'vprof --by line perf.data'
cp "$T_OUT" lines
t_is "the lines are those of addr2line" "$(rows | awk '{ print $1, $5 }' | head -n 2)" \
	"70 $(line_of "$mul")
25 $(line_of "$other")"
t_ok "no process is started" alone vprof --by line perf.data
t_same "it is the same" lines "$T_OUT"

asked 3 'vlist --source perf.data work'
cp "$T_OUT" lines
t_like "the line of inlined code has its samples" '^ +70 +100.00% +3  .*return \(a >> 3\)' "$T_OUT"
t_ok "no process is started for this either" alone vlist --source perf.data work
t_same "this is the same, too" lines "$T_OUT"

{
	echo 'unsigned first(unsigned n) { return n; }'
	for i in $(seq 250); do
		printf 'unsigned f%d(unsigned n)\n{\n\tunsigned m = n * %d;\n\tif (n & 1)\n\t\tm += n >> 3;\n\treturn m ^ %d;\n}\n' \
			"$i" "$i" "$i"
	done
	printf 'unsigned last(unsigned n) { return n; }\nint main(void) { return 0; }\n'
} >many.c
gcc -O0 -g -no-pie -Wl,--build-id=sha1 -o many many.c
recorded_of many "$(buildid many)" "$(symbols many)" perf.data \
	'{"samples": [{"ip": ip} for ip in range(first, last)]}'
asked 2 'vtrace dump -F ip,srcline perf.data'
t_is "there are many" "$(($(wc -l <"$T_OUT") > 10000))" 1
cut -f 1 "$T_OUT" | addr2line -e many | sed 's/.*\///; s/ (disc.*//' >want
cut -f 2 "$T_OUT" >got
t_same "each as addr2line has it" want got

# ---- large recordings ----

cp usual.data perf.data
asked 4 'vexport --to folded perf.data'
t_is "each stack with its samples" "$(tr '\n' ' ' <"$T_OUT")" "[no mapping, user mode] 5 other 25 work 70 "
t_ok "no file is written" bash -c "ulimit -f 0; vexport --to folded perf.data | cat >/dev/null"
t_is "it is far shorter than the recording" "$(($(vexport --to folded perf.data | wc -c) * 50 < $(stat -c %s perf.data)))" 1

made -s -n 300000 perf.data
made -s -n 100000 small.data
asked 5 'vprof perf.data'
t_is "all samples are there" "$(rows | cut -d ' ' -f 1)" 300000
cat >peak.py <<'END'
"""The most memory that a command had, in kB."""
import resource
import subprocess
import sys

subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
if [ -n "$VT_SAN" ]; then
	t_skip "a recording that has 8 MB more takes less than 2 MB more memory" "sanitizers keep what is freed"
else
	t_is "a recording that has 8 MB more takes less than 2 MB more memory" \
		"$(($("$PYTHON" peak.py vprof perf.data) < $("$PYTHON" peak.py vprof small.data) + 2048))" 1
fi

asked 6 'vtrace decode -o run.vt perf.data'
asked 6 'vprof run.vt'
vprof perf.data >want
t_same "the listing is that of the recording" want "$T_OUT"
t_is "of a file of less than half the size" "$(($(stat -c %s run.vt) * 2 < $(stat -c %s perf.data)))" 1

recorded perf.data '{"samples": at(work, 50, time=500 * 10**6) + at(mul, 60, time=1500 * 10**6) +
	at(other, 36, time=1600 * 10**6) + at(main, 4, time=1700 * 10**6) + at(main, 50, time=2500 * 10**6)}'
asked 7 'vprof --time 1,2 --min 5 --top 3 perf.data'
t_is "of the second only, no row of less than 5 %" "$(rows | awk '{ print $1, $5 }')" "60 work
36 other"
t_like "what is left out is counted" '^\(1 more row\)$' "$T_OUT"
t_like "and how many samples are meant" ': 100 of 200 samples are in the slice$' "$T_ERR"
recorded perf.data '{"samples": at(work, 60) + at(other, 36) + at(main, 4)}'
asked 7 'vflame --min 5 -o prog.svg perf.data'
t_is "a picture without the small ones" "$(grep -oE '<title>[a-z]+' prog.svg | sort -u | tr '\n' ' ')" "<title>all <title>other <title>work "

# ---- damage and losses ----

cat >whole_records.py <<'END'
"""How many samples of a perf.data are whole."""
import struct
import sys

data = open(sys.argv[1], 'rb').read()
at, n = struct.unpack_from('<Q', data, 40)[0], 0
while at + 8 <= len(data):
    kind, _, size = struct.unpack_from('<IHH', data, at)
    at += size
    n += kind == 9 and at <= len(data)
print(n)
END
for size in 3001 1537; do
	head -c $size usual.data >perf.data
	asked 8 'vprof perf.data' 1
	t_is "cut at $size: what precedes the cut is there" \
		"$(rows | awk '{ n += $1 } END { print n }')" "$("$PYTHON" whole_records.py perf.data)"
	t_like "it is said to be cut off" '^vprof: perf.data: damage at 0x[0-9a-f]+: .*(cut off|ends inside)' "$T_ERR"
done
"$PYTHON" - <<'END'
import random
data = open('usual.data', 'rb').read()
r = random.Random(1)
for i in range(20):
    b = bytearray(data)
    for _ in range(1 + i % 5):
        b[r.randrange(len(b))] = r.randrange(256)
    open('bad%d.data' % i, 'wb').write(b)
END
bad=
for f in bad*.data; do
	vprof "$f" >out 2>said
	case $? in
	0 | 1 | 3) ;;
	*) bad+=" $f" ;;
	esac
done
t_is "damaged ones are read or refused" "$bad" ''

recorded perf.data '{"samples": at(work, 10), "read_format": 20,
	"lost": [[2, [0, 20], 1001, 100, 0], [2, [0, 7], 1002, 100, 0], [13, [30], 0, 0, 0]]}'
asked 9 'vtrace info perf.data'
t_like "the sum of all, once" ': perf.data: 30 records were lost while recording$' "$T_ERR"
t_like "those that the ring buffer had no room for" '^ +2 +27 +0 +lost while recording: LOST$' "$T_OUT"
t_like "and others" '^ +1 +3 +0 +lost while recording: LOST_SAMPLES$' "$T_OUT"

# ---- processor traces ----

t_ok "a program is recorded" vtrace record --full --blocks --toggle main -o blocks.vt ./prog
executed=$(vtrace info --json blocks.vt | jq .executed.instructions)
t_ok "and encoded, with overflows" vtrace encode --perf-data --overflow 700 -o pt.data blocks.vt
overflows=$(sed -n 's/.*: \([0-9]*\) overflows made.*/\1/p' "$T_ERR")
asked 9 'vtrace info pt.data'
t_like "$overflows overflows of a processor trace" "^ +[0-9]+ PSB, $overflows overflows\$" "$T_OUT"

asked 10 'vtrace decode pt.data | vtrace info' 1
t_like "each overflow is a gap" "^ +$overflows +0 +0 +overflow\$" "$T_OUT"
t_ok "encoded without" vtrace encode --perf-data --psb 512 -o whole.data blocks.vt
"$PYTHON" - <<'END'
data = bytearray(open('whole.data', 'rb').read())
psb = b'\2\x82' * 8
starts = [i for i in range(len(data) - 16) if data[i:i + 16] == psb and data[i - 2:i] != psb[:2]]
middle = starts[len(starts) // 2]
# No packet begins so.
data[middle + 100:middle + 104] = b'\2\xff\2\xff'
open('pt.data', 'wb').write(data)
END
asked 10 'vtrace decode pt.data | vtrace info' 1
t_like "a bad packet is one" '^ +1 +0 +[0-9]+ +bad packet$' "$T_OUT"
lost=$(sed -nE 's/^ +1 +0 +([0-9]+) +bad packet$/\1/p' "$T_OUT")
t_is "decoding goes on at the next PSB" "$((${lost:-0} > 0 && lost <= 512))" 1
t_is "with the rest of the instructions" \
	"$(($(sed -nE 's/^ +([0-9]+) instructions in .*/\1/p' "$T_OUT") > executed * 9 / 10))" 1
vtrace decode pt.data 2>/dev/null | vprof >want 2>/dev/null
asked 11 'vtrace decode -j 2 pt.data | vprof' 1
t_same "two threads give what one does" want "$T_OUT"
cp whole.data pt.data
asked 11 'vtrace decode -j 2 pt.data | vprof'
t_is "of all that was executed" "$(rows)" "$(vprof blocks.vt | rows /dev/stdin)"

# ---- any perf ----

for size in 64 72 80 96 104 112 120 128 136 200; do
	made -s -n 50 -a $size attr.$size.data
done
made -s -n 50 -b attr.big.data
for f in attr.*.data; do
	vtrace dump -F time,ip "$f" >"got.$f"
done
t_is "there are files of eleven kinds" "$(cat got.* | wc -l)" 550
t_is "attributes of every size, and the other byte order, are the same" "$(cat got.* | sort -u)" \
	"$(for i in $(seq 0 49); do printf '%d\t0x%x\n' $((1000000 + i * 1000 + i % 3)) $((0x401000 + i * 7919 % 0x10000)); done | sort)"
"$PYTHON" "$ROOT/tests/mkperfdata.py" -t perf.data | sort -n >truth
asked 12 'vtrace dump -F time,event,ip perf.data' 1
t_is "all samples are read" "$(cut -f 1,3 "$T_OUT")" "$(awk '{ print $1 "\t0x" $6 }' truth)"
t_like "kinds of records that nobody knows are counted" ': perf.data: 5 records of unknown kinds$' "$T_ERR"

vprof perf.data >want 2>/dev/null
made -z perf.data
asked 13 'vprof perf.data' 1
t_same "compressed, it is the same" want "$T_OUT"
for z in '' -z; do
	made -p $z perf.data
	asked 13 'cat perf.data | vprof' 1
	t_is "through a pipe, too ${z:+compressed}" "$(rows)" "$(rows want)"
done
if perf record -q -z -e cpu-clock -F 9000 -o - -- bash -c 'for i in {1..3000}; do :; done' 2>/dev/null >perf.data; then
	t_pipe "what perf -z writes to a pipe now" 'cat perf.data | vprof --csv'
	t_is "has as many samples as it says" "$(sed 1d "$T_OUT" | awk -F , '{ n += $1 } END { print n }')" \
		"$(perf script -F ip -i - <perf.data 2>/dev/null | grep -c .)"
else
	t_skip "what perf -z writes to a pipe now" "perf record -e cpu-clock does not work on this machine"
fi

# ---- files that are elsewhere, or others ----

cp usual.data perf.data
mkdir -p "cache$PWD/prog/$id" "cache/.build-id/${id:0:2}"
cp prog "cache$PWD/prog/$id/elf"
ln -s "../..$PWD/prog/$id" "cache/.build-id/${id:0:2}/${id:2}"
tar -C cache -cjf perf.data.tar.bz2 .
vprof perf.data >want
asked 14 'vtrace pack -o run.vt perf.data'
mv prog kept
asked 14 'vprof --symfs perf.data.tar.bz2 perf.data'
t_same "with an archive of its files it is as where it was recorded" want "$T_OUT"
asked 14 'vprof run.vt'
t_same "and packed, with no file at all" want "$T_OUT"
t_like "without, it would have no names" '95 95.00% .*\[file not found\]' <(vprof perf.data 2>/dev/null | tr -s ' ')

built 2
asked 15 'vprof perf.data'
t_like "both build-ids are told" "^vprof: $PWD/prog has build-id $(buildid prog), but $id was recorded\$" "$T_ERR"
t_is "and the share of samples" "$(rows | head -n 1)" "95 95.00% ±6.83 95.00% [file has another build-id] $PWD/prog"
t_unlike "no name is taken from it" ' work ' "$T_OUT"

recorded perf.data '{"maps": [[0x400000, 0x80000, 0, program], [0x7f000000, 0x1000, 0, "/none/gone.so"],
	[0x7f100000, 0x1000, 0, "//anon"]],
	"samples": at(work, 50) + at(0x7f000010, 20) + at(0x7f100010, 10) + at(0x10, 5)}'
asked 16 'vprof --csv perf.data'
"$PYTHON" -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["cpu-clock"], row["unknown"])' <"$T_OUT" >causes
t_is "each cause has its samples" "$(cat causes)" "50 file has another build-id
20 file not found
10 generated code without a perf map
5 no mapping, user mode"
mv kept prog

# ---- where, and how sure ----

cp usual.data perf.data
asked 17 'vprof --by instruction perf.data'
t_like "how addresses were chosen" 'cpu-clock = 100 \(pc at the interrupt, with skid\)' "$T_OUT"
t_is "samples are where they were" "$(rows | awk '{ print $1, "0x" $5 }' | head -n 2)" "70 $mul
25 $other"
asked 17 'vprof --inline perf.data'
t_like "a function that is inlined has its own samples" '^ +70 .* twist' "$T_OUT"
recorded perf.data '{"samples": at(mul, 70, misc=0x4002), "type": 0, "precise": 2,
	"flags": ["exclude_guest", "exclude_kernel", "exclude_hv"]}'
t_like "another way" '= 70 \(pc asked to be precise, precise_ip 2\), EXACT_IP 70 \(100.00%\)' <(vprof perf.data)
recorded perf.data '{"samples": at(other, 10) + at(div, 2) + at(after, 200)}'
asked 17 'vfreq perf.data | vlist --calc other'
t_like "the time of the division is charged to it, not to where the interrupt was" \
	"^${div#0x} +div .* 200 " "$T_OUT"

cp usual.data perf.data
asked 18 'vprof perf.data'
needed=$(sed -n 's/^For ±1 point in the first row, \([0-9]*\) more samples are needed$/\1/p' "$T_OUT")
vprof --csv perf.data >csv
t_ok "intervals are Wilson's, with continuity correction, of 95 %" "$PYTHON" -c 'import csv, math
for row in csv.DictReader(open("csv")):
    k, n, z = int(row["cpu-clock"]), 100, 1.959964
    p = k / n
    low = 2 * n * p + z * z - 1 - z * math.sqrt(z * z - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))
    high = 2 * n * p + z * z + 1 + z * math.sqrt(z * z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
    for name, x in ("low", low), ("high", high):
        assert abs(float(row["cpu-clock." + name]) - 100 * x / 2 / (n + z * z)) < 1e-3, (row, x)'
for of in 100 97; do
	n=$(((100 + needed) * of / 100))
	recorded perf.data "{\"samples\": at(mul, $((n * 7 / 10))) + at(other, $((n - n * 7 / 10)))}"
	asked 18 'vprof perf.data'
	t_is "with $of % of the samples that it needs" "$(rows | head -n 1 | cut -d ' ' -f 3)" \
		"$([ $of = 100 ] && echo ±1.00 || echo ±1.02)"
done

recorded before.data '{"samples": at(work, 500) + at(other, 500)}'
recorded after.data '{"samples": at(work, 800) + at(other, 500)}'
asked 19 'vprof --diff --check before.data after.data' 5
t_like "work has grown, significantly" '^ +500 +50.00% +800 +61.54% +\+300 .*\* +work ' "$T_OUT"
recorded after.data '{"samples": at(work, 505) + at(other, 495)}'
asked 19 'vprof --diff --check before.data after.data'
t_unlike "a change by chance is none" '\* +work ' "$T_OUT"

cp usual.data perf.data
asked 20 'vprof --csv perf.data'
"$PYTHON" -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["cpu-clock"], row["procedure"])' <"$T_OUT" >want.rows
t_is "in CSV" "$(cat want.rows)" "70 work
25 other
5 [no mapping, user mode]"
asked 20 'vprof --json perf.data'
t_is "in JSON, the same" "$(jq -r '.rows[] | "\(.events[0].samples) \(.procedure)"' "$T_OUT")" "$(cat want.rows)"
asked 20 'vtrace dump --json -F ip,sym perf.data'
t_is "each sample is an object" "$(jq -r .sym "$T_OUT" | sort | uniq -c | sort -nr | awk '{ print $1 }')" "70
25
5"

for i in 1 2 3; do
	recorded run$i.data "{\"samples\": at(work, $((100 + i * i))) + at(other, 50)}"
done
asked 21 'vstats run1.data run2.data run3.data'
t_is "mean and standard deviation over the runs" "$(grep ' work ' "$T_OUT" | awk '{ print $2, $4, $5, $6, $8, $9 }')" \
	"$("$PYTHON" -c 'import statistics as s
x = [101, 104, 109]
print(sum(x), 3, "%.2f" % s.mean(x), "%.2f" % s.stdev(x), min(x), max(x))')"

# ---- values ----

asked 22 'vtrace record --full --args -o run.vt ./prog'
asked 22 'vhot run.vt | vlist --values work'
t_like "16 is the first argument of 2710 calls of 3000" 'arg rdi +3000 +1 .* 90.3% 16 ' "$T_OUT"
t_like "8 is the second one, always" 'arg rsi +3000 +1 +1 +100% 8$' "$T_OUT"
recorded perf.data '{"samples": [{"ip": call, "regs": [0, 0, 0, 0, 8, 16 if i % 10 else 99, 0, 0x7fff1000,
	call, 0x202, 0x33, 0x2b] + [0] * 12} for i in range(100)]}'
asked 22 'vinterp perf.data | vhot | vlist --values'
t_like "the same from registers in samples" 'arg rdi +100 +1 +2 +90.0% 16 +10.0% 99$' "$T_OUT"
# A page of ptwrite rax and a system call; PSB, MODE.EXEC, PSBEND, TIP.PGE; PTW, FUP; TIP.PGD.
{
	printf '\363\110\017\256\340\017\005'
	head -c 4089 /dev/zero
} >page.dump
printf '\0\020\100\0\0\0\0\0' >page.addr
{
	for _ in 1 2 3 4 5 6 7 8; do printf '\002\202'; done
	printf '\231\001\002\043\161\0\020\100\0\0\0'
	printf '\002\262\007\0\0\0\0\0\0\0\175\0\020\100\0\0\0\001'
} >pt.pt
t_ok "a trace with PTWRITE" vtrace decode --pages page.dump,page.addr -o pt.vt pt.pt
asked 22 'vhot -w ptwrite pt.vt | vlist --values'
t_like "what it wrote, below it" '^ +ptwrite +1 +1 +1 +100% 7$' "$T_OUT"

# ---- pprof ----

cp usual.data perf.data
asked 23 'vexport --to pprof -o prog.pb.gz perf.data'
cat >pprof.py <<'END'
"""Samples of each function of a pprof profile, by its innermost frame."""
import collections
import gzip
import sys


def fields(data):
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def packed(value):
    if isinstance(value, int):
        return [value]
    # A field of one number for each: the same encoding, without tags.
    out, v, shift = [], 0, 0
    for byte in value:
        v |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(v)
            v = shift = 0
    return out


profile = collections.defaultdict(list)
for tag, value in fields(gzip.open(sys.argv[1]).read()):
    profile[tag].append(value)
texts = [t.decode() for t in profile[6]]
functions = {f[1]: texts[f[2]] for f in (dict(fields(v)) for v in profile[5])}
places = {}
for value in profile[4]:
    place = dict(fields(value))
    line = dict(fields(place[4])) if 4 in place else {}
    places[place[1]] = functions.get(line.get(1), '?')
counts = collections.Counter()
for value in profile[2]:
    sample = list(fields(value))
    stack = [n for tag, v in sample if tag == 1 for n in packed(v)]
    numbers = [n for tag, v in sample if tag == 2 for n in packed(v)]
    counts[places[stack[0]]] += numbers[0]
for name in sorted(counts):
    print(counts[name], name)
END
t_ok "the profile is read" "$PYTHON" pprof.py prog.pb.gz
t_is "it has all samples" "$(tr '\n' ' ' <"$T_OUT")" "5 [no mapping, user mode] 25 other 70 work "
t_like "and the build-id" "$(buildid prog)" <(zcat prog.pb.gz)

sort -u table >table.commands
sort -u ran >test.commands
t_same "the table has these commands, and the test no others" table.commands test.commands
t_done
