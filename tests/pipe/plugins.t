#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The plugins that come with vtrace: on a program whose every value follows from its
# text and the registers that its samples are given, on latencies of known levels, and on a recording.

. "$(dirname "$0")/../lib.sh"

t_need cc nm strip objdump
make_data()
{
	"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d "$1" "$2"
}

# "ADDRESS KIND VALUE" for each value of a plugin in a stream, in order.
values()
{
	vtrace dump "$1" | awk -F '\t' '
		{ delete f; for (i = 2; i <= NF; i++) { k = index($i, "="); f[substr($i, 1, k - 1)] = substr($i, k + 1) } }
		$1 == "MODULE" { name[f["id"] + 0] = f["name"] }
		$1 == "VALUE" && f["what"] == "module" { print f["ip"], name[f["reg"] + 0], f["value"] ? f["value"] : "0x0" }'
}

cat >prog.s <<'END'
	.globl _start
	.type _start, @function
	.type walk, @function
	.type pass, @function
	.type g, @function
	.text
_start:	movsd two(%rip), %xmm0
add_f:	addsd quarter(%rip), %xmm0
	movss third(%rip), %xmm1
mul_f:	mulss four(%rip), %xmm1
	movapd pair(%rip), %xmm2
add_p:	addpd pair(%rip), %xmm2
times:	imul $3, %rdi, %rax
plus:	add %rdi, %rax
minus:	sub 8(%rsp), %rax
	syscall
	.size _start, . - _start
walk:	push %rbx
load:	movzbl (%rdi), %eax
store:	mov %cl, (%rsi)
	add $24, %rdi
	sub $1, %rsi
	dec %ecx
	jnz load
	pop %rbx
	syscall
	.size walk, . - walk
pass:	mov $7, %edi
	lea 8(%rsi), %rsi
	mov (%r10), %rdx
to_g:	call g
leave:	mov %rsi, %rdi
to_h:	call *%r11
	syscall
	.size pass, . - pass
g:	test %r12, %r12
	ret
	.size g, . - g
	.section .rodata
	.balign 16
pair:	.double 1, -2
two:	.double 2.5
quarter: .double 0.25
third:	.float 1.5
four:	.float 4
END
t_ok "build a program" cc -nostdlib -static -no-pie -Wl,--build-id=0x0102030405060708 -o prog prog.s
nm prog | sed 's/^0*//' | awk '{ print $3, "0x" $1 }' >symbols
# Labels within a procedure are procedures to a listing.
strip -K _start -K walk -K pass -K g prog

cat >samples.py <<'END'
import json
import struct

at = {name: int(a, 16) for name, a in (line.split() for line in open('symbols'))}
AX, BX, CX, DX, SI, DI, BP, SP, IP, FLAGS = range(10)
text = at['_start'] & ~0xfff
path = open('where').read()


def sample(ip, stack=(), **given):
    regs = [0x1000 + n for n in range(24)]
    for name, value in given.items():
        regs[globals()[name.upper()] if name.upper() in globals() else 8 + int(name[1:])] = value
    regs[IP], regs[FLAGS], regs[SP] = at[ip], 0x202, 0x7ffe0000
    return {'ip': at[ip], 'regs': regs, 'stack': struct.pack('<%dQ' % len(stack), *stack).hex()}


runs = [sample('_start', (0, 5, 6, 7), di=0x1111),
        sample('walk', (0, 0, 0, 0), di=0x600000, si=0x700000, cx=5),
        sample('pass', (0, 0, 0, 0), si=0x100, cx=0x200, r8=0x300, r9=0x400, r10=0x500000,
               r11=at['g'])]
recorded = {'maps': [[text, 0x1000, 0x1000, path],
                     {'start': text + 0x1000, 'length': 0x1000, 'offset': 0x2000, 'path': path, 'prot': 1}],
            'buildids': {path: '0102030405060708'}}
json.dump({**recorded, 'samples': runs}, open('runs.json', 'w'))


