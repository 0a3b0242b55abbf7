#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace info on Intel PT: a raw trace by hand, a perf.data by hand, real ones, and decoded ones.

. "$(dirname "$0")/../lib.sh"

# get FILE EXPRESSION: o is the JSON object, p its pt, t the first trace of it.
get()
{
	"$PYTHON" -c "
import json, sys
o = json.load(open(sys.argv[1]))
p = o.get('pt', {})
t = (p.get('traces') or [None])[0]
print($2)" "$1"
}

psb='\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82'

# ---- raw ----

# TSC 1000, TMA (CTC 0, fast counter 0), CBR 20, PSBEND, TIP.PGE, TNT 11, TNT 0, CYC 5, OVF, CYC 6, TSC 3000
printf '%b' "$psb" '\x19\xe8\x03\x00\x00\x00\x00\x00\x02\x73\x00\x00\x00\x00\x00\x02\x03\x14\x00\x02\x23' >good.pt
printf '\x31\x34\x12\x0e\x04\x2b\x02\xf3\x33\x19\xb8\x0b\x00\x00\x00\x00\x00' >>good.pt
t_ok "a raw trace" vtrace info good.pt
cp "$T_OUT" good.out
t_like "its size" '^good\.pt: 54 bytes$' good.out
t_like "its packets" '^Intel PT: 54 bytes, 12 packets, not decoded$' good.out
t_like "its timing packets" 'timing packets: TSC, TMA, CBR, CYC$' good.out
t_like "its cycles" '^  11 cycles$' good.out
t_like "its time" 'TSC 1000 to 3000, 2000 ticks$' good.out
t_like "its ratio" 'core to bus ratio: 20 to 20$' good.out
t_like "a row of the table" '^ +2 +2 +[0-9.]+% +TNT-8$' good.out
t_unlike "nothing is wrong" 'no packets|before' good.out
t_ok "the same through a pipe" bash -c 'vtrace info --json <good.pt >good.json'
t_is "and as JSON" "$(get good.json '[t[k] for k in ("bytes", "total", "psb", "overflows", "decisions", "taken", "first_tsc", "last_tsc", "cycles", "min_cbr", "max_cbr", "before_psb")]')" \
	'[54, 12, 1, 1, 3, 2, 1000, 3000, 11, 20, 20, 0]'
t_is "each kind" "$(get good.json 'sorted((k, v["count"], v["bytes"]) for k, v in t["packets"].items())')" \
	"[('CBR', 1, 4), ('CYC', 2, 2), ('OVF', 1, 2), ('PSB', 1, 16), ('PSBEND', 1, 2), ('TIP.PGE', 1, 3), ('TMA', 1, 7), ('TNT-8', 2, 2), ('TSC', 2, 16)]"
t_is "there is only one object" "$(get good.json 'sorted(o)')" "['bytes', 'file', 'pt', 'schema']"

{ printf 'abc'; cat good.pt; printf '\x05zzzz'; cat good.pt; printf '\x59'; } >bad.pt
t_status "a damaged one" 1 vtrace info bad.pt
cp "$T_OUT" bad.out
cp "$T_ERR" bad.err
t_like "is said to be" 'bad\.pt: 6 bytes of Intel PT at 2 places are no packets$' bad.err
t_like "where" '^    at 0x39: 5 bytes$' bad.out
t_like "and that its end is cut" '^    at 0x74: 1 bytes, a packet that is cut$' bad.out
t_like "and that it begins late" '^  3 bytes lie before the first PSB$' bad.out
t_like "what is there is counted" '^Intel PT: 117 bytes, 24 packets' bad.out

: >empty
t_status "nothing at all" 3 vtrace info empty
head -c 100 /dev/zero >zeros
t_status "no PSB" 3 vtrace info zeros
t_like "is none of the formats" 'neither a stream, nor perf.data, nor Intel PT' "$T_ERR"

# Cut anywhere: an answer, always about all bytes.
for n in 16 17 23 24 30 31 40 41 53; do
	head -c $n good.pt >cut.pt
	vtrace info --json cut.pt >cut.json 2>cut.err
	t_is "cut at $n" "$(get cut.json 't["no_packets"]["bytes"] + sum(v["bytes"] for v in t["packets"].values())')" $n
done

# ---- perf.data ----

# A pipe of records: AUXTRACE_INFO of Intel PT (MTC each 8 ticks of a clock at 1/2 of the TSC's), the
# attribute that says so, and two AUX areas, the second in two pieces.
cat >make.py <<'END'
import struct, sys
def record(kind, body, data=b""):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body + data
def aux(index, cpu, offset, data):
    return record(71, struct.pack("<QQQIIII", len(data), offset, 0, index, 77, cpu, 0), data)
attr = struct.pack("<IIQQQQ", 7, 112, 0x300c201, 1, 0, 0) + bytes(72)
info = [7, 0, 1 << 31 & 0xffffffff, 5000, 1, 0x400, 0x800, 0, 0, 1, 0x200, 0x3c000, 2, 1, 2, 37, 0]
info[1] = 31
good = open("good.pt", "rb").read()
mtc = good[:37] + b"\x59\x01\x59\x02"
out = b"PERFILE2" + struct.pack("<Q", 16)
out += record(64, attr + struct.pack("<Q", 1))
out += record(70, struct.pack("<II17Q", 1, 0, *info))
if len(sys.argv) > 1:
    # A processor (HEADER_CPUID, a string of 32 bytes), and a TMA that its erratum corrupts.
    out += record(80, struct.pack("<QI32s", 9, 32, sys.argv[1].encode()))
    out += aux(0, 2, 0, good[:16] + b"\x02\x73\0\0\0\0\x22\0" + b"\x02\x23" + bytes(6))
    sys.stdout.buffer.write(out)
    sys.exit()
