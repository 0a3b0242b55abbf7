#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What --json prints, of every program and listing: the schema and the members are those that the
# section JSON of vtrace(1) lists, each program's own page names its schemas, and keys never are
# names of events or files.
. "$(dirname "$0")/../lib.sh"
t_need jq

demo=$ROOT/tests/data/demo
symfs=$demo/symfs
cp "$demo/orders.vt" o.vt
ln -s "$demo/perf.data" p.data
{
	vtrace decode p.data -o x.vt
	vtrace decode "$demo/regs.data" -o r.vt
	vsim -m alpha21164 -S cycles:500 --truth truth.vt o.vt -o s.vt
	vfreq --symfs "$symfs" s.vt -o f.vt
	vculprit --symfs "$symfs" f.vt -o c.vt
	vhot o.vt -o h.hot
	vtrace merge h.hot -o i.hot
	vreplay o.vt -o p.vt
	vsim -m skylake --profileme 50 o.vt -o e.vt
} 2>/dev/null

# The table of vtrace(1): a schema, then its members; those in parentheses need not be there.
awk '/^\.Sh / { on = $2 == "JSON" } on && /^\.It Sy / { name = $3; next }
	on && /^\.El/ { name = "" }
	on && name != "" { gsub(/,/, ""); print name, $0 }' "$ROOT/man/vtrace.1" |
	awk '{ n = $1; $1 = ""; m[n] = m[n] $0 } END { for (n in m) print n m[n] }' | sort >table
# fits SCHEMA FILE: its members are in the table, and all that must be there are.
fits()
{
	local schema=$1 file=$2
	[ "$(jq -r .schema "$file" | sort -u)" = "$schema" ] || return 1
	[ "$(jq -r 'keys_unsorted[0]' "$file" | sort -u)" = schema ] || return 1
	sed -n "s|^$schema ||p" table | tr ' ' '\n' >members
	jq -r 'keys_unsorted[]' "$file" | grep -vx schema | sort -u >got
	tr -d '()' <members | sort >may
	grep -v '(' members | sort >must
	grep -qx fields may || [ -z "$(comm -23 got may)" ] || return 1
	grep -qx fields may || [ -z "$(comm -13 got must)" ]
}
# No key is an event's, a file's or a procedure's name.
cat >keys.py <<'END'
import json, re, sys
# Names of processors' facts, of kinds of records and values, and of PT's packets are fixed words.
NAMES = re.compile(r"cpu-clock|page-faults|\.vt\b|\.hot\b|/|smooth|^\d+$")
def walk(v, where):
    if isinstance(v, dict):
        for k, w in v.items():
            assert not NAMES.search(k) or where.endswith(("errors", "within")), (where, k)
            walk(w, where + "." + k)
    elif isinstance(v, list):
        for w in v:
            walk(w, where)
    elif isinstance(v, str):
        # Numbers are numbers; text that begins like one is a name, a hash or source text.
        assert not re.fullmatch(r"<?-?\d+(\.\d+)?%?( \*)?", v) or where.endswith(TEXT), (where, v)
TEXT = (".value", ".code", ".buildid", ".text", ".version", ".args", ".name", ".data")
for line in open(sys.argv[1]) if sys.argv[2:] else [open(sys.argv[1]).read()]:
    walk(json.loads(line), "")
END

seen=()
# json SCHEMA PROGRAM...
json()
{
	local schema=$1
	shift
	seen+=("$schema")
	"$@" >out.json 2>/dev/null
	if fits "$schema" out.json; then
		t_pass "$*: $schema"
	else
		t_fail "$*: $schema" "$(head -c 300 out.json; cat got)"
	fi
	case $schema in
	vtrace-dump/1 | vdb-add/1) set -- lines ;;
	*) set -- ;;
	esac
	t_ok "$schema: keys are no names, numbers no text" "$PYTHON" keys.py out.json "$@"
}

json vprof/1 vprof --symfs "$symfs" --json x.vt
json vprof/1 vprof --symfs "$symfs" --by instruction --json f.vt
json vprof-diff/1 vprof --symfs "$symfs" --diff --json x.vt x.vt
json vprof-diff/1 vprof --symfs "$symfs" --diff --check 5 --json --before x.vt --before x.vt x.vt x.vt
for view in children callers callees tree; do
	json vprof-$view/1 vprof --symfs "$symfs" --$view --json r.vt
