#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vfreq and vcmp --truth: frequencies from a simulator's samples against counts that Python makes
# from the recording's dump, and what cannot be estimated.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
vtrace record --full -o probe.vt true >/dev/null 2>&1 ||
	t_skip_all "vtrace record --full does not work here"

cat >loops.c <<'END'
#include <stdio.h>
#include <stdlib.h>

static unsigned rows[256];

__attribute__((noinline)) unsigned sum(unsigned n)
{
	unsigned i, s = 0;

	for (i = 0; i < n; i++)
		s += rows[i & 255] ^ i;
	return s;
}

__attribute__((noinline)) unsigned odd(unsigned n)
{
	unsigned s = 1, k = 0;

	while (n--) {
		s = s * 1103515245u + 12345u;
		if (s >> 16 & 3)
			k += s >> 20;
		else
			rows[s >> 24] += k;
	}
	return k;
}

int main(int argc, char **argv)
{
	unsigned i, s = 0, n = argc > 1 ? (unsigned)atoi(argv[1]) : 100;

	for (i = 0; i < n; i++)
		s += sum(i % 50) + odd(i % 20);
	printf("%u\n", s);
	return 0;
}
END
t_ok "the program is compiled" gcc -O1 -o loops loops.c
t_ok "and recorded" vtrace record --full -o run.vt -- ./loops 4000
t_ok "it runs on the model" vsim -m alpha21164 -S cycles:20 --truth truth.vt -o samples.vt run.vt
t_ok "frequencies are estimated" vfreq -o flow.vt samples.vt
t_ok "as the paper does" vfreq --method paper -o paper.vt samples.vt
t_ok "and naively" vfreq --method naive -o naive.vt samples.vt

# ---- against counts made by others ----

cat >check.py <<'END'
import json, math, subprocess, sys
from collections import Counter

def dump(*args):
    text = subprocess.run(["vtrace", "dump", *args], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in text.stdout.splitlines()]

run, estimate = sys.argv[1:3]
maps = [(int(s, 16), int(n), int(o, 16), i) for s, n, o, i in
        dump("-k", "MAP", "-F", "start,length,offset,image", run)]

def place(addr):
    for start, length, offset, image in reversed(maps):
        if start <= addr < start + length:
            return image, addr - start + offset
    return None

blocks = {}
for number, addr, lengths in dump("-k", "BLOCK", "-F", "id,addr,lengths", run):
    at, addrs = int(addr, 16), []
    for n in bytes.fromhex(lengths):
        addrs.append(at)
        at += n
    blocks[int(number)] = addrs

counts = Counter()
for base, width, skip, insns, ids in dump("-k", "EXEC", "-F", "base,width,skip,insns,ids", run):
    raw, width, left = bytes.fromhex(ids), int(width), int(insns)
    for i in range(0, len(raw), width):
        addrs = blocks[int(base) + int.from_bytes(raw[i:i + width], "little")]
        skipped = int(skip) if i == 0 else 0
        for a in addrs[skipped:skipped + left]:
            counts[place(a)] += 1
        left -= len(addrs[skipped:skipped + left])

# The images of both streams have the same numbers: one was made of the other.
within, all_samples = Counter(), 0
for image, offset, samples, executions, low, high in dump(
        "-k", "FREQ", "-F", "image,offset,samples,executions,low,high", estimate):
    samples, f, truth = int(samples), float(executions), counts[image, int(offset, 16)]
    assert 0 <= float(low) <= f <= float(high), (offset, low, f, high)
    all_samples += samples
    for limit in 5, 10, 15:
        if samples and truth and abs(f / truth - 1) <= limit / 100:
            within[limit] += samples
total = sum(int(n) for (n,) in dump("-k", "COUNT", "-F", "samples", estimate))
print(json.dumps({"samples": all_samples, "total": total,
                  "within": {str(k): 100 * within[k] / total for k in (5, 10, 15)}}))
END

for m in flow paper naive; do
	t_ok "$m: instructions are counted" "$PYTHON" check.py run.vt $m.vt
	cp "$T_OUT" $m.counted
	t_ok "$m: compared with the recording" vcmp --json --truth run.vt $m.vt
	cp "$T_OUT" $m.json
	t_ok "$m: the same by an independent count" "$PYTHON" -c '
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
assert b["total"] == a["samples"], (a, b)
for k in "5", "10", "15":
    assert abs(a["within"][k] - b["within"][k]) < 0.01, (a["within"], b["within"])' $m.json $m.counted
	vcmp --json --truth truth.vt $m.vt >model.json
	t_ok "$m: and as the model knows it" "$PYTHON" -c '
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for k in a["within"]:
    assert abs(a["within"][k] - b["within"][k]) < 0.5, k' $m.json model.json
