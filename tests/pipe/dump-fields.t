#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The fields of vtrace dump -F that are looked up, against perf script, objdump and addr2line: of the
# demo, of traces that others recorded, and of a recording made here with call chains.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo
symfs=$demo/symfs
perf_there=$(command -v perf || true)

# perf script -F comm,tid,time,ip,sym,symoff,dso as lines: comm, seconds, then each "SYMOFF (DSO)".
cat >script.py <<'END'
import re, sys
for block in sys.stdin.read().split("\n\n" if sys.argv[1] == "chains" else "\n"):
    lines = [l for l in block.split("\n") if l.strip()]
    if not lines:
        continue
    head = re.match(r" *(.*?) +-?\d+ +(\d+\.\d{9}): *(?:([0-9a-f]+) (.*))?$", lines[0])
    frames = [head.group(4)] if head.group(4) else []
    frames += [re.match(r"\s+[0-9a-f]+ (.*)$", l).group(1) for l in lines[1:]]
    print("\t".join([head.group(1), head.group(2), ";".join(frames)]))
END

script()
{
	perf script -i "$2" --ns --no-inline -F comm,tid,time,ip,sym,symoff,dso "${@:3}" 2>/dev/null |
		"$PYTHON" script.py "$1"
}

if [ -n "$perf_there" ]; then
	script plain "$demo/perf.data" --symfs "$symfs" >want
	t_ok "the demo's fields" vtrace dump --symfs "$symfs" -F comm,seconds,symoff,dso "$demo/perf.data"
	sed -E 's/\t([^\t]*)$/ (\1)/' "$T_OUT" >got
	t_same "as perf script prints them" got want
	t_is "and there are some" "$(wc -l <got)" 3642
else
	t_skip "the demo's fields" "perf is not installed"
fi

