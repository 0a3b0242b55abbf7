#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --sample-values --latency: loads whose level of memory is known by construction, with
# and without addresses that the processor can compute ahead.

. "$(dirname "$0")/../lib.sh"

mkdir tmp
export VTRACE_TMPDIR=$PWD/tmp
if ! vtrace record --sample-values --latency -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi
levels=$VT_BUILD/tests/tools/rec_levels

# MODE MILLIONS: records the program; its loads from its lines become MODE.loads: "IP ADDR TICKS LEVEL".
record()
{
	t_ok "$1: loads are timed" vtrace record --sample-values --latency -o "$1.vt" -- "$levels" "$1" "$2"
	cp "$T_ERR" "$1.err"
	vtrace dump -F event,ip,addr,weight,data_source "$1.vt" | "$PYTHON" -c '
import sys
start, size = open(sys.argv[1]).read().split()
start, size = int(start, 16), int(size)
for line in sys.stdin:
    event, ip, addr, ticks, source = line.rstrip("\n").split("\t")
    if event == "loads:u" and start <= int(addr, 16) < start + size:
        print(ip, addr, ticks, source)
' "$T_OUT" >"$1.loads"
}

# FILE REGEX: how many percent of the loads came from there.
percent_of()
{
	awk -v regex="$2" '$0 ~ regex { n++ } END { print NR ? int(100 * n / NR) : 0 }' "$1"
}

record near 200
record chain 3
record free 25
for mode in near chain free; do
	t_is "$mode: there are enough" "$(($(wc -l <$mode.loads) >= 100))" 1
	t_is "$mode: by one instruction" "$(cut -d ' ' -f 1 $mode.loads | sort -u | wc -l)" 1
	t_like "$mode: the recorder says how many, and what parts the levels" \
		'loads timed, behind [0-9]+ of the samples; in ticks: .*memory$' $mode.err
done
t_pipe "a latency is a value" 'vinterp -w latency chain.vt | vtrace dump -k VALUE -F ip,value >chain.values'
cut -d ' ' -f 1,3 chain.loads | sort >chain.want
"$PYTHON" -c '
import sys
for line in sys.stdin:
    ip, value = line.split()
    print(ip, int(value, 16))' <chain.values | grep "^$(head -n 1 chain.loads | cut -d ' ' -f 1) " | sort >chain.got
t_same "of the instruction that was timed" chain.got chain.want
t_is "what a recording says of the levels is as the plugin reads it" \
	"$(vtrace dump -k META near.vt | grep -cE 'key=latency.levels	value=([L123/]+<[0-9]+ )*([L3]+/)?memory$')" 1
if [ "$(vtrace dump -k META near.vt chain.vt free.vt | grep -cE 'key=latency.levels.*<[0-9]+ memory$')" = 3 ]; then
	near=$(percent_of near.loads 'LVL L1.* hit') far=$(percent_of chain.loads 'Local RAM hit')
	free=$(percent_of free.loads 'Local RAM hit')
	t_is "lines of the first cache come from a cache ($near %)" "$((near >= 90))" 1
	t_is "flushed lines come from memory ($far %)" "$((far >= 90))" 1
	t_is "also where the processor has loaded ahead ($free %)" "$((free >= 80))" 1
	share=$(awk '/Local RAM hit/ { n++ } END { printf "%.1f", 100 * n / NR }' free.loads)
	[ "$share" = 100.0 ] && share=100
	t_pipe "the level of each load is a value" \
		'vinterp --plugin latency.so free.vt | vhot | vlist --values main >free.list'
	t_like "of its instruction, with the name that was measured" \
		" latency +$(wc -l <free.loads) .* $share% memory \(>=" free.list
	vinterp --plugin latency.so:max=2 near.vt | vtrace dump -k LABEL >max.labels
	t_unlike "but not if they are to be found from the data" memory max.labels
else
	t_skip "the levels of loads" "the clock of this machine does not tell caches from memory"
fi
for option in "--latency" "--distance 9" "--sample-values --distance 9" "--sample-values --latency --bpf" \
	"--sample-values --latency --steps"; do
	# shellcheck disable=SC2086
	t_status "$option alone is refused" 2 vtrace record $option -- true
done
t_done
