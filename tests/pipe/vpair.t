#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vpair: sums of pairs of samples, against what a script works out of the samples one by one; merged,
# listed and drawn; and samples that cannot be used.

. "$(dirname "$0")/../lib.sh"

orders=$ROOT/tests/data/demo/orders.vt
symfs=$ROOT/tests/data/demo/symfs

# Makes a stream of the records that the arguments are.
make() { printf '%s\n' "$@" | "$VT_BUILD/tests/tools/stream_make"; }

oracle() { "$PYTHON" "$ROOT/tests/pairs_oracle.py" "$@"; }

# ---- against the samples ----

for minor in uniform weighted; do
	vsim -m alpha21264 --profileme 300 --pairs 80 --minor $minor --symfs "$symfs" -o $minor.vt "$orders" 2>/dev/null
done
vsim -m skylake --profileme 400 --pairs 90 --ways 4 --symfs "$symfs" -o ways.vt "$orders" 2>/dev/null
vsim -m alpha21164 --profileme 200 --pairs 30 --minor weighted --symfs "$symfs" -o order.vt "$orders" 2>/dev/null
older='2.events & load && 2.pair_distance < 1.pair_distance'

for metric in wasted useful-concurrency issue-while-queued retire-within:4 ipc:10; do
	t_ok "$metric" vpair --metric $metric -o sums.vt weighted.vt
	t_ok "$metric is what its pairs add up to" oracle weighted.vt sums.vt $metric 4
done
for learn in always never; do
	t_ok "learned $learn" vpair --learn $learn -o sums.vt weighted.vt
	t_ok "is what pairs add up to" oracle weighted.vt sums.vt wasted 4 '' $learn
done
t_ok "learned of uniform distances" vpair --learn always --metric useful-concurrency -o sums.vt uniform.vt
t_ok "is what pairs add up to" oracle uniform.vt sums.vt useful-concurrency 4 '' always
t_ok "learned by the sides of a split" vpair --split "events & taken" -o sums.vt weighted.vt
t_ok "is what pairs add up to" oracle weighted.vt sums.vt wasted 4 taken
vsim -m skylake --profileme 500 --pairs 70 --ways 3 --minor weighted --symfs "$symfs" -o three.vt "$orders" 2>/dev/null
t_ok "learned from groups of three" vpair -o sums.vt three.vt
t_ok "is what pairs add up to" oracle three.vt sums.vt wasted 4
t_ok "units of the same kind" vpair --symfs "$symfs" --metric same-unit -o sums.vt weighted.vt
t_is "loads share theirs with others" "$(vtrace dump -k PAIRSTAT -F value sums.vt | awk '$1 > 0 { n++ } END { print (n > 20) }')" 1
mkdir nowhere
t_ok "without code" vpair --symfs nowhere --metric same-unit -o none.vt weighted.vt
t_like "it is not known" 'halves of pairs are not used, as samples do not tell enough' "$T_ERR"
t_ok "an expression" vpair --metric "$older" -o sums.vt weighted.vt
t_ok "it is what its pairs add up to" oracle weighted.vt sums.vt older-load 4
t_ok "uniform distances" vpair -o uniform.sums uniform.vt
t_ok "add up" oracle uniform.vt uniform.sums wasted 4
for s in taken dcache_miss; do
	t_ok "split by $s" vpair --split "events & $s" -o sums.vt uniform.vt
	t_ok "it adds up" oracle uniform.vt sums.vt wasted 4 $s
done
t_ok "groups of four" vpair -o sums.vt ways.vt
t_ok "they add up" oracle ways.vt sums.vt wasted 4
t_ok "in order" vpair -o sums.vt order.vt
t_ok "it adds up" oracle order.vt sums.vt wasted 4
t_ok "with the slots of another machine" vpair -m alpha21164 -o sums.vt ways.vt
t_ok "they add up" oracle ways.vt sums.vt wasted 4

# ---- the truth ----

# Intervals of 95 % miss one in twenty; these are some 150, of which many belong to the same loops.
vsim -m alpha21264 --profileme 300 --pairs 80 --symfs "$symfs" -o near.vt --truth truth.vt "$orders" 2>/dev/null
vpair -o near.sums near.vt
vtrace dump -k EVSTAT -F image,offset,what,sum truth.vt | awk -F '\t' -v OFS='\t' '$3 == "wasted" { print $1 " " $2, $4 }' |
	sort >true
