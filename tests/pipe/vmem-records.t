#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vmem --records: what is read again is what was written, sums of several streams are the sums of
# their counts, and vlist --values lists the same locations.

. "$(dirname "$0")/../lib.sh"

t_need valgrind jq

for n in 200 300; do
	vtrace record --full --mem --values loads,stores --heap -o $n.vt -- \
		"$VT_BUILD/tests/tools/rec_memory" $n >/dev/null 2>&1 || t_fail "recording"
done

# ---- there and back ----

same_again()
{
	vmem "$@" --csv --top 0 --layout --each 0 200.vt >direct.csv 2>/dev/null
	vmem "$@" --records 200.vt 2>/dev/null | vmem --csv --top 0 --layout --each 0 >again.csv \
		2>/dev/null
	[ -s direct.csv ] && cmp direct.csv again.csv
}

t_ok "what is read again is what was written" same_again
t_ok "so it is with small locations" same_again --grain 2
t_ok "and with other callers" same_again --depth 1

vmem --records 200.vt >200.mem 2>/dev/null
vmem --records 300.vt >300.mem 2>/dev/null
vmem --records 200.mem 2>/dev/null >again.mem
vmem --csv --top 0 --layout --each 0 200.mem >first.csv 2>/dev/null
vmem --csv --top 0 --layout --each 0 again.mem >second.csv 2>/dev/null
t_same "a profile that was read is written as it was" first.csv second.csv

vmem --csv --by location --top 7 200.vt >direct.csv 2>/dev/null
vmem --records --by location --top 7 200.vt 2>/dev/null | vmem --csv --by location >again.csv 2>said
# Objects are numbered anew.
cut -d, -f 1-15,17- direct.csv >a.csv
cut -d, -f 1-15,17- again.csv >b.csv
t_same "single locations" a.csv b.csv
t_like "the others are told" "[0-9]+ locations with [0-9]+ accesses are left out" said
vmem --csv --top 0 --in global --object '*stored*' 200.vt >direct.csv 2>/dev/null
vmem --records --in global --object '*stored*' 200.vt 2>/dev/null | vmem --csv >again.csv 2>/dev/null
cut -d, -f 1-10,23- direct.csv >a.csv
cut -d, -f 1-10,23- again.csv >b.csv
t_same "objects of a type and a name" a.csv b.csv
t_is "there are two" "$(tail -n +2 again.csv | wc -l)" 2

vsim --profileme 50 200.vt >samples.vt 2>/dev/null
vmem --csv --top 0 --layout --each 0 samples.vt >direct.csv 2>/dev/null
vmem --records samples.vt 2>/dev/null | vmem --csv --top 0 --layout --each 0 >again.csv 2>/dev/null
t_same "samples, with their latencies and sources" direct.csv again.csv
t_like "there are some" "^[0-9.]+,[1-9][0-9]*,[0-9]+,[0-9.]+,[0-9.]+,[0-9.]+," again.csv

# ---- elsewhere ----

vmem --csv --top 5 --in heap,global 200.mem >direct.csv 2>/dev/null
mkdir -p nowhere
vtrace pack -o packed.mem 200.mem 2>/dev/null
vmem --csv --top 5 --in heap,global --symfs nowhere packed.mem >again.csv 2>/dev/null
t_same "a packed profile has its names" direct.csv again.csv
t_like "with lines" "make_node rec_memory.c:30 < main" again.csv

# ---- sums ----

vtrace merge 200.mem 300.mem >sum.mem
t_ok "counts of several streams are added up" python3 - <<'END'
import csv, subprocess

def rows(name, *args):
    out = subprocess.run(['vmem', '--csv', '--top', '0', *args, name], check=True,
                         capture_output=True, text=True).stdout
    return list(csv.DictReader(out.splitlines()))

def number(text):
    return float(text) if text else 0

def by_name(name):
    return {(r['type'], r['name']): r for r in rows(name)}

a, b, both = by_name('200.mem'), by_name('300.mem'), by_name('sum.mem')
assert both.keys() == a.keys() | b.keys() and len(both) > 20
for key, r in both.items():
    of = [x[key] for x in (a, b) if key in x]
    for column in ('loads', 'stores', 'loaded_bytes', 'stored_bytes', 'allocations', 'freed',
                   'bytes'):
        assert number(r[column]) == sum(number(x[column]) for x in of), (key, column)
    for column in ('size', 'peak'):
        assert number(r[column]) == max(number(x[column]) for x in of), (key, column)
    for column, of_what in (('zero', 'loads'), ('redundant', 'loads'), ('silent', 'stores'),
                            ('dead', 'stored_bytes')):
        want = sum(number(x[column]) * number(x[of_what]) for x in of)
        assert abs(number(r[column]) * number(r[of_what]) - want) < 1e-3 * max(want, 1), (key, column)
