#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vsim --profileme: which instructions are followed, and what is told of them, against what was
# executed.

. "$(dirname "$0")/../lib.sh"

orders=$ROOT/tests/data/demo/orders.vt
symfs=$ROOT/tests/data/demo/symfs

meta() { vtrace dump -k META -F key,value "$1" | awk -F '\t' -v k="$2" '$1 == k { print $2 }'; }
followed() { vtrace dump -k SAMPLE -F event,"$1" "$2" | awk -F '\t' '$1 == "profileme" { print $2 }'; }

# ---- options ----

t_status "no period" 2 vsim --profileme 0x1000000000001 "$orders"
t_status "pairs of what is not followed" 2 vsim --pairs 4 "$orders"
for o in --pairs=9 --ways=3 --minor=uniform --minor=weighted --history=3 --history=12; do
	t_status "$o without --profileme" 2 vsim "$o" "$orders"
	t_like "says so" '--pairs, --ways, --minor, --history: of --profileme' "$T_ERR"
done
t_status "ways without pairs" 2 vsim --profileme 100 --ways 3 "$orders"
t_status "too many ways" 2 vsim --profileme 1000 --pairs 2 --ways 17 "$orders"
t_status "pairs longer than the period" 2 vsim --profileme 100 --pairs 100 "$orders"
t_status "groups longer than the period" 2 vsim --profileme 100 --pairs 50 --ways 3 "$orders"
t_status "too long a history" 2 vsim --profileme 100 --history 65 "$orders"

# ---- beside other samples ----

for m in skylake alpha21164; do
	args=(-m "$m" --symfs "$symfs" -S cycles:1000 -S imiss:10)
	vsim "${args[@]}" --truth without.truth -o without.vt "$orders" 2>/dev/null
	t_ok "on $m" vsim "${args[@]}" --profileme 100 --pairs 20 --ways 3 --truth with.truth -o with.vt "$orders"
	for k in cycles imiss; do
		vtrace dump -k SAMPLE -F event,ip without.vt | grep $k >want
		vtrace dump -k SAMPLE -F event,ip with.vt | grep $k >got
		t_same "on $m, samples of $k are the same" got want
	done
	for k in "FREQ -F offset,executions,cycles" "STALL -F offset,cause,low" "EDGE -F from,to,executions"; do
		# shellcheck disable=SC2086
		vtrace dump -k $k without.truth >want
		# shellcheck disable=SC2086
		vtrace dump -k $k with.truth >got
		t_same "on $m, so are ${k%% *} records" got want
	done
	t_is "on $m, all fetched ones" "$(meta with.vt vsim.fetched)" \
		$(($(meta with.vt vsim.instructions) + $(meta with.vt vsim.wrong_path)))
	t_is "on $m, groups of three" "$(followed pair with.vt | sort | uniq | tr '\n' ' ')" "1 2 3 "
	n=$(followed pair with.vt | grep -c 1)
	t_is "on $m, one every hundred" "$((n * 100 > $(meta with.vt vsim.fetched) * 98 / 100 &&
		n * 100 < $(meta with.vt vsim.fetched) * 102 / 100))" 1
	vsim "${args[@]}" --profileme 100 --pairs 20 --ways 3 --truth again.truth -o again.vt "$orders" 2>/dev/null
	vtrace dump -k SAMPLE with.vt >want
	vtrace dump -k SAMPLE again.vt >got
	t_same "on $m, the same again" got want
done

# ---- against what was executed ----

if vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	for i in $(seq 400); do echo $((i * 7919 % 1009)); done >numbers
	vtrace record --full --mem --values stores --count 60000 -o sort.vt -- sort -n numbers >/dev/null 2>&1
	for m in skylake alpha21164; do
		vsim -m $m --profileme 1 --interval fixed --history 64 -o every.vt sort.vt
		for minor in uniform weighted; do
			vsim -m $m --profileme 40 --interval fixed --history 64 --pairs 32 --minor $minor \
				-o $minor.vt sort.vt
		done
		t_ok "on $m, what is told adds up" "$PYTHON" "$ROOT/tests/check_profileme.py" sort.vt every.vt \
			uniform.vt weighted.vt 40 32
		t_is "on $m, as many are fetched in vain" "$(followed trap every.vt | grep -c wrong-path)" \
			"$(meta every.vt vsim.wrong_path)"
	done
	# The truth: all executions, the same totals, and what overlaps as pairs tell.
	vsim -m skylake --profileme 500 --pairs 400 --truth truth.vt -o pairs.vt sort.vt
	vtrace dump -k FREQ -F image,offset,executions truth.vt >want
	vtrace dump -k EVSTAT -F image,offset,what,sum truth.vt |
		awk -F '\t' '$3 == "retired" && $4 { print $1 "\t" $2 "\t" $4 }' >got
	t_same "what retires is executed" got want
	vsim -m skylake --profileme 1 --interval fixed -o every.vt sort.vt
	for k in aborted icache_miss dcache_miss l2_miss itlb_miss dtlb_miss branch taken mispredicted load store \
		forwarded; do
		t_is "as many: $k" "$(vtrace dump -k EVSTAT -F what,sum truth.vt |
			awk -F '\t' -v k=$k '$1 == k { n += $2 } END { print n + 0 }')" \
			"$(vtrace dump -k SAMPLE -F events every.vt | grep -cE "(^|\|)$k(\||\$)")"
	done
	for k in lat_map lat_ready lat_issue lat_exec lat_retire lat_load lat_tlb lat_total; do
		t_is "the same sum: $k" "$(vtrace dump -k EVSTAT -F what,sum truth.vt |
			awk -F '\t' -v k=$k '$1 == k { n += $2 } END { printf "%.0f\n", n }')" \
			"$(vtrace dump -k SAMPLE -F $k every.vt | awk '{ n += $1 } END { printf "%.0f\n", n }')"
	done
	for s in 1 2 3 4 5 6 7 8 9 10 11 12; do
		vsim -m skylake --profileme 401 --pairs 400 --minor weighted -s $s -o pairs$s.vt sort.vt
	done
	t_ok "useful overlaps" "$PYTHON" "$ROOT/tests/check_profileme.py" overlap truth.vt 401 400 pairs[0-9]*.vt
	t_is "slots of the narrowest stage, four on skylake, less what is useful" \
		"$(vtrace dump -k EVSTAT -F what,sum truth.vt | awk -F '\t' '{ n[$1] += $2 }
			END { print (n["wasted"] == 4 * n["in_progress"] - n["useful"]), (n["useful"] > 0) }')" "1 1"
	# A counter of each event that has no skid takes its samples at the same instructions.
	vsim -m skylake -S branchmp:1 -S imiss:1 --interval fixed -o counted.vt sort.vt
	vsim -m skylake --profileme 1 --interval fixed -o every.vt sort.vt
	for k in "branchmp mispredicted" "imiss icache_miss"; do
		vtrace dump -k SAMPLE -F event,ip counted.vt | grep "${k% *}" | cut -f 2 >want
		vtrace dump -k SAMPLE -F ip,events every.vt | grep retired | grep "${k#* }" | cut -f 1 >got
		t_same "${k% *} of a counter and of instructions" got want
	done
else
	t_skip "what is told adds up" "vtrace record --full does not work here"
fi
t_done
