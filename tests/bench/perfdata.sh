#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How many samples a second `vtrace decode` takes from a perf.data to a stream, in processor time of
# the process, the best of three runs, and the most memory it ever used: plain samples of 4
# processors in a file, the same from a pipe, and a file four times as long (memory must not grow).
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
vtrace=${VT_BUILD:-$root/build}/bin/vtrace
n=${PERFDATA_SAMPLES:-4000000}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cat >"$tmp/measure.py" <<'EOF'
import resource, subprocess, sys
name, n, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
best = None
for _ in range(3):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    best = used if best is None else min(best, used)
print('perf.data %-22s %6.1f million samples a second (aim: 10), at most %d MB (aim: 64)'
      % (name, n / best / 1e6, after.ru_maxrss / 1024))
EOF

measure()
{
	python3 "$tmp/measure.py" "$@"
}

python3 "$root/tests/mkperfdata.py" -s -n "$n" -c 4 "$tmp/short.data"
measure "file" "$n" "$vtrace" decode -o /dev/null "$tmp/short.data"
# The shell's part and cat's count, too.
measure "pipe" "$n" sh -c "cat $tmp/short.data | $vtrace decode -o /dev/null -"
rm "$tmp/short.data"
python3 "$root/tests/mkperfdata.py" -s -n $((4 * n)) -c 64 "$tmp/long.data"
measure "long file, 64 CPUs" $((4 * n)) "$vtrace" decode -o /dev/null "$tmp/long.data"