def double(x):
    return struct.unpack('<Q', struct.pack('<d', x))[0]


def single(x):
    return struct.unpack('<I', struct.pack('<f', x))[0]


def write(name, values):
    with open(name, 'w') as f:
        for label, kind, value in values:
            f.write('0x%x %s 0x%x\n' % (at[label], kind, value & (2**64 - 1)))


write('operands.want',
      [('add_f', 'float operand', double(2.5)), ('add_f', 'float operand', double(0.25)),
       ('mul_f', 'float operand', single(1.5)), ('mul_f', 'float operand', single(4))] +
      [('add_p', 'float operand', double(v)) for v in (1, -2, 1, -2)] +
      [('times', 'operand', 0x1111), ('plus', 'operand', 0x3333), ('plus', 'operand', 0x1111),
       ('minus', 'operand', 0x4444), ('minus', 'operand', 5)] +
      [('g', 'operand', 0x1000 + 20)] * 4)
strides = []
for i in range(5):
    for label, base, step in (('load', 0x600000, 24), ('store', 0x700000, -1)):
        strides += [(label, 'stride', step)] if i else []
        strides.append((label, 'address', base + step * i))
# The third run reads behind r10, and the first constants and its stack.
write('strides.want', strides)
args = {1: 7, 2: 0x108, 4: 0x200, 5: 0x300, 6: 0x400}
write('callargs.want', [('to_g', 'argument %d' % n, v) for n, v in args.items()] +
      [('to_h', 'argument %d' % n, v) for n, v in {**args, 1: 0x108}.items()])
END
printf %s "$T_DIR/prog" >where
t_ok "describe samples" "$PYTHON" samples.py
t_ok "make a recording" make_data runs.json runs.data
t_ok "decode it" vtrace decode -o runs.vt runs.data

vinterp -l 64 --plugin operands.so runs.vt >operands.vt
values operands.vt | sort >operands.got
# Of the loop, too: what it counts and moves on with.
loop=$(awk '$1 == "load" || $1 == "pass" { print $2 }' symbols | sort)
awk -v from="$(head -1 <<<"$loop")" -v to="$(tail -1 <<<"$loop")" '$1 < from || $1 >= to' operands.got >outside.got
sort operands.want >operands.sorted
t_same "operands: as the program's text says" outside.got operands.sorted
t_is "and of its loop" "$(awk -v from="$(head -1 <<<"$loop")" -v to="$(tail -1 <<<"$loop")" '$1 >= from && $1 < to' operands.got | wc -l)" 15
called=$(awk '$1 == "g" { print $2 }' symbols)
t_is "whose caller is told where there is one" \
	"$(vinterp -l 5 --plugin operands.so runs.vt | vtrace dump -k VALUE -F ip,caller | grep "^$called" | sort -u | cut -f 2)" \
	"$(awk '$1 == "leave" { print $2 }' symbols)"
t_is "and none where there are two" \
	"$(vtrace dump -k VALUE -F ip,caller operands.vt | grep "^$called" | sort -u | cut -f 2)" 0x0
vhot operands.vt | vlist --values >operands.list
t_like "listings show floating-point operands as such" ' float operand .* 50\.0% 0\.25  50\.0% 2\.5$|50\.0% 2\.5  50\.0% 0\.25$' operands.list
t_like "single ones, too" ' float operand .*50\.0% 1\.5' operands.list
t_like "and the elements of packed ones" ' float operand .*50\.0% -2' operands.list
t_like "and others in hexadecimal" ' operand .*50\.0% 0x1111' operands.list
vinterp -l 64 --plugin operands.so:float runs.vt >float.vt
t_is "options leave out kinds" "$(values float.vt | cut -d ' ' -f 2- | sed 's/ 0x.*//' | sort | uniq -c | tr -s ' ')" " 8 float operand"

