#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace info: its sums against those made from what another reader prints.

. "$(dirname "$0")/../lib.sh"

vtrace decode "$ROOT/tests/data/demo/perf.data" -o demo.vt
"$VT_BUILD/tests/tools/stream_mixed" none 20000 >mixed.vt

cat >sums.py <<'END'
"""The sums of a stream, from the lines of vt_reader.py, to be compared with info --json."""
import collections, json, sys

kinds, samples, periods = (collections.Counter() for _ in range(3))
gaps, lost, threads, times = [0, 0, 0], [0, 0], set(), []
for line in open(sys.argv[1], "rb").read().split(b"\n")[:-1]:
    kind, *fields = line.decode("utf-8").split("\t")
    f = dict(x.split("=", 1) for x in fields)
    kinds[kind] += 1
    if int(f.get("time", 0)):
        times.append(int(f["time"]))
    if "tid" in f and "pid" in f and int(f["pid"]) >= 0 and int(f["tid"]) >= 0:
        threads.add((f["pid"], f["tid"]))
    if kind in ("SAMPLE", "COUNT"):
        samples[int(f["event"])] += int(f["samples"]) if kind == "COUNT" else 1
        periods[int(f["event"])] += int(f["period"])
    elif kind == "GAP":
        gaps = [gaps[0] + 1, gaps[1] + int(f["records"]), gaps[2] + int(f["bytes"])]
    elif kind == "LOST":
        lost = [lost[0] + 1, lost[1] + int(f["count"])]
info = json.load(open(sys.argv[2]))
wrap = 1 << 64
for e in info["events"]:
    assert int(e["samples"]) == samples.pop(int(e["id"]), 0) % wrap, e
    assert int(e["period"]) == periods.pop(int(e["id"]), 0) % wrap, e
assert not samples, samples
assert {k: int(v) for k, v in info["records"].items()} == kinds
assert info["total"] == sum(kinds.values())
assert [int(info["gaps"][k]) for k in ("places", "records", "bytes")] == [g % wrap for g in gaps]
assert [int(info["lost"][k]) for k in ("places", "records")] == [l % wrap for l in lost]
assert len(info["gaps"]["by"]) > 0 or gaps[0] == 0
assert int(info["threads"]) == len(threads)
assert int(info["processes"]) == len({p for p, _ in threads})
if times:
    assert (int(info["first_time"]), int(info["last_time"])) == (min(times), max(times))
print("equal")
END

for s in demo mixed; do
	vtrace info --json $s.vt >$s.json 2>/dev/null
	"$PYTHON" "$ROOT/tests/vt_reader.py" $s.vt >$s.lines
	t_is "the sums of $s.vt" "$("$PYTHON" sums.py $s.lines $s.json 2>&1 | tail -n 1)" equal
done

get()
{
	"$PYTHON" -c "import json; o = json.load(open('$1')); print($2)"
}
t_is "complete" "$(get demo.json 'o["status"]')" complete
t_is "lossy" "$(get mixed.json 'o["status"]')" lossy
t_is "policies" "$(get demo.json '{e["policy"] for e in o["events"]} <= {"interrupt", "precise", "exact"}')" True
t_is "the size" "$(get demo.json 'o["bytes"]')" "$(wc -c <demo.vt)"
t_is "provenance" "$(get demo.json '[(p["program"], p["args"][0]) for p in o["provenance"]]')" "[('vtrace', 'decode')]"
t_is "an argument that is not UTF-8" "$(get mixed.json 'o["provenance"][0]["args"][1]')" 'tab\tand \xff'
t_is "images have build-ids" "$(get demo.json 'any(len(i["buildid"]) == 40 for i in o["images"])')" True
t_ok "as text" vtrace info demo.vt
t_like "the first line" '^demo.vt: complete, [0-9]+ bytes, [0-9]+ records$' "$T_OUT"
t_like "a row for each event" '^ *[0-9]+ +[0-9]+ .*(interrupt|precise|exact) +cpu-clock' "$T_OUT"
t_status "as text, of a lossy stream" 1 vtrace info mixed.vt
t_unlike "no control character gets through" "$(printf '[\001-\010\013-\037\177]')" "$T_OUT"

