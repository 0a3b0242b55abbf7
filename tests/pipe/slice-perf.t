#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof's groups of samples (by thread, name, CPU, time), and what its options pick, are those of perf
# report: on every recorded perf.data at hand.

. "$(dirname "$0")/../lib.sh"
t_need perf "$PYTHON"
t_need_data

# FILE REASON...: what perf 6.1 shows nothing of.
perf_fails()
{
	case $1 in
	linux-perf-data/fibo.compressed2.pipe.data)
		echo "perf 6.1 does not know PERF_RECORD_COMPRESSED2" ;;
	pt-hase-control_flow-a/perf.data | pt-tmon-ptwrite/perf.data)
		echo "there are no samples; perf shows events that it makes up from the trace" ;;
	*) return 1 ;;
	esac
}

while read -r file; do
	name=${file#"$VT_DATA/perf/"}
	t_run "$ROOT/tests/perf_slices.py" --ignore cbr --ignore psb --ignore ptwrite "$file"
	if [ "$T_STATUS" = 77 ] && reason=$(perf_fails "$name"); then
		t_skip "$name: groups and slices are perf's" "$reason"
	elif [ "$T_STATUS" = 0 ]; then
		t_pass "$name: groups and slices are perf's"
		sed 's/^/# /' "$T_OUT"
	else
		t_fail "$name: groups and slices are perf's" "$(t_last)"
	fi
done < <(find "$VT_DATA/perf" -type f \( -name '*.data' -o -name 'perf.data.*' \) | sort)
t_done
