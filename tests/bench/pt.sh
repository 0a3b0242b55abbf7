#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast Intel PT is decoded: `vtrace decode` as a whole, to /dev/null, against nothing but libipt's
# block decoder with an image section cache (tests/tools/pt_libipt), on the same trace and code in
# the same run: the longest capture, cold, and python of two hundred million instructions and more,
# recorded and encoded here. The better of several runs counts.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${VT_BUILD:-build}" && pwd)
PATH=$build/bin:$PATH
libipt=$build/tests/tools/pt_libipt
data=${VTRACE_DATA:-$root/../shared/data}/pt/mruby
python=/usr/bin/python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

cat >sections.py <<'END'
import struct, sys
addresses = open(sys.argv[2], 'rb').read()
runs = []
for i, (page,) in enumerate(struct.iter_unpack('<Q', addresses)):
    page &= ~0xfff
    if runs and runs[-1][2] + runs[-1][1] == page:
        runs[-1][1] += 4096
    else:
        runs.append([4096 * i, 4096, page])
for offset, size, address in runs:
    print(sys.argv[1], hex(offset), hex(size), hex(address))
END
cat >best.py <<'END'
import subprocess, sys, time
best = 1e9
for _ in range(int(sys.argv[1])):
    start = time.monotonic()
    # Damage in the trace is no failure of the measurement.
    if subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode > 1:
        sys.exit(f'{sys.argv[2:]} failed')
    best = min(best, time.monotonic() - start)
print(f'{best:.6f}')
END

# usage: measure NAME RUNS DUMP ADDRS TRACE: prints the figures of a trace
measure()
{
	"$python" sections.py "$3" "$4" >sections
	"$libipt" "$5" sections >reference
	for _ in 2 3; do
		[ "$2" -lt 5 ] || "$libipt" "$5" sections >>reference
	done
	one=$("$python" best.py "$2" vtrace decode --engine fast --pages "$3,$4" "$5")
	two=$("$python" best.py "$2" vtrace decode --engine fast -j 2 --pages "$3,$4" "$5")
	sed 's/,//g; s/ s\b//g' reference | awk -v name="$1" -v one="$one" -v two="$two" '
		NR == 1 || $9 < loop { loop = $9; insns = $1 }
		END {
			printf "%s: %d instructions, %.0f million a second, libipt %.0f: %.1f times; -j 2: %.2f times one\n",
			       name, insns, insns / one / 1e6, insns / loop / 1e6, loop / one, one / two
		}'
}

if [ -e "$data/trace" ]; then
	measure mruby 15 "$data/data.dump" "$data/data.addr" "$data/trace"
else
	echo "pt: mruby skipped, no $data"
fi

cat >run.py <<'END'
import json, re
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def norm(self):
        return self.x * self.x + self.y * self.y
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
seen, total = {}, 0
for i in range(60000):
    total += Point(i, i + 1).norm()
    seen[i % 997] = seen.get(i % 997, 0) + i
    if i % 3 == 0:
        total ^= len(str(i))
text = json.dumps([{'a': i, 'b': [i, i * 2], 'c': str(i)} for i in range(3000)])
print(fib(19), total, len(json.loads(text)), len(re.findall(r'"c": "(\d+)"', text)))
END
if vtrace record --full --blocks -o py.vt -- "$python" run.py >/dev/null 2>&1; then
	vtrace encode --psb 65536 --pages py -o py.pt py.vt
	measure python 3 py.dump py.addr py.pt
else
	echo "pt: python skipped, vtrace record --full does not work here"
fi
