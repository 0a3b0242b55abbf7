#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Measured basic blocks: chains of known latency, blocks that touch memory, and those that cannot
# run.

. "$(dirname "$0")/../lib.sh"

grep -qw avx /proc/cpuinfo || t_skip_all "the processor has no AVX"

# imul %rcx,%rax; the same twice; add %rcx,%rax; mov 80(%rax),%rcx; ud2; div %rcx, whose quotient is
# too large; a jump to itself; 129 nops.
cat >blocks <<'END'
480fafc1,0
480fafc1480fafc1
4801c8,7
488b4850,1
0f0b,1
48f7f1,1
ebfe,1
END
printf '90%.0s' $(seq 129) >>blocks
cat >want <<'END'
480fafc1 3
480fafc1480fafc1 6
4801c8 1
488b4850 -
END
t_pipe "blocks are measured" "'$VT_BUILD/tests/tools/block_time' 2 <blocks >measured 2>left-out"
t_is "what is left out is counted" "$(cat left-out)" \
	"block_time: left out: 1 blocks of more than 128 bytes, 3 that cannot run"
awk -F, '
	function is(n) { return $2 > 90 * n && $2 < 130 * n }
	{ print $1, is(1) ? 1 : is(3) ? 3 : is(6) ? 6 : "-" }' measured >told
t_same "chains take their latency, and what cannot run is left out" want told
for line in xyz 909 90:1 "$(printf '90%.0s' $(seq 3000))"; do
	printf '4801c8\n%s\n' "$line" >bad
	t_status "refused: $(head -c 10 <<<"$line")" 3 sh -c "'$VT_BUILD/tests/tools/block_time' <bad"
	t_like "by its number" '^block_time: line 2 ' "$T_ERR"
done
t_done
