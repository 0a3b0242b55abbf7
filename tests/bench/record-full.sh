#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fast a program runs while all that it executes is recorded, against valgrind that does nothing
# (--tool=none) in the same run: gzip on 20 MB of text, and the start-up of python. `recorded' is the
# processor time of the recorded process alone: what remains where the reader has a processor to
# itself. The better of three runs counts.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(cd "${VT_BUILD:-build}" && pwd)/bin:$PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	echo "record-full: skipped, vtrace record --full does not work here"
	exit 0
fi
cat "$root"/lib/*/*.[ch] "$root"/formats/*/*.[ch] "$root"/cmd/*/*.[ch] "$root"/tests/*/*.c >piece
bytes=${RECORD_BYTES:-20000000}
for _ in $(seq $((bytes / $(stat -c %s piece) + 1))); do
	cat piece
done | head -c "$bytes" >text
valgrind=$(command -v valgrind.bin || command -v valgrind)
python=/usr/bin/python3

cat >run.py <<'END'
import os, subprocess, sys, time
def ticks(pid):
    with open(f'/proc/{pid}/stat') as f:
        s = f.read().rsplit(')', 1)[1].split()
    return (int(s[11]) + int(s[12])) / os.sysconf('SC_CLK_TCK')
def children(pid):
    with open(f'/proc/{pid}/task/{pid}/children') as f:
        return [int(x) for x in f.read().split()]
start = time.monotonic()
p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
recorded = 0
while p.poll() is None:
    try:
        pids = children(p.pid) if sys.argv[1] == 'child' else [p.pid]
        recorded = max([recorded] + [ticks(x) for x in pids])
    except OSError:
        pass
    time.sleep(0.005)
wall = time.monotonic() - start
sys.exit(f'{sys.argv[2:]} failed') if p.returncode else print(f'{wall:.3f} {recorded:.3f}')
END

# usage: best WHOSE COMMAND...: the least wall and processor time of three runs
best()
{
	for _ in 1 2 3; do
		"$python" run.py "$@"
	done | awk 'NR == 1 || $1 < w { w = $1 } NR == 1 || $2 < c { c = $2 } END { print w, c }'
}

none="--command-line-only=yes -q --vgdb=no --vex-guest-chase=no --tool=none"
# shellcheck disable=SC2086 # options are words
base=$(best self "$valgrind" $none gzip -c text)
null=$(best child vtrace record --full -o /dev/null -- gzip -c text)
file=$(best child vtrace record --full -o gzip.vt -- gzip -c text)
# shellcheck disable=SC2086
base_start=$(best self "$valgrind" $none "$python" -S -c pass)
start=$(best child vtrace record --full -o /dev/null -- "$python" -S -c pass)
insns=$(vtrace dump -k EXEC -F insns gzip.vt | awk '{ n += $1 } END { printf "%d", n }')

echo "$base $null $file $base_start $start $insns $(stat -c %s gzip.vt)" | awk '{
	printf "record gzip: %.2f G instructions; --tool=none %.2f s, recorded %.2f s, into a file %.2f s\n", $11 / 1e9, $1, $3, $5
	printf "record /dev/null  %5.2f of the speed of --tool=none; recorded %.2f (aim: 0.6)\n", $1 / $3, $2 / $4
	printf "record file       %5.2f G instructions a second, %.3f bytes each (aim: 0.3)\n", $11 / 1e9 / $5, $12 / $11
	printf "record start-up   %5.2f s more than --tool=none, of python (aim: 1.5)\n", $9 - $7
}'
