#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vinv, vcmp and vtrace merge on hot lists, against figures that tests/hot_metrics.py computes from
# the records; and what they do with lists that contradict themselves.

. "$(dirname "$0")/../lib.sh"

make=$VT_BUILD/tests/tools/stream_make
metrics()
{
	"$PYTHON" "$ROOT/tests/hot_metrics.py" "$@"
}

part()
{
	"$PYTHON" -c 'import json, sys; print(json.dumps(json.load(sys.stdin)[sys.argv[1]]))' "$1"
}

# The only member of a list.
one()
{
	"$PYTHON" -c 'import json, sys; print(json.dumps(*json.load(sys.stdin)))'
}

# Profiles kept by each algorithm, the second of some other run; images are nowhere to be found.
for seed in 0 1 2 3; do
	metrics make "$seed" >a.txt
	metrics make "$((100 + seed))" a.txt >b.txt
	"$make" <a.txt >a.hot
	"$make" <b.txt >b.hot
	vinv --json --summary a.hot 2>err | part overall >got
	metrics invariance a.hot >want
	t_is "means of profile $seed" "$(metrics same got want 2>&1)" same
	vinv --json a.hot 2>err | part rows >table
	t_is "one row for each list" "$(grep -o '"executions"' table | wc -l)" \
		"$(vtrace dump -k HOT a.hot | wc -l)"
	for metric in inv-top inv-all lvp zero stride; do
		vinv --curve "$metric" --json a.hot 2>err | part rows >got
		metrics curve "$metric" a.hot >want
		t_is "curve of $metric" "$(metrics same got want 2>&1)" same
	done
	vcmp --json a.hot b.hot 2>err | part rows | one >got
	metrics compare a.hot b.hot >want
	t_is "profile $seed compared with another" "$(metrics same got want 2>&1)" same
	vcmp --json --values 2 --threshold 5 a.hot b.hot 2>err | part rows | one >got
	metrics compare a.hot b.hot 2 5 >want
	t_is "two values, another threshold" "$(metrics same got want 2>&1)" same
done

# What vhot makes of a program, by each algorithm.
"$VT_BUILD/tests/tools/stream_exec" --insns 200000 --blocks 40 --values 3 --order random >made.vt
vhot --algo exact made.vt -o exact.hot 2>err
for algo in gm tnv lru convergent random space-saving; do
	vhot --algo "$algo" made.vt -o other.hot 2>err
	vinv --json --summary other.hot 2>err | part overall >got
	metrics invariance other.hot >want
	t_is "means of what $algo finds" "$(metrics same got want 2>&1)" same
	vcmp --json --values 3 exact.hot other.hot 2>err | part rows | one >got
	metrics compare exact.hot other.hot 3 >want
	t_is "and how far it is from all" "$(metrics same got want 2>&1)" same
done

# A profile and itself, and of several second profiles each has its row.
vcmp --json a.hot a.hot 2>err | part rows | one >got
t_like "finds every top value in itself" '"find_top": 100.0' got
t_like "and no difference" '"diff_top": 0.0' got
vcmp a.hot b.hot a.hot >text 2>err
t_like "a row for each second profile" '^ *100.00% .*a.hot$' text
t_is "three profiles, two objects" "$(vcmp --json a.hot b.hot a.hot 2>err | grep -c find_top)" 2
vcmp --worst 5 --csv a.hot b.hot >worst 2>err
t_is "the five worst places" "$(wc -l <worst)" 6
t_is "the worst comes first" "$(tail -n +2 worst | cut -d , -f 1 | sort -g -r | cmp - \
	<(tail -n +2 worst | cut -d , -f 1) && echo yes)" yes

# The lists: sorted, cut, by procedure.
vinv --csv a.hot 2>err | tail -n +2 | cut -d , -f 1 >executions
t_is "most executions first" "$(sort -n -r executions | cmp - executions && echo yes)" yes
t_is "all executions by image" \
	"$(vinv --by image --csv a.hot 2>err | tail -n +2 | awk -F , '{ n += $1 } END { print n }')" \
	"$(awk '{ n += $1 } END { print n }' executions)"
vinv -n 3 a.hot >text 2>err
t_like "says how many rows are left out" '^\([0-9]+ more rows\)$' text
vinv --what arg --csv a.hot 2>err | tail -n +2 | cut -d , -f 8 | sort -u >kinds
t_is "one kind of value" "$(cat kinds)" arg
t_same "in the plural" <(vinv --what args a.hot 2>err) <(vinv --what arg a.hot 2>err)
t_status "no such kind" 2 vinv --what nonsense a.hot