vinterp -l 64 --plugin strides.so runs.vt >strides.vt
values strides.vt | awk 'NR == FNR { want[$1] = 1; next } $1 in want' strides.want - >strides.got
t_same "strides: in order, as the loop walks" strides.got strides.want
vhot strides.vt | vlist --values >strides.list
t_like "listings show them with a sign" ' stride .* 100% -1$' strides.list
t_like "both" ' stride .* 100% 24$' strides.list
t_is "push, pop and calls do not count" "$(grep -A1 -E ' (push|pop|call|ret) ' strides.list | grep -c address)" 0

vinterp -l 64 --plugin callargs.so runs.vt >callargs.vt
values callargs.vt >callargs.got
t_same "callargs: at each call, what is known" callargs.got callargs.want
vinterp -l 64 --plugin callargs.so:1 runs.vt >one.vt
values one.vt >one.got
grep 'argument 1 ' callargs.want >one.want
t_same "only as many as wanted" one.got one.want

vinterp -l 64 --plugin callargs.so --plugin strides.so:strides runs.vt >both.vt
values both.vt | grep argument >both.args
values both.vt | grep -v argument >both.strides
t_same "two plugins at once: one" both.args callargs.want
grep stride strides.want >both.want
t_same "and the other" both.strides both.want
t_is "nothing else is told" "$(vtrace dump -k VALUE both.vt | grep -vc what=module)" 0
t_is "but for what --what names" "$(vinterp -l 64 -w target --plugin callargs.so runs.vt | vtrace dump -k VALUE |
	grep -v what=module | grep -o 'what=.*' | cut -f 1,3)" "what=target	value=$(awk '$1 == "g" { print $2 }' symbols)"
t_status "values of other plugins in the stream" 2 sh -c 'vinterp --plugin callargs.so both.vt >none.vt'
t_like "cannot be told apart" 'name all plugins at once' "$T_ERR"
t_status "a summary has no values" 2 vinterp --summary --plugin callargs.so runs.vt

# ---- latencies: levels that are made up, bins that must be found ----

cat >latencies.py <<'END'
import json
import random
import sys

random.seed(7)
at = {name: int(a, 16) for name, a in (line.split() for line in open('symbols'))}
text = at['_start'] & ~0xfff
path = open('where').read()
levels = {
    'levels': ([(0.70, 5, 0.08), (0.18, 14, 0.1), (0.09, 50, 0.15), (0.03, 300, 0.2)], 20000),
    'spikes': ([(0.50, 4, 0), (0.45, 5, 0), (0.05, 200, 0)], 2000),
    'hill': ([(1, 60, 0.3)], 20000),
    'wide': (None, 3000),
    'few': ([(0.8, 5, 0.1), (0.2, 250, 0.2)], 100),
    'one': ([(1, 7, 0)], 1),
}
for name, (mix, n) in levels.items():
    samples = []
    for i in range(n):
        if mix:
            _, mid, spread = random.choices(mix, [m[0] for m in mix])[0]
            weight = max(1, round(random.lognormvariate(0, spread) * mid)) if spread else mid
        else:
            weight = random.randrange(100, 400)
        label = 'load' if weight < 100 or random.random() < 0.5 else 'minus'
        samples.append({'ip': at[label], 'weight': weight, 'addr': 0x600000 + 8 * i,
                        'data_src': 0x68100142, 'misc': 0x4002})
        if name == 'spikes':
            samples[-1].update(weight2=3, weight3=9)
    stores = [dict(samples[0], ip=at['store'], weight=5000) for _ in range(20)]
    stores += [dict(samples[0], data_src=0x68100144, weight=5000) for _ in range(15)]
    # The address is perhaps that of an instruction behind it.
    stores += [dict(samples[0], misc=2, weight=5000) for _ in range(15)]
    json.dump({**json.load(open('runs.json')), 'samples': samples + stores},
              open(name + '.json', 'w'))
    with open(name + '.plain', 'w') as f:
        for d in samples:
            f.write('0x%x %d\n' % (d['ip'], d['weight']))
