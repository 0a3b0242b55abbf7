#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# EVSTAT, PATH and PAIRSTAT records that contradict themselves, or whose numbers cannot be: merging
# and listing leave them out, say so, and use the others.

. "$(dirname "$0")/../lib.sh"

make_tool=$VT_BUILD/tests/tools/stream_make
[ -x "$make_tool" ] || t_skip_all "no stream_make"
make() { printf '%s\n' "$@" | "$make_tool"; }

events='EVENT id=1 name=ibs_op policy=0'
image='IMAGE id=1 path=/no/such/file'
# lat_load of 3 samples, two of which have it: 4 and 6 cycles, periods of 10.
evstat='EVSTAT image=1 offset=16 event=1 what=38 method=followed k=20 sum=100 sum2=520 samples=3 had=2 variance=5200 bins=4,1,6,1'
path='PATH event=1 image=1 offset=16 method=4 branches=2 samples=3 executions=30 probability=.5 images=1,1 offsets=16,32'
pairstat='PAIRSTAT image=1 offset=16 event=1 metric=wasted pairs=3 x=9 x2=30'
huge=18446744073709551615

# bad KIND GOOD FIELDS WHAT...: for each WHAT a record that is GOOD but for that, beside one that is good.
bad()
{
	local kind=$1 good=$2 fields=$3 what rows=()
	shift 3
	for what; do rows+=("$good $what"); done
	make "$events" "$image" "$good" >good.vt
	make "$events" "$image" "${rows[@]}" "$good" >bad.vt
	t_status "$kind: bad records beside a good one are merged" 1 vtrace merge -o got.vt bad.vt
	t_like "$kind: all of them are left out, with the file and why" \
		"^vtrace merge: bad.vt: $# bad records, left out; the first, before 0x[0-9a-f]+: (.* )?$kind ." "$T_ERR"
	vtrace merge -o want.vt good.vt
	vtrace dump -k "$kind" -F "$fields" got.vt >got 2>/dev/null
	t_same "$kind: the good one stays what it is" got <(vtrace dump -k "$kind" -F "$fields" want.vt)
}
# listed N COMMAND...
listed()
{
	local n=$1
	shift
	t_status "$*: lists them" 1 "$@" bad.vt
	t_like "$*: says how many are left out" "(^|[^0-9])$n (bad |PATH |PAIRSTAT )?records?" "$T_ERR"
	sed 's/bad\.vt/good.vt/' "$T_OUT" >got
	"$@" good.vt 2>/dev/null >want
	t_same "$*: has the good one" got want
}

bad EVSTAT "$evstat" image,offset,what,k,sum,sum2,samples,had,variance,bins \
	k=nan k=-1 k=inf k=1e300 sum=-inf sum2=nan variance=-1 had=4 least=3 samples=$huge what=31 what=49 \
	what=4294967334 image=4294967297 bins=4 bins=6,1,4,1 bins=4,1,6,2 bins=4,1,99999,1 bins=4,$huge,6,3
listed 19 vevent --by instruction --top 0 --csv
listed 19 vlist --events --csv --all -i
bad PATH "$path" image,offset,method,branches,samples,executions,probability,images,offsets \
	samples=nan samples=-1 samples=1e300 executions=inf executions=-1 probability=nan probability=-.1 \
	probability=1.1 probability=1e-300 images= offsets=16 offsets=16,32,48 image=4294967297 images=1,4294967297
listed 14 vlist --paths --csv
bad PAIRSTAT "$pairstat" image,offset,event,pairs,x,x2,y,y2,xy,value,low,high \
	x=nan x2=-1 y=inf y2=-inf xy=nan x=1e300 image=4294967297 pairs=$huge
listed 8 vlist --pairs --csv

# What a later version may write, and places of no image, are no damage.
for what in method=99 image=77 image=4294967295 offset=$huge; do
	make "$events" "$image" "$evstat $what" "$evstat" "$path $what" "$path" "$pairstat $what" "$pairstat" >odd.vt
	t_ok "$what: merging" vtrace merge -o got.vt odd.vt
	t_ok "$what: estimates" vevent --by instruction --top 0 --csv got.vt
	t_unlike "$what: no number that is none" '(nan|inf)' "$T_OUT"
	t_ok "$what: paths" vlist --paths --csv got.vt
	t_ok "$what: pairs" vlist --pairs --csv got.vt
done

# The largest that pass stay finite in the sum of many.
make "$events" "$image" "$evstat k=1e140 sum=1e140 sum2=1e140 variance=1e140" \
	"$path samples=1e140 executions=1e140 probability=1" "$pairstat x=1e70 x2=1e140" >large.vt
t_ok "large numbers add up" vtrace merge -o sum.vt large.vt large.vt large.vt
{
	vtrace dump -k EVSTAT -F k,sum,sum2,variance sum.vt
	vtrace dump -k PATH -F samples,executions,probability sum.vt
	vtrace dump -k PAIRSTAT -F x,x2,value sum.vt
} >text
t_is "all of them" "$(wc -l <text)" 3
t_unlike "and are finite" '(inf|nan)' text

# What a simulator made is of no real machine, and this of none that is simulated.
model='META key=cpu.model value=zen3'
refused()
{
	t_status "$1 and $2" 3 vtrace merge -o sum.vt "$1" "$2"
	t_like "both are named" "$2: its $3" "$T_ERR"
}
make "$events" "$image" "$evstat" >evstat.real
make "$model" "$events" "$image" "$evstat" >evstat.simulated
make "$events" "$image" "$pairstat method=5" >pairstat.real
make "$model" "$events" "$image" "$pairstat method=5" >pairstat.simulated
for k in evstat:estimates "pairstat:sums of pairs"; do
	kind=${k%:*} what=${k#*:}
	refused "$kind.simulated" "$kind.real" \
		"$what are of a real machine .META cpu.model., unlike the $what of $kind.simulated"
	refused "$kind.real" "$kind.simulated" \
		"$what are of a simulated machine .META cpu.model., unlike the $what of $kind.real"
	make "$model" "$events" "$image" 'SAMPLE event=1' >samples.simulated
	t_ok "samples of another machine" vtrace merge -o sum.vt samples.simulated "$kind.real"
	refused sum.vt "$kind.simulated" "$what are of a simulated"
	make "$events" "$image" 'SAMPLE event=1' >samples.real
	t_ok "in the other order" vtrace merge -o sum.vt samples.real "$kind.simulated"
	refused sum.vt "$kind.real" "$what are of a real"
done
refused evstat.simulated pairstat.real "sums of pairs are of a real machine .*, unlike the estimates of evstat"

# Cut anywhere.
make "$events" "$image" "$evstat" "$evstat offset=17" "$path" "$path offset=17" "$pairstat" "$pairstat offset=17" >whole.vt
size=$(stat -c %s whole.vt)
for ((n = size - 1; n > 200; n -= 61)); do
	head -c "$n" whole.vt >cut.vt
	vtrace merge -o got.vt cut.vt 2>err
	case $? in
	1 | 3) ;;
	*)
		t_fail "cut after $n bytes" "$(cat err)"
		break
		;;
	esac
done
t_is "a stream that is cut is merged as far as it goes" "$((n <= 200))" 1
t_done