# Pictures: well-formed, the same again, a line for each input.
vinv --curve lvp --plot x.svg a.hot b.hot >table 2>err
vinv --curve lvp --plot y.svg a.hot b.hot >table 2>err
t_same "the same picture again" x.svg y.svg
t_is "two lines in well-formed XML" "$("$PYTHON" -c '
import xml.dom.minidom
print(len(xml.dom.minidom.parse("x.svg").getElementsByTagName("polyline")))')" 2
t_is "a hundred buckets" "$(grep -c -v '^#' table)" 100
cp a.hot 'a<&">.hot'
vinv --plot z.svg 'a<&">.hot' >table 2>err
t_is "a file's name in a picture" "$("$PYTHON" -c '
import xml.dom.minidom
t = xml.dom.minidom.parse("z.svg").getElementsByTagName("text")
print(t[-1].firstChild.data)')" 'a<&">.hot'
t_status "the picture is not the input" 2 vinv --plot a.hot a.hot
t_status "a picture that cannot be written" 4 vinv --plot no/where.svg a.hot

# Joining TNV tables: two parts, in the streams' own terms.
metrics make 1 >a.txt
metrics make 101 a.txt alike | sed 's/id=3 /id=4 /; s/image=3 /image=4 /' >b.txt
"$make" <a.txt >one.hot
"$make" <b.txt >two.hot
t_ok "two profiles" vtrace merge one.hot two.hot -o sum.hot
metrics merge sum.hot >got
metrics merge one.hot two.hot >want
t_is "join as counts do" "$(metrics same got want 2>&1)" same
t_ok "merging one again" vtrace merge sum.hot -o again.hot
metrics merge again.hot >got
metrics merge sum.hot >want
t_is "changes nothing" "$(metrics same got want 2>&1)" same

# Samples of different halves: the same seed gives the same sum, another one another.
metrics make 0 >a.txt
metrics make 100 a.txt alike >b.txt
"$make" <a.txt >a.hot
"$make" <b.txt >b.hot
t_pipe "samples" 'vtrace merge a.hot b.hot -o 1.hot; vtrace merge a.hot b.hot -o 2.hot; cmp 1.hot 2.hot;
	vtrace merge -s 5 a.hot b.hot -o 3.hot'
t_is "another seed" "$(cmp -s <(vtrace dump -k HOT 1.hot) <(vtrace dump -k HOT 3.hot) || echo differs)" \
	differs
t_is "never more values than there is room" "$(vtrace dump --json -k HOT 1.hot | "$PYTHON" -c '
import json, sys
print(all(len(o.get("values", [])) <= o["capacity"] for o in map(json.loads, sys.stdin)))')" True

# Lists that were kept in different ways.
sed 's/algo=1/algo=3/' a.txt | "$make" >lru.hot
t_status "other algorithms are refused" 3 vtrace merge a.hot lru.hot -o none.hot
t_like "with the place and the reason" 'lru.hot: .* at 0x.* of .*: one hot list was kept by' "$T_ERR"
t_is "and leave nothing" "$([ -e none.hot ] || echo none)" none

# Interval invariance: what a load saw in each tenth of its executions, of a recording that Python
# makes up, with chunks that end anywhere.
cat >recording.py <<'END'
import collections, json, random, sys
rng = random.Random(7)
values = [rng.choice([0, 0, 1, 2] if i < 250 else [5] if i < 400 else [6, 7]) for i in range(503)]
with open("script", "w") as f:
    print("image 1 /bin/made\nmap 10 0x400000 0x10000 0 1", file=f)
    print("block 0 10 0x401000 branch 0x401000 4,2 0:load:8", file=f)
    print("block 1 10 0x402000 jump 0x401000 4 0:load:8", file=f)
    first = at = 0
    while at < len(values):
        n = min(rng.randrange(1, 90), len(values) - at)
        data = b"".join(v.to_bytes(8, "little") for v in values[at:at + n])
        print("exec 10 10 %d 0 %d 0 %s %s" % (first, 2 * n, ",".join(["0"] * n), data.hex()), file=f)
        first, at = first + 2 * n, at + n
    print("exec 10 10 %d 0 100 0 %s %s" % (first, ",".join(["1"] * 100), "07" * 800), file=f)
