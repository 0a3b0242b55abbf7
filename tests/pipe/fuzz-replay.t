#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every input of the kept fuzz corpora and some damaged variants through its target, in this build.

. "$(dirname "$0")/../lib.sh"

for src in "$ROOT"/tests/fuzz/fuzz_*.c; do
	[ -e "$src" ] || t_skip_all "no fuzz targets"
	name=$(basename "$src" .c)
	t_ok "$name: an empty file" "$VT_BUILD/tests/fuzz/$name" /dev/null
	mapfile -t kept < <(find "$ROOT/tests/fuzz/corpus/$name" -type f | LC_ALL=C sort)
	if [ ${#kept[@]} -eq 0 ]; then
		t_fail "$name has a kept corpus" "nothing in tests/fuzz/corpus/$name"
		continue
	fi
	t_ok "$name: ${#kept[@]} kept inputs, 20 variants" "$VT_BUILD/tests/fuzz/$name" -n 20 "${kept[@]}"
done

# What fails is seen and left, the same each time, and nothing before it failed.
fails=$VT_BUILD/tests/fuzz/failing
printf 'some text' >kept
ASAN_OPTIONS='' t_status 'one of many variants fails' 1 "$fails" -n 100000 -s 7 -o one- kept
ASAN_OPTIONS='' "$fails" -n 100000 -s 7 -o two- kept 2>said
left=$(echo one-7-*)
n=${left##*-}
t_is 'it begins with what the target fails at' '!' "$(head -c 1 "$left")"
t_like 'and is named' "variant $n of seed 7 fails: two-7-$n" said
t_ok 'the same bytes at the second time' cmp "$left" "two-7-$n"
t_ok 'those before it pass' "$fails" -n "$n" -s 7 kept
ASAN_OPTIONS='' t_status 'it alone fails' 1 "$fails" -n 1 -f "$n" -s 7 -o three- kept
t_done
