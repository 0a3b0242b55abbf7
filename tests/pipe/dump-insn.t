#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace dump --blocks --insn: each instruction that ran, against a reader of the stream that shares no
# code with ours, perf's decoder of Intel PT, and objdump.

. "$(dirname "$0")/../lib.sh"

demo=$ROOT/tests/data/demo
symfs=$demo/symfs

t_ok "the instructions of a recording" vtrace dump --blocks --insn --symfs "$symfs" "$demo/orders.vt"
mv "$T_OUT" all
t_is "as many as it has" "$(wc -l <all)" "$(vtrace info "$demo/orders.vt" | sed -nE 's/.* ([0-9]+) instructions in .*/\1/p' | head -n 1)"
cut -f 3 all | head -n 100000 >got
"$PYTHON" "$ROOT/tests/pt_flow.py" insns "$demo/orders.vt" 2>/dev/null | head -n 100000 | sed 's/^/0x/' >want
t_same "at these addresses" got want
if command -v objdump >/dev/null; then
	objdump -d --no-show-raw-insn "$symfs/opt/vtrace-demo/orders" |
		sed -nE 's/^ +([0-9a-f]+):\t([^#]*).*/0x\1\t\2/p' | sed -E 's/[<>]//g; s/ +$//' |
		sort >listed
	cut -f 3,6 all | sort -u | sed -E 's/ *#.*//; s/[<>]//g' | sort >got
	join -t '	' -o 1.1,1.2 listed <(cut -f 1 got) >want
	t_same "disassembled, as objdump prints them" got want
	t_is "of many kinds" "$(($(wc -l <got) > 150))" 1
else
	t_skip "disassembled, as objdump prints them" "binutils are not installed"
fi
t_is "with names of operands" \
	"$(sed -n '/call/{p;q}' all | cut -f 4-)" "start+0x32	/opt/vtrace-demo/orders	call   401190 <fill>"
cut -f 1,3 all | head -n 1000 >want
vtrace dump --blocks --insn -n 1000 -F tid,ip "$demo/orders.vt" >got 2>/dev/null
t_same "fields of choice" got want
t_is "their names first" "$(vtrace dump --blocks --insn --header -n 1 "$demo/orders.vt" 2>/dev/null | head -n 1)" \
	"# tid	seconds	ip	symoff	dso	insn"
vtrace dump --blocks --insn -n 1000 --json --symfs "$symfs" "$demo/orders.vt" |
	"$PYTHON" -c '
import json, sys
for l in sys.stdin:
    o = json.loads(l)
    assert o.pop("schema") == "vtrace-dump/1"
    print(*o.values(), sep="\t")' >got
head -n 1000 all >want
t_same "the same in JSON" got want
t_is "fields of other sorts" \
	"$(vtrace dump --blocks --insn -n 1 -F comm,pid,sym,image,srcline --symfs "$symfs" "$demo/orders.vt")" \
	"orders	5723	start	/opt/vtrace-demo/orders	orders.c:113"

if command -v perf >/dev/null; then
	t_ok "the same as Intel PT" vtrace encode --perf-data --tsc -o run.data "$demo/orders.vt"
	perf script -i run.data --itrace=i1i -F tid,time,ip,sym,symoff,dso --ns --symfs "$symfs" 2>/dev/null |
		head -n 60000 |
		sed -E 's/^ *([0-9]+) +([0-9.]+): +([0-9a-f]+) (.*) \((.*)\)$/\1\t\2\t0x\3\t\4\t\5/' >want
	vtrace dump --blocks --insn -F tid,seconds,ip,symoff,dso --symfs "$symfs" -n 60000 run.data >got
	t_same "each as perf script prints it" got want
	t_is "and there are some" "$(wc -l <want)" 60000
else
	t_skip "as perf script prints them" "perf is not installed"
fi

pt=$VT_DATA/pt/griffin-ovf-01-poc
if [ -e "$pt/trace" ]; then
	vtrace decode --pages "$pt/pages.dump,$pt/pages.addr" -o griffin.vt "$pt/trace"
	t_ok "a hijacked program's trace" vtrace dump --blocks --insn -F ip,insn griffin.vt
	cut -f 1 "$T_OUT" | sed 's/^0x//' >got
	gzip -dc "$pt/perf61.insn_ips.gz" >want
	t_same "as perf has it" got want
	t_is "all disassembled, by the blocks' code" "$(grep -c 'unknown\|(bad)' "$T_OUT")" 0
else
	t_skip "a hijacked program's trace" "no optional test data"
fi
pt=$VT_DATA/pt/avscript_32
if [ -e "$pt/page_cache.dump" ]; then
	vtrace decode --pages "$pt/page_cache.dump,$pt/page_cache.addr" -o narrow.vt \
		"$pt/failed_trace_12709_1"
	t_is "code of 32 bits" "$(vtrace dump --blocks --insn -n 5 -F insn narrow.vt | tail -n 1)" \
		'mov    %edx,-0x240(%ebp)'
else
	t_skip "code of 32 bits" "no optional test data"
fi

# Damage: what is left is printed.
head -c 20000 "$demo/orders.vt" >cut.vt
t_status "a recording that is cut" 1 vtrace dump --blocks --insn -F ip cut.vt
"$VT_BUILD/tests/tools/stream_mixed" none 6000 >mixed.vt
t_status "a stream of every kind of nonsense" 1 vtrace dump --blocks --insn mixed.vt

t_status "--insn alone" 2 vtrace dump --insn "$demo/orders.vt"
t_like "goes with --blocks" '--insn: goes with --blocks' "$T_ERR"
t_status "fields of blocks" 2 vtrace dump --blocks -F ip "$demo/orders.vt"
t_status "a wrong field" 2 vtrace dump --blocks --insn -F ip,inns "$demo/orders.vt"
t_like "what was meant" "no field 'inns'; did you mean 'insn'\?" "$T_ERR"
t_status "a field of samples" 2 vtrace dump --blocks --insn -F ip,callchainsym "$demo/orders.vt"
t_like "which there are" "'callchainsym' is not one of: pid tid ip sym symoff dso srcline insn comm seconds$" "$T_ERR"
t_done
