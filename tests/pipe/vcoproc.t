#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vcoproc: what its programs count is what python counts directly; the assembler; what a program or
# a stream may lack; the value profiler against all values.

. "$(dirname "$0")/../lib.sh"

orders=$ROOT/tests/data/demo/orders.vt
programs="cache-conflict call-stack edge-indirect edge load-value mem-dep silent-store simple-sample"

# ---- programs ----

t_ok "the programs" vcoproc --list --tsv
t_is "are these" "$(cut -f 1 "$T_OUT" | sed 1d | tr '\n' ' ')" "$programs "
for p in $programs; do
	vcoproc --assemble "$p" -o "$p.bin"
	vcoproc --disassemble "$p.bin" >"$p.ucode"
	t_ok "$p: assembled again" vcoproc --assemble "$p.ucode" -o again.bin
	t_same "$p: as it was" "$p.bin" again.bin
done
mandoc -T ascii -O width=200 "$ROOT/man/vt-ucode.5" | sed 's/.\x08//g' >page
awk '/The complete value profiler/ { on = 1; next } /A count of divisions/ { on = 0 } on' page >page.ucode
t_ok "the program of vt-ucode(5)" vcoproc --assemble page.ucode -o page.bin
t_same "is load-value" load-value.bin page.bin
awk '/A count of divisions/ { on = 1; next } /^SEE ALSO/ { on = 0 } on' page >divide.ucode
t_ok "the other one counts divisions" vcoproc --program divide.ucode --clock 100 --tsv "$orders"
t_ok "the hardware" vcoproc --program load-value --report
t_like "is table 1 of the paper" '^all structures +289200$' "$T_OUT"
t_ok "half of it" vcoproc --program load-value --slots 128 --cam 512 --data 1024 --report
t_like "is smaller" '^all structures +203200$' "$T_OUT"
t_like "for half the slots" '^\.base total 16 128$' <(vcoproc --disassemble load-value --slots 128)

# ---- options ----

t_status "nothing to do" 2 vcoproc "$orders"
t_status "two things to do" 2 vcoproc --list --program edge
t_status "no such program" 2 vcoproc --program frob "$orders"
t_status "no such file" 3 vcoproc --program ./frob.ucode "$orders"
t_status "no such constant" 2 vcoproc --program edge --set frob=1 "$orders"
t_status "more slots than there is memory for" 2 vcoproc --program load-value --slots 512 "$orders"
t_like "which is told" 'need 2048 bytes of the associative array, which has 1024$' "$T_ERR"
t_status "no power of two" 2 vcoproc --program edge --cam 1000 "$orders"
t_status "no ratio" 2 vcoproc --program edge --clock 1/x "$orders"
t_status "a clock that stands still" 2 vcoproc --program edge --clock 0 "$orders"
t_status "a buffer without an entry" 2 vcoproc --program edge --buffer 4 "$orders"
t_status "a table of a stream" 2 vcoproc --program simple-sample --json "$orders"
t_status "options for what is assembled" 2 vcoproc --program edge.bin --slots 64 "$orders"
t_status "no rate" 2 vcoproc --program edge --ipc 0 "$orders"

# ---- bad programs ----

printf '.class branch -> s\ns: nop\n go nowhere\n' >nowhere.ucode
t_status "a jump to nowhere" 3 vcoproc --program nowhere.ucode "$orders"
t_like "has a line and a column" '^vcoproc: nowhere.ucode:3:5: label nowhere is at no word$' "$T_ERR"
printf '.index n 16\n.class branch -> s\ns: up n\n nop | go s\n' >forever.ucode
t_status "a program that never is done" 3 vcoproc --program forever.ucode --max-words 1000 "$orders"
t_like "is told with its state" \
	'does not say done within 1000 words: sample 1, a branch at 0x[0-9a-f]+: word 1 v0=.* n=500' "$T_ERR"
for n in 1 8 20 100 180; do
	head -c $n edge.bin >cut.bin
	t_status "cut after $n bytes" 3 vcoproc --program cut.bin "$orders"
done
printf 'x' | dd of=edge.bin bs=1 seek=80 conv=notrunc 2>/dev/null
t_status "damaged" 3 vcoproc --program edge.bin "$orders"
t_like "which is said" 'edge.bin: the program is damaged: bad checksum$' "$T_ERR"
head -c 100000 /dev/zero >zero.ucode
t_status "zeroes" 3 vcoproc --program zero.ucode "$orders"

# ---- bad streams ----

