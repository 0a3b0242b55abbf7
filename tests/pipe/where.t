#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# --where of vtrace dump, vprof and vhot: which records pass, what is said of those that do not, and
# errors; and random expressions against an evaluator of their own, tests/where_oracle.py.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo
make=$VT_BUILD/tests/tools/stream_make
cd "$T_DIR" || exit 1

# Samples 1 to 5: a long load, a short one, one whose counter stopped, one without, and one that
# does not tell of misses. events: 0x1 retired, 0x8 dcache_miss; pm_has: 0x1 events, 0x80 lat_load,
# 0x800 source.
cat >samples <<'END'
EVENT name=cycles policy=precise precise=2
EVENT id=1 name=other policy=interrupt
SAMPLE has=0x40 id=1 ip=0x1000 pid=7 period=10 pm_has=0x881 events_told=9 events=9 lat_load=300 source=9
SAMPLE has=0x40 id=2 ip=0x1000 pid=7 period=10 pm_has=0x881 events_told=9 events=9 lat_load=100 source=10
SAMPLE has=0x40 id=3 ip=0x2000 pid=7 period=10 pm_has=0x81 pm_least=0x80 events_told=9 events=9 lat_load=150
SAMPLE has=0x40 id=4 ip=0x2000 pid=7 period=10 pm_has=0x1 events_told=9 events=1
SAMPLE has=0x40 id=5 ip=0x2000 pid=7 period=10 pm_has=0x81 events_told=1 events=1 lat_load=300
END
"$make" <samples >samples.vt

picks()
{
	t_ok "$1" vtrace dump -F id --where "$1" samples.vt
	t_is "$1: these" "$(paste -sd ' ' <"$T_OUT")" "$2"
	t_is "$1: said" "$(cat "$T_ERR")" "vtrace dump: $3"
}

picks 'lat_load > 200 && events & dcache_miss' 1 \
	'1 of 5 records pass --where; of 2 it is not known'
picks 'lat_load > 140' '1 3 5' '3 of 5 records pass --where; of 1 it is not known'
picks '!(lat_load > 200)' 2 '1 of 5 records pass --where; of 2 it is not known'
picks 'events & (retired | dcache_miss)' '1 2 3 4 5' '5 of 5 records pass --where'
picks 'source == dram || source == dram_far' '1 2' '2 of 5 records pass --where; of 3 it is not known'
picks '!has(lat_load)' 4 '1 of 5 records pass --where'
picks 'ip & 0xfff == 0 && ip >> 12 == 2' '3 4 5' '3 of 5 records pass --where'

t_ok "without --fields, records of the kinds that have the fields" \
	vtrace dump --where 'policy == precise && name == "cycles" || id == 1' samples.vt
t_is "those" "$(cut -f 1-3 "$T_OUT")" $'EVENT\tname=cycles\tpolicy=precise\nEVENT\tid=1\tname=other'
t_ok "of the kinds of -k" vtrace dump -k EVENT,SAMPLE --where 'id >= 1 && id % 2 == 1' --json samples.vt
t_is "as JSON, too" "$(jq -r '.kind + " " + (.id | tostring)' <"$T_OUT" | paste -sd ,)" \
	"EVENT 1,SAMPLE 1,SAMPLE 3,SAMPLE 5"
t_ok "no more than -n" vtrace dump -n 2 -F id --where 'id > 2' samples.vt
t_is "of those that pass" "$(paste -sd ' ' <"$T_OUT")" "3 4"