END
"$PYTHON" latencies.py
for kind in levels spikes hill wide few one; do
	make_data $kind.json $kind.data
	vtrace decode -o $kind.vt $kind.data
	t_ok "$kind: bins are found" vinterp --plugin latency.so -o $kind.bins $kind.vt
	vtrace dump -k LABEL $kind.bins | sed -n 's/.*text=//p' >$kind.labels
done
if command -v perf >/dev/null; then
	perf script -i spikes.data -F ip,weight 2>/dev/null | awk '{ print "0x" $2, $1 }' >perf.got
	head -n -50 perf.got >perf.loads
	t_same "perf finds the same weights in the recording" perf.loads spikes.plain
else
	t_skip "perf finds the same weights in the recording" "no perf"
fi
ends=$(grep -oE '[0-9]+' <(grep -o '>=.*\|[<-][0-9]*' levels.labels) | sort -nu | tr '\n' ' ')
t_is "four levels are told apart" "$(wc -l <levels.labels)" 4
# Ends lie between the levels: 5, 14, 50, 300.
t_is "between their hills" "$(grep -oE '[<(=][0-9]+' levels.labels | grep -oE '[0-9]+' | sort -nu |
	awk '{ print ($1 > 6 && $1 < 12) ? "A" : ($1 > 17 && $1 < 38) ? "B" : ($1 > 65 && $1 < 200) ? "C" : $1 " in " ends }' ends="$ends" |
	tr '\n' ' ')" "A B C "
t_is "neighbours are no levels of their own" "$(sort spikes.labels | sed 's/[0-9]*)/N)/' | tr '\n' ';')" 'L1 (<N);M (>=N);'
t_is "one hill is one bin" "$(cat hill.labels)" all
t_is "so is one with a flat top" "$(cat wide.labels)" all
t_is "few samples do" "$(wc -l <few.labels)" 2
t_is "one sample is no level" "$(cat one.labels)" all

# Each value's bin, from the labels alone, against the recorded weights.
check_bins()
{
	"$PYTHON" - "$1" <<'END'
import re
import subprocess
import sys

name = sys.argv[1]
dump = subprocess.run(['vtrace', 'dump', name + '.bins'], stdout=subprocess.PIPE, check=True,
                      text=True).stdout
bins, got = {}, []
for line in dump.splitlines():
    f = dict(x.split('=', 1) for x in line.split('\t')[1:])
    if line.startswith('LABEL'):
        low = int(f.get('value', '0x0'), 16)
        m = re.match(r'\w+ \((?:<(\d+)|(\d+)-(\d+)|>=(\d+))\)$', f['text'])
        upto, low_end, high_end, least = (int(x) if x else None for x in m.groups())
        bins[low] = (low_end or least or 0, upto or (high_end + 1 if high_end else 2**64))
    elif line.startswith('VALUE'):
        got.append((f['ip'], int(f.get('value', '0x0'), 16)))
want = [line.split() for line in open(name + '.plain')]
assert len(got) == len(want), (len(got), len(want))
for (ip, value), (there, weight) in zip(got, want):
    assert ip == there and bins[value][0] <= int(weight) < bins[value][1], (ip, value, weight)
edges = sorted(bins.values())
assert edges[0][0] == 0 and all(a[1] == b[0] for a, b in zip(edges, edges[1:])), edges
END
}
for kind in levels spikes few; do
	t_ok "$kind: each latency is in its bin, and the bins are without gaps" check_bins $kind
done
t_pipe "the whole pipeline" 'vtrace decode levels.data | vinterp -l 16 --plugin latency.so | vhot | vlist --values >levels.list'
share=$(awk -v at="$(awk '$1 == "load" { print $2 }' symbols)" '$1 == at { n++; fast += $2 < 9 } END { printf "%.1f", 100 * fast / n }' levels.plain)
t_like "shows the bins by their names, with their shares" " latency .* $share% L1 .*% L2 .*% L3 .*% M " levels.list
vinterp --plugin latency.so:bins=10,100 -o given.bins levels.vt
t_is "bins may be given" "$(vtrace dump -k LABEL given.bins | sed -n 's/.*text=//p' | sort | tr '\n' ';')" \
	'L1 (<10);L2 (10-99);M (>=100);'