# By arithmetic: tests/tools/rec_memory.c, 10 walks over n nodes.
node = next(r for (t, n), r in both.items() if n.startswith('make_node'))
assert (node['loads'], node['stores'], node['allocations']) == ('15000', '2000', '500')
END
t_pipe "the order of streams does not matter" 'vtrace merge 300.mem 200.mem | vmem --csv --top 0 \
	--layout --each 0 >b.csv 2>/dev/null; vmem --csv --top 0 --layout --each 0 sum.mem >a.csv \
	2>/dev/null; cmp a.csv b.csv'

vmem --records --grain 4 300.vt >small.mem 2>/dev/null
t_run vtrace merge 200.mem small.mem
t_is "locations of another size are not added" "$T_STATUS $(tail -n 1 "$T_ERR")" \
	"3 vtrace merge: small.mem: its memory profile has locations of 4 bytes, those before of 8 (vmem --grain)"

# ---- vlist ----

vmem --csv --by location --top 9 200.vt 2>/dev/null | cut -d, -f 1-13 >direct.csv
vmem --records --by location --top 9 200.vt 2>/dev/null | vlist --values --csv 2>/dev/null |
	cut -d, -f 1-13 >listed.csv
t_same "vlist --values lists the same locations" direct.csv listed.csv
vmem --records --in global --object never_stored 200.vt 2>/dev/null | vlist --values >listed 2>&1
t_like "with their values" " global  never_stored  5 100.0%$" listed
vmem --records 200.vt 2>/dev/null | vlist --values --top 3 >listed 2>/dev/null
t_like "what is left out is counted" "^\([0-9]+ more rows\)$" listed

# Both write a value alike: below a million in decimal, a printable byte as such, else in hexadecimal.
make() { printf '%s\n' "$@" | "$VT_BUILD/tests/tools/stream_make"; }
value() { make 'ACCESSES grain=8 depth=3 insns=9 loads=9 stores=5' 'OBJECT id=1 type=1 loads=6' \
	"LOCATION object=1 loads=6 size=$1 profiled=6 capacity=8 values=$2 counts=6 errors=0"; }
for v in "4 999999 999999" "4 1000000 0xf4240" "4 4294967295 0xffffffff" "8 137422177568 0x1fff000520" "1 65 'A'" \
	"1 200 200" "2 65 65"; do
	read -r size number text <<<"$v"
	value "$size" "$number" >value.mem
	t_is "vmem: $number as $text" "$(vmem --by location value.mem 2>/dev/null | awk 'END { print $(NF - 1) }')" "$text"
	t_is "vlist: $number as $text" "$(vlist --values value.mem 2>/dev/null | awk 'END { print $(NF - 1) }')" "$text"
	t_is "and $number to programs" "$(($(vmem --by location --json value.mem 2>/dev/null | jq -r '.rows[0].value')))" "$number"
done

t_run vlist 200.mem
t_like "without --values vlist says who lists it" "no samples, but a memory profile: vmem" "$T_ERR"
t_status "locations have no procedures" 2 vlist --values 200.mem main
t_status "and no kinds of values" 2 vlist --values --what loads 200.mem

# ---- vtrace info ----

t_ok "a summary names a memory profile" vtrace info 200.mem
t_like "as such" "^memory profile$" "$T_OUT"
t_unlike "nothing is left out" "left out" "$T_OUT"
for file in 200.mem few.info; do
	[ "$file" = 200.mem ] || vmem --records --by location --in global,heap --top 40 200.vt 2>/dev/null >few.info
	vtrace info --json "$file" >info.json
	vmem --json --top 0 "$file" >vmem.json 2>/dev/null
	vmem --json --top 0 --by location "$file" >places.json 2>/dev/null
	t_ok "$file: the summary says what vmem counts" python3 - <<'END'
import collections, json

info = json.load(open('info.json'))['memory']
vmem, places = json.load(open('vmem.json')), json.load(open('places.json'))
for key in ('instructions', 'loads', 'stores', 'objects_left_out', 'locations_left_out', 'accesses_left_out'):
    assert info[key] == vmem[key], (key, info, vmem[key])
assert info['locations'] == len(places['rows']), (info, len(places['rows']))
types = collections.Counter(r['type'] for r in vmem['rows'])
for name, n in types.items():
    assert info['types'][name] >= n, (name, info, types)
assert info['objects'] == sum(info['types'].values())
assert (info['grain'], info['depth']) == (8, 3)
END
done
t_ok "of a part" vtrace info few.info
t_like "objects left out are told" "^  [0-9]+ objects left out$" "$T_OUT"
t_like "and locations" "^  [0-9]+ locations left out, with [0-9]+ accesses$" "$T_OUT"
t_is "other streams have none" "$(vtrace info 200.vt | grep -c '^memory profile')$(vtrace info --json 200.vt | jq .memory)" 0null

# ---- what cannot be ----

