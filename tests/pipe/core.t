#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# How much of what programs execute do the tables of timings know, in twelve of Debian's.

. "$(dirname "$0")/../lib.sh"

known=$VT_BUILD/tests/tools/core_known

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi

seq 3000 | sed 's/$/ some text for programs to work on/' >text
gzip -k text
record()
{
	vtrace record --full --skip 100000 --count 400000 -o "$1.vt" -- "${@:2}" >/dev/null 2>&1
}
record gzip gzip -c text
record sort sort -R text
record grep grep -E -c '(so|te)m.*9.*k' text
record sed sed -E 's/([a-z]+)m/\1/g' text
# shellcheck disable=SC2016 # of awk's, not the shell's
record awk awk '{ c[$2] += $1 } END { print c["some"] }' text
record perl perl -e 'print scalar reverse <>' text
record python3 /usr/bin/python3 -c 'print(sum(x * 1.5 for x in range(10000)))'
record sha256sum sha256sum text
record diff diff text text.gz
record tar tar cf - text
record find find "$ROOT/lib"
record objdump objdump -d "$VT_BUILD/obj/lib/base/buf.o"

check()
{
	local core=$1 each=$2 all=$3
	"$known" "$core" gzip.vt sort.vt grep.vt sed.vt awk.vt perl.vt python3.vt sha256sum.vt diff.vt \
		tar.vt find.vt objdump.vt >"$core.known"
	awk -F '\t' '{ printf "# %s of %s: %.2f%% %s\n", core, $1, 100 * $3 / $2, $4 }' core="$core" \
		"$core.known"
	t_is "$core: recordings are of programs" \
		"$(awk -F '\t' '$2 < 10000 { print $1 }' "$core.known")" ""
	t_is "$core: of each $each % is known" \
		"$(awk -F '\t' -v least="$each" '$3 < least / 100 * $2 { print $1 }' "$core.known")" ""
	t_is "$core: of all $all %" "$(awk -F '\t' -v least="$all" \
		'{ n += $2; k += $3 } END { print (k >= least / 100 * n) }' "$core.known")" 1
}
for core in skylake icelake alderlake zen2 zen3 zen4; do
	check "$core" 98 99.5
done
# It has no AVX, which the C library uses here.
check inorder 90 97

t_done
