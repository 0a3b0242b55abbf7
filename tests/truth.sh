# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# The interpreter against recordings of real programs. Sourced after lib.sh.

truth_values=0 # compared so far
truth_free=0   # those of runs that know all registers and all recorded memory
truth_programs=' '

truth_header()
{
	printf '# %-12s %12s %8s %12s %12s %5s %8s\n' program instructions runs 'free values' \
		'all values' wrong seconds
}

# usage: truth_field WAY NAME: a number that interp_truth has printed.
truth_field()
{
	awk -v way="$1" -v name="$2" '$1 == way { for (i = 2; i < NF; i += 2) if ($i == name) print $(i + 1) }' "$T_OUT"
}

# usage: truth NAME SKIP COUNT LEAST COMMAND...: at least so many values of it are compared.
truth()
{
	local name=$1 skip=$2 count=$3 least=$4 free all insns start=$SECONDS
	shift 4
	# shellcheck disable=SC2016 # for the inner shell
	t_run env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME="$HOME" VT_BUILD="$VT_BUILD" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} \
		bash -c 'skip=$1 count=$2; shift 2; set -o pipefail
			"$VT_BUILD/bin/vtrace" record --full --values=all --mem --args --follow -z none \
				--skip "$skip" --count "$count" -o - -- "$@" 2>recorder.log |
				"$VT_BUILD/tests/tools/interp_truth"' - "$skip" "$count" "$@"
	free=$(($(truth_field free values) + $(truth_field valgrind values)))
	all=$(truth_field all values)
	insns=$(truth_field followed insns)
	printf '# %-12s %12d %8d %12d %12d %5d %8d\n' "$name" "$insns" "$(truth_field all runs)" "$free" \
		"$all" "$(truth_field all differences)" $((SECONDS - start))
	truth_values=$((truth_values + all))
	truth_free=$((truth_free + free))
	[[ $truth_programs == *" $name "* ]] || truth_programs+="$name "
	t_is "$name: is recorded, and no value is wrong" \
		"$T_STATUS $(truth_field all differences) $(head -n 20 "$T_ERR")" '0 0 '
	t_is "$name: enough values" "$((all >= least))" 1
}

steps_made=0

steps_header()
{
	printf '# %-12s %9s %12s %14s %9s %5s %8s\n' program steps registers 'known bits' stores wrong \
		seconds
}

# usage: steps_field NAME: a number that interp_steps has printed.
steps_field()
{
	sed -n "s/^$1 //p" "$T_OUT"
}

# usage: steps NAME STEPS COMMAND...: steps through it; if it is there, and if that is permitted.
steps()
{
	local name=$1 steps=$2 program start=$SECONDS
	shift 2
	program=$(readlink -f "$(command -v "$1")")
	if [ -z "$program" ]; then
		t_skip "$name: steps" "$1 is not installed"
		return
	fi
	shift
	t_run "$VT_BUILD/tests/tools/interp_steps" "$steps" "$program" "$@"
	if [ "$T_STATUS" = 3 ]; then
		t_skip "$name: steps" "ptrace is not permitted"
		return
	fi
	steps_made=$((steps_made + $(steps_field steps)))
	printf '# %-12s %9d %12d %14d %9d %5d %8d\n' "$name" "$(steps_field steps)" \
		"$(($(steps_field registers) + $(steps_field values)))" "$(steps_field bits)" \
		"$(steps_field stores)" "$(steps_field differences)" $((SECONDS - start))
	# The program has its say on standard error, too.
	t_is "$name: nothing that is known is wrong" \
		"$T_STATUS $(steps_field differences) $(grep -aE '^(at 0x|interp_steps: )' "$T_ERR" | head -n 20)" \
		'0 0 '
	t_is "$name: enough is known" "$(($(steps_field registers) > 20 * steps))" 1
}
