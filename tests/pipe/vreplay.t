#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vreplay: finds each planted pair of tests/data/replay/conflicts.S, recorded by valgrind, at the
# addresses that nm tells, and nothing in the procedure that has none.

. "$(dirname "$0")/../lib.sh"

t_need gcc nm valgrind

gcc -O1 -Wl,-z,now -o conflicts "$ROOT/tests/data/replay/conflicts.c" \
	"$ROOT/tests/data/replay/conflicts.S" || t_skip_all "the program with planted pairs does not compile"

# at LABEL: its address in the file's terms, in hexadecimal; text is mapped where its offset is.
at()
{
	nm conflicts | awk -v l="$1" '$3 == l { sub(/^0+/, "", $1); print "0x" $1 }'
}

record()
{
	vtrace record --full --mem --values=stores -o "$1.vt" -- ./conflicts "$1" 1000 >/dev/null 2>&1
}

# pairs STREAM [OPTIONS]: the pairs in the procedures of the program, "TYPE EARLIER LATER COUNT".
first=$(at narrow)
pairs()
{
	local stream=$1
	shift
	vreplay --image conflicts "$@" "$stream" 2>/dev/null | vtrace dump -k CONFLICT --tsv - |
		awk -v first="$first" '
			function field(name,   i) {
				for (i = 1; i <= NF; i++)
					if (index($i, name "=") == 1)
						return substr($i, length(name) + 2)
				return "?"
			}
			length(field("offset")) > length(first) ||
			(length(field("offset")) == length(first) && field("offset") >= first) {
				print field("type"), field("earlier"), field("offset"), field("count")
			}'
}
