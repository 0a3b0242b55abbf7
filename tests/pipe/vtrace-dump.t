#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace dump: against perf script for samples, registers and branch stacks; against a reader that
# shares no code with ours, and the values as they were made, for records of every kind.

. "$(dirname "$0")/../lib.sh"

# What perf script prints for one sample, as our -F pid,tid,time,event,ip does.
normal()
{
	sed -E 's|^ *([0-9-]+)/([0-9-]+) +([0-9]+)\.([0-9]{9}): +(.*): +([0-9a-f]+) *$|\1\t\2\t\3\4\t\5\t0x\6|' |
		awk -F '\t' -v OFS='\t' '{ sub(/^0+/, "", $3); print }'
}

demo=$ROOT/tests/data/demo/perf.data
vtrace decode "$demo" -o demo.vt
if command -v perf >/dev/null; then
	perf script -i "$demo" -F pid,tid,time,event,ip --ns 2>/dev/null | normal >want
	t_ok "samples as perf script prints them" vtrace dump -F pid,tid,time,event,ip demo.vt
	cp "$T_OUT" got
	t_same "every one of them equal" got want
	t_is "and there are some" "$(($(wc -l <want) > 100))" 1
else
	t_skip "samples as perf script prints them" "perf is not installed"
fi

# Registers and branch stacks of real traces: perf pads the names, otherwise the texts are equal.
for set in dwarf-zstd-fork:uregs dwarf-vector_static_gcc:uregs \
	lbr-propeller_sample:brstack lbr-hier-discriminator:brstack; do
	dir=$VT_DATA/perf/${set%:*} field=${set#*:}
	name="$field of ${set%:*}"
	if [ ! -e "$dir/perf.data" ] || ! command -v perf >/dev/null; then
		t_skip "$name" "no optional test data, or no perf"
		continue
	fi
	readable=$dir/perf.data
	[ ! -e "$dir/perf61.data" ] || readable=$dir/perf61.data
	perf script -i "$readable" -F "time,$field" --ns 2>/dev/null |
		sed -E 's/^ *([0-9]+)\.([0-9]{9}): */\1\2\t/; s/ +/ /g; s/ $//; s/\t$//' |
		sed -E 's/^0+//' >want
	vtrace decode "$dir/perf.data" | vtrace dump -F "time,$field" | sed -E 's/\t$//' >got
	t_same "$name" got want
	t_is "$name: there are some" "$(grep -c '	' want | sed 's/^[1-9].*/some/')" some
done

# Records of every kind, and of kinds that no program knows.
"$VT_BUILD/tests/tools/stream_mixed" none 20000 >mixed.vt
"$VT_BUILD/tests/tools/stream_mixed" lines 20000 >made
t_status "a stream of every kind; its producer says it is lossy" 1 vtrace dump mixed.vt
cp "$T_OUT" got
t_like "and so does dump" 'vtrace dump: mixed.vt: ' "$T_ERR"
cat >compare.py <<'END'
import json, struct, sys

def number(text):
    return int(text, 0)

def same(made, got):
    """Whether `got`, in one of the forms of a dump, is the value `made`."""
    if made == got:
        return True
    if got.endswith(" bytes"):
        return len(made) == 2 * int(got[:-6])
    try:
        if "," in got or "," in made:
            return [int(x) for x in made.split(",")] == [number(x) for x in got.split(",")]
        if got.startswith("0x"):
            return int(made) == number(got)
        return len(made) == 16 and struct.pack(">d", float(got)).hex() == made or \
            int(made, 16) >> 52 & 0x7ff == 0x7ff and "n" in got
    except ValueError:
        return False

ENUMS = {("EVENT", "policy"), ("IMAGE", "type"), ("THREAD", "op"), ("BLOCK", "end"), ("VALUE", "what"),
         ("HOT", "what"), ("HOT", "algo"), ("STATE", "reason"), ("TRACE", "event"),
         ("CONFLICT", "type"), ("FREQ", "confidence"), ("FREQ", "method"), ("EDGE", "confidence"),
         ("EDGE", "method"), ("STALL", "cause"), ("STALL", "confidence"),
         ("STALL", "why"), ("SAMPLE", "source"), ("SAMPLE", "trap"), ("SAMPLE", "walk_stop"), ("EVSTAT", "what"),
         ("EVSTAT", "confidence"), ("EVSTAT", "method"), ("PAIRSTAT", "confidence"),
         ("PAIRSTAT", "method"), ("PATH", "method"), ("HEAP", "op"), ("OBJECT", "type")}
BITS = {"pm_has", "pm_least", "events_told", "events"}
# Fields of one instruction, in the order of the bits of pm_has; what has no bit is not printed.
FOLLOWED = """events lat_fetch lat_map lat_ready lat_issue lat_exec lat_retire lat_load lat_tlb lat_total
              lat_dispatch source open_misses width target history history_n trap pair pair_distance
              pair_cycles pair_weight position set evicted""".split()
checked = 0
made_lines = open("made").read().split("\n")[:-1]
got_lines = open("got").read().split("\n")[:-1]
assert len(made_lines) == len(got_lines), (len(made_lines), len(got_lines))
for made, got in zip(made_lines, got_lines):
    made, got = made.split("\t"), got.split("\t")
    assert made[0] == got[0], (made, got)
    values = dict(x.split("=", 1) for x in got[1:])
    has = int(dict(x.split("=", 1) for x in made[1:])["pm_has"]) if made[0] == "SAMPLE" else 0
    for field in made[1:]:
        name, value = field.split("=", 1)
        if name in FOLLOWED and made[0] == "SAMPLE":
            assert (name in values) == has >> FOLLOWED.index(name) & 1, (made, got)
            if name not in values:
                continue
        if name in BITS:
            assert bin(int(value)).count("1") == len(values.get(name, "").split("|")) or value == "0"
        elif value.strip("0") == "":
            assert name not in values or set(value) == {"0"}, (made[0], field)
        elif (made[0], name) in ENUMS:
            assert name in values
        else:
            assert same(value, values[name]), (made[0], field, values[name])
            checked += 1
print(checked > 10000)
END
t_is "each value as it was made" "$("$PYTHON" compare.py 2>&1)" True

vtrace dump --json mixed.vt >mixed.json 2>/dev/null
cat >lines.py <<'END'
import json

def flat(k, v):
    if isinstance(v, list):
        return ("|" if k in BITS else ",").join(flat(k, x) for x in v)
    return str(v)

BITS = {"pm_has", "pm_least", "events_told", "events"}
for line in open("mixed.json"):
    o = json.loads(line)
    assert o.pop("schema") == "vtrace-dump/1"
    print("\t".join([o.pop("kind")] + ["%s=%s" % (k, flat(k, v)) for k, v in o.items()]))
END
# Texts are escaped in lines and not in JSON, reals have other digits: left out on both sides.
texts='name|path|comm|reason|input|key|value|source|unit|f[6-9]|f1[01]|colour|pair_weight'
plain()
{
	sed -E "s/\t($texts)=[^\t]*//g"
}
"$PYTHON" lines.py | LC_ALL=C grep -av '^[^A-Z]' | grep -a '^[A-Z]*	' | plain >json.lines
grep -a '	' got | plain >got.lines
t_is "JSON has as many records" "$(wc -l <mixed.json)" 20000
t_is "every line of JSON is an object with its kind" \
	"$("$PYTHON" -c 'import json; print(all("kind" in json.loads(l) for l in open("mixed.json")))')" True
grep -aE '^(SAMPLE|COUNT|MAP|AUX|THROTTLE|SWITCH)	' json.lines >a
grep -aE '^(SAMPLE|COUNT|MAP|AUX|THROTTLE|SWITCH)	' got.lines >b
t_same "JSON has the same values" a b
t_is "and there are some" "$(($(wc -l <a) > 300))" 1

t_is "one kind" "$(vtrace dump -k FOREIGN mixed.vt 2>/dev/null | cut -f 1 | sort -u)" FOREIGN
grep -a '^FOREIGN' made | sed -E 's/^FOREIGN\tf0=([^\t]*)\t.*\tf3=([^\t]*)\t.*\tf17=([^\t]*)$/\1\t\2\t\3/' >want
vtrace dump -k FOREIGN -F f0,f3,f17 mixed.vt >got 2>/dev/null
t_same "fields of a foreign kind" got want
vtrace dump -k FOREIGN,SAMPLE -F kind,f0 mixed.vt 2>/dev/null | cut -f 1 | sort -u >got
t_is "a kind without the field is left out" "$(cat got)" FOREIGN

t_is "a number of records" "$(vtrace dump -n 7 demo.vt | wc -l)" 7
t_is "the names first" "$(vtrace dump --header -n 1 -F pid,ip demo.vt | head -n 1)" "# pid	ip"
t_status "no such field" 2 vtrace dump -F pid,nothing demo.vt
t_like "which ones there are" "'nothing' is not one of: time pid tid " "$T_ERR"
t_status "no such kind" 2 vtrace dump -k SAMPLE,NOTHING demo.vt
t_like "which ones there are" "'NOTHING' is not one of: .* SAMPLE " "$T_ERR"
t_status "--header without fields" 2 vtrace dump --header demo.vt
t_status "not a number" 2 vtrace dump -n 1x demo.vt
t_status "not a stream" 3 vtrace dump "$ROOT/README.md"
t_like "is said" 'neither a stream nor a trace' "$T_ERR"
t_status "two streams, one after the other" 0 vtrace dump -F ip demo.vt demo.vt
t_is "have the records of both" "$(wc -l <"$T_OUT")" "$(($(vtrace dump -F ip demo.vt | wc -l) * 2))"
t_done