vinterp --plugin latency.so:max=2 -o two.bins levels.vt
t_is "or how many" "$(vtrace dump -k LABEL two.bins | wc -l)" 2

# Bins that the recorder has measured: FACT LATENCY..., the labels of these latencies.
labels_of()
{
	local fact=$1 w lines=()
	shift
	for w in "$@"; do
		lines+=("SAMPLE time=1 pid=10 tid=10 event=1 ip=0x401000 period=1 misc=0x4002 has=0x4000 weight=$w")
	done
	printf '%s\n' 'EVENT id=1 name=loads policy=exact type=1' "META key=latency.levels value=${fact//_/%20}" \
		"${lines[@]}" | "$VT_BUILD/tests/tools/stream_make" >made.vt
	vinterp --plugin latency.so"${options-}" -o made.bins made.vt 2>/dev/null
	vtrace dump -k LABEL made.bins | sed -n 's/.*text=//p' | sort | tr '\n' ';'
}
levels='L1/L2<40_L3<160_memory'
t_is "what the recorder has measured are the bins" "$(labels_of "$levels" 3 39 40 159 160 9999)" \
	'L1/L2 (<40);L3 (40-159);memory (>=160);'
t_is "also those of one" "$(labels_of "$levels" 39 2 7)" 'L1/L2 (<40);'
t_is "and one level is all" "$(labels_of L1/L2/L3/memory 39 2 700)" 'all;'
t_is "they may be given otherwise" "$(options=:bins=10 labels_of "$levels" 3 39)" 'L1 (<10);M (>=10);'
for fact in "L1<40" "L1<40_" "L1<40_L2<40_M" "L1<40_L2<39_M" "L1<x_M" "L1<-4_M" "<40_M" "L1__M" \
	"L1<99999999999999999999_M" "a<1_b<2_c<3_d<4_e<5_f<6_g" "a-name-that-is-longer-than-any<40_M"; do
	t_is "no levels: $fact" "$(labels_of "$fact" 3 39 40)" 'all;'
done
t_status "or be nonsense" 2 vinterp --plugin latency.so:bins=10,5 levels.vt
t_like "which is told" 'plugin latency.so: .bins=10,5.: neither bins=' "$T_ERR"
t_status "neither registers nor latencies" 3 sh -c "vtrace decode '$ROOT/tests/data/demo/perf.data' | vinterp --plugin latency.so >none.vt 2>errors"
t_like "is no recording for plugins" 'no samples with registers .*or latencies' errors

# A plugin without values says why, and those that look for them can say it, too.
vtrace decode "$ROOT/tests/data/demo/regs.data" -o none.vt
t_ok "samples without latencies" vinterp -l 16 --plugin latency.so -o none.bins none.vt
t_like "make no values, which is told with a way out" \
	'^vinterp: plugin latency: no values: no sample has a latency: .perf mem record.*--weight' "$T_ERR"
t_status "of which there are no lists" 3 vhot -o none.hot none.bins
t_like "for that reason" 'none.bins: plugin latency: no values: no sample has a latency: .perf mem record' "$T_ERR"
vtrace info none.hot >none.info 2>/dev/null
t_like "which the stream keeps" '^failed: vhot: none.bins: plugin latency: no values: no sample has a latency' none.info
t_status "further down" 3 vlist --values -i none.hot
t_like "it is known that vhot failed" 'none.hot: vhot failed upstream' "$T_ERR"
t_ok "samples with latencies" vinterp --plugin latency.so -o some.bins levels.vt
t_unlike "are nothing to tell of" 'no values' "$T_ERR"
t_is "nor to write" "$(vtrace dump -k META some.bins | grep -c 'module.no_values')" 0