bounds = [503 * j // 10 for j in range(11)]
shares = [100 * max(collections.Counter(values[a:b]).values()) / (b - a)
          for a, b in zip(bounds, bounds[1:])]
json.dump(shares, open("want", "w"))
END
"$PYTHON" recording.py
"$VT_BUILD/tests/tools/stream_exec" --script <script >made.vt
vinv --intervals 10 --json --plot f.svg made.vt 2>err | "$PYTHON" -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert len(rows) == 1 and rows[0]["executions"] == 503, rows
print(json.dumps([i["percent"] for i in rows[0]["intervals"]]))' >got
t_is "each tenth of the executions has its own invariance" "$(metrics same got want 2>&1)" same
t_is "with a dot for each" "$(grep -o 'h0' f.svg | wc -l)" 10
t_is "of instructions executed more often than told" \
	"$(vinv --intervals 10 --csv --min 50 made.vt 2>err | wc -l)" 3
t_status "a pipe cannot be read twice" 2 bash -c 'vinv --intervals 10 <made.vt'
vtrace decode "$ROOT/tests/data/demo/perf.data" -o samples.vt
# One parser of --what: the kinds of vhot are those of what reads its lists.
cp a.hot kinds.hot
counted()
{
	"$@" --json 2>/dev/null | "$PYTHON" -c '
import json, sys
print(*("%s %d" % (r["what"], r["executions"]) for r in json.load(sys.stdin)["overall"]), sep="\n")'
}
counted vinv --summary kinds.hot >all.kinds
for kinds in load,result loads,results result,load default all; do
	t_ok "--what $kinds" vinv -w "$kinds" --summary kinds.hot
done
counted vinv -w load,result --summary kinds.hot >two.kinds
t_is "two kinds are those two" "$(grep -v all two.kinds)" "$(grep -E '^(load|result) ' all.kinds)"
t_is "and their sum" "$(sed -n 's/^all //p' two.kinds)" \
	"$(awk '/^(load|result) / { n += $2 } END { print n }' all.kinds)"
t_is "one kind has no sum" "$(counted vinv -w args --summary kinds.hot)" "$(grep '^arg ' all.kinds)"
t_ok "vcmp takes a list" vcmp -w load,result kinds.hot kinds.hot
t_is "of the instructions of both" "$(vcmp -w load,result --csv kinds.hot kinds.hot 2>/dev/null | tail -n 1 | cut -d , -f 5)" \
	"$(vtrace dump -k HOT -F what kinds.hot | grep -c -E '^(load|result)$')"
t_ok "vlist, too" vlist --values -w load,result --all -i kinds.hot
t_unlike "and shows those only" ' arg rdi ' "$T_OUT"
for program in "vinv" "vcmp kinds.hot" "vlist --values"; do
	# shellcheck disable=SC2086 # a program and its options
	t_status "$program: a kind that is none" 2 $program -w load,nonsense kinds.hot
	t_like "is named" "no kind of value is called 'nonsense'" "$T_ERR"
done
t_status "no values in it" 3 vinv --intervals 10 samples.vt
t_like "says what has some" 'samples.vt: no values \(vtrace record --full records them, ' "$T_ERR"

# No hot lists; lists that contradict themselves.
t_status "a stream without hot lists" 3 vinv samples.vt
t_like "says what to do" '^vinv: samples.vt: no hot lists \(vhot makes them\)$' "$T_ERR"
t_status "nor has vcmp anything to compare" 3 vcmp a.hot samples.vt
echo 'HOT image=1 offset=5 total=10 profiled=10 values=1,2 counts=3,4' >sound
sed 's/counts=3,4/counts=3,8/' sound >broken1
sed 's/counts=3,4/counts=3/' sound >broken2
sed 's/values=1,2/values=2,2/' sound >broken3
sed 's/total=10/total=18446744073709551615/' sound >broken4
sed 's/offset=5/offset=5 zero=11/' sound >broken5
sed 's/offset=5/offset=5 algo=1 factor=nan/' sound >broken6
sed 's/offset=5/offset=5 algo=1 factor=1.0000000001/' sound >broken7
sed 's/offset=5/offset=5 algo=1 factor=9 level=4000000000/' sound >broken8
sed 's/offset=5/offset=5 capacity=1/' sound >broken9
sed 's/offset=5/offset=5 errors=4,0/' sound >broken10
sed 's/offset=5/offset=5 errors=1/' sound >broken11
sed 's/what=1/what=99999999999/; s/offset=5/offset=5 what=99999999999/' sound >broken12
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	sed 's/offset=5/offset=6/' sound | cat - "broken$n" | "$make" >broken.hot
	t_status "contradiction $n is left out" 1 vinv --json broken.hot
	t_is "and the rest is there" "$(grep -c '"address"' "$T_OUT")" 1
	"$make" <"broken$n" >broken.hot
	t_status "nothing else is in the input" 3 vinv broken.hot
done
t_status "merging tells it too" 1 vtrace merge broken.hot a.hot -o with.hot
t_like "and names the file" '^vtrace merge: broken.hot: 1 hot list contradicts itself, left out; the first: .' "$T_ERR"
for n in 1 2; do cat "broken$n"; done | "$make" >two.hot
t_status "each file for itself" 1 vtrace merge broken.hot a.hot two.hot -o with.hot
t_is "with its first" "$(sed -E 's/(first): .*/\1/' "$T_ERR")" \
	"vtrace merge: broken.hot: 1 hot list contradicts itself, left out; the first
vtrace merge: two.hot: 2 hot lists contradict themselves, left out; the first"
echo 'HOT image=4294967295 offset=18446744073709551615 what=77 algo=99 total=10 profiled=10' |
	"$make" >strange.hot
t_ok "kinds and algorithms of later versions" vinv strange.hot
t_ok "and an unknown image" vcmp strange.hot strange.hot
t_done
