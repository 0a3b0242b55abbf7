#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tests/pipe/perfdata-damage.t with a thousand damaged variants of each file, and of real ones.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/damage.sh"

damage 1000
for f in "$VT_DATA"/perf/dwarf-*/perf.data "$VT_DATA"/perf/lbr-*/perf.data \
	"$VT_DATA"/perf/quipper/perf.data.*; do
	[ -e "$f" ] || continue
	for form in "" pipe; do
		# shellcheck disable=SC2086 # no form is no argument
		t_ok "damage to ${f#"$VT_DATA"/} $form" \
			"$VT_BUILD/tests/tools/perfdata_damage" "$f" 200 10 $form
	done
done
t_done