out += aux(0, 2, 0, mtc) + aux(1, 3, 0, good[:30]) + aux(1, 3, 30, good[30:])
out += aux(1, 3, 1000, b"\x06\x06" + good)
out += aux(2, 4, 0, mtc + bytes(7)) + aux(2, 4, len(mtc), b"\x59\x03" + bytes(6))
sys.stdout.buffer.write(out)
END
"$PYTHON" make.py >pipe.data
t_ok "a perf.data" vtrace info --json -o perf.json pipe.data
t_is "its traces" "$(get perf.json '[(x["index"], x["cpu"], x["bytes"], x["total"]) for x in p["traces"]]')" \
	'[(0, 2, 41, 7), (1, 3, 110, 24), (2, 4, 56, 21)]'
t_is "padding does not interrupt an area" \
	"$(get perf.json '[p["traces"][2][k] for k in ("before_psb", "last_tsc", "lost_mtc")]')" '[0, 1048, 0]'
# 16 ticks of the crystal are 32 of the TSC; one of the TSC is a nanosecond.
t_is "MTC moves its clock" "$(get perf.json '[t[k] for k in ("first_tsc", "last_tsc", "first_time", "last_time")]')" \
	'[1000, 1032, 6000, 6032]'
t_is "pieces are joined unless something is missing" \
	"$(get perf.json '[p["traces"][1][k] for k in ("before_psb", "psb")] + [p["traces"][1]["no_packets"]["places"]]')" '[2, 2, 0]'
"$PYTHON" make.py GenuineIntel,6,85,4 >server.data
t_ok "of a server's processor" vtrace info --json -o server.json server.data
t_is "a corrupted TMA is no damage" "$(get server.json '[t["packets"]["TMA"], t["no_packets"]["places"]]')" \
	"[{'count': 1, 'bytes': 8}, 0]"
"$PYTHON" make.py GenuineIntel,6,78,3 >client.data
t_status "of another one it is" 1 vtrace info --json -o client.json client.data
t_is "its records are counted as well" "$(get perf.json 'o["records"]["AUXTRACE"]')" 6
t_ok "through a pipe" bash -c 'vtrace info <pipe.data | grep -q "Intel PT of processor 3: 110 bytes, 24 packets"'
head -c $(($(wc -c <pipe.data) - 5)) pipe.data >cut.data
t_status "a cut one" 1 vtrace info cut.data
vtrace decode --packets -o counted.vt pipe.data 2>/dev/null
vtrace info --json counted.vt >counted.json 2>/dev/null
t_is "decoding counts the same" "$(get counted.json 'sorted((k, v["count"]) for k, v in p["decoded"]["packets"].items() if k != "none")')" \
	"$(get perf.json 'sorted((k, sum(x["packets"].get(k, {}).get("count", 0) for x in p["traces"])) for k in set(k for x in p["traces"] for k in x["packets"]))')"
t_is "and bytes" "$(get counted.json 'p["decoded"]["bytes"]')" 207
vtrace decode pipe.data 2>/dev/null | vtrace info --json >uncounted.json 2>/dev/null
t_is "uncounted, there are the bytes" "$(get uncounted.json '[p["decoded"][k] for k in ("bytes", "packets")]')" '[207, {}]'
"$PYTHON" -c "
import sys
d = bytearray(open('pipe.data', 'rb').read())
d[16 + 128 + 8] = 2
sys.stdout.buffer.write(d)" >other.data
t_status "AUX areas of something else are missing" 1 vtrace info --json -o other.json other.data
t_is "are not looked at" "$(get other.json 'o.get("pt")')" None

# ---- real ones, decoded ----

if [ -d "$VT_DATA/pt" ]; then
	d=$VT_DATA/pt/griffin-hello
	t_ok "a real trace" vtrace info --json -o raw.json "$d/trace"
	t_is "all of its bytes are packets" "$(get raw.json 't["bytes"] - sum(v["bytes"] for v in t["packets"].values())')" 0
	t_ok "decoded" vtrace decode --packets --pages "$d/pages.dump,$d/pages.addr" -o decoded.vt "$d/trace"
	t_ok "a decoded one" vtrace info --json -o decoded.json decoded.vt
	# The number of instructions is that of libipt, by the index of the data.
	t_is "its instructions" "$(get decoded.json 'o["executed"]["instructions"]')" 147458
	t_is "bytes for each" "$(get decoded.json 'round(p["decoded"]["bytes_per_instruction"] * 147458)')" "$(wc -c <"$d/trace")"
	t_is "packets as in the raw one" "$(get decoded.json 'p["decoded"]["packets"]')" "$(get raw.json 't["packets"]')"
	t_is "as many enabled as TIP.PGE" "$(get decoded.json 'p["decoded"]["events"]["enabled"]')" \
		"$(get raw.json 't["packets"]["TIP.PGE"]["count"]')"
	# Each decision is a branch, or a return that was compressed.
	t_is "as many branches and returns as decisions, and returns by address" \
		"$(get decoded.json 'o["executed"]["ends"]["branch"] <= '"$(get raw.json 't["decisions"]')"' <= o["executed"]["ends"]["branch"] + o["executed"]["ends"]["return"]')" True
	t_ok "as text" vtrace info decoded.vt
	t_like "with bytes for each instruction" '^  0\.0482 bytes of trace for each instruction$' "$T_OUT"
	t_like "and events" '^  48 enabled$' "$T_OUT"
else
	t_skip "real traces" "no $VT_DATA/pt"
fi
t_done
