#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Both engines on traces of a few programs; tests/long has more.
. "$(dirname "$0")/../lib.sh"
VARIANTS=15
. "$ROOT/tests/engines.sh"
t_need valgrind

programs=$VT_BUILD/tests/tools
engines_on calls "$programs/rec_calls" 500
engines_on signals "$programs/rec_signals"
engines_on threads "$programs/rec_threads" 100
engines_total 20 300
t_done
