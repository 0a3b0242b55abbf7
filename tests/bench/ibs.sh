#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How many IBS samples a second `vtrace decode` reads into a pipe, in processor time, the best of three
# runs, and how much longer perf report -D takes for the same file, which prints them.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
vtrace=${VT_BUILD:-$root/build}/bin/vtrace
times=${IBS_TIMES:-100}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/measure.py" <<'EOF'
import resource, subprocess, sys
n, file, vtrace = int(sys.argv[1]), sys.argv[2], sys.argv[3]

def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

best = min(seconds([vtrace, "decode", "-o", "/dev/null", file]) for _ in range(3))
line = "IBS: %.1f million samples a second (aim: 2)" % (n / best / 1e6)
try:
    line += ", %.0f times perf report -D (aim: 10)" % (seconds(["perf", "report", "-D", "-i", file]) / best)
except FileNotFoundError:
    pass
print(line)
EOF
cat >"$tmp/samples.py" <<'EOF'
import random
r = random.Random(3)
for i in range(10000):
    memory = r.randrange(3)
    miss = memory and r.randrange(6) == 0
    far = miss and r.randrange(3) == 0
    branch = not memory and r.randrange(3) == 0
    data = r.randrange(60) | r.randrange(300) << 16 | branch << 37 | (branch and r.randrange(2)) << 35
    data3 = memory | miss << 7 | far << 20 | bool(memory) * (4 << 22 | 3 << 17) | \
        (miss and r.randrange(500)) << 32 | (miss and r.randrange(1, 9)) << 26
    registers = [3 << 17, 0x400000 + r.randrange(5000) * 4, data, far and r.choice((1, 3)), data3,
                 memory and 0x7fff00000000 + r.randrange(1 << 20), memory and r.randrange(1 << 32),
                 branch and 0x400000 + r.randrange(5000) * 4]
    print("op fff", " ".join("%x" % x for x in registers))
EOF
python3 "$tmp/samples.py" |
	PYTHONPATH=$root/tests python3 "$root/tests/mkibs.py" -4 -n "$times" "$tmp/ibs.data"
python3 "$tmp/measure.py" $((10000 * times)) "$tmp/ibs.data" "$vtrace"
