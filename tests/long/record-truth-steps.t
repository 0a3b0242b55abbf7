#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# 100,000 steps of three programs, recorded and executed by the processor.
#
# The programs are the machine's, for what they have that ours have not: other compilers and assembly.
# Whatever they are, what was recorded is what the processor does.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/steps.sh"
t_need valgrind gzip sort

cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md | head -c 100000 >in.txt
head -c 20000 in.txt >small.txt
steps gzip 30 100000 gzip -9 -c small.txt
steps sort 85 100000 sort --parallel=1 in.txt
if command -v xz >/dev/null; then
	steps xz 60 100000 xz -1 -T1 -c small.txt
else
	t_skip "xz" "xz is not installed"
fi
t_done