vtrace dump -k PAIRSTAT -F image,offset,pairs,low,high near.sums |
	awk -F '\t' -v OFS='\t' '$3 >= 20 { print $1 " " $2, $4, $5 }' | sort >near
join -t "$(printf '\t')" near true |
	awk -F '\t' '{ n++; hits += $2 <= $4 && $4 <= $3 } END { print (n > 30), (hits >= .85 * n) }' >hits
t_is "most intervals hold the exact number" "$(cat hits)" "1 1"

# Of groups of K, the K - 1 pairs share the period.
for k in 2 3 8; do
	vsim -m alpha21264 --profileme 900 --pairs 80 --ways $k --symfs "$symfs" -o group.vt --truth truth.vt "$orders" 2>/dev/null
	t_is "groups of $k are told" "$(vtrace dump -k META -F key,value group.vt | awk '$1 == "vsim.ways" { print $2 }')" $k
	vpair -o group.sums group.vt
	vtrace dump -k EVSTAT -F what,sum truth.vt | awk '$1 == "wasted" { s += $2 } END { printf "%.0f", s }' >want
	t_is "all slots wasted, by groups of $k, within a tenth" "$(vtrace dump -k PAIRSTAT -F value group.sums |
		awk -v want="$(cat want)" '{ s += $1 } END { print (s > .9 * want && s < 1.1 * want) }')" 1
done

# ---- some instructions only ----

# The other ones of pairs are any.
t_ok "only loads" vpair --where 'events & load' -o some.sums uniform.vt
vpair --split 'events & load' -o split.sums uniform.vt
vtrace dump -k PAIRSTAT -F image,offset,pairs,x,x2,value,error some.sums >got
vtrace dump -k PAIRSTAT --where 'split == "events & load"' -F image,offset,pairs,x,x2,value,error split.sums >want
t_same "are those of that side of a split" got want
t_like "how many there were is told" "uniform.vt: [0-9]+ of [0-9]+ samples" "$T_ERR"
t_is "and kept" "$(vtrace dump -k META -F key some.sums | grep -c where)" 1
name=$(vpair --symfs "$symfs" --by procedure --top 1 --tsv uniform.vt | awk -F '\t' 'NR == 2 { print $11 }')
t_ok "of a procedure" vpair --symfs "$symfs" --where "ip in procedure \"$name\"" --top 0 --csv uniform.vt
t_is "is of no other" "$(awk -F , 'NR > 1 { print $11 }' "$T_OUT" | sort -u)" "$name"
t_status "nothing passes" 3 vpair --where 'lat_total > 1000000000' --top 1 uniform.vt
t_like "says so" 'nothing passes --where' "$T_ERR"
t_status "a condition on no field" 2 vpair --where 'lat_exe > 3' --top 1 uniform.vt
t_like "says so, too" '^vpair: --where: column 1' "$T_ERR"

# ---- of single samples ----

# Bit 12 says that the number is known, and in pm_least that it is no less.
open='SAMPLE pid=1 tid=1 event=5 pm_has=4097 events_told=11 events=9'
make 'EVENT id=5 name=ibs_op' "$open ip=1 open_misses=1" "$open ip=1 open_misses=3" "$open ip=1 events=1 open_misses=5" \
	"SAMPLE event=5 ip=1 pm_has=1 open_misses=9" "$open ip=1 pm_least=4096 open_misses=9" >open.vt
t_ok "misses under way" vpair --metric open-misses -o open.sums open.vt
t_is "their mean and its error" "$(vtrace dump -k PAIRSTAT -F metric,pairs,x,x2,y,value,error open.sums |
	awk '{ $7 = sprintf("%.6f", $7); print }')" \
	"open-misses 3 9 35 3 3 0.942809"
vpair --metric open-misses --split 'events & dcache_miss' --json open.vt >open.json
t_is "by what they met" "$(jq -c '[.rows[] | [.split, .value, .pairs]]' open.json)" \
	'[["events & dcache_miss",2,2],["!(events & dcache_miss)",5,1]]'
