#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Arm SPE: areas made of every packet, field by field against perf's reading of the same file, the
# published records of real machines, and damage.
. "$(dirname "$0")/../lib.sh"

t_need vtrace
mk()
{
	"$PYTHON" "$ROOT/tests/mkspe.py" "$@"
}

# decode FILE [OPTION...]: the stream in x.vt, its records in text.
decode()
{
	t_run vtrace decode -o x.vt "$@"
	vtrace dump x.vt >text 2>/dev/null
}

# with_perf NAME FILE: each field of each sample, and its place, as perf has it.
with_perf()
{
	if ! command -v perf >/dev/null; then
		t_skip "$1" "perf is not installed"
		return
	fi
	perf report -D -i "$2" >packets.txt 2>/dev/null
	"$PYTHON" "$ROOT/tests/spe_check.py" packets text packets.txt >said
	t_is "$1: as perf report reads the packets" "$(sed '$d' said | head -5)" ""
	t_unlike "$1: something was compared" '^0 fields' said
}

# ---- every packet, and every bit of those that have bits ----

{
	echo '@comm 1 100 101'
	for op in other=0 other=1 other=8 other=4a mem=0 mem=1 mem=2 mem=6 mem=7 mem=a mem=b mem=12 \
		mem=13 mem=4 mem=5 mem=10 mem=14 mem=20 mem=25 mem=30 mem=8 mem=89 br=0 br=1 br=2 br=3; do
		echo "pc=400100 ctx1=101 $op ev2=0 ts=$((t += 3))"
		for bit in 0 1 2 3 4 5 6 7 8 9 10 11 12 16 17 18 19 20; do
			bits=$(printf %x $((1 << bit)))
			[ "$bit" -gt 7 ] || echo "pc=400104 $op ctx1=101 ev1=$bits tot=2 ts=$((t += 3))"
			[ "$bit" -gt 15 ] || echo "pc=400108 ctx2=101 $op ev2=$bits tot=3 ts=$((t += 3))"
			echo "$op ev4=$bits pc=40010c ctx1=101 ts=$((t += 3))"
			echo "pc=400110 ev8=$bits ctx1=101 $op iss=7 ts=$((t += 3))"
		done
	done
	for el in 0 1 2 3; do
		for ns in 0 1; do
			echo "pc=ffff800008001000/$el/$ns br=0 tgt=ffff800008002000/$el/$ns ctx1=101" \
				"pa=123456789a00/0/$ns ts=$((t += 3))"
		done
	done
	for va in 0 7f0012345678 ffff800008001000 aa00007f12345678 00f0000000000000; do
		echo "pc=400200 ctx1=101 mem=0 va=$va pbt=400000 ts=$((t += 3))"
	done
	for n in 0 1 4094 4095 4096 65534 65535; do
		echo "pc=400300 ctx1=101 mem=1 tot=$n iss=$n xlat=$n cnt3=$n ts=$((t += 3))"
		echo "xpc=400300 ctx1=101 mem=1 xtot=$n xiss=$n pad=3 ts=$((t += 3))"
		echo "pc=400304 ctx1=101 mem=0 xlat=$n cnt9=1 src=$((n % 256)) src2=$n ts=$((t += 3))"
	done
	for unit in 2 4 8 16; do
		echo "pc=400400 ctx1=101 br=2 tot=1 align=$unit ts=$((t += 3))"
		echo "align=$unit pc=400404 ctx1=101 other=1 pad=5 ts=$((t += 3))"
	done
} >packets
mk all.data <packets
decode all.data
t_is "all packets are understood" "$T_STATUS" 0
with_perf "all packets" all.data
if command -v perf >/dev/null; then
	perf script --itrace=i1i --ns -F tid,time,ip -i all.data >placed 2>/dev/null
	vtrace dump -k SAMPLE x.vt >text
	"$PYTHON" "$ROOT/tests/spe_check.py" samples text placed >said
	t_is "and as perf script places them" "$(tail -3 said)" \
		"$(grep -c ^SAMPLE text) of $(grep -c ^SAMPLE text) samples"
else
	t_skip "and as perf script places them" "perf is not installed"
fi
t_is "every sample has its event's period" "$(vtrace dump -k SAMPLE -F period x.vt | sort -u)" 1024

# ---- what is told, and what is not ----

# one NAME FIELDS WANT RECORD [OPTION...]: those fields of the only sample.
one()
{
	local name=$1 fields=$2 want=$3 text=$4
	shift 4
	printf '%s\n' "$text" | mk "$@" one.data
	decode one.data
	t_is "$name" "$(grep ^SAMPLE text | tr '\t' '\n' | grep -E "^($fields)=" | paste -sd ' ')" "$want"
}
one "without an events packet nothing is told of retiring" "events_told|events" \
	"events_told=branch|load|store|locked events=load" "pc=4000 mem=0 ts=1"
one "without an operation neither is what it was" "events_told|events" \
	"events_told=retired|aborted|trap events=aborted" "pc=4000 ev2=3fc ts=1"
