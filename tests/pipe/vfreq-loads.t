#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What samples of loads tell of misses: vfreq's LOADS records against the words that perf script has
# for the same samples (tests/loads_check.py), of recordings and of made-up ones; what vculprit
# makes of them.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" gcc
make=$VT_BUILD/tests/tools/stream_make
check=$ROOT/tests/loads_check.py

# ---- a loop whose load waits for 300 cycles ----

cat >chase.s <<'END'
	.text
	.globl	chase
	.type	chase, @function
chase:
1:	mov	(%rdi), %rdi
	dec	%esi
	jne	1b
	ret
	.size	chase, . - chase
END
t_ok "a program" gcc -nostdlib -no-pie -e chase \
	-Wl,-Ttext=0x401000,-z,max-page-size=4096,--build-id=none -o chase chase.s

# Two seconds of time and taken branches, 300 cycles apart; and a load each second, 400 of them, none of which
# missed the TLB.  Of 100 it is known where the data was: 9 times not in the first cache.
# usage: chase_stream NAME THRESHOLD MISC
chase_stream()
{
	"$PYTHON" -c '
import sys
branches = ["br_%s=%s" % (name, ",".join([hex(v)] * 16)) for name, v in
            (("from", 0x401005), ("to", 0x401000), ("flags", 300 << 4 | 2))]
print("EVENT id=1 name=cycles unit=cycles policy=precise branch_type=8")
print("EVENT id=2 name=%s unit=events policy=precise config=0x1cd config1=%s" % tuple(sys.argv[1:3]))
print("IMAGE id=1 type=0 machine=62 path=/chase")
print("MAP pid=7 tid=7 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5")
for i in range(2000):
    print("SAMPLE event=1 time=%d pid=7 tid=7 has=0x907 misc=0x4002 period=100000 ip=0x401000" %
          (i * 1000000), *branches)
for i in range(400):
    cache = 0x442 if i < 9 else 0x142 if i < 100 else 0x22
    print("SAMPLE event=2 time=%d pid=7 tid=7 has=0x8107 misc=%s period=1000 ip=0x401000 data_src=%#x" %
          (i * 1000000000, sys.argv[3], 0x68100000 | cache))' "$@" | "$make"
}
loads()
{
	vtrace dump -k LOADS -F offset,event,cache_known,cache_missed,tlb_known,tlb_missed "$1"
}
chase_stream cpu/mem-loads,ldlat=3/P 3 0x4002 >chase.vt
t_pipe "vfreq counts them beside the time" "vfreq -m zen4 --symfs . chase.vt -o chase.freq"
t_is "once each" "$(loads chase.freq)" "0x1000	cpu/mem-loads,ldlat=3/P	100	9	400	0"
t_is "behind all estimates of executions" \
	"$(vtrace dump -k FREQ,EDGE,LOADS chase.freq | cut -f 1 | uniq | tail -1)" LOADS
t_pipe "also if the time event is named" "vfreq -e cycles -m zen4 --symfs . chase.vt -o named.freq"
t_is "the same" "$(loads named.freq)" "$(loads chase.freq)"
t_pipe "what vfreq counted, it passes on" "vfreq -m zen4 --symfs . chase.freq -o again.freq"
t_is "once" "$(loads again.freq)" "$(loads chase.freq)"
t_pipe "of some samples, it counts those" "vfreq --time +0,+9 -m zen4 --symfs . chase.vt -o part.freq"
t_is "only" "$(loads part.freq)" "0x1000	cpu/mem-loads,ldlat=3/P	10	9	10	0"
t_pipe "vpack keeps the code of it" "vtrace pack --symfs . chase.freq -o chase.packed"

# causes STREAM: of the load's stall, with their cycles for each execution, and why.
causes()
{
	vculprit --symfs . --json -n 0 "$1" | "$PYTHON" -c '
import json, sys
row = [r for r in json.load(sys.stdin)["rows"] if r["address"] == "0x401000" and r["scope"] == "insn"][0]
for part in row["causes"].split(", "):
    name, cycles = part.split()
    if not name.startswith("operand"):
        print(name, *("%.1f" % (float(v) / row["executions"]) for v in cycles.split("-")))
for part in row["why"].split("; ") + row["ruled_out"].split("; "):
    if part.startswith(("dcache", "dtlb")):
        print(part)'
}

# No more than (9 + 2 * 3 + 4) of 100 and a tenth missed, each for three times 14 + 50 + 280 cycles at
# most; of 400, 4 and a tenth may have missed the TLB, which is too little to matter.
t_is "they bound the cache's misses, and rule out the TLB's" "$(causes chase.freq)" \
	"dcache 217.9 217.9
unexplained 21.2 21.2
dcache: as the data source of its samples tells
dtlb: too rare"
t_is "also where they are packed" "$(causes chase.packed)" "$(causes chase.freq)"
t_pipe "vlist tells" "vculprit --symfs . chase.freq | vlist --calc --symfs . -i - chase"
t_like "why it is the cache" \
	'^\*\*\* +d D-cache miss +217\.9 to +217\.9 +as the data source of its samples tells: 401000$' "$T_OUT"