t_status "records are no layout" 2 vmem --records --layout 200.vt
t_status "records are no JSON" 2 vmem --records --json 200.vt
t_status "records have no types" 2 vmem --records --type 200.vt
t_status "a profile has the size of its locations" 3 vmem --grain 4 200.mem
t_status "and its callers" 3 vmem --depth 9 200.mem
t_ok "which may be named" vmem --depth 3 --grain 8 200.mem
vmem --records --in global --top 3 200.vt 2>/dev/null >few.mem
t_run vmem few.mem
t_like "objects that were not written are told" ": [0-9]+ objects are left out: the profile was written with" "$T_ERR"
vtrace merge few.mem 300.mem 2>/dev/null | vmem >/dev/null 2>said
t_like "also of a sum" ": [0-9]+ objects are left out: the profile was written with" said
vsim -m skylake --profileme 50 300.vt 2>/dev/null | vmem --records >skylake.mem 2>/dev/null
vmem --records samples.vt >samples.mem 2>/dev/null
t_run vtrace merge samples.mem skylake.mem
t_like "samples of two models are not added" "its misses and samples of memory are of another model of a processor" "$T_ERR"
t_ok "those of one model are" vtrace merge -o /dev/null samples.mem samples.vt
t_status "a profile has no cache lines" 3 vmem --sharing 200.mem
t_status "a profile has no types" 3 vmem --type 200.mem

# ---- damage ----

# What is left out is told by file, with the reason of the first; all tell it alike.
totals='ACCESSES grain=8 depth=3 insns=100 loads=10 stores=5'
heap='OBJECT id=1 type=1 loads=6 stores=5'
place='LOCATION object=1 loads=6 stores=5 size=8'
make "$totals" "$heap" "$place" "$place offset=3" >one.mem
make "$totals" "$totals" "$heap" "$heap" "$place" >two.mem
left='left out; the first, before 0x[0-9a-f]+'
for command in vmem "vlist --values" "vtrace merge -o /dev/null"; do
	# shellcheck disable=SC2086 # a program and its options
	t_status "$command: a bad location" 1 $command one.mem
	t_like "$command: is told" "one.mem: 1 bad record, $left: LOCATION record: its numbers contradict each other$" "$T_ERR"
done
t_status "a sum of files with bad records" 1 vtrace merge one.mem 200.mem two.mem -o both.mem
t_is "names each that has some" "$(sed -E 's/before 0x[0-9a-f]+/before X/' "$T_ERR")" \
	"vtrace merge: one.mem: 1 bad record, left out; the first, before X: LOCATION record: its numbers contradict each other
vtrace merge: two.mem: 2 bad records, left out; the first, before X: ACCESSES record: there was one before"

# One is singular.
one='insns=1 loads=1 stores=1 heap_events=1 objects_left_out=1 incomplete=1 unknown_frees=1 overlaps=1 forgotten=1'
make "ACCESSES grain=8 depth=3 $one" 'OBJECT id=1 type=1 loads=1 stores=1 left_out=1 left_out_accesses=1' >single.mem
t_status "a profile of one of each" 1 vmem single.mem
t_like "the totals" "^1 load and 1 store of 1 instruction, 1 allocation or free$" "$T_OUT"
for text in "1 object is left out:" "1 access has no address" "1 free of what" "1 allocation overlaps others" \
	"1 location with 1 access is left out" "forgotten 1 time:"; do
	t_like "told: $text" "single.mem: (.* )?$text" "$T_ERR"
done

# Totals that are less than those of the objects are none; the others are counted, and told.
make "$totals" "$heap loads=25" "$place" >low.mem
for command in vmem "vlist --values" "vtrace merge -o sum.mem"; do
	# shellcheck disable=SC2086
	t_status "$command: totals that are too low" 1 $command low.mem
	t_like "$command: are told" "low.mem: the objects have more accesses than the totals .ACCESSES. say" "$T_ERR"
done
t_like "and raised" "loads=25.*stores=5" <(vtrace dump -k ACCESSES sum.mem)
t_status "a sum of that has nothing to raise" 1 vtrace merge -o /dev/null sum.mem 200.mem
t_unlike "and tells nothing" "more accesses than" "$T_ERR"

t_ok "damaged records end no program by a signal" python3 - <<'END'
import random, subprocess

data = open('200.mem', 'rb').read()
random.seed(1)
for i in range(60):
    bad = bytearray(data)
    for _ in range(random.choice((1, 3, 20))):
        bad[random.randrange(100, len(bad))] = random.randrange(256)
    if i % 4 == 3:
        del bad[random.randrange(len(bad)):]
    open('bad.mem', 'wb').write(bad)
    for command in (['vmem', '--layout', '-n', '0'], ['vlist', '--values'], ['vtrace', 'merge']):
        done = subprocess.run([*command, 'bad.mem'], capture_output=True)
        assert 0 <= done.returncode <= 3, (i, command, done.returncode)
END

t_done
