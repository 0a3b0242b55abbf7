#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace decode --lbr on what vsim makes of a recording, against the code that the recording has.

. "$(dirname "$0")/../lib.sh"
t_need jq

demo=$ROOT/tests/data/demo

# The instructions from the target of each branch to the source of the next one.
cat >walk.py <<'END'
import subprocess, sys
from bisect import bisect_left, bisect_right

def dump(*args):
    text = subprocess.run(["vtrace", "dump", *args], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in text.stdout.splitlines()]

recording, stacks = sys.argv[1:]
addrs = set()
for addr, lengths in dump("-k", "BLOCK", "-F", "addr,lengths", recording):
    at = int(addr, 16)
    for n in bytes.fromhex(lengths):
        addrs.add(at)
        at += n
addrs = sorted(addrs)
total = 0
for sources, targets in dump("-k", "SAMPLE", "-F", "br_from,br_to", stacks):
    sources = [int(a, 16) for a in sources.split(",") if a]
    targets = [int(a, 16) for a in targets.split(",") if a]
    for source, target in zip(sources, targets[1:]):
        total += bisect_right(addrs, source) - bisect_left(addrs, target)
print(total)
END
vsim -m skylake -S cycles:211 --branches 16 -o stacks.vt "$demo/orders.vt" 2>err
t_ok "stacks of a recording" vtrace decode --lbr --symfs "$demo/symfs" stacks.vt -o code.vt
t_is "have their instructions, no block told twice" \
	"$(vtrace dump -k EXEC -F insns code.vt | awk '{ n += $1 } END { print n + 0 }')" \
	"$("$PYTHON" walk.py "$demo/orders.vt" stacks.vt)"
t_ok "and nothing that contradicts itself" vtrace info code.vt
t_is "not a word" "$(cat "$T_ERR")" ""
t_is "which is no event of its own" "$(vprof --json code.vt | jq -c '[.events[].name]')" '["cycles"]'
t_is "nor changes the samples" "$(vprof --csv --symfs "$demo/symfs" code.vt)" \
	"$(vprof --csv --symfs "$demo/symfs" stacks.vt)"

t_done
