#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The options that pick samples, in every program that has them: each picks what awk picks of the
# dumped fields, all other records pass, and what cannot be picked is said.

# shellcheck disable=SC2016 # dollars are awk's

. "$(dirname "$0")/../lib.sh"
t_need "$PYTHON"

demo=$ROOT/tests/data/demo
# Two threads of four CPUs and two that change their names; and threads without CPUs.
"$PYTHON" "$ROOT/tests/mkperfdata.py" -n 400 full.data
"$PYTHON" "$ROOT/tests/mkperfdata.py" -s -c 4 -n 400 simple.data
vtrace decode full.data -o full.vt 2>/dev/null
vtrace decode simple.data -o simple.vt
t_ok "the sample trace is decoded" vtrace decode "$demo/perf.data" -o demo.vt

# picks NAME AWK-CONDITION OPTION...: of pid, tid, cpu and ns, in $1 to $4.
picks()
{
	local name=$1 condition=$2
	shift 2
	vtrace dump -F pid,tid,cpu,time full.vt 2>/dev/null | awk "$condition" >want
	vtrace dump -F pid,tid,cpu,time "$@" full.vt >got 2>said
	t_ok "$name: there is something to pick" test -s want
	t_same "$name picks what awk picks" want got
	if ! grep -q "full.vt: $(wc -l <want) of 533 samples are in the slice" said; then
		t_fail "$name says how many" "$(tail -n 1 said)"
	else
		t_pass "$name says how many"
	fi
}

first=$(vtrace dump -F time full.vt 2>/dev/null | head -n 1)
picks "--tid" '$2 == 101' --tid 101
picks "--tid, a list," '$2 == 102 || $2 == 7' --tid 7,102
picks "--cpu" '$3 == 0 || $3 == 2 || $3 == 3' --cpu 0,2-3
picks "--cpu, given twice," '$3 == 0 || $3 == 3' --cpu 0 --cpu 3
picks "--time by the clock" '$4 >= 5100 && $4 <= 6000' --time 0.0000051,0.000006
picks "--time from the first sample" "\$4 <= $first + 1000" --time ,+0.000001
picks "--time to the end" '$4 >= 6000' --time 0.000006,
picks "several options" '$2 == 101 && $3 == 2 && $4 >= 5500' --tid 101 --cpu 2 --time 0.0000055,
picks "--comm" '$2 == 101' --comm prog
picks "--comm, a pattern," '$2 == 102' --comm ':*'

vtrace dump full.vt 2>/dev/null | grep -v '^SAMPLE' >want
vtrace dump --tid 101 full.vt 2>/dev/null | grep -v '^SAMPLE' >got
t_same "all other records pass" want got
vtrace dump --pid 100 -k SAMPLE full.vt >got 2>said
vtrace dump -k SAMPLE full.vt >want 2>/dev/null
t_same "a filter that all samples pass changes nothing" want got
t_unlike "and says nothing" 'in the slice' said
vtrace dump --tid 101 full.data 2>/dev/null >direct
vtrace dump --tid 101 full.vt 2>/dev/null >stream
t_same "a perf.data is sliced like its stream" direct stream

# ---- every program ----

vprof --symfs "$demo/symfs" --symbol smooth --json demo.vt >smooth.json 2>said
t_like "vprof says how many samples are in the slice" '^vprof: demo.vt: 1117 of 3642 samples are in the slice$' said
t_is "vprof --symbol: its samples and no others" \
	"$("$PYTHON" -c 'import json
doc = json.load(open("smooth.json"))
print([e["samples"] for e in doc["events"]], [r["symbol"] for r in doc["rows"]])')" \
	"[1094, 23] ['smooth']"
for program in "vlist --top 1" "vstats demo.vt" "vtrace info"; do
	# shellcheck disable=SC2086 # the words are words
	t_ok "$program --symbol" $program --symfs "$demo/symfs" --symbol smooth demo.vt
	t_like "$program says how many" ': 1117 of 3642 samples are in the slice$' "$T_ERR"
done
t_ok "vfreq --symbol" vfreq --symfs "$demo/symfs" --symbol 'smo*' -o freq.vt demo.vt
t_is "vfreq counts only the samples of the slice" \
	"$(vtrace dump -k COUNT -F samples freq.vt | awk '{ n += $1 } END { print n }')" 1117
vprof --symfs "$demo/symfs" --csv freq.vt >smooth.csv
t_is "and estimates nothing else" "$(awk -F, 'NR > 1 && !/,smooth,/' smooth.csv)" ""
vprof --symfs "$demo/symfs" --symbol smooth freq.vt >text 2>said
t_like "estimates from all samples are left out, and that is said" \
	'[0-9]+ estimates from all of them are left out: vfreq makes them of a slice$' said
t_unlike "no estimate is listed" Estimated text

# Who makes estimates of a slice.
estimates()
{
	printf '%s\n' 'EVENT id=1 name=a' 'IMAGE id=1 path=/a' "${@:3}" | "$VT_BUILD/tests/tools/stream_make" >e.vt
	vlist --symbol smooth e.vt 2>said
	t_like "$1" "^vlist: e.vt: 0 of 0 samples are in the slice; $2\$" said
}
evstat='EVSTAT image=1 event=1' pairstat='PAIRSTAT image=1 event=1' path='PATH event=1'
left='estimates from all of them are left out'
estimates "of events" "1 $left: vevent --where makes them of a slice" "$evstat"
estimates "of pairs" "2 $left: vpair --where makes them of a slice" "$pairstat" "$pairstat"
estimates "of paths there are none" "1 $left" "$path"
estimates "of all" "4 $left: vevent --where, vpair --where and vfreq make them of a slice" \
	"$evstat" "$pairstat" "$path" 'FREQ image=1'
