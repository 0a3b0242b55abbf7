#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace encode: what cannot be encoded is told.

. "$(dirname "$0")/../lib.sh"

make=$VT_BUILD/tests/tools/stream_exec

"$make" --insns 100000 >loop.vt
t_ok "a stream of blocks" vtrace encode -o loop.pt loop.vt
t_ok "the same through pipes" bash -c 'cat loop.vt | vtrace encode >pipe.pt'
t_same "gives the same" loop.pt pipe.pt
head -c 16 loop.pt | od -An -v -tx1 | tr -d ' \n' >begin
t_is "it begins with a PSB" "$(cat begin)" "02820282028202820282028202820282"

vsample --help >/dev/null
vsample -n 10000 loop.vt >sample.vt
t_status "samples of executed code are refused" 3 vtrace encode -o x.pt sample.vt
t_like "and told" 'samples of what was executed' "$T_ERR"
vtrace decode "$ROOT/tests/data/demo/perf.data" -o time.vt
t_status "so is a stream without blocks" 3 vtrace encode -o x.pt time.vt
t_like "and told" 'no block was executed' "$T_ERR"
t_done