done
json vlist/1 vlist --symfs "$symfs" --json --all -i x.vt
json vlist/1 vlist --symfs "$symfs" --json --values --all -i h.hot
json vlist-diff/1 vlist --symfs "$symfs" --json --diff x.vt -i x.vt smooth
vsim -m skylake --profileme 300 --pairs 80 -o pairs.vt o.vt 2>/dev/null
vpair -o pairs.sums pairs.vt 2>/dev/null
json vpair/1 vpair --symfs "$symfs" --json pairs.vt
json vpair/1 vpair --symfs "$symfs" --json --metric ipc:9 --split 'events & load' --by procedure pairs.vt
json vlist-pairs/1 vlist --symfs "$symfs" --pairs --json -i pairs.sums
json vlist-replay/1 vlist --replay --json -i p.vt
json vlist-summary/1 vlist --symfs "$symfs" --json --summary -i c.vt
json vlist-summary/1 vlist --symfs "$symfs" --json --summary --all -i c.vt
json vlist-calc/1 vlist --symfs "$symfs" --json --calc --top 1 -i c.vt
json vlist-stall/1 vlist --symfs "$symfs" --json --stall dcache -i c.vt
json vlist-events/1 vlist --symfs "$symfs" --json --events -i e.vt
json vevent/1 vevent --symfs "$symfs" --json e.vt
json vevent/1 vevent --symfs "$symfs" --json --by source e.vt
json vevent-histogram/1 vevent --symfs "$symfs" --json --histogram lat_total e.vt
json vinv/1 vinv --symfs "$symfs" --json h.hot
json vinv/1 vinv --symfs "$symfs" --json --summary h.hot
json vinv-curve/1 vinv --symfs "$symfs" --json --curve inv-top h.hot i.hot
json vinv-intervals/1 vinv --symfs "$symfs" --json --intervals 3 --min 1 o.vt
json vcmp/1 vcmp --symfs "$symfs" --json h.hot i.hot
json vcmp/1 vcmp --symfs "$symfs" --json --worst 3 h.hot i.hot i.hot
json vcmp-truth/1 vcmp --symfs "$symfs" --json --truth truth.vt f.vt
json vspec/1 vspec --symfs "$symfs" --json o.vt
json vculprit/1 vculprit --symfs "$symfs" --json f.vt
json vculprit/1 vculprit --symfs "$symfs" --json --truth truth.vt f.vt
vsim -m alpha21264 --symfs "$symfs" --profileme 500 --branches 32 -o paths.s "$demo/orders.vt" 2>/dev/null
json vcoproc/1 vcoproc --program edge --symfs "$symfs" --json --top 3 o.vt
json vcoproc-list/1 vcoproc --list --json
json vcoproc-report/1 vcoproc --program edge --report --json o.vt
json vcoproc-report/1 vcoproc --program edge --report --json
json vpath/1 vpath --symfs "$symfs" --json --top 2 paths.s
json vpath-truth/1 vpath --symfs "$symfs" --json --truth paths.s
vpath --symfs "$symfs" -o paths.p paths.s 2>/dev/null
json vlist-paths/1 vlist --symfs "$symfs" --json --paths --top 2 paths.p
json vmem/1 vmem --symfs "$symfs" --json "$demo/parcels.vt"
json vmem/1 vmem --symfs "$symfs" --json --layout "$demo/parcels.vt"
json vmem-types/1 vmem --symfs "$symfs" --json --type --layout "$demo/parcels.vt"
json vmem-loads/1 vmem --symfs "$symfs" --json --loads "$demo/parcels.vt"
json vmem-sharing/1 vmem --symfs "$symfs" --json --sharing "$demo/parcels.vt"
json vfreq/1 vfreq --symfs "$symfs" --json s.vt
json vinterp/1 vinterp --symfs "$symfs" --summary --json r.vt
json vinterp-path/1 vinterp --symfs "$symfs" --path --summary --json o.vt
json vreplay/1 vreplay --symfs "$symfs" --summary --json o.vt
json vstats/1 vstats --symfs "$symfs" --json x.vt x.vt
json vdb-add/1 vdb -d d.vdb add --epoch now --json x.vt x.vt
json vdb-list/1 vdb -d d.vdb list --json
json vdb-list/1 vdb -d d.vdb list --by input --json
json vtrace-doctor/1 vtrace doctor --json
"$VT_BUILD/tests/tools/calibration_make" A,1,2,3 cpu-clock calibration.vt
json vtrace-record/1 vtrace record --calibration calibration.vt --json
json vtrace-info/1 vtrace info --json x.vt
json vtrace-info/1 vtrace info --json o.vt
json vtrace-dump/1 vtrace dump -k SAMPLE,MAP,META --json x.vt
json vtrace-dump/1 vtrace dump --blocks -n 50 --json o.vt
json vtrace-dump/1 vtrace dump --values -n 50 --json o.vt

t_is "no schema of the table was forgotten" "$(printf '%s\n' "${seen[@]}" | sort -u)" \
	"$(cut -d ' ' -f 1 table)"
while read -r schema _; do
	case $schema in
	vtrace-*) page=${schema%/*} ;;
	*) page=${schema%%[-/]*} ;;
	esac
	t_ok "$page(1) names $schema" grep -q -w "$schema" "$ROOT/man/$page.1"
done <table
# Every program that has the option was run.
for program in $(cd "$VT_BUILD/bin" && ls); do
	"$program" --help | grep -q -e '--json' || continue
	t_like "$program is in the table" "^${program}[-/]" table
done
t_done
