#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# AMD's instruction-based sampling: every bit of the registers against the text of perf, published
# registers of real machines, and registers that are cut, odd or not valid.

. "$(dirname "$0")/../lib.sh"

FIELDS=events_told,events,pm_least,addr,phys_addr,data_page_size,code_page_size,lat_fetch,lat_map,lat_ready
FIELDS=$FIELDS,lat_issue,lat_exec,lat_retire,lat_load,lat_tlb,lat_total,lat_dispatch,source,open_misses,width
FIELDS=$FIELDS,target,history,history_n,trap,pair,pair_distance,pair_cycles,pair_weight

# CAPS, "-4" if the file says so, CPUID
against_perf()
{
	local caps=$1 zen4=$2 cpuid=$3

	"$PYTHON" "$ROOT/tests/ibs_table.py" "$caps" |
		"$PYTHON" "$ROOT/tests/mkibs.py" ${zen4:+"$zen4"} -c "$cpuid" ibs.data
	perf report -D -i ibs.data >perf.txt 2>/dev/null
	vtrace decode ibs.data | vtrace dump --json -k SAMPLE -F "$FIELDS" >ours.json
	t_is "registers of $cpuid are read as perf reads them" \
		"$("$PYTHON" "$ROOT/tests/ibs_check.py" perf.txt ours.json 2>&1)" 5920
}

if command -v perf >/dev/null; then
	against_perf fff -4 AuthenticAMD,25,17,1
	against_perf 3ff '' AuthenticAMD,23,49,0
	against_perf 7ff '' AuthenticAMD,25,1,1
else
	t_skip "registers are read as perf reads them" "perf is not installed"
fi

# Registers that kernel developers have published, with what they said of them.
if [ -e "$VT_DATA/ibs-spe/ibs-op.data" ]; then
	vtrace decode "$VT_DATA/ibs-spe/ibs-op.data" |
		vtrace dump -F lat_dispatch,lat_retire,events,source,width,open_misses,lat_load,addr >got
	cat >want <<'END'
597	1	retired|dcache_miss|l2_miss|l3_miss|store|microcode|remote	dram-far	32	12		0xff110008a5398920
113	2	retired|dcache_miss|l2_miss|l3_miss|load	peer-near	8	7	104	0x0
11	2	retired|store	l1	4			0x0
END
	sed -i 's/\t0x0$/\t/' want got
	t_same "published micro-ops" got want
else
	t_skip "published micro-ops" "no optional test data"
fi
"$PYTHON" "$ROOT/tests/mkibs.py" -4 fetch.data <<'END'
fetch 3ff 02170007ffffffff 56016b2ead40 115cedfd40 0
fetch fff 3c1f00c700080008 56016b2ead40 115cedfd40 0
END
vtrace decode fetch.data | vtrace dump -F ip,lat_fetch,events,phys_addr >got
printf '%s\t%s\t%s\t%s\n' 0x56016b2ead40 7 '' 0x115cedfd40 \
	0x56016b2ead40 199 'icache_miss|l2_miss|l3_miss' 0x115cedfd40 >want
t_same "published fetches" got want

# The raw bytes stay, with or without what they say.
vtrace decode fetch.data | vtrace dump -k SAMPLE -F raw >with
vtrace decode --no-decode-raw fetch.data >plain.vt
t_same "raw bytes are kept" <(vtrace dump -k SAMPLE -F raw plain.vt) with
t_is "alone if asked for" "$(vtrace dump -k SAMPLE plain.vt | grep -c pm_has)" 0
t_ok "info of both" vtrace info fetch.data
t_like "counts the fields" '^ *2 +- +0  lat_fetch +ibs_fetch/rand_en=1/$' "$T_OUT"
t_like "and events" '^ *2 +1 +-  icache_miss +ibs_fetch/rand_en=1/$' "$T_OUT"
t_like "names events by their PMU" '^ +0 +0  cycles +dispatch +ibs_op//$' "$T_OUT"
t_like "and says what they count" '^ +2 +200000  fetches +dispatch +ibs_fetch/rand_en=1/$' "$T_OUT"
"$PYTHON" "$ROOT/tests/mkibs.py" -u uops.data <<<'op 1ff 60000 401234 100200003 0 1 0 0'
vtrace decode uops.data | vtrace dump -k EVENT -F name,unit >got
printf '%s\t%s\n' ibs_op/cnt_ctl=1/ micro-ops ibs_fetch/rand_en=1/ fetches >want
t_same "micro-ops, if the event counts those" got want
t_ok "also as JSON" vtrace info --json fetch.data
t_is "with the same numbers" "$("$PYTHON" -c '
import json, sys
f = json.load(open(sys.argv[1]))["followed"]
print([(e["told"], e["happened"]) for e in f[0]["events"] if e["name"] == "icache_miss"],
      [x["samples"] for x in f[0]["fields"] if x["name"] == "lat_fetch"])' "$T_OUT")" '[(2, 1)] [2]'

# Registers that are missing, that hold no sample, or no address.
valid='60000 401234 100200003 0 1 0 0'
"$PYTHON" "$ROOT/tests/mkibs.py" good.data <<<"op 1ff $valid"
t_ok "the registers that every processor has" vtrace decode good.data -o good.vt
"$PYTHON" "$ROOT/tests/mkibs.py" odd.data <<<"raw op ff010000
op 1ff $valid
op 1ff ${valid% *}
raw fetch ff0100000000000000000300
op fff $valid
op 1ff 20000 401234 0 0 0 0 0
fetch 1ff 1000000000000 401234 0
op 1ff 60000 401234 4000000000 0 0 0 0"
t_status "damaged registers are reported" 1 vtrace decode odd.data -o odd.vt
t_is "every sample is there" "$(vtrace dump -k SAMPLE -F events odd.vt 2>/dev/null | wc -l)" 8
t_is "those that can be read are" "$(vtrace dump -k SAMPLE -F events odd.vt 2>/dev/null | grep -c retired)" 3
t_run vtrace info odd.vt
t_like "cut ones are counted" '^ +1 +3 +0 +samples whose IBS registers are cut$' "$T_OUT"
t_like "as are those without a sample" '^ +1 +2 +0 +samples whose IBS registers are not valid$' "$T_OUT"
t_like "and those whose address is the interrupt's" '^  ibs.no_rip: 1$' "$T_OUT"
t_done