t_status "a stream of samples" 3 vcoproc --program edge "$ROOT/tests/data/demo/perf.data"
t_like "lacks executed code" 'no executed code' "$T_ERR"
vsample -n 1000 -o sampled.vt "$orders"
t_status "samples of executed code" 3 vcoproc --program edge sampled.vt
head -c 60000 "$orders" >cut.vt
t_status "cut off" 1 vcoproc --program edge cut.vt
head -c 60000 /dev/zero >>cut.vt
t_status "damaged" 1 vcoproc --program edge cut.vt
vtrace encode --perf-data -o pt.data "$orders" && vtrace decode --symfs "$ROOT/tests/data/demo/symfs" -o pt.vt pt.data
t_status "without values" 3 vcoproc --program load-value -o x.vt pt.vt
t_like "which is said" 'no values of loads or stores \(vtrace record --full --values stores\)$' "$T_ERR"
t_status "without addresses" 3 vcoproc --program mem-dep pt.vt
t_like "which is said" 'no addresses of loads or stores \(vtrace record --full --mem\)$' "$T_ERR"
t_ok "of Intel PT, edges" vcoproc --program edge --clock 100 --tsv pt.vt
cp "$T_OUT" pt.edges
t_ok "of the recording" vcoproc --program edge --clock 100 --tsv "$orders"
t_same "are the same" pt.edges "$T_OUT"

# ---- a trace ----

t_ok "a trace" vcoproc --program edge --trace 5 "$orders"
t_is "has a line for each word, and its state" "$(grep -c '^    [a-z]' "$T_OUT") $(grep -c '^        word' "$T_OUT")" "5 5"
t_like "with the sample" '^sample 1: branch pc=0x[0-9a-f]+ ' "$T_OUT"

# ---- cycles ----

# A routine of 4 cycles for each branch, and a buffer for 2.  40 blocks of 2 instructions, at 2 a cycle:
# the branches at .5 and 1.5, and at 4.5, 8.5 and so on to 36.5.
printf '.class branch -> s\ns: mov -, pc.lo\n nop\n nop\n nop | go done\n' >slow.ucode
# run [FIELD ...]: a run of 40 blocks, with these fields of an EXEC.
run()
{
	"$VT_BUILD/tests/tools/stream_make" <<-END
		BLOCK id=0 pid=5 addr=0x1000 size=2 insns=2 end=branch lengths=0101
		EXEC pid=5 tid=5 blocks=40 insns=80 ids=$(printf '00%.0s' {1..80}) width=2 $*
	END
}
# told FILE [OPTION ...]
told()
{
	vcoproc --program slow.ucode --buffer 8 --report --json "$@" 2>told |
		jq -c '[.instructions, .timed, (.ipc * 10 | floor), .main_cycles, .samples, .dropped]'
}
run >steady.vt
t_is "without times, 2 instructions retire in a cycle" "$(told steady.vt)" "[80,0,20,40,11,29]"
# Of 20 blocks in 160 cycles all; then, from 160 on, those at .5, 1.5, 4.5, 8.5, 12.5 and 16.5.
run cycles=1000 time_at=20 time_tsc=0 time_cycles=1160 >timed.vt
t_is "cycles that are recorded count" "$(told timed.vt)" "[80,40,20,180,26,14]"
t_is "unless a rate is given" "$(told timed.vt --ipc 2)" "[80,0,20,40,11,29]"
t_ok "the report" vcoproc --program slow.ucode --report timed.vt
t_like "says for how many" '^ +40  of them at the cycles that were recorded$' "$T_OUT"
t_like "and what of the others" '^ +2.00  of the others in a cycle$' "$T_OUT"
run cycles=1000 time_at=20,30 time_tsc=0,0 time_cycles=1160,1159 >back.vt
t_is "of cycles that go backwards, none" "$(told back.vt)" "[80,0,20,40,11,29]"
t_like "which is said" 'back.vt: .*cycles that go backwards' told
run cycles=1 time_at=1 time_tsc=0 time_cycles=2097154 >wait.vt
t_is "nor what no instruction takes" "$(told wait.vt)" "[80,0,20,40,11,29]"
run cycles=1 time_at=1 time_tsc=0 time_cycles=2097153 >long.vt
t_is "but as long as one may take" "$(told long.vt | jq -c '.[1, 3]' | tr '\n' ' ')" "2 2097191 "
t_is "of the first 20 blocks, these alone" "$(told timed.vt --count 40)" "[40,40,20,160,20,0]"
t_is "to the end of a block" "$(told timed.vt --count 41)" "[42,40,20,161,21,0]"