# ---- several streams: each counts its plugins from 0 ----

vinterp -l 64 --plugin operands.so:float --plugin callargs.so runs.vt | vhot -o args.hot
vinterp -l 64 --plugin callargs.so:2 --plugin strides.so:strides runs.vt | vhot -o strides.hot
vinterp --plugin latency.so levels.vt | vhot -o levels.hot
vinterp --plugin latency.so few.vt | vhot -o few.hot
# "OFFSET KIND TOTAL" for each list of a stream.
lists()
{
	vtrace dump "$@" | awk -F '\t' '
		{ delete f; for (i = 2; i <= NF; i++) { k = index($i, "="); f[substr($i, 1, k - 1)] = substr($i, k + 1) } }
		$1 == "MODULE" { name[f["id"] + 0] = f["name"] }
		$1 == "HOT" { print f["offset"], name[f["reg"] + 0], f["total"] }' | sort
}
t_ok "merge them" vtrace merge -o all.hot args.hot strides.hot levels.hot few.hot
lists all.hot >all.got
for h in args strides levels few; do
	lists $h.hot
done | awk '{ sum[$1 " " substr($0, length($1) + 2, length($0) - length($1) - length($NF) - 2)] += $NF }
	END { for (i in sum) print i, sum[i] }' | sort >all.want
t_same "each kind of value of each is there, added up" all.got all.want
t_is "with one name for each" "$(vtrace dump -k MODULE all.hot | grep -o 'name=[^	]*' | sort | uniq -d)" ''
vlist --values -i all.hot >all.list
t_like "listings tell them apart" ' argument 1 .* 100% 0x7$' all.list
t_like "with the formats of each" ' stride .* 100% -1$' all.list
t_like "and with all names of a bin" '% L1 \(<[0-9]*\) or L1 \(<[0-9]*\) ' all.list
vlist --values -i all.hot --json >all.json
t_is "JSON names the kinds" "$("$PYTHON" -c '
import json
rows = [r for p in json.load(open("all.json"))["procedures"] for r in p["rows"] if "list" in r]
print(*sorted({r["what"] + ":" + r["module"].split()[0] for r in rows}))')" "module:argument module:float module:latency module:stride"
vtrace merge -o again.hot few.hot levels.hot strides.hot args.hot
vcmp -n 100 --tsv all.hot again.hot >cmp.tsv
t_is "in whatever order they came" "$(lists again.hot | cmp - all.got && echo same)" same
t_is "profiles are compared by name, not by number" \
	"$(vcmp --json all.hot again.hot | grep -oE '"(diff_top|diff_all|instructions|only_first|only_second)": [0-9.]+' | sort -u | tr '\n' ' ')" \
	"\"diff_all\": 0.0 \"diff_top\": 0.0 \"instructions\": $(wc -l <all.got) \"only_first\": 0 \"only_second\": 0 "
vcmp -n 100 all.hot again.hot >cmp.list
t_like "and called so" ' 0 +0 +latency ' cmp.list
t_pipe "values of plugins can be asked for" 'vlist --values -w module -i all.hot | grep " stride " >/dev/null'
t_is "and left out" "$(vlist --values -w load -i all.hot | grep -cE ' (stride|latency) ')" 0

# ---- a recording ----

cp -r "$ROOT/tests/data/demo/symfs" .
vtrace decode -o regs.vt "$ROOT/tests/data/demo/regs.data"
objdump -d symfs/opt/vtrace-demo/heat >heat.s
for m in strides:strides callargs operands:int; do
	vinterp --symfs symfs -l 40 --plugin "${m/:/.so:}$([[ $m == *:* ]] || echo .so)" regs.vt >"${m%:*}.heat"
	values "${m%:*}.heat" | sort >"${m%:*}.got"
done
vinterp --symfs symfs -l 40 -w address,arg,operand,load regs.vt | vtrace dump >captured
cat >heat.py <<'END'
import re

