#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Constants that the dynamic linker fills in: addresses of procedures in a table.

. "$(dirname "$0")/../lib.sh"

t_need perf gcc nm
cat >table.c <<'END'
#include <stdio.h>
__attribute__((noinline)) static long one(long x) { return x + 1; }
__attribute__((noinline)) static long two(long x) { return x * 3; }
__attribute__((noinline)) static long three(long x) { return x ^ 5; }
__attribute__((noinline)) static long four(long x) { return x - 9; }
static long (*const table[4])(long) = {one, two, three, four};
int main(void)
{
	long s = 0;
	for (long i = 0; i < 200000000; i++)
		s += table[i & 3](i);
	printf("%ld\n", s);
	return 0;
}
END
gcc -O2 -fPIE -pie -Wl,-z,relro -o table table.c || exit 99
perf record -q -d -o table.data -e cpu-clock:u -F 2000 \
	--user-regs=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,R9,R10,R11,R12,R13,R14,R15 \
	./table >/dev/null 2>&1 || t_skip_all "perf record does not work here"
vtrace decode -o table.vt table.data
nm table | awk '$3 ~ /^(one|two|three|four)$/ { print $1 }' >procedures
cat >check.py <<'EOF'
"""Targets that were found: those of the program's own calls, and where all others lead.

A program starts with the dynamic linker, which jumps by tables of its own: whether a sample meets
such a jump is chance, and where it leads differs between machines; but it leads to code.
"""
import collections
import json
import sys

procedures = sorted(int(line, 16) for line in open("procedures"))
images, code, ours, nowhere = {}, [], collections.Counter(), []


def number(r, key):
    return int(str(r.get(key, 0)), 0)


for line in sys.stdin:
    r = json.loads(line)
    if r["kind"] == "IMAGE":
        images[number(r, "id")] = r.get("path", "")
    elif r["kind"] == "MAP" and number(r, "prot") & 4:
        start = number(r, "start")
        mine = images[number(r, "image")].endswith("/table")
        code.append((start, start + number(r, "length"), start - number(r, "offset"), mine))
    elif r["kind"] == "VALUE" and r["what"] == "target":
        ip, value = number(r, "ip"), number(r, "value")
        here = [m for m in code if m[0] <= ip < m[1] and m[3]]
        # _start calls the C library, too.
        if here and here[-1][0] <= value < here[-1][1]:
            ours[value - here[-1][2]] += 1
        elif not any(m[0] <= value < m[1] for m in code):
            nowhere.append(hex(value))
print("ours", " ".join(f"{target:x}" for target in sorted(ours)))
print("want", " ".join(f"{target:x}" for target in procedures))
print("calls", sum(ours.values()))
print("nowhere", len(nowhere), *nowhere)
EOF
vinterp -l 16 -w targets table.vt | vtrace dump --json -k IMAGE,MAP,VALUE | "$PYTHON" check.py >found
# What follows a sample has a call of each of the four with equal chances, and three calls at most: one
# of the four is in none of n samples with 4 * .75^n, which is .0000001 for 60.  The loop runs for 600
# million cycles at least, .1 s, of which 200 samples are expected.
if [ "$(awk '$1 == "calls" { print $2 }' found)" -lt $((3 * 60)) ]; then
	t_skip "a table of procedures" "too few samples: $(grep '^calls' found)"
	t_done
fi
t_is "the program calls the table's procedures, and nothing else" \
	"$(sed -n 's/^ours //p' found)" "$(sed -n 's/^want //p' found)"
t_like "and what else runs goes to code" '^nowhere 0$' found
t_done