t_ok "listed" vpair --metric open-misses --where 'open_misses < 4' --top 1 open.vt
t_like "says what they are of" '^open-misses, in misses; 2 samples$' "$T_OUT"
t_like "and how many" 'value .*samples .*confidence' "$T_OUT"
t_ok "beside the code" vlist --pairs open.sums
t_status "samples without them" 3 vpair --metric open-misses --top 1 uniform.vt
t_like "says what tells them" "no samples that tell how many misses were under way: AMD's IBS" "$T_ERR"

# ---- merged ----

vpair -o weighted.sums weighted.vt
t_ok "merged" vtrace merge -o merged.vt uniform.sums weighted.sums
t_ok "into itself" vtrace merge -o alone.vt weighted.sums
vtrace dump -k PAIRSTAT -F offset,pairs,x,y2,value,error weighted.sums | sort >want
vtrace dump -k PAIRSTAT -F offset,pairs,x,y2,value,error alone.vt | sort >got
t_same "what was one stays the same" got want
cat >merged.py <<'END'
import json
import math
import subprocess
import sys


def dump(path):
    out = subprocess.run(["vtrace", "dump", "--json", "-k", "PAIRSTAT", path], stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def total(path):
    sums = {}
    for r in dump(path):
        s = sums.setdefault((r["offset"], r["metric"]), [0] * 6)
        for i, f in enumerate(("pairs", "x", "x2", "y", "y2", "xy")):
            s[i] += r.get(f, 0)
    return sums


a, b, both = map(total, sys.argv[1:4])
assert a.keys() | b.keys() == both.keys()
for k, s in both.items():
    for i in range(6):
        want = sum(t[k][i] for t in (a, b) if k in t)
        assert abs(want - s[i]) <= 1e-6 * max(abs(want), 1e3), (k, i, want, s)
for r in dump(sys.argv[3]):
    n, x, x2, y, y2, xy = both[r["offset"], r["metric"]]
    slope = xy / y2 * n / (n + 20) if y2 else 0
    assert abs(r.get("value", 0) - (x - slope * y)) <= 1e-5 * max(math.sqrt(x2), 1), r
END
t_ok "sums of both, and values of those" "$PYTHON" merged.py uniform.sums weighted.sums merged.vt

# ---- listings ----

t_ok "a listing" vpair --symfs "$symfs" --top 3 uniform.vt
t_like "says what it is of" '^wasted, in slots of alpha21264; [0-9]+ pairs, up to 80 instructions apart' "$T_OUT"
for metric in useful-concurrency:'each cycle in which' same-unit:'each time the instruction retires' \
	ipc:2:'each cycle around' '2.pair == 1:each time the instruction is fetched'; do
	t_ok "${metric%:*}" vpair --symfs "$symfs" --metric "${metric%:*}" --top 1 uniform.vt
	t_like "says what a value is for" "^A value is for ${metric##*:}" "$T_OUT"
done
vpair --metric '1.pair == 3' --symfs "$symfs" --json uniform.vt >never.json
t_is "of what never is, the error is unknown" "$(jq '[.rows[] | [.value, .error, .low, .high, .confidence]] | unique |
	. == [[0, null, null, null, "low"]]' never.json)" true
t_ok "by procedure" vpair --symfs "$symfs" --by procedure --json uniform.vt
cp "$T_OUT" by.json
t_is "all pairs twice" "$(jq '([.rows[].pairs] | add) == .pairs * 2' by.json)" true
t_is "the largest first" "$(jq '[.rows[].value] | . == (sort | reverse)' by.json)" true
t_is "sums of the same values" "$(jq '[.rows[].value] | add | round' by.json)" \
	"$(vtrace dump -k PAIRSTAT -F value uniform.sums | awk '{ s += $1 } END { printf "%.0f", s }')"
t_ok "by image" vpair --symfs "$symfs" --by image --csv --metric ipc:5 uniform.vt
t_like "with columns for programs" '^value,error,low,high,cycles,pairs,missing,confidence,split,address,procedure,line,image$' "$T_OUT"
t_ok "a picture" vpair --symfs "$symfs" --plot p.svg --top 1 uniform.vt
t_is "has a dot for each instruction" "$(grep -o 'M[0-9. ]*h0' p.svg | wc -l)" "$(vtrace dump -k PAIRSTAT uniform.sums | wc -l)"
t_ok "beside the code" vlist --symfs "$symfs" --pairs -i uniform.sums
t_like "with value, error and pairs" '^ *wasted +error +pairs +address' "$T_OUT"
vlist --symfs "$symfs" --pairs --all --json uniform.sums >all.json
t_is "all pairs are in some procedure" \
	"$(jq '[.rows[].metrics[]?.pairs // 0] | add' all.json)" "$(jq '.pairs * 2' by.json)"
vpair --split 'events & taken' --symfs "$symfs" uniform.vt >split.sums
t_ok "sides of a split" vlist --symfs "$symfs" --pairs --asm -i split.sums
t_like "are columns" 'wasted, events & taken.*error.*pairs' "$T_OUT"

# ---- options ----

t_status "no such metric" 2 vpair --metric waste uniform.vt
t_like "says so" "^vpair: --metric: column 1: a pair has no field 'waste'" "$T_ERR"
t_status "no cycles" 2 vpair --metric ipc:x uniform.vt
for metric in ipc retire-within; do
	t_status "no cycles of $metric" 2 vpair --metric $metric uniform.vt
	t_like "says so" "^vpair: --metric: '$metric' lacks a number of cycles: $metric:N" "$T_ERR"
done
t_status "fields of no side" 2 vpair --metric 'lat_exec > 3' uniform.vt
for option in --where --split; do
	t_status "$option of a pair" 2 vpair $option '1.lat_exec > 3' --top 1 uniform.vt
	t_like "says what is expected" "$option: column 1: '1.lat_exec' is of a pair of samples, which vpair --metric has: of one record, write 'lat_exec'" "$T_ERR"
done
t_status "in the middle" 2 vpair --where 'ip == 2.5 || 2.events & load' --top 1 uniform.vt
t_like "it is found" "column 14: '2.events' is of a pair" "$T_ERR"
t_status "a condition on no field" 2 vpair --split 'lat_exe > 3' --top 1 uniform.vt
t_status "a picture of another metric" 2 vpair --metric ipc:4 --plot p.svg uniform.vt
t_status "two forms" 2 vpair --json --csv uniform.vt
t_status "samples without pairs" 3 vpair --symfs "$symfs" --top 1 "$ROOT/tests/data/demo/perf.data"
t_like "says what makes them" 'no pairs of samples \(vsim' "$T_ERR"
t_status "samples of an unknown processor" 3 vpair -o none.vt <(make 'EVENT id=5 name=cycles' 'SAMPLE event=5 ip=1')
t_like "that make no pairs" 'no pairs of samples \(vsim' "$T_ERR"
for form in --top=2 --output=none.vt; do
	t_status "$form of sums" 3 vpair "$form" uniform.sums
	t_like "says what they are" 'no pairs of samples, but sums of them: vlist --pairs lists these' "$T_ERR"
	t_status "$form of merged sums" 3 vpair "$form" merged.vt
	t_like "says what these are" 'no pairs of samples, but sums of them' "$T_ERR"
done
vtrace merge -o counts.vt uniform.vt weighted.vt
t_status "samples that were counted" 3 vpair --top 2 counts.vt
t_like "says so" 'no pairs of samples, but counts of samples: run vpair on each stream' "$T_ERR"
t_status "no samples at all" 3 vpair --top 2 "$orders"
t_like "says what makes them" 'no pairs of samples \(vsim' "$T_ERR"
t_status "sums of nothing" 3 vlist --pairs uniform.vt
t_like "says what makes them" 'no sums of pairs \(vpair makes them\)' "$T_ERR"
t_status "with another listing" 2 vlist --pairs --values uniform.sums
for w in 29 31; do
	t_status "a window of $w" 2 vpair --window $w --top 1 order.vt
	t_like "is not that of the stream" "--window $w: its pairs are up to 30 instructions apart" "$T_ERR"
done
t_ok "that of the stream" vpair --window 30 --top 1 order.vt
# A stream that tells no window, or none that can be.
plain="SAMPLE pid=1 tid=1 event=5 period=100 pm_has=$(((1 << 22) - 1)) events_told=3 events=1"
for window in none 0 x 1e30; do
	make "META key=vsim.$([ $window = none ] && echo ways || echo window) value=$window" 'META key=cpu.model value=alpha21264' \
		'EVENT id=5 name=profileme policy=4' "$plain ip=1 pair=1 pair_weight=1" \
		"$plain ip=2 pair=2 pair_distance=3 pair_cycles=1 pair_weight=1" >other.vt
	t_ok "a window where the stream tells $window" vpair --window 7 -o other.sums other.vt
	t_is "takes its place" "$(vtrace dump -k META -F key,value other.sums | grep vsim.window)" "$(printf 'vsim.window\t7')"
done
vsim -m skylake --profileme 300 --pairs 20 --symfs "$symfs" -o short.vt "$orders" 2>/dev/null
t_ok "of what is in progress" vpair --top 1 short.vt
t_like "is told" 'of what overlaps is in the last tenth of the window of 20 instructions' "$T_ERR"

# ---- what cannot be used ----

# make_samples FIELDS...: a stream with a pair that is as it should be, and one sample for each word.
events='events_told=3 events=1 lat_map=1 lat_ready=1 lat_issue=1 lat_exec=1 lat_retire=1 lat_total=5'
has=$(((1 << 22) - 1))
make_samples()
{
	local one="SAMPLE pid=1 tid=1 event=5 period=100 pm_has=$has $events"
	local f lines=()
	for f; do lines+=("$one $f"); done
	make 'META key=vsim.window value=10' 'META key=cpu.model value=alpha21264' 'EVENT id=5 name=profileme policy=4' \
		"$one ip=1 pair=1 pair_weight=1" "$one ip=2 pair=2 pair_distance=3 pair_cycles=1 pair_weight=1" \
		"${lines[@]}" >bad.vt
}
check()
{
	local name=$1 status=$2 text=$3
	shift 3
	make_samples "$@"
	t_status "$name" "$status" vpair -o bad.sums bad.vt
	t_like "$name: is told" "$text" "$T_ERR"
	t_is "$name: the rest is used" "$(vtrace dump -k PAIRSTAT -F pairs bad.sums 2>/dev/null | awk '{ n += $1 } END { print n }')" \
		"${pairs:-2}"
}
first='ip=1 pair=1 pair_weight=1'
check "a lost second half" 1 '1 sample has no second one: not used' "$first" "$first"
check "a lost first half" 1 '1 sample has lost the one before it' 'ip=2 pair=2 pair_distance=3 pair_weight=1' "$first"
check "a third one of a pair" 1 '1 sample is one too many of its group' 'ip=3 pair=3 pair_distance=4 pair_weight=1'
check "another process" 0 '1 pair is of two processes, threads or events' "$first" 'pid=2 ip=2 pair=2 pair_distance=3 pair_weight=1'
check "another event" 0 '1 pair is of two processes, threads or events' "$first" 'event=6 ip=2 pair=2 pair_distance=3 pair_weight=1'
for w in 0 -1 nan inf; do
	check "weight $w" 1 '1 pair has no weight above 0' "$first" "ip=2 pair=2 pair_distance=3 pair_weight=$w"
done
for d in 0 11 18446744073709551615; do
	check "distance $d" 1 '1 pair is 0 or more than the window apart' "$first" "ip=2 pair=2 pair_distance=$d pair_weight=1"
done
check "no period" 1 '1 pair has no period' "period=0 $first" 'ip=2 pair=2 pair_distance=3 pair_weight=1'
check "a counter that stopped" 0 '2 halves of pairs are not used, as a counter had stopped' \
	"pm_least=$((1 << 3)) $first" 'ip=2 pair=2 pair_distance=3 pair_weight=1'
check "latencies that are not known" 0 '2 halves of pairs are not used, as samples do not tell enough' \
	"pm_has=$((has & ~(1 << 3))) $first" 'ip=2 pair=2 pair_distance=3 pair_weight=1'
t_status "no window" 3 vpair -o bad.sums <(make 'META key=cpu.model value=alpha21264' "SAMPLE event=5 pm_has=$has pair=1")
t_like "is told" 'does not tell how far pairs are apart at most: --window' "$T_ERR"
t_status "no machine" 3 vpair -o bad.sums <(make 'META key=vsim.window value=3' "SAMPLE event=5 pm_has=$has pair=1")
t_like "is told, too" 'no model is known for its processor: name one with --model' "$T_ERR"

for f in x=nan x2=-1 y=inf y2=-inf xy=nan; do
	make 'IMAGE id=1 path=/a' "PAIRSTAT image=1 offset=16 metric=wasted pairs=3 x=9 x2=30 y2=1 $f" \
		'PAIRSTAT image=1 offset=16 metric=wasted pairs=3 x=9 x2=30' >bad.sums
	t_status "merged sums with $f" 1 vtrace merge -o got.vt bad.sums
	t_is "are left out" "$(vtrace dump -k PAIRSTAT -F pairs,x got.vt 2>/dev/null)" "$(printf '3\t9')"
	t_status "listed sums with $f" 1 vlist --pairs bad.sums
	t_like "are told" '1 PAIRSTAT record cannot be: left out' "$T_ERR"
done

# ---- what does not add up ----

vpair -o all.sums uniform.vt
vpair -o never.sums --learn never uniform.vt
vpair -o wide.sums --model skylake uniform.vt
t_is "how it was made is told, once" "$(vtrace dump -k META -F key,value all.sums | grep ^vpair | sort | tr '\t\n' '= ')" \
	"vpair.learn=weighted vpair.model=alpha21264 "
t_status "sums, and pairs" 3 vtrace merge -o sum.vt all.sums uniform.vt
t_like "are not added" "uniform.vt: its samples of pairs of 'profileme' do not .* sums of pairs of all.sums: vpair makes" "$T_ERR"
t_status "in the other order" 3 vtrace merge -o sum.vt uniform.vt all.sums
vsim -m alpha21264 --profileme 300 --symfs "$symfs" -o single.vt "$orders" 2>/dev/null
t_ok "sums, and samples of no pairs" vtrace merge -o sum.vt all.sums single.vt
# refused NAME WHY: beside sums of all, those of another choice are not added, in any order.
refused()
{
	t_status "beside $1" 3 vtrace merge -o sum.vt all.sums "$1"
	t_like "is refused" "$1: its sums of pairs are of another $2" "$T_ERR"
	t_status "in the other order" 3 vtrace merge -o sum.vt "$1" all.sums
	t_ok "alone" vtrace merge -o sum.vt "$1" "$1"
	t_status "and after a merge" 3 vtrace merge -o sum2.vt sum.vt all.sums
}
refused never.sums "way to learn what to expect .META vpair.learn"
refused wide.sums "model of slots and units .META vpair.model"
refused some.sums "choice of samples .META where"

# ---- sums of several events ----

sum='PAIRSTAT image=1 offset=16 metric=wasted pairs=3 x=9 x2=30'
make 'EVENT id=1 name=a' 'EVENT id=2 name=b' 'IMAGE id=1 path=/a' "$sum event=1" "$sum event=2 pairs=5" >two.sums
t_status "a listing of two events" 3 vlist --pairs --all --csv two.sums
t_like "one is to be chosen" 'pairs of more than one event: --event names one' "$T_ERR"
for e in a=3 b=5; do
	t_ok "one of them" vlist --pairs --all --csv -e ${e%=*} two.sums
	t_is "is listed" "$(awk -F , 'NR == 2 { print $5 }' "$T_OUT")" ${e#*=}
done
t_status "an event that is not there" 2 vlist --pairs --all -e c two.sums
t_like "it is named" "no event of pairs is 'c'" "$T_ERR"

head -c 20000 uniform.vt >cut.vt
t_status "a stream that is cut" 1 vpair -o cut.sums cut.vt
t_is "what there is" "$(($(vtrace dump -k PAIRSTAT cut.sums 2>/dev/null | wc -l) > 0))" 1
t_status "the sums of that" 1 vlist --pairs cut.sums

t_done
