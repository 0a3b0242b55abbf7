#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every input of the kept fuzz corpora through its target, in this build.

. "$(dirname "$0")/../lib.sh"

for src in "$ROOT"/tests/fuzz/fuzz_*.c; do
	[ -e "$src" ] || t_skip_all "no fuzz targets"
	name=$(basename "$src" .c)
	t_ok "$name: an empty file" "$VT_BUILD/tests/fuzz/$name" /dev/null
	mapfile -t kept < <(find "$ROOT/tests/fuzz/corpus/$name" -type f | sort)
	if [ ${#kept[@]} -eq 0 ]; then
		t_fail "$name has a kept corpus" "nothing in tests/fuzz/corpus/$name"
		continue
	fi
	t_ok "$name: ${#kept[@]} kept inputs" "$VT_BUILD/tests/fuzz/$name" "${kept[@]}"
done
t_done
