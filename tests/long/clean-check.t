#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The README's two commands on a machine that nobody prepared, whose processor has none of the newer
# features that the C library has other code for.

. "$(dirname "$0")/../lib.sh"

[ "$(id -u)" -eq 0 ] || t_skip_all "scripts/clean-check needs root"
[ -z "$VT_SAN" ] || t_skip_all "it makes a build of its own"
t_ok "clean-check --old-cpu" "$ROOT/scripts/clean-check" --old-cpu
sed -n 's/^skipped: /# skip: /p' "$T_OUT"
t_done