t_status "nothing passes" 3 vtrace dump -F id --where 'id == 6' samples.vt
t_is "which is said" "$(cat "$T_ERR")" "vtrace dump: 0 of 5 records pass --where"
t_ok "kinds without the fields" vtrace dump -k EVENT,SAMPLE --where 'lat_load == 100' samples.vt
t_is "are counted" "$(cat "$T_ERR")" "vtrace dump: 1 of 5 records pass --where; of 1 it is not known; 2 of kinds without its fields are left out"
printf 'EVENT name=x\n' | "$make" >event.vt
t_status "only such" 3 vtrace dump -k EVENT,SAMPLE --where 'lat_load == 100' event.vt
t_like "is said" ': 0 of 0 records pass --where; 1 of kinds without its fields are left out$' "$T_ERR"
t_ok "there was nothing to pick from" vtrace dump -k SAMPLE --where 'lat_load == 100' event.vt
t_is "so nothing is said" "$(cat "$T_ERR")" ""

# ---- names of events ----

cat >events <<'END'
EVENT name=cycles:u
EVENT id=1 name=ibs_op//
SAMPLE id=1
SAMPLE id=2 event=1
SAMPLE id=3 event=9
EVENT id=1 name=other
SAMPLE id=4 event=1
COUNT event=1 samples=3
END
"$make" <events >events.vt
by_event()
{
	t_ok "$1" vtrace dump -F id --where "$1" events.vt
	t_is "$1: these" "$(paste -sd ' ' <"$T_OUT"), $(cut -d' ' -f3- "$T_ERR")" "$2"
}
by_event 'event == "cycles:u"' "1, 1 of 4 records pass --where; of 1 it is not known"
by_event 'event == "ibs_op//"' "2, 1 of 4 records pass --where; of 1 it is not known"
by_event 'event != "ibs_op//"' "1 4, 2 of 4 records pass --where; of 1 it is not known"
t_ok "also of counts" vtrace dump -k COUNT --where 'event == "other"' events.vt
t_is "these" "$(wc -l <"$T_OUT")" 1
t_ok "a profile of one event" vprof --json --where 'event == "cycles:u"' events.vt
t_is "has its samples" "$(jq -c .where <"$T_OUT")" '{"records":4,"passed":1,"unknown":1}'

# ---- errors ----

wrong()
{
	t_status "refuses $1" 2 vtrace dump --where "$1" samples.vt
	t_is "and says why" "$(cat "$T_ERR")" "vtrace dump: --where: $2"
}

wrong 'lat_load >' 'column 11: an operand is missing at the end'
wrong 'lat_laod > 3' "column 1: SAMPLE has no field 'lat_laod'; did you mean 'lat_load'?"
wrong 'source == drma' "column 11: SAMPLE has no field 'drma'; did you mean 'dram'?"
wrong '1 < lat_load < 3' 'column 14: comparisons do not chain: a < b && b < c'
wrong 'name == "x" && polcy == precise' \
	"column 16: EVENT has no field 'polcy'; did you mean 'policy'?"
wrong 'lat_load > 010' 'column 12: a decimal number does not begin with 0: write 8 or 0x8'
wrong 'name < "x"' 'column 6: texts are compared by == or !='
for program in 'vtrace dump' vprof 'vhot -o twice.vt'; do
	# shellcheck disable=SC2086 # words
	t_status "$program: only once" 2 $program --where 1 --where 1 samples.vt
	t_like "and says how else" ': --where: given twice: join the expressions by &&$' "$T_ERR"
done
t_status "not with --blocks" 2 vtrace dump --blocks --where 1 samples.vt
t_status "vprof refuses a wrong one" 2 vprof --where 'cpu ==' samples.vt
t_like "with the column" 'vprof: --where: column 7: an operand is missing at the end' "$T_ERR"
t_status "and vhot" 2 vhot -o refused.vt --where 'lat_load > 3' samples.vt
t_like "whose records are values" "vhot: --where: column 1: VALUE has no field 'lat_load'" "$T_ERR"

# ---- profiles ----

t_ok "a profile of some samples" vprof --by instruction --where 'lat_load > 140' samples.vt
t_like "says so" '^Not all of the recording: 3 of 5 records pass --where; of 1 it is not known$' "$T_OUT"
t_like "and counts them" 'event type cycles = 3 ' "$T_OUT"
t_is "on standard error, too" "$(cat "$T_ERR")" \
	"vprof: samples.vt: 3 of 5 samples pass --where; of 1 it is not known"
