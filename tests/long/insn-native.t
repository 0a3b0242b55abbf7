#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The interpreter against the processor, instruction by instruction, with other numbers and more of
# them than in the short test.
. "$(dirname "$0")/../lib.sh"

for seed in 101 102 103 104; do
	t_ok "all forms of instructions, seed $seed" \
		env CMOCKA_MESSAGE_OUTPUT=STDOUT "$VT_BUILD/tests/unit/test_insn_native" 10 "$seed"
done
t_done