done
t_ok "flow is near the truth" "$PYTHON" -c '
import json
f, p, n = (json.load(open(m + ".json")) for m in ("flow", "paper", "naive"))
assert f["within"]["15"] > 85 and f["edges_within_10"] > 75, f
missed = sum(f["by_confidence"][c]["missed"] for c in ("medium", "high"))
assert missed < 5, missed
assert f["weighted_error"] < n["weighted_error"] / 2, (f["weighted_error"], n["weighted_error"])
assert p["weighted_error"] < n["weighted_error"], (p["weighted_error"], n["weighted_error"])'

# ---- what has no estimate of its own ----

cat >calls.c <<'END'
#include <stdlib.h>

static char from[512], to[512];
static volatile unsigned keep;

/* Each byte is a repetition, and an execution. */
__attribute__((noinline)) void copy(char *d, const char *s, unsigned long n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

__attribute__((noinline)) unsigned even(unsigned i)
{
	return (unsigned)abs((int)i - 40) + (unsigned)labs((long)i * 3);
}

int main(void)
{
	unsigned i, s = 0;

	for (i = 0; i < 4000; i++) {
		if (i & 1)
			s += even(i);
		s += (unsigned)abs((int)i - 9);
		copy(to, from, 100 + i % 50);
	}
	keep = s;
	return 0;
}
END
t_ok "a program of calls" gcc -O1 -fno-builtin -fplt -o calls calls.c
t_ok "is recorded, whatever the environment" \
	env -i PATH=/usr/bin:/bin "$VT_BUILD/bin/vtrace" record --full -o calls.vt -- ./calls
t_ok "and sampled" vsim -m alpha21164 -S cycles:20 --interval geometric --truth calls.truth \
	-o calls.samples calls.vt
t_ok "and estimated" vfreq -o calls.freq calls.samples
t_ok "stubs are executed as often as they are called, and repetitions counted" "$PYTHON" -c '
import subprocess
def dump(name):
    text = subprocess.run(["vtrace", "dump", "-k", "FREQ", "-F",
                           "image,offset,samples,executions,confidence", name],
                          capture_output=True, text=True, check=True).stdout
    rows = (l.split("\t") for l in text.splitlines())
    return {(i, o): (int(n), float(x), c) for i, o, n, x, c in rows if i.endswith("/calls")}
def at(pattern):
    import re
    text = subprocess.run(["objdump", "-d", "calls"], capture_output=True, text=True, check=True)
    return hex(int(re.search(pattern, text.stdout, re.M).group(1), 16))
estimate, truth = dump("calls.freq"), dump("calls.truth")
def look(offset, limit):
    key = next(k for k in estimate if k[1] == offset)
    n, x, confidence = estimate[key]
    assert n > 100 and abs(x / truth[key][1] - 1) <= limit, (offset, n, x, truth[key])
    return confidence
for name in "abs", "labs":
    look(at(r"<%s@plt>:\n(?:.*endbr64.*\n)?\s*([0-9a-f]+):" % name), 0.1)
assert look(at(r"^\s*([0-9a-f]+):.*rep movsb"), 0.05) == "low"'

# ---- what flows in flows out ----

t_ok "frequencies add up" "$PYTHON" -c '
import subprocess
from collections import defaultdict
def dump(kind, fields):
    text = subprocess.run(["vtrace", "dump", "-k", kind, "-F", fields, "flow.vt"],
                          capture_output=True, text=True, check=True).stdout
    return [l.split("\t") for l in text.splitlines()]
freq = {(i, o): float(x) for i, o, x in dump("FREQ", "image,offset,executions")}
into = defaultdict(float)
for i, a, b, x in dump("EDGE", "image,from,to,executions"):
    into[i, b] += float(x)
# Control may enter by other ways, too: no more goes along edges than is executed.
assert into and all(x <= freq[k] * 1.001 + 1 for k, x in into.items())'

# ---- counts instead of estimates ----

t_ok "with counts" vfreq --exact run.vt -o exact.vt samples.vt
vcmp --json --truth run.vt exact.vt >exact.json
t_ok "everything is exact" "$PYTHON" -c '
import json
d = json.load(open("exact.json"))
exact = d["by_confidence"]["exact"]
assert exact["share"] > 99.9 and exact["missed"] == 0 and exact["within"]["5"] == 100, d
assert d["edges_within_10"] == 100 and d["edges_by_confidence"]["exact"]["share"] == 100, d'
t_pipe "the model's truth will do as well" 'vfreq --exact truth.vt samples.vt | vcmp --truth run.vt >text'
t_like "people can read it" '^instructions +100.0% +100.0%' text
# Calls are held against entries where these are estimates.
vfreq --json samples.vt >calls.json 2>/dev/null
t_is "calls are compared" "$(jq '.calls_compared > 0 and .calls_disagree >= 0 and .calls_disagree <= 100' \
	calls.json)" true
t_is "but not counted ones" "$(vfreq --json --exact run.vt samples.vt 2>/dev/null |
	jq -c '[.calls_compared, .calls_disagree]')" "[0,null]"