kinds = {}
for line in open('heat.s'):
    m = re.match(r' +([0-9a-f]+):\t[0-9a-f ]+\t(\S+)', line)
    if m:
        kinds[int(m.group(1), 16)] = m.group(2)
skipped = re.compile(r'push|pop|call|ret|leave')
no_operands = re.compile(r'mov(?!s[xl])|movs[sd]|cmov|push|pop|call|ret|j|lea|nop|cs|data16|leave|xchg')
regs = {name: n for n, name in enumerate('5 4 3 2 16 17'.split(), 1)}
out = {'strides': [], 'callargs': [], 'operands': []}
last = {}
for line in open('captured'):
    kind, *fields = line.rstrip('\n').split('\t')
    f = dict(x.split('=', 1) for x in fields)
    if kind == 'SAMPLE':
        last = {}
    if kind != 'VALUE':
        continue
    ip, value, reg = int(f['ip'], 16), int(f.get('value', '0'), 16), f.get('reg', '0')
    what = f['what']
    if what.endswith('-address') and not skipped.match(kinds[ip]):
        if (ip, what) in last:
            step = (value - last[ip, what]) & (2**64 - 1)
            out['strides'].append((ip, 'stride', step))
        last[ip, what] = value
    if what == 'arg':
        out['callargs'].append((ip, 'argument %d' % regs[reg], value))
    if what in ('operand', 'load') and not no_operands.match(kinds[ip]) and int(reg) < 32 and \
            not kinds[ip].endswith(('sd', 'pd', 'ss', 'ps')):
        out['operands'].append((ip, 'operand', value))
for name, values in out.items():
    with open(name + '.want', 'w') as f:
        f.writelines(sorted('0x%x %s 0x%x\n' % v for v in values))
END
t_ok "what the interpreter captured" "$PYTHON" heat.py
for m in strides callargs operands; do
	t_is "$m of the recording: there are some" "$(($(wc -l <$m.want) > 30))" 1
	t_same "and they follow from what was captured" $m.got $m.want
done

# ---- a path whose every address was recorded ----

head -c 300 "$ROOT/LICENSE" >text
if command -v valgrind >/dev/null &&
	vtrace record --full --mem --values stores -o path.vt -- "$VT_BUILD/tests/tools/rec_work" pack text >/dev/null 2>record.err; then
	t_ok "strides along a path" vinterp --path --plugin strides.so -o path.strides path.vt
	values path.strides >path.got
	cat >path.py <<'END'
import collections
import os
import sys

sys.path.insert(0, os.environ['ROOT'] + '/tests')
import vt_exec

last, addresses, strides = {}, collections.Counter(), collections.Counter()


def step(pid, tid, s):
    for slot, data in s.slots():
        if slot.what not in (vt_exec.LOAD_ADDRESS, vt_exec.STORE_ADDRESS):
            continue
        at, value = s.block.addrs[slot.insn], int.from_bytes(data, 'little')
        addresses[at, value] += 1
        if (at, slot.what) in last:
            strides[at, value - last[at, slot.what] & (2**64 - 1)] += 1
        last[at, slot.what] = value


vt_exec.Reader('path.vt', step).read()
got = {'address': collections.Counter(), 'stride': collections.Counter()}
for line in open('path.got'):
    at, kind, value = line.split()
    got[kind][int(at, 16), int(value, 16)] += 1
print('told', *('%s: %d' % (k, sum(c.values())) for k, c in sorted(got.items())))
print('wrong', sum((got['address'] - addresses).values()), sum((got['stride'] - strides).values()))
END
	t_ok "are compared with those recorded" "$PYTHON" path.py
	cp "$T_OUT" path.out
	t_is "none is wrong" "$(grep wrong path.out)" "wrong 0 0"
	t_is "many are told" "$(awk '/^told/ { print ($3 > 10000), ($5 > 1000) }' path.out)" "1 1"
else
	t_skip "strides along a path" "vtrace record --full does not work here"
fi
t_done
