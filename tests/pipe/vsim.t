#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vsim against counts that Python makes from dumps of the recording: executions, edges, mispredicted
# branches, misses of a small cache; and its samples against its own truth, by chance alone.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo
cp "$demo/orders.vt" .

cat >plain.core <<'END'
order in
sample issue
skid 0
fetch 1
decode 1
issue 1
retire 1
unit all int shift multiply divide load store branch fadd fmul fdiv vint shuffle sync slow
class int 1
branch none penalty 7
dcache size 1K line 32 ways 1 latency 1
END

# ---- executions, edges and mispredictions ----

t_ok "a run" vsim -m ./plain.core -S cycles:500 -S branchmp:1 --interval fixed --truth truth.vt -o some.vt \
	orders.vt
t_like "what was not recorded is told" '^vsim: the recording has no addresses' "$T_ERR"

# An interpreter of the dump that shares no code with the simulator.
cat >walk.py <<'END'
import subprocess, sys
from collections import Counter

def dump(*args):
    text = subprocess.run(["vtrace", "dump", *args], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in text.stdout.splitlines()]

file = sys.argv[1]
maps = [(int(s, 16), int(n), int(o, 16), i) for s, n, o, i in
        dump("-k", "MAP", "-F", "start,length,offset,image", file)]

def place(addr):
    for start, length, offset, image in reversed(maps):
        if start <= addr < start + length:
            return image, addr - start + offset
    return None

blocks = {}
for number, addr, lengths, end in dump("-k", "BLOCK", "-F", "id,addr,lengths,end", file):
    at, addrs = int(addr, 16), []
    for n in bytes.fromhex(lengths):
        addrs.append(at)
        at += n
    blocks[number] = (addrs, at, end)

counts, edges, wrong = Counter(), Counter(), 0
last = None  # the end of the block before: address, fall, how
for pid, tid, first, block, ip, skip, insns, caller in dump("--blocks", file):
    addrs, fall, end = blocks[block]
    here = addrs[int(skip):int(skip) + int(insns)]
    if last:
        edges[last[0], here[0]] += 1
        wrong += last[2] in ("branch", "jump-indirect", "call-indirect", "return") and \
            last[1] != here[0]
    for a in here:
        counts[a] += 1
    last = (here[-1], fall, end)
leaders = {to for _, to in edges}
went = Counter()
for (a, _), n in edges.items():
    went[a] += n
inside = {pair for addrs, _, _ in blocks.values() for pair in zip(addrs, addrs[1:])}
for a, b in inside:
    if b in leaders and counts[a] > went[a]:
        edges[a, b] += counts[a] - went[a]

with open("counts", "w") as f:
    for a, n in counts.items():
        if place(a):
            print(*place(a), n, sep="\t", file=f)
with open("edges", "w") as f:
    for (a, b), n in edges.items():
        a, b = place(a), place(b)
        if a and b and a[0] == b[0]:
            print(*a, b[1], n, sep="\t", file=f)
print(wrong)
END
wrong=$("$PYTHON" walk.py orders.vt)
decimal()
{
	"$PYTHON" -c '
import sys
for line in sys.stdin:
    print(*[int(w, 16) if w.startswith("0x") else w for w in line.rstrip("\n").split("\t")], sep="\t")'
}
vtrace dump -k FREQ -F image,offset,executions truth.vt | decimal | sort >freqs
sort -o counts counts
t_same "each instruction's executions" freqs counts
vtrace dump -k EDGE -F image,from,to,executions truth.vt | decimal | sort >got
# Edges to where a branch could have gone are told, too.
sort edges | comm -23 - got >missing
t_is "each edge that was seen" "$(cat missing)" ""
t_is "without a predictor, each branch that is taken is mispredicted" \
	"$(vtrace dump -k SAMPLE -F event some.vt | grep -c branchmp)" \
	"$wrong"
t_is "which is not nothing" "$((wrong > 10000))" 1

meta() { vtrace dump -k META -F key,value "$1" | awk -F '\t' -v k="$2" '$1 == k { print $2 }'; }
t_is "the machine is told" "$(meta some.vt cpu.model)" plain
t_is "so is the number of instructions" "$(meta some.vt vsim.instructions)" 668153

# ---- time ----

cycles=$(meta some.vt vsim.cycles)
t_is "head times add up to all cycles" \
	"$(vtrace dump -k FREQ -F executions,cycles truth.vt |
		awk '{ n += $1 * $2 } END { printf "%.0f\n", n }')" "$cycles"
t_is "with one slot a cycle, and units of one cycle, what is not lost is a micro-operation each" \
	"$(vtrace dump -k STALL -F low truth.vt | awk -v c="$cycles" '{ c -= $1 } END { print (c >= 668153) }')" 1
t_is "a mispredicted branch costs its penalty, less the cycle that it takes" \
	"$(vtrace dump -k STALL -F cause,low truth.vt |
		awk '$1 == "mispredict" { n += $2 } END { printf "%.0f\n", n }')" $((wrong * 6))
t_is "the samples' periods are the time that passed" \
	"$(vtrace dump -k SAMPLE -F event,period some.vt | awk -v c="$cycles" '
		$1 == "cycles" { n += $2 }
		END { print (n <= c && n > c - 1000) }')" 1