# ---- branch stacks instead of estimates ----

t_ok "a processor that issues out of order, without stacks" \
	vsim -m skylake -S cycles:50 --interval geometric -o ooo.vt run.vt
t_ok "with stacks" vsim -m skylake -S cycles:50 --interval geometric --branches 32 -o stacks.vt run.vt
t_ok "time alone tells no executions there" vfreq -o ooo.f ooo.vt
t_like "and who can is said" '^vfreq: [0-9]* of [0-9]* samples are in code whose executions nothing has counted' "$T_ERR"
t_is "no confidence but none, and no executions" \
	"$(vtrace dump -k FREQ -F executions,confidence ooo.f | sort -u)" "$(printf '0\tnone')"
t_ok "JSON has none, either" "$PYTHON" -c 'import json, subprocess
text = subprocess.run(["vlist", "--json", "--calc", "sum", "ooo.f"], capture_output=True, text=True, check=True).stdout
blocks = [b for p in json.loads(text)["procedures"] for b in p["blocks"]]
insns = [i for b in blocks for i in b["instructions"] if "samples" in i]
assert sum(i["samples"] for i in insns) > 100, insns
assert all(i["executions"] is None and i["cycles"] is None for i in insns)'
for method in paper naive; do
	t_status "$method: only in order" 2 vfreq --method $method -o no.vt ooo.vt
	t_like "as it says" 'only for processors that issue in order, not skylake' "$T_ERR"
done
t_ok "stacks are used" vfreq -o branches.vt stacks.vt
vcmp --json --truth run.vt branches.vt >branches.json
t_ok "and are right" "$PYTHON" -c '
import json
d = json.load(open("branches.json"))
assert d["within"]["15"] >= 75 and d["weighted_error"] < 15, d
assert d["edges_weighted_error"] < 15, d'
t_ok "the branch back of the loop in sum() is counted, not estimated" "$PYTHON" -c '
import subprocess
text = subprocess.run(["vtrace", "dump", "-k", "EDGE", "-F", "executions,method", "branches.vt"],
                      capture_output=True, text=True, check=True).stdout
x, method = max((float(x), m) for x, m in (l.split("\t") for l in text.splitlines()))
rounds = sum(max(i % 50 - 1, 0) for i in range(4000))
assert method == "branches" and abs(x / rounds - 1) < 0.1, (x, method, rounds)'
t_status "more branches than there are" 2 vsim --branches 33 run.vt

# ---- what it says of itself ----

t_ok "a summary" vfreq --json samples.vt
cp "$T_OUT" summary.json
t_ok "accounts for all samples" "$PYTHON" -c '
import json
d = json.load(open("summary.json"))
known = sum(d["by_confidence"].values())
assert d["cpu"] == "alpha21164" and d["event"] == "cycles" and d["procedures"] >= 3, d
assert known + d["unmapped"] + d["outside"] + d["no_code"] + d["stray"] == d["samples"], d'
vfreq flow.vt >again.vt
t_is "frequencies of a stream that has some are made anew" \
	"$(vtrace dump -k FREQ -k EDGE again.vt | cksum)" "$(vtrace dump -k FREQ -k EDGE flow.vt | cksum)"
t_is "and its counts are kept" \
	"$(vtrace dump -k COUNT again.vt | cksum)" "$(vtrace dump -k COUNT flow.vt | cksum)"
t_is "the same input gives the same output" \
	"$(vfreq samples.vt | vtrace dump - | cksum)" "$(vfreq samples.vt | vtrace dump - | cksum)"

# ---- what cannot be estimated ----

