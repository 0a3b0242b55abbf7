#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode on raw Intel PT: captures of real hardware, with the counts that libipt's own
# instruction decoder found, and instruction by instruction as perf decoded them. Both engines.

. "$(dirname "$0")/../lib.sh"

t_need_data pt/INDEX.md
pt=$VT_DATA/pt

# decode ENGINE OUTPUT FOLDER TRACE DUMP ADDRS
decode()
{
	vtrace decode --engine="$1" --pages "$pt/$3/$5,$pt/$3/$6" -o "$2" "$pt/$3/$4"
}

# Folder, trace, dump, addresses, exit status, instructions; and what is missing in the trace.
while read -r folder trace dump addrs status want; do
	t_status "$folder is decoded" "$status" decode libipt reference.vt "$folder" "$trace" \
		"$dump" "$addrs"
	t_is "every instruction of $folder" "$("$PYTHON" "$ROOT/tests/pt_flow.py" count reference.vt)" "$want"
	t_status "$folder is decoded by the fast engine" "$status" decode fast fast.vt "$folder" \
		"$trace" "$dump" "$addrs"
	t_same "and the same comes of it" reference.vt fast.vt
done <<'END'
mruby trace data.dump data.addr 1 6334131 overflow:1
Unzip trace data.dump data.addr 0 149576
foo trace data.dump data.addr 0 117967
avscript_32 failed_trace_12709_1 page_cache.dump page_cache.addr 0 1114194
dyn_test sample_raw_0 page_cache.dump page_cache.addr 1 2918 no code:12
icelake_tip ptlog pagecache.dump pagecache.addr 0 15
griffin-hello trace pages.dump pages.addr 0 147458
END

# perf's own decoder, with none of libipt's code in it, for each instruction and each branch.
for folder in cve-2005-0105-poc df-01-poc ovf-01-ben ovf-01-poc ovf-03-poc uaf-04-ben; do
	name=griffin-$folder
	for engine in libipt fast; do
		t_ok "$name is decoded by $engine" decode $engine $engine.vt "$name" trace \
			pages.dump pages.addr
	done
	t_same "both engines give the same" libipt.vt fast.vt
	for what in insns branches; do
		"$PYTHON" "$ROOT/tests/pt_flow.py" $what libipt.vt >got
		file=$what
		[ $what = insns ] && file=insn_ips
		gzip -dc "$pt/$name/perf61.$file.gz" >want
		t_same "$what of $name as perf has them" got want
	done
done

# A program that is not there, but can only have been this: write(1, ..., 14) and exit(0).
printf '\xb8\x01\0\0\0\xbf\x01\0\0\0\x48\xbe\0\x20\x40\0\0\0\0\0\xba\x0e\0\0\0\x0f\x05' >hello
printf '\xb8\x3c\0\0\0\xbf\0\0\0\0\x0f\x05' >>hello
for engine in libipt fast; do
	t_ok "eight instructions with times: $engine" vtrace decode --engine=$engine \
		--image hello:0x401000 --mtc 3 --nom-freq 37 --cpuid-15h 2,308 -o $engine.vt \
		"$pt/drpt2trace-hello/pt.bin"
done
t_same "both engines give the same" libipt.vt fast.vt
"$PYTHON" "$ROOT/tests/pt_flow.py" insns libipt.vt >got
printf '401%03x\n' 0 5 10 20 25 27 32 37 >want
t_same "they are those that the trace was made of" got want

cat >times.py <<'END'
"""Times of a stream: they are there, and none is before the one in front of it."""
import sys
last, n = (0, 0), 0
for line in sys.stdin:
    kind, *fields = line.rstrip("\n").split("\t")
    f = dict(x.split("=", 1) for x in fields)
    if kind not in ("TRACE", "EXEC"):
        continue
    now = (int(f["tsc"]), int(f["cycles"]))
    assert now[0] >= last[0] > -1 and now[1] >= last[1], (last, now)
    last, n = now, n + 1
assert n > 8 and last[0] > 0 and last[1] > 0
END
t_pipe "their times go forward" \
	"\$PYTHON '$ROOT/tests/vt_reader.py' libipt.vt | \$PYTHON times.py"

# Bad input.
decode libipt whole.vt Unzip trace data.dump data.addr
t_status "no code at all" 1 vtrace decode -o x.vt "$pt/Unzip/trace"
t_like "is said" 'no code is named' "$T_ERR"
t_status "an engine that is none" 2 vtrace decode --engine=slow -o x.vt "$pt/Unzip/trace"
t_status "a clock that is none" 2 vtrace decode --cpuid-15h 2 -o x.vt "$pt/Unzip/trace"
head -c 5000 "$pt/Unzip/trace" >half
t_ok "a trace that is cut off" vtrace decode --pages "$pt/Unzip/data.dump,$pt/Unzip/data.addr" \
	-o half.vt half
"$PYTHON" "$ROOT/tests/pt_flow.py" insns whole.vt >whole
"$PYTHON" "$ROOT/tests/pt_flow.py" insns half.vt >half.insns
head -n "$(wc -l <half.insns)" whole >want
t_same "has what the whole has, as far as it goes" half.insns want
t_is "which is something" "$(($(wc -l <half.insns) > 10000))" 1
t_done
