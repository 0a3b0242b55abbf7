#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Executed code in the programs that print: counts of vprof, vtrace info and vtrace merge against
# brute force in Python over a dump, and streams that contradict themselves.

. "$(dirname "$0")/../lib.sh"

make_stream=$VT_BUILD/tests/tools/stream_exec

"$make_stream" -n 300000 -v 2 --size 12 --vary -B 60 --cut -c 50 -t 2 -o random >full.vt

# What the blocks are is taken from their records, what ran from the ids of the runs themselves:
# nothing of dump --blocks, which is checked against it.
vtrace dump -k BLOCK -F id,addr,lengths,slots full.vt >blocks
vtrace dump -k EXEC -F pid,tid,first,skip,insns,base,width,ids,data full.vt >runs
cat >brute.py <<'END'
import collections

blocks = {}
for line in open("blocks"):
    number, addr, lengths, slots = line.rstrip("\n").split("\t")
    at, addrs = int(addr, 16), []
    for n in bytes.fromhex(lengths):
        addrs.append(at)
        at += n
    slots = [int(s, 0) for s in slots.split(",") if s]
    blocks[int(number)] = addrs, [(s & 0xffff, s >> 16 & 0xff, s >> 32 & 0xffff) for s in slots]
count, values, steps = collections.Counter(), open("want.values", "w"), open("want.blocks", "w")
executed, distinct = 0, set()
for line in open("runs"):
    pid, tid, first, skip, insns, base, width, ids, data = line.rstrip("\n").split("\t")
    first, skip, insns, base, width = int(first), int(skip), int(insns), int(base), int(width)
    ids, data, at = bytes.fromhex(ids), bytes.fromhex(data), 0
    for i in range(0, len(ids), width):
        number = base + int.from_bytes(ids[i:i + width], "little")
        addrs, slots = blocks[number]
        n = min(len(addrs) - skip, insns)
        print(pid, tid, first, number, hex(addrs[skip]), skip, n, "0x0", sep="\t", file=steps)
        for insn in range(skip, skip + n):
            count[addrs[insn]] += 1
            for k, what, size in slots:
                if k != insn:
                    continue
                v, at = data[at:at + size], at + size
                for lane in range(0, size, 8):
                    print(pid, tid, first + insn - skip, hex(addrs[insn]), "load", 0, size, lane // 8,
                          hex(int.from_bytes(v[lane:lane + 8], "little")), sep="\t", file=values)
        first, insns, skip = first + n, insns - n, 0
        executed += 1
        distinct.add(number)
    assert insns == 0 and at == len(data)
with open("want.count", "w") as out:
    for addr in sorted(count):
        print(hex(addr - 0x400000), count[addr], file=out)
print(sum(count.values()), executed, len(count), len(distinct))
END
"$PYTHON" brute.py >want.totals
t_is "brute force ran" "$(cut -d ' ' -f 1 want.totals)" 300000

t_ok "vtrace dump --blocks" vtrace dump --blocks full.vt
cp "$T_OUT" got
t_same "every executed block" got want.blocks
t_ok "vtrace dump --values" vtrace dump --values full.vt
cp "$T_OUT" got
t_same "every value" got want.values
vtrace dump --values --json full.vt | head -n 1000 >json
t_is "as JSON, the same" "$("$PYTHON" - <<'END'
import json
want = [l.rstrip("\n").split("\t") for l in open("want.values")][:1000]
got = [[str(v) for k, v in json.loads(l).items() if k != "schema"] for l in open("json")]
print(got == want)
END
)" True
vtrace dump --blocks --json -n 10 full.vt >json
t_is "ten blocks as JSON" "$(grep -c '"block": ' json)" 10
t_is "names first" "$(vtrace dump --header --values -n 1 full.vt | head -n 1)" \
	"# pid	tid	first	ip	what	reg	size	lane	value"
t_is "of blocks, too" "$(vtrace dump --header --blocks -n 1 full.vt | head -n 1)" \
	"# pid	tid	first	block	ip	skip	insns	caller"
t_status "values of one kind of record" 2 vtrace dump --values -k EXEC full.vt
t_status "values and blocks" 2 vtrace dump --values --blocks full.vt
t_is "a record of executed code is a line of sizes" \
	"$(vtrace dump -k EXEC -n 1 full.vt | sed 's/.*\(ids=\)/\1/')" "ids=100 bytes	data=$(
		vtrace dump -k EXEC -n 1 -F data full.vt | tr -d '\n' | wc -c | awk '{ print $1 / 2 }') bytes"

vprof --by instruction --csv full.vt >profile.csv
"$PYTHON" - >got <<'END'
import csv
rows = list(csv.DictReader(open("profile.csv")))
event = [k for k in rows[0] if k.startswith("instructions")][0]
for addr, n in sorted((int(r["address"], 16), r[event]) for r in rows):
    print(hex(addr), n)
