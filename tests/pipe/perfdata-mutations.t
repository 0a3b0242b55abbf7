#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Small perf.data files cut at every byte, and mutations, VT_MUTATIONS of each (250): no crash, no hang,
# no more than 256 MB, and what came before the damage is delivered. The sanitizer build runs this, too.
. "$(dirname "$0")/../lib.sh"

t_need zstd
mutate=$VT_BUILD/tests/tools/perfdata_mutate
[ -x "$mutate" ] || t_skip_all "tests/tools/perfdata_mutate is not built"
# A sanitizer keeps freed memory back, so there the limit says nothing.
[ -n "$VT_SAN" ] || export VT_MUTATE_MAX_MB=256

for form in "-n 4" "-n 4 -b" "-n 4 -z" "-n 4 -p" "-n 4 -b -p -z"; do
	# shellcheck disable=SC2086 # a list of options
	$PYTHON "$ROOT/tests/mkperfdata.py" $form seed.data
	t_ok "[$form] survives cuts and mutations" "$mutate" seed.data "${VT_MUTATIONS:-250}"
done
t_done