# A trace whose instructions take 2 cycles each, with a time at each branch.
vtrace encode --perf-data --mtc 3 --cyc --tnt-bits 1 --cpi 2 -o cyc.data "$orders" 2>err
vtrace decode --symfs "$ROOT/tests/data/demo/symfs" -o cyc.vt cyc.data 2>err
vcoproc --program edge --report --json cyc.vt >cyc.json 2>err
t_is "of Intel PT with 2 cycles for each instruction, that is what nearly all take" \
	"$(jq '[.timed > .9 * .instructions, .main_cycles == (2 * .timed + (.instructions - .timed) / 2 | floor)] | all' cyc.json)" true

# ---- values ----

# The true values: the low 32 bits of each 8 bytes that are loaded.
cat >values.py <<'END'
import collections, json, sys
import coproc_oracle
true = collections.defaultdict(collections.Counter)
for what, pc, rest in coproc_oracle.operations(sys.argv[3]):
    if what == "load":
        true[pc & 0xffffffff][rest[1] & 0xffffffff] += 1
lists = [r for r in map(json.loads, open(sys.argv[1])) if r["kind"] == "HOT"]
def number(v):
    return int(v, 16) if isinstance(v, str) else v
starts = {}
for r in map(json.loads, open(sys.argv[2])):
    if r["kind"] == "MAP":
        starts.setdefault(r.get("image", 0), []).append((number(r.get("offset", 0)), number(r["start"]), number(r["length"])))
near = whole = samples = 0
for r in lists:
    at = number(r["offset"])
    pcs = [at - o + s for o, s, n in starts[r.get("image", 0)] if o <= at < o + n]
    assert pcs and sum(r["counts"]) <= r["total"]
    got = dict(zip((int(v, 16) for v in r["values"]), r["counts"]))
    values = next(true[p] for p in pcs if p in true)
    samples += r["total"]
    total = sum(values.values())
    for v, n in values.items():
        if n >= 60 and n >= total / 4:
            whole += 1
            near += abs(got.get(v, 0) / r["total"] - n / total) < .05
    assert set(got) <= set(values)
print(len(lists), whole, near, samples)
END
t_ok "values of loads" vcoproc --program load-value --clock 100 -o v.hot "$orders"
vtrace dump --json v.hot >v.json
vtrace dump --json -k MAP "$orders" >maps.json
"$PYTHON" values.py v.json maps.json "$orders" >got
t_like "are those of the program, and all that are frequent and invariant are within 5 %" '^33 11 11 [0-9]+$' got
t_ok "and can be listed" vlist --values v.hot
t_ok "each 16th value" vcoproc --program simple-sample --set period=16 --clock 100 -o s.hot "$orders"
vtrace dump --json s.hot >s.json
"$PYTHON" values.py s.json maps.json "$orders" >got
loads=$(vcoproc --program load-value --clock 100 --report --json "$orders" | jq .operations)
t_is "is a sixteenth of the loads" "$(cut -d ' ' -f 4 got)" $((loads / 16))
vtrace dump v.hot | grep -v STAGE >first
t_ok "the same again" vcoproc --program load-value --clock 100 -o v.hot "$orders"
vtrace dump v.hot | grep -v STAGE >second
t_same "is the same" first second

# ---- counts ----

# The rows of a table without the columns of places, as the oracle prints them.
rows()
{
	awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i !~ /_place$/) keep[++n] = i; next }
		{ s = $keep[1]; for (i = 2; i <= n; i++) s = s " " $keep[i]; print s }' "$1" |
		sed 's/0x//g' | sort
}

if ! command -v valgrind >/dev/null; then
	t_skip "counts" "valgrind is not installed"
	t_done
	exit
fi
vtrace record --full --mem --values stores -o run.vt -- "$VT_BUILD/tests/tools/rec_known" >/dev/null 2>&1
for p in edge edge-indirect mem-dep silent-store call-stack; do
	"$PYTHON" "$ROOT/tests/coproc_oracle.py" "$p" run.vt | sort >direct
	t_ok "$p" vcoproc --program "$p" --clock 1000 --buffer 65536 --tsv run.vt
	t_is "$p: nothing is dropped" "$(cat "$T_ERR")" ""
	rows "$T_OUT" >counted
	t_same "$p: as counted directly" direct counted
	t_is "$p: there are many rows" "$(($(wc -l <counted) > 100))" 1
done

# Each operation is excluded, dropped or processed.
for clock in 1/8 1 8; do
	vcoproc --program mem-dep --clock $clock --report --json run.vt >report.json 2>/dev/null
	t_is "all are accounted for at a clock of $clock" \
		"$(jq '[.operations == .filtered + .dropped + .samples, .executed + .mispredicted == .cycles] | all' report.json)" true
	jq .dropped report.json
done >dropped.tap
grep -v '^[0-9]' dropped.tap
t_is "a faster clock drops fewer" "$(grep '^[0-9]' dropped.tap | sort -rn -c 2>&1 | wc -l)" 0

t_done
