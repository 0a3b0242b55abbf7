#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A damaged record costs its own samples and hardly any other, and no sample comes out that is not
# in the undamaged file: perf.data files damaged in many ways. tests/long has more of them.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/damage.sh"

damage 60

# A bad size at a tenth of a file, by hand.
size_at=$((104 + 8 + 136 + 16 + 40 * 300 + 8 + 6))
cp plain.data bad.data
printf '\0\0' | dd of=bad.data bs=1 seek="$size_at" conv=notrunc status=none
t_status "one bad size has status 1" 1 vtrace decode -o bad.vt bad.data
t_like "and a line that says what is lost" \
	'bad.data: damage at 0x[0-9a-f]+: a record of type 9 and size 0.* 40 bytes are passed over' "$T_ERR"
t_is "all other samples come out" "$(vtrace dump -k SAMPLE -F time bad.vt 2>err | wc -l)" 2999
vtrace dump -k GAP bad.vt >gaps 2>err
t_like "the loss is a GAP with its place and bytes" \
	"reason=a record of type 9.*offset=$(printf '0x%x' $((size_at - 6)))	bytes=40$" gaps
t_done
