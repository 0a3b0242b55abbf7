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
	for (long i = 0; i < 60000000; i++)
		s += table[i & 3](i);
	printf("%ld\n", s);
	return 0;
}
END
gcc -O2 -fPIE -pie -Wl,-z,relro -o table table.c || exit 99
perf record -q -o table.data -e cpu-clock:u -F 2000 \
	--user-regs=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,R9,R10,R11,R12,R13,R14,R15 \
	./table >/dev/null 2>&1 || t_skip_all "perf record does not work here"
vtrace decode -o table.vt table.data
vinterp -l 16 -w targets table.vt | vtrace dump -k VALUE -F what,value | awk '$1 == "target" { print substr($2, length($2) - 2) }' |
	sort | uniq -c >found
nm table | awk '$3 ~ /^(one|two|three|four)$/ { print substr($1, 14) }' | sort >procedures
t_is "the table's procedures are called, each often" "$(awk '$1 > 10 { print $2 }' found)" "$(cat procedures)"
t_is "and nothing else" "$(awk '{ print $2 }' found | comm -23 - procedures)" ''
t_done
