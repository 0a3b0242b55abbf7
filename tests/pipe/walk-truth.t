#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # programs of awk and perl
#
# The agent's walker against single steps of the processor, on programs of any Debian and on the
# string functions of the C library in each of their versions that this processor has: nothing that
# the walker calls known is wrong, and it keeps the lines of nearly all loads.

. "$(dirname "$0")/../lib.sh"

TRUTH=$VT_BUILD/tests/tools/walk_truth
STRINGS=$VT_BUILD/tests/tools/rec_strings

"$TRUTH" -k 1 -e 10 true >/dev/null 2>&1
[ $? -ne 3 ] || t_skip_all "ptrace is not permitted"

seq -w 1 20000 | sed 's/\(.\)\(.\)/\2\1x/' >text

# check NAME PERCENT SAMPLES STEPS PROGRAM...: that many of all loads are known at least.
check()
{
	local name=$1 percent=$2 samples=$3 steps=$4

	shift 4
	t_ok "$name: nothing wrong" "$TRUTH" -k "$samples" -e "$steps" "$@"
	cp "$T_OUT" report
	t_like "$name: all samples were taken" "^samples $samples " report
	t_ok "$name: loads known of those executed" awk -v least="$percent" '
		$1 == "loads" { loads = $2; known = $4; }
		END { exit !(loads > 100 && 100 * known >= least * loads) }' report
}

check gzip 98 300 250 gzip -9 -c text
check sort 95 300 150 sort --parallel=1 text
check sed 95 300 150 sed -e 's/1x*2/yy/g' text
check awk 95 300 150 awk '{ n[substr($1, 2, 3)] += length($0) } END { for (k in n) print k, n[k] }' text
check perl 98 300 150 perl -e 'for (1 .. 9000) { $n{$_ % 97} .= "x$_"; } print length($n{5})'
check python 98 300 150 "$PYTHON" -c 'print(sum(len(str(i)) for i in range(5000)))'
check strings 95 400 100 "$STRINGS" 60
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512BW
check "strings without AVX-512" 95 400 100 "$STRINGS" 60
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512BW,-AVX2,-AVX2_Usable,-SSE4_2
check "strings without AVX2" 95 400 100 "$STRINGS" 60
unset GLIBC_TUNABLES

# The length is that asked for, but at a system call or, as often in the dynamic linker, CPUID.
t_ok "64 instructions" "$TRUTH" -n 64 -k 50 -e 500 gzip -9 -c text
t_like "64 instructions of each sample" '^samples 50  instructions [23][0-9][0-9][0-9] ' "$T_OUT"
t_done