# What several readers make of a damaged stream.
cp demo.vt hurt.vt
printf 'XXXX' | dd of=hurt.vt bs=1 seek=$(($(wc -c <demo.vt) / 2)) conv=notrunc 2>/dev/null
t_status "a damaged block" 1 vtrace info --json hurt.vt
cp "$T_OUT" hurt.json
t_like "is told with its offset" '^vtrace info: hurt.vt: block at 0x[0-9a-f]+: .*skipped' "$T_ERR"
t_is "and counted" "$(get hurt.json 'o["damage"]["blocks"] > 0 and o["gaps"]["places"] > 0')" True
t_is "all records are accounted for" \
	"$(get hurt.json 'o["total"] - o["gaps"]["places"] + o["gaps"]["records"]')" \
	"$(get demo.json 'o["total"]')"
t_status "two streams" 2 vtrace info demo.vt demo.vt

# How many bytes there are is what stat says, whatever the format and however it is read.
cat >piped.py <<'END'
"""Rewrites a perf.data as perf writes it to a pipe: each attribute is a record."""
import struct, sys

data = open(sys.argv[1], "rb").read()
magic, _, entry, attrs, attrs_size, at, size = struct.unpack_from("<8sQQQQQQ", data)
out = [struct.pack("<8sQ", magic, 16)]
for a in range(attrs, attrs + attrs_size, entry):
    ids, ids_size = struct.unpack_from("<QQ", data, a + entry - 16)
    body = data[a : a + entry - 16] + data[ids : ids + ids_size]
    out.append(struct.pack("<IHH", 64, 0, 8 + len(body)) + body)
open(sys.argv[2], "wb").write(b"".join(out) + data[at : at + size])
END
vtrace encode --pages code -o raw.pt "$ROOT/tests/data/demo/orders.vt" 2>/dev/null
vtrace encode --perf-data -o pt.data "$ROOT/tests/data/demo/orders.vt" 2>/dev/null
for name in perf regs; do
	cp "$ROOT/tests/data/demo/$name.data" .
done
for name in perf regs pt; do
	"$PYTHON" piped.py $name.data $name.piped
done
for f in demo.vt mixed.vt raw.pt {perf,regs,pt}.{data,piped} "$VT_DATA"/perf/*/perf.data "$VT_DATA"/etm/*.data \
	"$VT_DATA"/perf/linux-perf-data/*compressed*; do
	[ -f "$f" ] || continue
	vtrace info --json "$f" >file.json 2>/dev/null
	# shellcheck disable=SC2002 # a pipe, not the file
	cat "$f" | vtrace info --json - >pipe.json 2>/dev/null
	t_is "the bytes of ${f#"$VT_DATA/"}" "$(get file.json 'o["bytes"]') $(get pipe.json 'o["bytes"]')" \
		"$(stat -c %s "$f") $(stat -c %s "$f")"
done

# What is compressed is read as vtrace decode reads it.
for f in demo.vt raw.pt perf.data; do
	gzip -c "$f" >"$f.gz"
	# shellcheck disable=SC2002 # a pipe, not the file
	cat "$f" | vtrace info - >plain.txt 2>plain.err
	plain=$?
	t_status "$f, compressed" "$plain" vtrace info "$f.gz"
	t_same "says what a pipe of it says" <(sed "s/^$f.gz: /standard input: /" "$T_OUT") plain.txt
done
printf PERFILE2 >short.data
t_status "eight bytes of a perf.data" 3 vtrace info short.data
t_is "are a header that is cut" "$(cat "$T_OUT" "$T_ERR")" "vtrace info: short.data: the header is cut at 8 bytes"
echo "no trace" >text
t_status "neither" 3 vtrace info text
t_is "is said in one line" "$(cat "$T_OUT" "$T_ERR")" \
	"vtrace info: text: neither a stream, nor perf.data, nor Intel PT"

# Intel PT is looked at, not decoded: nothing of it is missing, from a pipe neither.
for f in pt.data pt.piped; do
	# shellcheck disable=SC2002 # a pipe, not the file
	t_pipe "$f through a pipe" "cat $f | vtrace info - >pt.txt 2>pt.err"
	t_like "its packets are counted" '^Intel PT of .* packets, not decoded$' pt.txt
	t_is "nothing is missing" "$(grep -c '^missing$' pt.txt)$(cat pt.err)" 0
done
t_done
