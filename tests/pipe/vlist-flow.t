#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vlist --calc, --summary, --stall, --cfg on what vsim, vfreq and vculprit make of a recorded run:
# every number is added up again from the records, by a reader of its own.

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON" objdump seq jq

seq 1 40000 >numbers
if ! vtrace record --full --mem --skip 500000 --count 3000000 -o run.vt -- "$VT_BUILD/tests/tools/rec_work" pack numbers >/dev/null 2>record.err; then
	cat record.err
	t_skip_all "nothing can be recorded here"
fi
t_ok "a run is simulated" vsim --model alpha21164 --sample cycles:100 --truth truth.vt run.vt -o samples.vt
t_pipe "and analysed" "vfreq samples.vt | vculprit -o c.vt"
image=$(vlist -i c.vt --stall dcache --json | jq -r '[.procedures[] | select(.image | test("rec_work"))][0].image')
name=$(basename "$image")
t_is "the run is the program's" "$name" rec_work

# ---- the summary of the image ----

cat >sum.py <<'END'
import json, struct, subprocess, sys
reader, stream, path, out = sys.argv[1:5]
def real(v): return struct.unpack('>d', bytes.fromhex(v))[0]
ids, freqs, stalls, samples = set(), [], [], {}
for line in subprocess.run([sys.executable, reader, stream], capture_output=True, text=True, check=True).stdout.splitlines():
    kind, *fields = line.split('\t')
    f = dict(x.split('=', 1) for x in fields)
    if kind == 'IMAGE' and f['path'] == path:
        ids.add(f['id'])
    elif kind == 'FREQ':
        freqs.append(f)
    elif kind == 'STALL':
        stalls.append(f)
    elif kind == 'COUNT':
        key = f['image'], f['event']
        samples[key] = samples.get(key, 0) + int(f['samples'])
freqs = [f for f in freqs if f['image'] in ids]
stalls = [s for s in stalls if s['image'] in ids]
cycles = sum(real(f['executions']) * real(f['cycles']) for f in freqs if real(f['cycles']) == real(f['cycles']))
insns = sum(real(f['executions']) for f in freqs)
got = json.load(open(out))['images'][0]['summary']
names = ['unexplained', 'gain', 'icache', 'itlb', 'dcache', 'dtlb', 'write-buffer', 'forward', 'mispredict', 'sync',
         'multiplier', 'divider', 'unit', 'dependency', 'queue', 'other', 'slotting', 'operand-a', 'operand-b',
         'operand-c', 'unit-static']
def same(what, a, b):
    if abs(a - b) > 1e-6 * max(abs(a), abs(b), 1):
        sys.exit('%s: %r, not %r' % (what, a, b))
same('cycles', got['cycles'], cycles)
same('instructions', got['instructions'], insns)
same('CPI', got['cpi'], cycles / insns)
whole = sum(samples[i, freqs[0]['event']] for i in ids)
for number, level in enumerate(['none', 'low', 'medium', 'high', 'exact']):
    n = sum(int(f['samples']) for f in freqs if int(f['confidence']) == number)
    if number:
        same(level, got['confidence'][level], 100 * n / whole)
same('all', sum(got['confidence'].values()), 100)
for number, name in enumerate(names):
    for side in 'low', 'high':
        sign = -1 if name == 'gain' else 1
        v = sum(real(s[side]) for s in stalls if int(s['cause']) == number)
        same(name, got['stalls'][name][side + '_cycles'], sign * v)
same('parts', got['dynamic'] + got['static'] + got['execution'] + got['net_sampling_error'], 100)
assert any(got['stalls'][n]['high'] > 1 for n in names[2:16])
END
vlist -i c.vt --summary --image "$name" --json >summary.json
t_ok "the summary is the sum of the records" "$PYTHON" sum.py "$ROOT/tests/vt_reader.py" c.vt "$image" summary.json
t_ok "a summary of what the simulator knows" vlist -i truth.vt --summary --image "$name"
t_like "is exact" '^\*\*\* Confidence +exact 100\.0%' "$T_OUT"

# ---- procedures ----

vlist -i c.vt --summary --all --json >procedures.json
t_is "procedures make up the images" \
	"$(jq '[.procedures[].summary.cycles] | add | round' procedures.json)" \
	"$(vlist -i c.vt --summary --json | jq '.images[0].summary.cycles | round')"
t_is "--stall has all that procedures lose" \
	"$(vlist -i c.vt --stall dcache --json | jq '[.procedures[].high_cycles] | add / 1000 | round')" \
	"$(jq '[.procedures[].summary.stalls.dcache.high_cycles] | add / 1000 | round' procedures.json)"
t_ok "the worst come first" jq -e '[.procedures[] | .low_cycles + .high_cycles] | . == (sort | reverse)' \
	<(vlist -i c.vt --stall dcache --json)

vlist -i c.vt --calc --top 3 --json >calc.json
t_is "blocks and what is in none make up a procedure" \
	"$(jq '[.procedures[] | (.summary.cycles * 1.000001 + 1 >= ([.blocks[].cycles] | add)) and
		(([.blocks[].cycles] | add) >= .summary.cycles * 0.99)] | all' calc.json)" true
# In a block, all instructions are executed as often.
t_is "a block's instructions agree" "$(jq '[.procedures[].blocks[] | [.instructions[].executions // empty] |
	length == 0 or (max - min) <= 1e-6 * max] | all' calc.json)" true
# Branches lead to where control goes, if it goes somewhere at all.
t_is "edges leave a block as often as it is executed" "$(jq '[.procedures[0].blocks[] | select(.incomplete | not) |
	select((.next | length) > 0 and ([.next[] | .to != null and .executions != null] | all)) |
	(([.next[].executions] | add) - .executions) / ([.executions, 1000] | max) | fabs] |
	length > 3 and (max < 0.02)' calc.json)" true
t_ok "as text" vlist -i c.vt --calc --top 3
cp "$T_OUT" calc.txt
t_is "with the same instructions" "$(grep -cE '^[0-9a-f]+  ' calc.txt)" \
	"$(jq '[.procedures[].blocks[].instructions[]] | length' calc.json)"
t_unlike "without lines that a terminal breaks" '^.{140}' <(grep -E '^ +[a-zA-Z]+( |$)' calc.txt)

"$PYTHON" -c '
import json, sys
for b in json.load(open("calc.json"))["procedures"][0]["blocks"]:
    for i in b["instructions"]:
        print(i["address"][2:])' >got
start=$(jq -r '.procedures[0].start' calc.json)
end=$(jq -r '.procedures[0].end' calc.json)
file=$(jq -r '.procedures[0].image' calc.json)
objdump -d --no-show-raw-insn --start-address="$start" --stop-address="$end" "$file" |
	sed -nE 's/^ +([0-9a-f]+):.*/\1/p' >all
t_ok "instructions are objdump's" test -s got
t_is "all of them" "$(grep -vxFf all got)" ""

# ---- pictures ----

for n in 0 1 2; do
	address=$(jq -r ".procedures[$n] | \"\\(.image):\\(.start)\"" calc.json)
	t_pipe "procedure $n, drawn" "vlist -i c.vt --cfg '$address' >$n.svg"
	t_is "has all its blocks" "$("$PYTHON" -c '
import sys, xml.etree.ElementTree as et
print(sum(g.get("class") == "block" for g in et.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}g")))' $n.svg)" \
		"$(($(jq ".procedures[$n].blocks | length" calc.json) + 2))"
done

t_done
