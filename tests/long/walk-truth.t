#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # programs of awk and perl
#
# The agent's walker against single steps of the processor, on more programs and in more places than
# in the short test, and on all forms of single instructions with other numbers.

. "$(dirname "$0")/../lib.sh"

TRUTH=$VT_BUILD/tests/tools/walk_truth

"$TRUTH" -k 1 -e 10 true >/dev/null 2>&1
[ $? -ne 3 ] || t_skip_all "ptrace is not permitted"

seq -w 1 400000 | sed 's/\(.\)\(.\)/\2\1x/' >text
{
	echo '#include <stdlib.h>'
	for i in $(seq 300); do
		echo "int f$i(int *p, int n) { int r = $i; while (n--) r = r * 31 + p[n] % $i; return r; }"
	done
} >source.c

# check PERCENT PROGRAM...
check()
{
	local percent=$1 length

	shift
	if ! command -v "$1" >/dev/null; then
		t_skip "$1" "is not there"
		return
	fi
	for length in 16 64; do
		t_ok "$1, $length instructions: nothing wrong" \
			"$TRUTH" -n "$length" -k 6000 -u 300 "$@"
		t_ok "$1, $length instructions: loads known of those executed" \
			awk -v least="$percent" '
			$1 == "loads" { loads = $2; known = $4; }
			END { exit !(100 * known >= least * loads) }' "$T_OUT"
	done
}

check 98 gzip -9 -c text
check 95 sort --parallel=1 text
check 95 zstd --single-thread -15 -c text
check 95 xz -c text
check 98 perl -e 'for (1 .. 900000) { $n{$_ % 97} .= "x$_"; } print length($n{5})'
check 98 "$PYTHON" -c 'print(sum(len(str(i)) for i in range(2000000)))'
check 95 awk '{ n[substr($1, 2, 3)] += length($0) } END { for (k in n) print k, n[k] }' text
check 98 "$(gcc -print-prog-name=cc1)" -O2 -quiet -imultiarch "$(gcc -print-multiarch)" source.c -o /dev/null
check 95 java -Xint -version

for seed in 101 102 103 104; do
	t_ok "all forms of instructions, seed $seed" \
		env CMOCKA_MESSAGE_OUTPUT=STDOUT "$VT_BUILD/tests/unit/agent/test_walk_native" 10 "$seed"
done
t_done
