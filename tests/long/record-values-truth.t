#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2016 # programs of bash and perl
#
# Ten million instructions behind samples of large programs, as those of the machine are: nothing that
# vinterp says to know is wrong.  Programs that are not there are left out.

. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/steps_values.sh"

for _ in 1 2 3 4 5 6 7 8; do cat "$ROOT"/man/*.1; done >pages
cat "$VT_BUILD/bin/vtrace" >binary
for i in $(seq 600); do
	echo "int f$i(int *p, int n) { int r = $i; while (n--) r = r * 31 + p[n] % $i; return r; }"
done >source.c
cat >work.py <<'END'
import hashlib, math, re, struct
for i in range(1, 200000):
    x = i * 0.37
    math.sin(x), math.exp(-x / 900), round(x), (i << 70) % 1000003
    float("%.9e" % x), hashlib.blake2b(struct.pack("<dqf", x, i, x)).digest(), re.findall(r"\d", "a1b2")
END

cat >work.lua <<'END'
local words, sum = {}, 0
for i = 1, 400000 do
	local w = string.format("%x", i * 7919 % 65521)
	words[w] = (words[w] or 0) + i / 3
	sum = sum + math.sin(i) * #w
end
local keys = {}
for k in pairs(words) do keys[#keys + 1] = k end
table.sort(keys)
print(#keys, sum, table.concat(keys):sub(1, 40))
END

if_there()
{
	local name=$1 percent=$2 steps=$3
	shift 3
	if command -v "$1" >/dev/null; then
		values_stepped "$name" "$percent" "$steps" "$@"
	else
		t_skip "$name" "it is not installed"
	fi
}

if_there gzip 98 1200000 gzip -9 -c pages
if_there xz 95 800000 xz -6 -T1 -c pages
if_there bzip2 95 800000 bzip2 -9 -c pages
if_there zstd 95 800000 zstd --single-thread --no-asyncio -9 -q -c binary
if_there sort 95 1000000 sort --parallel=1 -k 2 pages pages
if_there python3 98 1000000 python3 -I work.py
if_there perl 98 1000000 perl -ne '$n{lc $1}++ while /(\w+)/g; $x += sin(length) * exp(-$. / 500)' pages
if_there bash 95 800000 bash -c 'for ((i = 0; i < 60000; i++)); do s=${s//a/bb}x$((i * 7919 % 101)); s=${s:0:40}; done'
if_there gcc 95 1000000 gcc -O2 -c -o /dev/null source.c
if_there objdump 95 600000 objdump -d binary
if_there sha256sum 95 600000 sha256sum binary binary binary
if_there sed 95 600000 sed -n -E 's/([a-z]+) ([a-z]+).*(.)$/\2 \1\3/gp' pages
if_there lua5.4 98 800000 lua5.4 work.lua
t_is "ten million instructions" "$((insns_compared >= 10000000))" 1
t_done
