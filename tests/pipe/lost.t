#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a recording lost, counted once. The kernel writes LOST records into a ring buffer when there
# is room again; perf asks at the end how many records of each event did not fit
# (PERF_FORMAT_LOST, 0x10) and writes that as LOST_SAMPLES of no time and no thread: the same
# losses, and those after the last record that fitted. LOST_SAMPLES of a time are the kernel's
# own, of samples that never came so far; those with misc bit 15 are what a filter left out.
. "$(dirname "$0")/../lib.sh"
t_need jq
mkdir none

# lost READ_FORMAT RECORD...: x.data with these records of losses behind one sample
lost()
{
	local format=$1
	shift
	local IFS=,
	printf '{"maps": [[4194304, 4096, 0, "/no/such"]], "samples": [{"ip": 4194320}],
		"read_format": %d, "lost": [%s]}' "$format" "$*" >x.json
	"$ROOT/tests/mkperfdata.py" -d x.json x.data
}

ring='[2, [0, 20], 1001, 100, 0],[2, [0, 7], 1002, 100, 0]'
pebs='[13, [3], 1003, 100, 0]'
# told NAME N READ_FORMAT RECORD...: N records are lost, for every program that says how many
told()
{
	local name=$1 n=$2
	shift 2
	lost "$@"
	vtrace decode --engine=none -o x.vt x.data 2>said
	t_is "$name: decode says $n" "$(sed -n 's/.*: \([0-9]*\) records were lost .*/\1/p' said)" \
		"${n#0}"
	vprof --symfs none x.vt >text 2>said
	t_is "$name: vprof's heading" \
		"$(sed -n 's/^Lost while recording: \([0-9]*\) records .*/\1/p' text)" "${n#0}"
	t_is "$name: vprof's standard error" \
		"$(sed -n 's/.*: \([0-9]*\) records were lost .*/\1/p' said)" "${n#0}"
	t_is "$name: info" "$(vtrace info --json x.vt 2>/dev/null | jq .lost.records)" "$n"
	t_is "$name: the JSON of vprof" \
		"$(vprof --symfs none --json x.vt 2>/dev/null | jq .lost.records)" "$n"
	t_is "$name: merged with itself, twice that" \
		"$(vtrace merge x.vt x.vt 2>/dev/null | vtrace info --json 2>/dev/null | jq .lost.records)" \
		$((2 * n))
}

told "ring buffer alone, as of kernels before 6.0" 27 4 "$ring"
told "the same in both" 27 20 "$ring" '[13, [27], 0, 0, 0]'
told "the final counts of two events" 27 20 "$ring" '[13, [15], 0, 0, 0],[13, [12], 0, 0, 0]'
told "some lost at the very end" 1321 20 "$ring" '[13, [1321], 0, 0, 0]'
told "final counts before those of the ring buffer" 27 20 '[13, [27], 0, 0, 0]' "$ring"
told "a final count that perf could not read for all events" 27 20 "$ring" '[13, [9], 0, 0, 0]'
told "lost before the ring buffer" 30 20 "$ring" "$pebs" '[13, [27], 0, 0, 0]'
told "lost before the ring buffer, by an older perf" 30 4 "$ring" "$pebs"
told "left out by a filter" 27 20 "$ring" '[13, [1000], 0, 0, 32768],[13, [27], 0, 0, 0]'
told "nothing but a filter" 0 20 '[13, [1000], 0, 0, 32768]'
lost 20 '[2, [0, 18446744073709551615], 1001, 100, 0]' \
	'[13, [18446744073709551615], 0, 0, 0],[13, [5], 0, 0, 0]'
vtrace decode --engine=none -o x.vt x.data 2>said
t_like "sums do not wrap" ': 18446744073709551615 records were lost' said
lost 20 "$ring" '[13, [15], 0, 0, 0],[13, [1000], 0, 0, 32768]'
vtrace decode --engine=none -o x.vt x.data 2>/dev/null
vtrace dump -k META x.vt >facts 2>/dev/null
t_like "final counts are kept" 'key=record.lost_samples	value=event=0 count=15$' facts
t_like "what a filter left out is kept" 'key=record.filtered_samples	value=event=0 count=1000$' facts

# A fresh recording into the smallest buffer, against perf's own words: how much is lost is chance,
# that both say the same is not.
if command -v perf >/dev/null && perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1; then
	perf record -q -m 1 -F 10000 -e cpu-clock --call-graph dwarf,8192 -o real.data \
		"$VT_BUILD/tests/tools/rec_work" pack "$ROOT/formats/vt.md" >/dev/null 2>&1
	perf report -D -i real.data 2>/dev/null >raw
	want=$(awk '/PERF_RECORD_LOST:/ { ring += substr($NF, index($NF, ":") + 1) }
		/PERF_RECORD_LOST_SAMPLES:/ { final += substr($NF, index($NF, ":") + 1) }
		END { print (final > ring ? final : ring) + 0 }' raw)
	vtrace decode -o real.vt real.data 2>/dev/null
	t_is "a recording that lost $want" "$(vtrace info --json real.vt 2>/dev/null |
		jq .lost.records)" "$want"
else
	t_skip "a recording that loses" "perf record -e cpu-clock does not work on this machine"
fi
t_done