cp loops stripped
strip -s stripped
vtrace record --full -o bare.vt -- ./stripped 500 >/dev/null 2>&1
t_pipe "a stripped program" 'vsim -S cycles:50 bare.vt | vfreq | vtrace dump -k FREQ - >bare.txt'
t_like "has frequencies, too" '^FREQ' bare.txt
t_status "an event that is not there" 2 vfreq -o no.vt -e dmiss samples.vt
t_like "is named, and those that are" 'no event dmiss; samples there are of: cycles' "$T_ERR"
t_status "a processor that nobody knows" 2 vfreq -o no.vt --model z80 samples.vt
for clock in 0 1e-300 0.0009 1000.1; do
	t_status "a clock that none has: $clock" 2 vfreq -o no.vt --clock "$clock" samples.vt
done
head -c 3000 samples.vt >cut.vt
t_status "a stream that was cut before its samples" 3 vfreq -o half.vt cut.vt
head -c $(($(stat -c %s samples.vt) - 200)) samples.vt >cut.vt
t_status "a stream that was cut behind them" 1 vfreq -o half.vt cut.vt
t_status "nothing to compare" 3 vcmp --truth run.vt samples.vt
t_like "and what would make it" 'no frequencies \(vfreq estimates them\)' "$T_ERR"
t_status "no truth" 3 vcmp --truth samples.vt flow.vt
vsim -S cycles:1000000000 -o empty.vt run.vt
t_pipe "no samples at all" 'vfreq -o none.vt empty.vt 2>err'
t_like "is said" 'no samples' err

# ---- the effective clock ----

# Loops of 6, 12 and 3 cycles: 6, 6 and 3 million cycles in 3, 3 and 1.5 ms; and one of 3 million that
# takes 3 ms, as it waits for something.
cat >steady.s <<'END'
.text
.globl _start
_start:	mov $3,%ebx
	lea buffer(%rip),%rdi
	mov $1000000,%ecx
six:	imul %rbx,%rax
	imul %rbx,%rax
	dec %ecx
	jne six
	mov $500000,%ecx
twelve:	imul %rbx,%rax
	imul %rbx,%rax
	imul %rbx,%rax
	imul %rbx,%rax
	dec %ecx
	jne twelve
	mov $1000000,%ecx
three:	imul %rbx,%rax
	mov (%rdi),%rdx
	dec %ecx
	jne three
	mov $1000000,%ecx
slow:	imul %rbx,%rax
	dec %ecx
	jne slow
	mov $60,%eax
	xor %edi,%edi
	syscall
.bss
buffer:	.skip 64
END
t_ok "loops that nothing stalls" gcc -nostdlib -static -no-pie -Wl,--build-id=sha1 -o steady steady.s
t_ok "and what they execute" vtrace record --full --blocks -o steady.vt -- ./steady
"$PYTHON" - steady <<'END' >steady.json
import json, os, subprocess, sys
names = {f[2]: int(f[0], 16) for f in map(str.split, subprocess.run(
    ["nm", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines())}
notes = subprocess.run(["readelf", "-n", sys.argv[1]], capture_output=True, text=True).stdout
path = os.path.abspath(sys.argv[1])
start = names["_start"] & ~0xfff
# An interrupt is taken behind the instruction that retired: the second of each loop.
samples = [{"ip": names[n] + 4} for n, count in
           (("six", 3000), ("twelve", 3000), ("three", 1500), ("slow", 3000)) for _ in range(count)]
print(json.dumps({"maps": [[start, 0x1000, start - 0x400000, path]],
                  "buildids": {path: notes.split("Build ID: ")[1].split()[0]},
                  "type": 1, "config": 0, "samples": samples}))
END
"$PYTHON" "$ROOT/tests/mkperfdata.py" -d steady.json steady.data
t_ok "the clock is fitted" vfreq -m skylake --exact steady.vt -o steady.f steady.data
t_like "to the loops that nothing stalls, of which one is slow" \
	'^vfreq: cpu-clock:HG counts nanoseconds; the effective clock is (1.99|2.00|2.01) GHz, fitted to 4 loops' "$T_ERR"
t_is "the stream says so" "$(vtrace dump -k META -F key,value steady.f | sed -n 's/^vfreq.clock\t//p')" fitted
t_ok "so does JSON" vfreq -m skylake --exact steady.vt --json steady.data
t_is "with its value" "$(jq -r '[.clock, (.cycles_per_unit * 50 | round)] | @tsv' "$T_OUT")" "$(printf 'fitted\t100')"
t_ok "a clock that is given" vfreq -m skylake --exact steady.vt --clock 3 -o given.f steady.data
t_is "is taken" "$(vtrace dump -k META -F key,value given.f | sed -n 's/^vfreq.\(clock\|scale\)\t//p' |
	paste -sd ' ')" "3 given"
t_ok "without counts" vfreq -m skylake -o no.vt steady.data
t_unlike "there is none to fit" 'clock' "$T_ERR"

t_done