vprof --symfs "$demo/symfs" --image heat --json demo.vt >heat.json
vprof --symfs "$demo/symfs" --dso /opt/vtrace-demo/heat --json demo.vt >dso.json
vprof --symfs "$demo/symfs" --json demo.vt >all.json
t_same "--image with a file name: all of the program" all.json heat.json
t_same "--dso with a path is the same" heat.json dso.json
vtrace decode "$demo/regs.data" -o regs.vt
samples=$(vtrace dump -F time regs.vt | wc -l)
half=$(vtrace dump -F time --time ,+0.5 regs.vt 2>/dev/null | wc -l)
t_pipe "the slice is a part" "[ 0 -lt $half ] && [ $half -lt $samples ]"
t_ok "vinterp --time" vinterp --symfs "$demo/symfs" --time ,+0.5 --summary --json regs.vt
t_is "vinterp takes the samples of the slice" "$(sed -n 's/^ *"samples": \([0-9]*\),*/\1/p' "$T_OUT" | head -n 1)" "$half"
t_ok "vreplay --time" vreplay --symfs "$demo/symfs" --time ,+0.5 --summary regs.vt
t_like "vreplay says how many" ": $half of $samples samples are in the slice$" "$T_ERR"

# ---- groups ----

# groups NAME KEYS AWK-FIELDS: vprof --by KEYS counts what awk counts of the dumped fields.
groups()
{
	vtrace dump -F pid,tid,cpu,time,event full.vt 2>/dev/null |
		awk '{ n[$5 " " '"$3"']++ } END { for (k in n) print n[k], k }' | sort >want
	vprof --by "$2" --json full.vt 2>/dev/null | "$PYTHON" -c 'import json, sys
doc = json.load(sys.stdin)
assert doc["by"] == sys.argv[1]
for r in doc["rows"]:
    for e in r["events"]:
        if e["samples"]:
            print(e["samples"], e["name"], *[r[k] for k in sys.argv[1].split(",")])' "$2" |
		sort >got
	t_ok "$1: there are several" test "$(wc -l <want)" -gt 1
	t_same "$1: the same as by awk" want got
}

groups "by thread" thread '$2'
groups "by process and cpu" process,cpu '$1 " " $3'
groups "by cpu and thread" cpu,thread '$3 " " $2'
vprof --by time --slice 0.000001 --json full.vt 2>/dev/null | "$PYTHON" -c 'import json, sys
for r in json.load(sys.stdin)["rows"]:
    print(r["time"], sum(e["samples"] for e in r["events"]))' | sort >got
vtrace dump -F time full.vt 2>/dev/null |
	awk '{ n[sprintf("0.%06d", $1 / 1000)]++ } END { for (t in n) print t, n[t] }' | sort >want
t_same "by time: slices of a microsecond" want got
vprof --by symbol --json demo.vt >one.json 2>/dev/null
vprof --by procedure --json demo.vt >two.json 2>/dev/null
t_same "symbol is procedure" one.json two.json
vprof --by dso --json demo.vt >one.json 2>/dev/null
vprof --by image --json demo.vt >two.json 2>/dev/null
t_same "dso is image" one.json two.json
vprof --symfs "$demo/symfs" --by comm,dso,sym --csv demo.vt >groups.csv
vprof --symfs "$demo/symfs" --csv demo.vt | cut -d, -f1-6 >want
cut -d, -f1-5,7 groups.csv >got
t_same "a group of all changes no count" want got
t_is "and names itself" "$(cut -d, -f6 groups.csv | sort -u | paste -sd ' ')" "comm heat"
vprof --by comm demo.vt >text
t_like "for people" '^ +3545 +100.00% +±0.13 +100.00% +97 +100.00%  heat$' text
vprof --by source,page --csv full.vt >memory.csv 2>/dev/null
t_like "by where data came from, and its page" ',l1,7fff0000,' memory.csv
t_like "what samples do not have is unknown" ',\[unknown\],7fff0000,' memory.csv
vprof --by thread --csv freq.vt >text
t_like "counts are nobody's" '^1094,100,100,23,100,,' text
for wrong in "--by comm,nothing" "--by line,procedure" "--by ," "--slice 1" "--by comm --diff x.vt" \
	"--by time --slice 0" "--by cpu --slice 1"; do
	# shellcheck disable=SC2086 # the words are words
	t_status "$wrong is wrong usage" 2 vprof $wrong demo.vt
done

# ---- nothing there ----

t_status "nothing in the slice is no input" 3 vprof --pid 99 demo.vt
t_like "and says so" '^vprof: demo.vt: no samples in the slice$' "$T_ERR"
t_status "samples without CPUs are in no slice of CPUs" 3 vprof --cpu 0-9 simple.vt
t_like "and that is said" '^vprof: simple.vt: 0 of 400 samples are in the slice; 400 do not tell their CPU$' "$T_ERR"
for what in --blocks "--blocks --insn" --values; do
	# shellcheck disable=SC2086 # two options
	t_status "nor does dump $what ignore a slice" 2 vtrace dump $what --pid 17474 "$demo/orders.vt"
done
t_status "executed code is not sliced" 3 vprof --pid 17474 "$demo/orders.vt"
t_like "but sampled first" 'no samples to pick: executed code is not sliced' "$T_ERR"
t_status "of two streams, none may be empty" 3 vprof --diff --time ,0.9 demo.vt simple.vt
for wrong in "--time 2,1" "--time 1" "--time 1,+2" "--pid x" "--tid 5-3" "--cpu ," "--comm ,"; do
	# shellcheck disable=SC2086 # the words are words
	t_status "$wrong is wrong usage" 2 vprof $wrong demo.vt
done
t_like "and quotes it" "^vprof: --comm: ',': an empty pattern$" "$T_ERR"
t_done