END
t_same "vprof counts each instruction's executions" got want.count
t_like "they are exact" 'event type instructions = 300000 \(exact pc\)' <(vprof full.vt)

vtrace info --json full.vt >info.json
t_is "vtrace info counts them" "$("$PYTHON" - <<'END'
import json
e = json.load(open("info.json"))["executed"]
print(e["instructions"], e["blocks"], e["distinct_instructions"], e["distinct_blocks"])
END
)" "$(cat want.totals)"
t_is "and the values" "$("$PYTHON" - <<'END'
import json
v = json.load(open("info.json"))["executed"]["values"]
n = sum(1 for l in open("want.values") if l.split("\t")[7] == "0")
print(v == {"load": {"count": n, "bytes": 12 * n}})
END
)" True
t_like "in words" '^  300000 instructions in [0-9]+ blocks$' <(vtrace info full.vt)
t_like "with the kinds of values" '^ *[0-9]+ +[0-9]+ +load$' <(vtrace info full.vt)

"$make_stream" -n 100000 --vary -B 60 -s 2 -o random >second.vt
t_ok "vtrace merge of two" vtrace merge full.vt second.vt -o both.vt
vtrace dump -k COUNT -F event,offset,samples,period both.vt | awk '$1 != "instructions" || $3 != $4 { bad++ }
	{ s += $3 } END { print s, bad + 0 }' >sums
t_is "has the executions of both" "$(cat sums)" "400000 0"
vtrace dump -k COUNT -F offset,samples <(vtrace merge full.vt) | tr '\t' ' ' >got
t_same "each instruction's" got want.count
vtrace merge full.vt full.vt | vprof --csv | sed -n 2p | cut -d , -f 1 >twice
t_is "twice the same is twice as much" "$(cat twice)" 600000
vsample -n 50 full.vt -o sampled.vt
vtrace merge sampled.vt | vtrace dump -k COUNT -F samples | awk '{ s += $1 } END { print s }' >got
vtrace dump -k SAMPLE sampled.vt | wc -l >want
t_same "of a sample, its samples count" got want

# Contradictions: what is bad is left out and told, in the exit status too.
"$make_stream" --script >bad.vt <<'END'
image 1 /x
map 7 0x1000 0x1000 0 1
block 0 7 0x1000 jump 0x1000 4,4 0:load:8
block 0 7 0x2000 jump 0x1000 4,4
exec 7 7 0 0 2 0 0 0100000000000000
exec 7 7 2 0 2 0 0 01
exec 7 7 4 0 2 0 7 0100000000000000
exec 7 7 6 0 9 0 0 0100000000000000
exec 7 7 8 1 1 0 0
END
for command in "vprof" "vtrace info" "vtrace dump --values" "vtrace dump --blocks" "vsample -n 1" "vtrace merge"; do
	# shellcheck disable=SC2086 # commands are words
	t_status "$command: contradictions" 1 $command bad.vt
	t_like "$command: says so" "^${command%% -*}: .*(contradict|executed blocks|block 0)" "$T_ERR"
done

# However many there are, one line tells of them: the file, where the first is, how many
# the program looked at.
{
	printf '%s\n' 'image 1 /x' 'map 7 0x1000 0x1000 0 1' 'block 0 7 0x1000 jump 0x1000 4,4 0:load:8' \
		'exec 7 7 0 0 2 0 0 0100000000000000'
	for time in {1..13}; do
		echo "exec 7 7 $time 0 9 0 0 0100000000000000"
	done
} | "$make_stream" --script >many.vt
for command in vhot "vhot --algo exact" vspec "vsample -n 1" vsim "vreplay" "vinv --intervals 4" "vinterp --path" \
	"vcoproc --program edge" "vtrace dump --blocks" "vtrace dump --values"; do
	# shellcheck disable=SC2086
	t_run $command many.vt
	# shellcheck disable=SC2126 # lines are counted, not matches in them
	t_is "$command: one line" "$(grep 'executed blocks' "$T_ERR" | wc -l)" 1
	t_like "$command: and where" \
		"^${command%% -*}: many.vt: 1?[13] bad records?, left out; the first, before 0x[0-9a-f]+: executed" "$T_ERR"
done
t_is "what is good counts" "$(vprof --by instruction --csv bad.vt 2>/dev/null | sed 1d | awk -F , '{ s += $1 } END { print (s >= 3) }')" 1

# Streams that hold a bit of everything go through all of them.
"$VT_BUILD/tests/tools/stream_mixed" none 3000 >mixed.vt
for command in "vprof" "vtrace info" "vtrace dump --values" "vtrace dump --blocks" "vtrace merge"; do
	# shellcheck disable=SC2086
	t_status "$command: records of every kind, made up" 1 $command mixed.vt
done
t_done
