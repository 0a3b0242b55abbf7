# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced: values that vinterp computes from samples, compared with single steps of the processor.

if ! vtrace record --sample-values -o probe.vt -- true >/dev/null 2>probe.err; then
	t_skip_all "vtrace record --sample-values does not work here: $(tail -n 1 probe.err)"
fi

insns_compared=0

# values_stepped NAME PERCENT STEPS PROGRAM...: runs of the program until so many instructions were
# stepped through; no value is wrong, and of the loads that were executed so many are known.
values_stepped()
{
	local name=$1 percent=$2 least=$3 done=0 runs=0 status=0
	shift 3

	: >lines
	while [ "$done" -lt "$least" ] && [ "$runs" -lt 20 ] && [ "$status" -eq 0 ]; do
		vtrace record --sample-values --steps --insns 64 -F 4000 -z none -o x.vt -- "$@" \
			>/dev/null 2>x.err
		"$VT_BUILD/tests/tools/value_steps" -l 64 -v x.vt >x.txt 2>>x.err || status=$?
		cat x.txt >>lines
		done=$(awk '{ n += $4 } END { print n + 0 }' lines)
		runs=$((runs + 1))
	done
	insns_compared=$((insns_compared + done))
	if [ "$status" -eq 0 ] && [ "$done" -ge "$least" ]; then
		t_pass "$name: no value is wrong"
	else
		t_fail "$name: no value is wrong" "$(tail -n 20 x.err)
$(cat lines)"
	fi
	# shellcheck disable=SC2016 # a program of awk
	t_ok "$name: $percent % of the loads are known" awk -v percent="$percent" '
		{ loads += $6; known += $6 * $8 / 100 }
		END { printf "%s %.2f %% of %d loads\n", "known", 100 * known / loads, loads
		      exit !(100 * known >= percent * loads) }' lines
	printf '# %-10s %8d instructions, %s\n' "$name" "$done" "$(cat "$T_OUT")"
}