# Traces without their programs: images and threads, and chains of what the kernel walked.
for trace in plain:quipper/perf.data.i686-3.4 plain:quipper/perf.data.armv7-3.4 \
	plain:arch-arm64-rpi/perf.data plain:mem-numatop-ldlat/perf.data \
	chains:fp-amd-zen4-main/perf61.data chains:dwarf-zstd-fork/perf.data; do
	how=${trace%%:*} file=$VT_DATA/perf/${trace#*:}
	name="fields of ${trace#*:}"
	if [ ! -e "$file" ] || [ -z "$perf_there" ]; then
		t_skip "$name" "no optional test data, or no perf"
		continue
	fi
	script "$how" "$file" >want
	if [ "$how" = chains ]; then
		vtrace dump -F comm,seconds,callchainsym "$file" >got 2>/dev/null
	else
		vtrace dump -F comm,seconds,symoff,dso "$file" 2>/dev/null |
			sed -E 's/\t([^\t]*)$/ (\1)/' >got
	fi
	t_same "$name" got want
done

# Source lines and instructions, by the tools of binutils.
if command -v addr2line >/dev/null && command -v objdump >/dev/null; then
	vtrace dump --symfs "$symfs" -F dso,ip,srcline,insn "$demo/perf.data" 2>/dev/null |
		grep -a '^/opt/vtrace-demo/heat	' | cut -f 2- | sort -u >heat
	t_is "places in the program" "$(($(wc -l <heat) > 20))" 1
	cut -f 1 heat | addr2line -e "$symfs/opt/vtrace-demo/heat" |
		sed -E 's|.*/||; s| \(discriminator.*||' >want
	cut -f 2 heat >got
	t_same "their lines, as addr2line prints them" got want
	objdump -d --no-show-raw-insn "$symfs/opt/vtrace-demo/heat" |
		sed -nE 's/^ +([0-9a-f]+):\t([^#]*).*/0x\1\t\2/p' | sed -E 's/[<>]//g; s/ +$//' |
		sort >listed
	cut -f 1,3 heat | sed -E 's/ *#.*//; s/[<>]//g' | sort >got
	join -t '	' -o 1.1,1.2 listed <(cut -f 1 got) >want
	t_same "their instructions, as objdump prints them" got want
else
	t_skip "lines and instructions" "binutils are not installed"
fi

# A recording of a program with call chains, made here.
cat >shop.cc <<'END'
#include <algorithm>
#include <sys/prctl.h>
#include <vector>
namespace shop {
struct item { unsigned k; bool operator<(const item &o) const { return k < o.k; } };
__attribute__((noinline)) unsigned price(const std::vector<item> &v, int depth)
{
	unsigned s = 0;
	if (depth > 0) {
		s = price(v, depth - 1);
		asm volatile("" : "+r"(s));
		return s + 1;
	}
	for (const item &x : v)
		s = s * 31 + x.k;
	return s;
}
}
int main()
{
	std::vector<shop::item> v(20000);
	unsigned sum = 1, i, k;
	prctl(PR_SET_NAME, "shop keeper");
	for (i = 0; i < 60; i++) {
		for (k = 0; k < v.size(); k++)
			v[k].k = sum = sum * 1103515245 + 12345;
		std::sort(v.begin(), v.end());
		for (k = 0; k < 20; k++)
			sum += shop::price(v, i % 40);
	}
	return sum == 42;
}
END
# perf looks up a return address, not the call before it: where a procedure ends with a call, it shows
# the next one, "+0x0".  It has no names for procedures of stripped files, nor for entries of the
# procedure linkage table without a symbol, "@plt", which objdump calls "*ABS*+0x9ca00@plt".  Before
# and after main, a sample may fall on code without call frame information, such as
# __do_global_dtors_aux: a chain ends there, while perf guesses by the frame pointer, and may miss a
# frame.  So only the leaves of such samples are compared.
cat >compare.py <<'END'
import sys
want, got = ([l.rstrip("\n").split("\t") for l in open(f, errors="replace")] for f in sys.argv[1:])
in_main = [";main+" in a[2] + b[2] for a, b in zip(want, got)]
frames = [(w, g, i) for a, b, m in zip(want, got, in_main)
          for i, (w, g) in enumerate(zip(a[2].split(";"), b[2].split(";"))) if m or i == 0]
bad = [(w, g) for w, g, i in frames
       if w != g and not (i and "+0x0 (" in w) and not w.startswith(("[unknown]", "@plt+"))]
bad += [(a, b) for a, b, m in zip(want, got, in_main)
        if a[:2] != b[:2] or (m and a[2].count(";") != b[2].count(";"))]
print("many in main" if sum(";main+" in a[2] for a in want) > 20 else "few in main", end=", ")
print("as many" if len(want) == len(got) else "not as many",
      "many frames" if len(frames) > 200 else "%d frames" % len(frames),
      "all equal" if not bad else bad[:3], sep=", ")
END
record()
{
	g++ -g -O1 -fno-omit-frame-pointer -o shop shop.cc 2>/dev/null &&
		perf record -q -e cpu-clock:u -F 2000 -g -o fp.data ./shop >/dev/null 2>&1 &&
		perf record -q -e cpu-clock:u -F 500 --call-graph dwarf,8192 -o dwarf.data ./shop \
			>/dev/null 2>&1
}
if [ -n "$perf_there" ] && command -v g++ >/dev/null && record; then
	for file in fp dwarf; do
		script chains $file.data >want
		t_ok "$file: call chains" vtrace dump -F comm,seconds,callchainsym $file.data
		t_is "$file: as perf script prints them" "$("$PYTHON" compare.py want "$T_OUT" 2>&1)" \
			"many in main, as many, many frames, all equal"
	done
	t_like "its thread was renamed" '^shop keeper	' "$T_OUT"
	t_like "recursion" 'shop::price\+0x[0-9a-f]+ [^;]*;shop::price' "$T_OUT"
	vtrace dump --json -F ip,callchainsym fp.data >chains.json
	vtrace dump -F ip,callchainsym fp.data >chains.text
	"$PYTHON" -c '
import json
for l in open("chains.json"):
    o = json.loads(l)
    frames = ["%s (%s)" % (f["symoff"], f["dso"]) for f in o["callchainsym"]]
    assert o["callchainsym"][0]["ip"] == o["ip"]
    print(o["ip"], ";".join(frames), sep="\t")' >chains.json.text
	t_same "the same in JSON" chains.json.text chains.text
else
	t_skip "call chains" "no perf, or it cannot record here"
fi

# Sources of data: each bit alone, and many together, which perf cuts off at 80 bytes or so.
cat >sources.py <<'END'
import json, random
random.seed(5)
words = [0] + [1 << i for i in range(46)] + [2 | 1 << 6 | n << 33 for n in range(16)] + \
    [2 | h << 43 for h in range(5)] + [random.getrandbits(44) for _ in range(100)]
json.dump({"maps": [[0x400000, 0x1000, 0, "/none"]],
           "samples": [{"ip": 0x400000 + i, "addr": 1, "data_src": w} for i, w in enumerate(words)]},
          open("sources.json", "w"))
END
"$PYTHON" sources.py
"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d sources.json sources.data
t_ok "sources of data" vtrace dump -F data_source sources.data
if [ -n "$perf_there" ]; then
	cut -c 1-76 "$T_OUT" >got
	perf script -i sources.data -F data_src 2>/dev/null | sed -E 's/^ *[0-9a-f]+ //; s/ +$//' |
		cut -c 1-76 >want
	t_same "as perf script prints them" got want
	t_is "all of them" "$(wc -l <want)" 168
else
	t_skip "as perf script prints them" "perf is not installed"
fi

# What is not there.
t_is "no data, no chain, no such image" \
	"$(vtrace dump -n 1 -F data_source,callchainsym,sym,dso,insn,datasym sources.data 2>/dev/null)" \
	"|OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A		[unknown]	/none	[unknown]	[unknown]"
t_is "and in JSON" \
	"$(vtrace dump -n 1 --json -F data_source,callchainsym,image "$demo/perf.data" 2>/dev/null)" \
	'{"schema": "vtrace-dump/1", "data_source": null, "callchainsym": null, "image": "/opt/vtrace-demo/heat"}'

# Hostile names, chains and numbers.  An image that is declared again has another name from then on.
cat >hostile.txt <<'END'
EVENT id=1 name=cycles
IMAGE id=1 type=0 path=/opt/a;b%09c%1b[31m
THREAD pid=7 tid=7 op=0 comm=ev;il%0aname%1b[2J
MAP pid=7 tid=7 start=0x1000 length=0x1000 image=1 prot=5
SAMPLE pid=7 tid=7 event=1 ip=0x1010 misc=2 has=7 time=1 callchain=0xfffffffffffffe00,0x1010,0x1020,0x5000
IMAGE id=1 type=0 path=/opt/second
SAMPLE pid=7 tid=7 event=1 ip=0x1010 misc=2 has=7 time=18446744073709551615 callchain=0xfffffffffffff123
SAMPLE pid=-1 tid=-1 event=9 ip=0xffffffff81000000 misc=7 has=0
END
"$VT_BUILD/tests/tools/stream_make" <hostile.txt >hostile.vt
cat >want <<'END'
ev;il\nname\x1b[2J	0.000000001	[unknown]	/opt/a;b\tc\x1b[31m	[unknown] (/opt/a\x3bb\tc\x1b[31m);[unknown] (/opt/a\x3bb\tc\x1b[31m);[unknown] ([unknown])	cycles
ev;il\nname\x1b[2J	18446744073.709551615	[unknown]	/opt/second		cycles
:-1		[unknown]	[unknown]		event9
END
t_ok "hostile names" vtrace dump -F comm,seconds,symoff,dso,callchainsym,event hostile.vt
t_same "are escaped" "$T_OUT" want
t_ok "hostile names in JSON" vtrace dump --json -F comm,dso,callchainsym hostile.vt
t_is "are as they were" "$("$PYTHON" -c '
import json, sys
o = json.loads(open(sys.argv[1]).readline())
print(o["comm"] == "ev;il\nname\x1b[2J", o["callchainsym"][1])' "$T_OUT")" \
	"True {'ip': '0x1020', 'symoff': '[unknown]', 'dso': '/opt/a;b\tc\x1b[31m'}"
for depth in 127 3000; do
	{
		printf 'EVENT id=1 name=cycles\nSAMPLE pid=7 tid=7 event=1 ip=0x1000 misc=2 has=39 callchain=0xfffffffffffffe00'
		seq -f ',%.0f' 4096 $((4095 + depth))
		echo
	} | sed -z 's/\n,/,/g' | "$VT_BUILD/tests/tools/stream_make" >deep.vt
	t_is "a chain of $depth frames" \
		"$(vtrace dump -F callchainsym deep.vt 2>/dev/null | tr ';' '\n' | wc -l)" \
		$((depth < 1024 ? depth : 1023)) # of 1,024, two are the sample's own address
done
head -c 60000 "$demo/perf.data" >cut.data
t_status "a file that is cut" 1 vtrace dump --symfs "$symfs" -F symoff,srcline,insn,callchainsym cut.data
"$VT_BUILD/tests/tools/stream_mixed" none 6000 >mixed.vt
t_status "a stream of every kind of nonsense" 1 vtrace dump \
	-F sym,symoff,dso,srcline,insn,comm,seconds,callchainsym,datasym,data_source mixed.vt
if command -v valgrind >/dev/null && [ -z "$VT_SAN" ]; then
	t_status "touches nothing that is not its own" 1 valgrind -q --error-exitcode=9 vtrace dump \
		-F sym,symoff,dso,srcline,insn,comm,seconds,callchainsym,datasym,data_source mixed.vt
	t_status "nor does it for instructions" 1 valgrind -q --error-exitcode=9 vtrace dump \
		--blocks --insn mixed.vt
else
	t_skip "touches nothing that is not its own" "no valgrind, or a sanitizer does it"
fi

# Names, other names, and wrong ones.
t_is "other names" "$(vtrace dump --symfs "$symfs" -n 1 -F symbol,procedure,image "$demo/perf.data")" \
	"prepare	prepare	/opt/vtrace-demo/heat"
t_is "the header has the names as given" \
	"$(vtrace dump --symfs "$symfs" --header -n 1 -F symbol,dso "$demo/perf.data" | head -n 1)" \
	"# symbol	dso"
t_status "a misspelled field" 2 vtrace dump -F ip,smyoff "$demo/perf.data"
t_like "what was meant" "no field 'smyoff'; did you mean 'symoff'\?" "$T_ERR"
t_status "a folder of images that is not there" 3 vtrace dump -F sym --symfs /nowhere "$demo/perf.data"
t_is "is said once" "$(wc -l <"$T_ERR")" 1
t_ok "a slice by procedure" vtrace dump --symfs "$symfs" --symbol smooth -F sym,comm "$demo/perf.data"
t_is "has nothing else" "$(sort -u "$T_OUT")" "smooth	heat"
mkdir -p other/opt/vtrace-demo
cp "$symfs/opt/vtrace-demo/orders" other/opt/vtrace-demo/heat
t_ok "a file of another build" vtrace dump --symfs other -n 100 -F sym,comm,insn "$demo/perf.data"
t_is "names nothing" "$(sort -u "$T_OUT")" "[unknown]	heat	[unknown]"
t_is "and is told of once" "$(grep -c 'has build-id' "$T_ERR")" 1
t_ok "two files, with names of each" vtrace dump --symfs "$symfs" -F sym "$demo/perf.data" "$demo/regs.data"
t_is "no name is unknown in either" "$(grep -c '^$' "$T_OUT")" 0

t_ok "help for fields needs no input" vtrace dump -F help
awk '{ print $1 }' "$T_OUT" | sort >help.names
sed -n '/^\.It Fl F ,/,/^\.It Fl h ,/p' "$ROOT/man/vtrace-dump.1" | grep -E '^\.(It )?Cm ' |
	sed -E 's/^\.(It )?Cm //; s/ ;$//; s/ , ?/\n/g' | grep -Ev '^(help|symbol|procedure|image)$' | sort -u | sed '/^$/d' >man.names
t_same "and lists what the page lists" help.names man.names
t_done
