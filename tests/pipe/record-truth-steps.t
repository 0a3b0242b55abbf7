#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A recording is what the processor does, step by step; tests/long has more of it.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/steps.sh"
t_need valgrind

head -c 8000 "$ROOT/formats/vt.md" >in.txt
steps pack 50 20000 "$VT_BUILD/tests/tools/rec_work" pack in.txt
t_done
