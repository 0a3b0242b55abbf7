#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# 200,000 steps of real programs on this processor: after each, every register, flag and store that
# the interpreter says to know is the processor's.
#
# The programs are the machine's, for what they have that ours have not: other languages, compilers
# and assembly.  Whatever they are, nothing may be wrong; those that are missing are skipped, and how
# much is known is only bounded from below.
. "$(dirname "$0")/../lib.sh"
. "$ROOT/tests/truth.sh"

for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	cat "$ROOT"/man/*.1 "$ROOT"/formats/vt.md
done >in.txt
cat >work.py <<'EOF'
import hashlib, math, re, struct
for i in range(1, 2000000):
    x = i * 0.37
    math.sin(x), math.exp(-x / 900), math.fmod(x, 3), math.atan2(x, i), round(x), (i << 70) % 1000003
    float("%.9e" % x), hashlib.blake2b(struct.pack("<dqf", x, i, x)).digest(), re.findall(r"\d", "a1b2")
EOF

steps_header
steps strings 40000 "$VT_BUILD/tests/tools/rec_strings" 1000
steps gzip 25000 gzip -9 -c in.txt
steps xz 15000 xz -6 -T1 -c in.txt
steps bzip2 15000 bzip2 -9 -c in.txt
steps sort 25000 sort --parallel=1 -k 2 in.txt in.txt in.txt
# shellcheck disable=SC2016 # for perl and bash
steps perl 25000 perl -ne '$n{lc $1}++ while /(\w+)/g; $x += sin(length) * exp(-$. / 500)' in.txt in.txt
# shellcheck disable=SC2016
steps bash 25000 bash -c 'for ((i = 0; i < 1000000; i++)); do s=${s//a/bb}x$((i * 7919 % 101)); s=${s:0:40}; done'
steps python3 40000 /usr/bin/python3 -I work.py
steps grep 15000 grep -c -i -E '(recor|interpret)[a-z]*.*value|^.{3,9}x' in.txt in.txt in.txt in.txt
steps sed 25000 sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g; s/[0-9]+/<&>/' in.txt
steps sha256sum 15000 sha256sum in.txt in.txt in.txt in.txt in.txt in.txt in.txt in.txt
steps jq 25000 jq -n '[range(300000) | {a: (. * 1.5), b: "\(.)"}] | map(.a | sqrt) | add'
steps objdump 25000 objdump -d "$VT_BUILD/bin/vhot"
steps openssl 15000 openssl speed -seconds 20 rsa2048

t_is "200,000 steps" "$((steps_made >= 200000))" 1
t_done
