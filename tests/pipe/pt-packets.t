#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The packets of real Intel PT traces, against libipt and against perf.

. "$(dirname "$0")/../lib.sh"

t_need_data pt
compare=$VT_BUILD/tests/tools/pt_packets

same()
{
	local name=$1
	shift
	"$compare" "$@" >packets.out
	t_like "$name: each packet as libipt reads it" '^packets: [1-9][0-9]*, bad: 0, different: 0$' packets.out
}

for f in "$VT_DATA"/pt/*/*; do
	case ${f##*/} in
	*.addr | *.dump | *.txt | *.gz | *.pevent) continue ;;
	esac
	same "${f#"$VT_DATA/pt/"}" "$f"
done

# The clock's parameters are those of the index of the data. Three ticks are a nanosecond.
same drpt2trace-hello "$VT_DATA/pt/drpt2trace-hello/pt.bin" 3 37 308 2
t_like "drpt2trace-hello: times as libipt's, within 4 ticks" '^times: [1-9][0-9]*, at most apart: [0-4]$' packets.out

# Raw traces out of perf.data files, to be found without our own reader; perf lists packets, too.
cat >aux.py <<'END'
import struct, sys
d = open(sys.argv[1], "rb").read()
at, size = struct.unpack_from("<QQ", d, 40)
end, n = at + size, 0
while at < end:
    kind, misc, length = struct.unpack_from("<IHH", d, at)
    at += length
    if kind == 71:
        size = struct.unpack_from("<Q", d, at - length + 8)[0]
        open("aux.%d" % n, "wb").write(d[at : at + size])
        at, n = at + size, n + 1
END
cat >counts.py <<'END'
import collections, json, re, sys
perf, ours = collections.Counter(), collections.Counter()
for line in sys.stdin:
    m = re.match(r"^\. +[0-9a-f]{8}: ((?: [0-9a-f]{2})+) +([A-Z]\S*)(.*)", line)
    if m and m[2] != "PAD":
        # perf puts padding behind a packet into its line, and does not tell TNT-8 from TNT-64.
        perf[m[2].replace("PTWRITE", "PTW")] += 1
        perf["decisions"] += int(re.search(r"\((\d+)\)", m[3])[1]) if m[2] == "TNT" else 0
for trace in json.load(open(sys.argv[1]))["pt"]["traces"]:
    for kind, n in trace["packets"].items():
        if kind != "PAD":
            ours[re.sub(r"TNT-.*", "TNT", kind)] += n["count"]
    ours["decisions"] += trace["decisions"]
print("equal" if perf == ours else (perf - ours, ours - perf))
END
for name in pt-quipper-file pt-hase-control_flow-a pt-tmon-ptwrite; do
	f=$VT_DATA/perf/$name/perf.data
	if ! [ -e "$f" ] || ! command -v perf >/dev/null; then
		t_skip "$name" "no $f, or no perf"
		continue
	fi
	rm -f aux.*[0-9]
	"$PYTHON" aux.py "$f"
	case $name in
	pt-quipper-file) clock=(3 12 100 2) ;;
	*) clock=(3 32 266 2) ;;
	esac
	for a in aux.*[0-9]; do
		same "$name, $a" "$a" "${clock[@]}"
		[ "$name" = pt-tmon-ptwrite ] ||
			t_like "$name, $a: times as libipt's" '^times: [1-9][0-9]*, at most apart: [0-4]$' packets.out
	done
	vtrace info --json "$f" >info.json
	perf script -D -i "$f" 2>perf.err >perf.out
	t_is "$name: as many packets of each kind as perf finds" "$("$PYTHON" counts.py info.json <perf.out)" equal
done
t_done
