#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace merge: parts give what the whole gives, in whatever order they come.

. "$(dirname "$0")/../lib.sh"

split=$VT_BUILD/tests/tools/stream_split
demo=$ROOT/tests/data/demo/perf.data
vtrace decode "$demo" -o whole.vt
"$split" whole.vt a.vt b.vt
"$split" a.vt a1.vt a2.vt

t_ok "the whole" vtrace merge whole.vt -o sum.vt
vtrace dump sum.vt >sum
t_is "it is made of counts" "$(cut -f 1 sum | sort -u | tr '\n' ' ')" "COUNT EVENT IMAGE META "
t_same "and of the same processor" <(vtrace dump -k META -F key,value sum.vt | grep -E '^(arch|cpu)' | sort) \
	<(vtrace dump -k META -F key,value whole.vt | grep -E '^(arch|cpuid|cpudesc|cpu.model)	' | sort)
t_ok "two parts" vtrace merge a.vt b.vt -o parts.vt
vtrace dump parts.vt >parts
t_same "give what the whole gives" parts sum
t_ok "in the other order" vtrace merge b.vt a.vt -o parts.vt
vtrace dump parts.vt >parts
t_same "give the same" parts sum
t_pipe "sums of sums" 'vtrace merge a1.vt b.vt -o s1.vt; vtrace merge a2.vt | vtrace merge s1.vt - |
	vtrace dump >parts'
t_same "give the same" parts sum
t_pipe "the same bytes again" 'vtrace merge a.vt b.vt -o x.vt; vtrace merge a.vt b.vt >y.vt -z zlib;
	vtrace merge a.vt b.vt -o z.vt; cmp x.vt z.vt'
vtrace merge whole.vt sum.vt | vtrace dump -k COUNT -F offset,event,samples,period >twice
vtrace dump -k COUNT -F offset,event,samples,period sum.vt |
	awk -F '\t' -v OFS='\t' '{ $3 *= 2; $4 *= 2; print }' >want
t_same "samples and counts add up" twice want

# One file twice is counted twice, but not in silence.
again='the same file as another input: what it has counts again'
ln -s a.vt link.vt
ln a.vt hard.vt
for other in a.vt ./a.vt link.vt hard.vt; do
	t_ok "a file, and again as $other" vtrace merge -o x.vt a.vt b.vt "$other"
	t_is "is told" "$(cat "$T_ERR")" "vtrace merge: $other: $again"
done
t_ok "a file, and again through standard input" vtrace merge -o x.vt a.vt - <link.vt
t_is "is told" "$(cat "$T_ERR")" "vtrace merge: standard input: $again"
cp a.vt copy.vt
t_ok "files that are equal are two" vtrace merge -o x.vt a.vt copy.vt
t_is "in silence" "$(cat "$T_ERR")" ""
vhot a.vt a.vt 2>err >x.vt
t_like "vhot says it, too" "^vhot: a.vt: $again" err
vevent a.vt a.vt 2>err >x.vt
t_like "and vevent" "^vevent: a.vt: $again" err

# The sums are those of the trace.
vtrace dump -F event,period whole.vt |
	awk -F '\t' '{ n[$1]++; p[$1] += $2 } END { for (e in n) print e, n[e], p[e] }' | sort >want
vtrace dump -k COUNT -F event,samples,period sum.vt |
	awk -F '\t' '{ n[$1] += $2; p[$1] += $3 } END { for (e in n) print e, n[e], p[e] }' | sort >got
t_same "samples and periods of each event" got want
t_is "no place comes twice" "$(vtrace dump -k COUNT -F image,offset,event sum.vt | sort | uniq -d)" ""
vtrace dump -k COUNT sum.vt | sed -E 's/.*offset=(0x[0-9a-f]*).*/\1/' >offsets
t_is "places are in order" "$(vtrace dump -k IMAGE -F path sum.vt | LC_ALL=C sort -c && echo yes)" yes
t_is "the provenance of both" "$(vtrace info --json parts.vt | grep -c '"program"')" \
	"$(($(vtrace info --json a.vt | grep -c '"program"') * 2 + 1))"

# Of several processors, none is named.
"$VT_BUILD/tests/tools/stream_make" >other.vt <<'END'
META	key=cpuid	value=AuthenticAMD,25,17,1
META	key=arch	value=x86_64
END
t_is "another processor is none" "$(vtrace merge whole.vt other.vt whole.vt | vtrace dump -k META -F key,value |
	tr '\t\n' '= ')" "arch=x86_64 "

# Different ways of choosing the pc stay apart, and what is lost is passed on.
cat >policies.py <<'END'
import collections, json
counts = collections.Counter()
events = {}
for line in open("merged.json"):
    o = json.loads(line)
    if o["kind"] == "EVENT":
        key = (o.get("name"), o.get("unit"), o.get("policy"))
        assert key not in events.values(), key
        events[o.get("id", 0)] = key
    elif o["kind"] == "COUNT":
        assert o.get("event", 0) in events
print(len(events) > 1 and len({k[2] for k in events.values()}) > 1)
END
"$VT_BUILD/tests/tools/stream_mixed" none 20000 >mixed.vt
t_status "a stream of everything; its producer says it is lossy" 1 vtrace merge mixed.vt -o merged.vt
vtrace dump --json merged.vt >merged.json 2>/dev/null
t_is "events differ in name, unit or policy" "$("$PYTHON" policies.py 2>&1 | tail -n 1)" True
sums()
{
	vtrace info --json "$1" 2>/dev/null | "$PYTHON" -c '
import json, sys
o = json.load(sys.stdin)
print(o["lost"]["records"], o["gaps"]["records"], o["gaps"]["bytes"], o["status"])'
}
t_is "lost records and gaps are passed on" "$(sums merged.vt)" "$(sums mixed.vt)"
t_status "twice the same" 1 vtrace merge merged.vt -o again.vt
vtrace dump again.vt >again 2>/dev/null
vtrace dump merged.vt >once 2>/dev/null
t_same "a sum of one sum is that sum" again once

t_status "an input that is not there" 3 vtrace merge whole.vt missing.vt -o none-such.vt
t_is "leaves no output" "$([ -e none-such.vt ] || echo none)" none
t_status "the output is an input" 2 vtrace merge whole.vt a.vt -o a.vt
t_status "a full disk" 4 bash -c 'vtrace merge whole.vt >/dev/full'
t_done
