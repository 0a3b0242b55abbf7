#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A recording is what the processor does, step by step; tests/long has more of it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/steps.sh"
t_need valgrind gzip

head -c 8000 "$ROOT/formats/vt.md" >in.txt
steps gzip 50 20000 gzip -9 -c in.txt
t_done