t_ok "in JSON" vprof --json --where 'lat_load > 140' samples.vt
t_is "as an object" "$(jq -c .where <"$T_OUT")" '{"records":5,"passed":3,"unknown":1}'
t_ok "not without" vprof --json samples.vt
t_is "the option" "$(jq -c .where <"$T_OUT")" null
t_status "nothing is left" 3 vprof --where 'lat_load > 1000' samples.vt
t_like "which is said" 'samples.vt: nothing passes --where' "$T_ERR"

# Counts have no fields of samples.
printf 'EVENT name=cycles\nCOUNT samples=3\n' | "$make" >counts.vt
t_status "nothing of sums" 3 vprof --where 'pid == 7' counts.vt
t_like "which are left out" \
	'0 of 0 samples pass --where; 1 records of executed code, sums and estimates are left out' "$T_ERR"

# The demo's samples in a procedure, as the option --symbol picks them.
cp "$demo/perf.data" . && cp -r "$demo/symfs" .
t_ok "samples in a procedure" vtrace dump --symfs symfs -F time --where 'ip in procedure "smoo*"' perf.data
vtrace dump --symfs symfs -F time --symbol 'smoo*' perf.data >by-symbol 2>/dev/null
t_same "as --symbol picks them" "$T_OUT" by-symbol
t_is "which are many" "$(wc -l <by-symbol)" 1117
t_status "none outside of the image" 3 vprof --where '!(ip in image "heat")' perf.data
t_ok "samples in an image" vprof --symfs symfs --csv --where 'ip in image "heat"' perf.data
vprof --symfs symfs --csv --dso heat perf.data >by-dso 2>/dev/null
t_same "as --dso picks them" "$T_OUT" by-dso

t_ok "perf's form" vprof --style perf --symfs symfs --where 'ip in procedure "smooth"' perf.data
t_like "says it, too" '^# 1117 of 3642 records pass --where$' "$T_OUT"

# ---- values ----

cat >values <<'END'
IMAGE id=1 path=/bin/x
MAP pid=7 start=0x1000 length=0x1000 image=1 prot=5
VALUE pid=7 ip=0x1000 what=load size=8 value=5
VALUE pid=7 ip=0x1000 what=load size=8 value=6
VALUE pid=7 ip=0x1000 what=result size=8 value=5
END
"$make" <values >values.vt
t_ok "some values" vhot --where 'what == load && value & 1' -o hot.vt values.vt
t_is "which it says" "$(cat "$T_ERR")" "vhot: values.vt: 1 of 3 values pass --where"
t_ok "make the lists" vtrace dump -k HOT -F what,total,values hot.vt
t_is "of them" "$(cat "$T_OUT")" $'load\t1\t0x5'
t_ok "and the stream tells" vtrace dump -k META -F value --where 'key == "where"' hot.vt
t_is "what they are of" "$(cat "$T_OUT")" \
	"1 of 3 pass, 0 unknown, VALUE: what == load && value & 1"
t_ok "to those who read it" vinv --json hot.vt
t_like "on standard error" '^vinv: hot.vt: of a program before: 1 of 3 records pass --where$' "$T_ERR"
t_is "and in JSON" "$(jq -c .where <"$T_OUT")" '{"records":3,"passed":1,"unknown":0}'

# ---- random expressions ----

"$PYTHON" "$ROOT/tests/where_oracle.py" make 300 | "$make" >random.vt
t_ok "random expressions pick what they should" "$PYTHON" "$ROOT/tests/where_oracle.py" check random.vt 150
t_like "of many samples" '^150 expressions, 300 samples: [0-9]{4,} picked, [0-9]{4,} unknown$' "$T_OUT"

t_done