one "an operation of unknown class" "events_told|events" \
	"events_told=retired|aborted|trap events=retired" "pc=4000 hex=4b00 ev2=2 ts=1"
one "the second cache" "events_told|events" \
	"events_told=retired|aborted|dcache_miss|l2_miss|dtlb_miss|branch|load|store|locked|trap events=retired|dcache_miss|l2_miss|load" \
	"pc=4000 mem=0 ev4=18000a ts=1"
one "no target of 0" "target|pm_has" "pm_has=events" "pc=4000 br=0 tgt=0 ts=1"
one "nor one of the kernel" "target|pm_has" "pm_has=events" "pc=4000 br=0 tgt=0/1/1 ts=1"
one "no latency that was not told" "lat_.*|pm_has" "pm_has=lat_dispatch lat_dispatch=0" "pc=4000 tot=0 ts=1"
one "a record that ends without a time" "time|has" "has=0x181" "pc=4000 end"
one "and one whose time cannot be converted" "time|has" "has=0x181" "pc=4000 ts=77" -n

# source NAME CPUID SOURCE WANT [OPERATION]
source_is()
{
	one "source $3 of $1" source "${4:+source=$4}" "pc=4000 ${5-mem=0} src2=$3 ts=1" -c "$2"
}
source_is "Neoverse N1" 0x00000000410fd0c1 0 l1
source_is "Neoverse N1" 0x00000000413fd0c1 8 l2
source_is "Neoverse N2" 0x00000000410fd490 9 peer-near
source_is "Neoverse V1" 0x00000000411fd400 10 peer-near
source_is "Neoverse V2" 0x00000000410fd4f0 11 l3
source_is "Neoverse V2" 0x00000000410fd4f0 12 peer-near
source_is "Neoverse V2" 0x00000000410fd4f0 13 peer-far
source_is "Neoverse V2" 0x00000000410fd4f0 14 dram
source_is "Neoverse V2" 0x00000000410fd4f0 15 ""
printf '%s\n' "pc=4000 mem=0 src2=14 ts=1" "pc=4000 mem=0 src2=14 ts=2" "pc=4000 mem=0 src2=11 ts=3" \
	"pc=4000 br=0 ts=4" | mk -c 0x00000000410fd4f0 sources.data
t_ok "vtrace info reads the areas" vtrace info sources.data
t_like "counts their samples" '^ +4 +4096  operations +dispatch +arm_spe_0/' "$T_OUT"
t_like "and what these tell" '^ +3 +- +0  source +arm_spe_0/' "$T_OUT"
vprof --by source --csv sources.data 2>/dev/null | sed 1d | cut -d, -f1,4 >got
t_is "vprof counts them" "$(sort got | paste -sd ' ')" "1,[unknown] 1,l3 2,dram"
source_is "Neoverse V2, a store" 0x00000000410fd4f0 14 "" mem=1
source_is "AmpereOne" 0x00000000c00fac40 7 dram
source_is "AmpereOne, which does not tell two apart" 0x00000000c00fac40 0 ""
source_is "HIP12" 0x00000000480fd060 9 dram-far
source_is "HIP12" 0x00000000480fd060 18 l1
source_is "HIP12" 0x00000000480fd060 65535 ""
source_is "an unknown processor" 0x00000000480fd010 14 ""
printf '@area 0 -1\npc=1000 mem=0 src=14 ts=1\n@area 1 -1\npc=2000 mem=0 src=14 ts=2\n' >two
mk -v two.data <two
decode two.data
t_is "processors of two makes" "$(vtrace dump -k SAMPLE -F cpu,source x.vt | paste -sd ' ')" \
	"$(printf '0\tdram 1\t')"

# ---- which thread, and in which order ----

mk switched.data <<'TEXT'
@comm 1 100 101
@comm 2 200 201
@switch 1000 100 101 0
@switch 2000 200 201 0
@area 0 -1
pc=1000 ts=10
pc=2000 ts=30
pc=3000 ts=60
pc=3001 ts=20
pc=3002 ctx1=101 ts=61
@area 1 300
pc=4000 ts=40
TEXT
decode switched.data
t_is "threads by context switches, or by context" \
	"$(vtrace dump -k SAMPLE -F time,pid,tid,ip x.vt | tr '\t' ' ' | paste -sd '|')" \
	"405 -1 -1 0x1000|1205 100 101 0x2000|1605 -1 300 0x4000|2405 200 201 0x3000|805 200 201 0x3001|2445 100 101 0x3002"
t_is "samples between records of their time" \
	"$(cut -f 1 text | grep -E 'SAMPLE|SWITCH' | paste -sd ' ')" \
	"SAMPLE SWITCH SAMPLE SAMPLE SWITCH SAMPLE SAMPLE SAMPLE"