# Loads that were chosen as they took long, and places that are not the load's own, tell nothing.
anything="dcache 0.0 323.8
dtlb 0.0 323.8
dcache: an access goes anywhere
dtlb: an access goes anywhere"
for how in "cpu/mem-loads,ldlat=30/P 30 0x4002" "cpu/mem-loads,ldlat=3/P 0 0x4002" \
	"cpu/mem-loads,ldlat=3/P 3 2" "mem_load_retired.l1_hit 3 0x4002"; do
	# shellcheck disable=SC2086 # three words
	chase_stream $how >other.vt
	t_pipe "$how" "vfreq -m zen4 --symfs . other.vt -o other.freq"
	t_is "$how: says nothing" "$(loads other.freq)" ""
	t_is "$how: and rules nothing out" "$(causes other.freq)" "$anything"
done

# ---- perf's words ----

if ! command -v perf >/dev/null; then
	t_skip "as perf script says" "perf is not installed"
	t_done
fi

# All that there is of levels and of the TLB, alone and with others.  perf cuts long lines off: those words
# are left out.
cat >words.py <<'END'
import json, random, sys
random.seed(59)
levels = [0] + [1 << (5 + i) for i in range(14)]
words = []
for level in levels:
    for outcome in 0, 1 << 6, 1 << 7:
        words += [2 | level | outcome | n << 33 for n in (0, 1, 2, 3, 9, 11, 12, 13, 15)]
for _ in range(2500):
    words.append(random.choice((1, 2, 2, 2, 4)) | random.choice(levels) | random.choice(levels) |
                 random.choice((0, 1, 2)) << 6 | random.choice((0, 0, 0, 1, 2, 11)) << 33 |
                 (random.random() < .1) << 37 | random.choice((0,) * 9 + (1,)) << 43 |
                 random.getrandbits(7) << 26)
if len(sys.argv) > 1:
    whole = ["|LCK" in l for l in open(sys.argv[1])]
    assert len(whole) == len(words)
    words = [w for w, shown in zip(words, whole) if shown]
samples = [{"ip": 0x401000 + i % 23, "addr": 1, "misc": 0x4002, "data_src": w}
           for i, w in enumerate(words)]
json.dump({"maps": [[0x401000, 0x1000, 0x1000, "/none"]], "precise": 2, "samples": samples},
          open("words.json", "w"))
with open("words.txt", "w") as out:
    print("EVENT id=1 name=cycles unit=cycles", file=out)
    print("EVENT id=2 name=cpu/mem-loads,ldlat=3/P config1=3", file=out)
    print("IMAGE id=1 type=0 machine=62 path=/none", file=out)
    print("MAP pid=100 tid=100 start=0x401000 length=0x1000 offset=0x1000 image=1 prot=5", file=out)
    print("SAMPLE event=1 pid=100 tid=100 has=7 misc=2 period=1 ip=0x401000", file=out)
    for s in samples:
        print("SAMPLE event=2 pid=100 tid=100 has=0x8103 misc=0x4002 period=1 ip=%#x data_src=%#x" %
              (s["ip"], s["data_src"]), file=out)
END
"$PYTHON" words.py
"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d words.json words.data
perf script -F ip,data_src -i words.data >shown 2>/dev/null
"$PYTHON" words.py shown
"$PYTHON" "$ROOT/tests/mkperfdata.py" -a 128 -d words.json words.data
"$make" <words.txt >words.vt
t_pipe "vfreq reads all words" "vfreq -m zen4 words.vt -o words.freq"
t_ok "and counts what perf script says" "$PYTHON" "$check" words.vt words.freq words.data
t_like "of all addresses" '^23 places, 1[0-9]{3} samples: ' "$T_OUT"
sed 's/^/# /' "$T_OUT"

# ---- recordings of processors ----

if [ ! -e "$VT_DATA/perf/mem-numatop-ldlat/perf.data" ]; then
	t_skip "recordings" "VTRACE_DATA has no perf/mem-numatop-ldlat"
	t_done
fi
trace=$VT_DATA/perf/mem-numatop-ldlat/perf.data
t_pipe "a Xeon E5-4610 v2, of all latencies" \
	"vtrace decode $trace -o numatop.vt && vfreq -m skylake -e cpu/mem-loads/pp numatop.vt -o numatop.freq"
t_ok "perf script says the same" "$PYTHON" "$check" numatop.vt numatop.freq "$trace"
t_is "of all samples" "$(cat "$T_OUT")" "14 places, 14 samples: 14 0 14 0"
trace=$VT_DATA/perf/mem-quipper-weight_struct/perf.data
t_pipe "a Xeon 8173M, of 64 cycles and more" \
	"vtrace decode $trace -o quipper.vt && vfreq -m skylake -e MEM_TRANS_RETIRED.LOAD_LATENCY quipper.vt -o quipper.freq"
t_is "says nothing of all loads" "$(loads quipper.freq)" ""
# As if its threshold had been 3: config1 of each struct perf_event_attr.
"$PYTHON" -c '
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, n = -1, 0
while (at := data.find(struct.pack("<Q", 0x1cd), at + 1)) >= 8:
    if data[at - 8:at - 4] == b"\4\0\0\0" and data[at + 48] == 64:
        data[at + 48] = 3
        n += 1
assert n >= 1
open("all.data", "wb").write(data)' "$trace"
t_pipe "the same samples, if they were of all loads" \
	"vtrace decode all.data -o all.vt && vfreq -m skylake -e MEM_TRANS_RETIRED.LOAD_LATENCY all.vt -o all.freq"
t_ok "are counted as perf script says" "$PYTHON" "$check" all.vt all.freq "$trace"
t_is "hits and misses" "$(cat "$T_OUT")" "14 places, 14 samples: 14 10 14 1"

t_done
