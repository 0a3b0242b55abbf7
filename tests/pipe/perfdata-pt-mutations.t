#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# perfdata-mutations.t with Intel PT to decode: of a thread, of processors in turns, and what a
# snapshot left. A test of its own, for each of the two takes minutes.
. "$(dirname "$0")/../lib.sh"

t_need valgrind
mutate=$VT_BUILD/tests/tools/perfdata_mutate
[ -x "$mutate" ] || t_skip_all "tests/tools/perfdata_mutate is not built"
# A sanitizer keeps freed memory back, so there the limit says nothing.
[ -n "$VT_SAN" ] || export VT_MUTATE_MAX_MB=256

t_ok "a program is recorded" vtrace record --full --blocks --count 3000 -o small.vt -- \
	"$VT_BUILD/tests/tools/rec_longjmp" 5
for how in "" "--tsc --cpus 2 --slice 500" "--tsc --psb 256 --snapshot 700"; do
	# shellcheck disable=SC2086 # a list of options
	vtrace encode --perf-data $how -o seed.data small.vt
	t_ok "[Intel PT $how] survives cuts and mutations" "$mutate" seed.data "${VT_MUTATIONS:-200}" pt
done
t_done