# Samples at random: on each instruction as many as its time asks for, but for chance.
vsim -m alpha21164 -S cycles:40 --interval geometric --truth truth.vt -o some.vt orders.vt 2>/dev/null
vtrace dump -k FREQ -F executions,cycles,samples truth.vt >shares
t_is "samples fall in proportion to head time" "$("$PYTHON" - <<'END'
rows = [list(map(float, line.split())) for line in open("shares")]
cycles = sum(n * c for n, c, _ in rows)
samples = sum(s for *_, s in rows)
worst = max(abs(s - samples * n * c / cycles) / (samples * n * c / cycles) ** 0.5
            for n, c, s in rows if n * c / cycles * samples > 50)
few = sum(s > 0 and n * c == 0 for n, c, s in rows)
print(samples > 10000 and worst < 5 and few == 0 or (samples, worst, few))
END
)" True
t_is "the samples in the truth are those that were written" \
	"$(awk '{ n += $3 } END { print n }' shares)" "$(vtrace dump -k SAMPLE some.vt | wc -l)"

# ---- the same again ----

vsim -S cycles:100 -S imiss:10 --truth a.truth -o a.vt orders.vt 2>/dev/null
vsim -S cycles:100 -S imiss:10 --truth b.truth -o b.vt orders.vt 2>/dev/null
t_same "the same again" a.vt b.vt
t_same "and the same truth" a.truth b.truth
vsim -S cycles:100 -S imiss:10 -s 2 --truth b.truth -o b.vt orders.vt 2>/dev/null
t_is "another seed, other samples" \
	"$(vtrace dump -k SAMPLE a.vt | cmp -s - <(vtrace dump -k SAMPLE b.vt) && echo same)" ""
t_is "of the same run" "$(vtrace dump -k FREQ -F offset,executions,cycles a.truth | cksum)" \
	"$(vtrace dump -k FREQ -F offset,executions,cycles b.truth | cksum)"
t_pipe "through a pipe, listed" 'vsim <orders.vt | vprof --json >list'
for m in alpha21264 skylake inorder; do
	t_ok "on $m" vsim -m "$m" --truth truth.vt -o x.vt orders.vt
	t_is "on $m, head times add up" "$(vtrace dump -k FREQ -F executions,cycles truth.vt |
		awk '{ n += $1 * $2 } END { printf "%.0f\n", n }')" "$(meta x.vt vsim.cycles)"
done

# ---- memory ----

if vtrace record --full --mem --values stores --count 300000 -o small.vt -- \
	sort /etc/passwd >/dev/null 2>&1; then
	vsim -m ./plain.core -S dmiss:1 --interval fixed -o some.vt small.vt 2>err
	t_is "nothing is missing" "$(cat err)" ""
	cat >cache.py <<'END'
import subprocess
text = subprocess.run(["vtrace", "dump", "--values", "small.vt"], capture_output=True, text=True)
lines, missed = {}, set()
rows = [line.split("\t") for line in text.stdout.splitlines()]
accesses = []
for i, (pid, tid, at, ip, what, *_, value) in enumerate(rows):
    if what.endswith("-address"):
        size, stored = int(rows[i + 1][6]), rows[i + 1][-1]
        # What a call stores is the address behind it; the model does that before all else of it.
        call = what[0] == "s" and size == 8 and 0 < int(stored, 16) - int(ip, 16) <= 15
        accesses.append((int(at), not call, i, int(value, 16), size, ip))
for at, _, _, address, size, ip in sorted(accesses):
    for line in range(address // 32, (address + size - 1) // 32 + 1):
        if lines.get(line % 32) != line:
            lines[line % 32] = line
            missed.add((at, ip))
for at, ip in sorted(missed):
    print(ip)
END
	"$PYTHON" cache.py | sort | uniq -c >want
	vtrace dump -k SAMPLE -F ip some.vt | sort | uniq -c >got
	t_same "misses of a cache of 32 lines, by instruction" got want
	# A hundred times a thousand repetitions, which processors count as one instruction each.
	cat >fill.c <<'END'
static char bytes[1000];
int main(void)
{
	for (int i = 0; i < 100; i++) {
		char *to = bytes;
		unsigned long n = sizeof(bytes);
		__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(i) : "memory");
	}
	return 0;
}
END
	gcc -O1 -o fill fill.c
	vtrace record --full --toggle main -o fill.vt -- ./fill 2>err
	for m in ./plain.core skylake; do
		t_ok "filled on $m" vsim -m $m -S retired:1 --interval fixed -o some.vt fill.vt
		t_is "all repetitions of a string instruction retire as one" \
			"$(vtrace dump -k SAMPLE -F ip some.vt | wc -l)" \
			$(($(meta some.vt vsim.instructions) - 100 * 999))
	done
else
	t_skip "misses of a cache" "vtrace record --full does not work here"
	t_skip "repetitions" "vtrace record --full does not work here"
fi

# ---- what cannot be done ----

t_status "no such machine" 2 vsim -m nonsense -o x.vt orders.vt
t_status "no such event" 2 vsim -S nonsense orders.vt
t_status "the same event twice" 2 vsim -S cycles -S cycles:7 orders.vt
t_status "no period" 2 vsim -S cycles:0 orders.vt
t_status "no number" 2 vsim -S cycles:x orders.vt
t_status "a stream of samples" 3 vsim -o x.vt some.vt
t_status "no such file" 3 vsim -o x.vt missing.vt
head -c 60000 orders.vt >cut.vt
t_status "lost input is told" 1 vsim -o x.vt cut.vt
t_status "a stream of nothing" 3 bash -c "set -o pipefail; vtrace decode '$demo/perf.data' |
	vsim -o x.vt"
t_done
