#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Return addresses by call frame information, or the code where there is none, against a stack of calls kept while stepping.
#
# The programs are the machine's: what compilers and people write as frame information is the point.
# Whatever it is, no address may be wrong; that nearly all are known is what the tables are there for.

. "$(dirname "$0")/../lib.sh"

head -c 100000 "$VT_BUILD/bin/vtrace" >in

# follow NAME CALLS STEPS PROGRAM...: none is wrong, and nearly all are known.
follow()
{
	local name=$1

	shift
	if "$VT_BUILD/tests/tools/unwind_steps" "$@" >out 2>errors; then
		t_is "$name: nearly all are known" \
			"$(awk '{ print ($2 > 10000 && $4 >= $2 * 0.99) ? "yes" : $0 }' out)" yes
	elif [ $? = 3 ]; then
		t_skip "$name" "$(cat errors)"
	else
		cat out errors >&2
		t_ok "$name: none is wrong" false
	fi
}

follow "the dynamic linker, and ls" 0 50000 ls -l /usr/lib
follow gzip 45 40000 gzip -c in
follow perl 60 60000 perl -e 'print join q(,), sort reverse 1 .. 3000'
follow "openssl's own assembly" 60 50000 openssl dgst -sha256 in

# Without call frame information, by the code alone.
if objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr "$(command -v gzip)" bare; then
	follow "gzip without tables" 45 20000 ./bare -c in
	t_is "these are by the code" "$(awk '{ print ($10 > 10000) ? "yes" : $0 }' out)" yes
fi
t_done
