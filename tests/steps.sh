# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Recordings against the processor: a program is recorded, and single-stepped by ptrace from the same
# place on; tests/check_steps.py compares. Sourced after lib.sh.

# Valgrind's processor has fewer features than the real one, and the C library chooses its string
# functions by them, and by the sizes of caches.
STEPS_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD,-RTM,-FSRM
STEPS_TUNABLES+=:glibc.cpu.x86_non_temporal_threshold=0x100000
STEPS_TUNABLES+=:glibc.cpu.x86_rep_movsb_threshold=0x800
STEPS_TUNABLES+=:glibc.cpu.x86_rep_stosb_threshold=0x800
STEPS_TUNABLES+=:glibc.cpu.x86_data_cache_size=0x8000
STEPS_TUNABLES+=:glibc.cpu.x86_shared_cache_size=0x100000

steps_env()
{
	env -i PATH=/usr/bin:/bin LC_ALL=C LD_BIND_NOW=1 "GLIBC_TUNABLES=$STEPS_TUNABLES" \
		${ASAN_OPTIONS:+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$@"
}

steps_count()
{
	sed -n "s/^$1 //p" "$T_OUT"
}

# usage: steps NAME SHARE STEPS COMMAND...: from where SHARE percent of it have been executed on.
steps()
{
	local name=$1 share=$2 steps=$3 program offset times all odd
	program=$(readlink -f "$(command -v "$4")")
	shift 4
	t_ok "$name: is recorded" steps_env "$VT_BUILD/bin/vtrace" record --full --values=all --mem \
		-o r.vt -- "$program" "$@"
	read -r offset times < <("$PYTHON" "$ROOT/tests/check_steps.py" r.vt "$program" choose "$share")
	t_run steps_env "$VT_BUILD/tests/tools/ptrace_steps" steps "$offset" "$times" "$steps" \
		"$program" "$@"
	if [ "$T_STATUS" = 3 ]; then
		t_skip "$name: single steps" "ptrace is not permitted"
		return
	fi
	t_is "$name: is stepped through" "$T_STATUS" 0
	t_ok "$name: pc, loads and registers are the processor's" "$PYTHON" \
		"$ROOT/tests/check_steps.py" r.vt "$program" compare "$offset" "$times" "$steps" steps
	sed "s/^/# $name: /" "$T_OUT"
	t_is "$name: all steps" "$(steps_count steps) $(steps_count unexplained)" "$steps 0"
	all=$(($(steps_count equal) + $(steps_count address)))
	odd=$(($(steps_count derived) + $(steps_count page) + $(steps_count secret)))
	if [ $((100 * $(steps_count equal))) -ge $((33 * (all + odd))) ] &&
		[ $((100 * odd)) -le $((5 * (all + odd))) ] &&
		[ "$(steps_count displacements)" -le 20 ] &&
		[ "$(steps_count loads)" -ge $((steps / 10)) ]; then
		t_pass "$name: the places of mappings explain a sane share"
	else
		t_fail "$name: the places of mappings explain a sane share" "$(cat "$T_OUT")"
	fi

	# One wrong register, one wrong load.
	awk 'NR > 500 && !a && sub(/ 0=[0-9a-f]+/, " 0=123456789") { a = 1 }
		NR > 600 && !b && match($0, / m[0-9a-f]+=/) {
			at = RSTART + RLENGTH
			byte = substr($0, at, 2) == "00" ? "01" : "00"
			$0 = substr($0, 1, at - 1) byte substr($0, at + 2)
			b = 1
		}
		{ print }' steps >other
	t_status "$name: wrong values are found" 1 "$PYTHON" "$ROOT/tests/check_steps.py" r.vt \
		"$program" compare "$offset" "$times" 2000 other
	t_is "$name: both" "$(($(steps_count differences) >= 2))" 1
}