mk -n switched-no.data <<'TEXT'
@comm 1 100 101
@switch 1000 100 101 0
@switch 2000 200 201 0
@exit 3000 300 300
@comm 4000 300 301
@area 0 -1
pc=1000 ts=10
@area -1 300
pc=4000 ts=40
TEXT
decode switched-no.data
t_is "without a clock, not known; a thread's before its end" \
	"$(grep -E '^(SAMPLE|THREAD)' text | cut -f 1-4 | sed 's/period.*//; s/[a-z]*=//g' | tr '\t' ' ' | paste -sd '|')" \
	"THREAD 1 100 101|SAMPLE -1 300 0x4000|THREAD 3000 300 300|THREAD 4000 300 301|SAMPLE -1 -1 0x1000"

# ---- damage ----

# damage NAME RECORDS: the exit status, the gaps and the addresses of samples.
damage()
{
	printf '%s\n' "$3" | mk bad.data
	decode bad.data
	t_is "$1" "$T_STATUS $(grep -E '^(SAMPLE|GAP)' text | tr '\t' '\n' |
		sed -n 's/^ip=//p; s/^reason=//p; s/^\(bytes=.*\)/\1/p; s/^\(offset=.*\)/\1/p' | paste -sd ',')" "$2"
}
good="pc=1000 other=0 ts=1"
for packet in pc=2000 tgt=2000 va=2000 pa=2000 pbt=2000 tot=2 iss=2 xlat=2 ev1=2 ev2=2 ev4=2 ev8=2 \
	other=0 mem=0 br=0 src=1 src2=1 ctx1=1 ctx2=1 ts=1 xpc=2000 xtot=1 cnt9=1; do
	# The first byte of its payload is missing, and all that follow it.
	printf '%s\n' "$good" "$packet" | mk whole.data
	"$PYTHON" - <<'PY'
import struct
d = bytearray(open('whole.data', 'rb').read())
at = d.index(struct.pack('<IH', 71, 0))
size = struct.unpack_from('<Q', d, at + 8)[0]
sizes = {0x20: 2}
begin = at + 48 + 20
keep = 20 + (2 if d[begin] & 0xfc == 0x20 else 1)
struct.pack_into('<Q', d, at + 8, keep)
# The rest becomes a record of an unknown kind.
rest = size - keep
d[at + 48 + keep:at + 48 + size] = b''
struct.pack_into('<Q', d, 48, struct.unpack_from('<Q', d, 48)[0] - rest)
table = struct.unpack_from('<Q', d, 40)[0] + struct.unpack_from('<Q', d, 48)[0]
for i in range(3):
    old = struct.unpack_from('<Q', d, table + 16 * i)[0]
    struct.pack_into('<Q', d, table + 16 * i, old - rest)
open('cut.data', 'wb').write(d)
PY
	decode cut.data
	t_is "$packet is cut" "$T_STATUS $(grep -c ^SAMPLE text) $(grep -c 'SPE record is cut off' text)" "1 1 1"
done
damage "an unknown header" "1 0x1000,unknown SPE packet,offset=0x14,bytes=21,0x1000,0x1000" "$good
hex=ff $good
$good
$good"
damage "a record without an end" "1 0x1000,SPE record has no end,offset=0x14,bytes=22,0x1000" "$good
hex=4800 $good
$good"
damage "a record without an address" "1 0x1000,SPE record without an address,offset=0x14,bytes=11,0x1000" \
	"$good
other=0 ts=2
$good"
damage "only padding" "0 " "pad=100"
damage "only noise" "1 unknown SPE packet,bytes=40" "hex=$(printf 'fe%.0s' {1..40})"
damage "a collision" "1 0x1000,collision: samples were dropped; it is not told how many" \
	"$good
@aux 8 1000 0 -1"
vtrace info x.vt >summary 2>&1
t_like "which info shows" "collision" summary
damage "a full area" "1 0x1000,AUX area full: the trace was cut" "$good
@aux 1 1000 0 -1"

# ---- other ways to the same samples ----

t_run vtrace decode --engine none -o raw.vt all.data
t_is "areas may stay raw" "$T_STATUS $(vtrace dump -k SAMPLE raw.vt | wc -l)" "0 0"
vtrace decode -o later.vt raw.vt
vtrace decode -o x.vt all.data
t_pipe "and be decoded later" 'vtrace dump later.vt >later; vtrace dump x.vt >now'
t_same "to the same records" later now
mk -x 3 etm.data <two
t_status "areas without a decoder" 1 vtrace decode -o etm.vt etm.data
t_like "are a gap with their bytes" "CoreSight ETM: not decoded.*bytes=22" <(vtrace dump -k GAP etm.vt 2>/dev/null)

# ---- published records of real machines ----

published=$VT_DATA/ibs-spe/spe.data
if [ -e "$published" ]; then
	decode "$published"
	with_perf "published records" "$published"
	t_is "the last one has no end" "$T_STATUS $(grep -c 'cut off.*bytes=28' text)" "1 1"
else
	t_skip "published records" "no optional test data"
fi

# ---- mutations ----

mutate=$VT_BUILD/tests/tools/perfdata_mutate
head -40 packets | mk small.data
t_ok "cuts and 500 mutations" "$mutate" small.data 500
t_done
