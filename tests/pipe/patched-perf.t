#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs that patch themselves, recorded by perf: what the file has must never come out as a value,
# and what other code computes still does.

. "$(dirname "$0")/../lib.sh"

t_need perf gcc nm
# Each loop writes what it computed to memory, so that the program itself prints the truth.
cat >self.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define PAGE 4096
static const long table[512] __attribute__((aligned(PAGE))) = {11, 22, 33};
extern char patched_at[];
long out[4];
__attribute__((noinline, aligned(PAGE))) void patched(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile(".globl patched_at\npatched_at: mov $0x1111, %%eax\n"
				 "patched_add: add $1, %%eax\n\tmov %%rax, %0" : "=m"(out[0]) : : "rax");
}
__attribute__((noinline, aligned(PAGE))) void plain(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("mov $0x5555, %%eax\nplain_add: add $1, %%eax\n\tmov %%rax, %0"
				 : "=m"(out[1]) : : "rax");
}
__attribute__((noinline)) void reads(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("reads_load: mov %1, %%rdx\nreads_add: lea 1(%%rdx), %%rdx\n\tmov %%rdx, %0"
				 : "=m"(out[2]) : "m"(table[1]) : "rdx");
}
__attribute__((noipa, aligned(64))) long orig(long x)
{
	__asm__ volatile("orig_add: add $0x6666, %0" : "+r"(x));
	return x;
}
__attribute__((noipa)) long hooked(long x) { __asm__ volatile(""); return x + 0x7777; }
static void protect(void *at, int prot)
{
	if (mprotect((void *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1)), PAGE, prot) != 0)
		exit(3);
}
static void patch(int while_writing, int after)
{
	protect(patched_at, while_writing);
	*(volatile int *)(patched_at + 1) = 0x2222;
	if (after)
		protect(patched_at, after);
}
static void hook(void)
{
	int distance = (int)((char *)hooked - ((char *)orig + 5));

	protect((void *)orig, 7);
	*(volatile char *)orig = (char)0xe9;
	memcpy((char *)orig + 1, &distance, 4);
	protect((void *)orig, 5);
}
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long n = 60000000;

	if (!strcmp(how, "rwx"))
		patch(7, 5);
	else if (!strcmp(how, "rw"))
		patch(3, 5);
	else if (!strcmp(how, "left"))
		patch(7, 0);
	else if (!strcmp(how, "hook"))
		hook();
	if (!strcmp(how, "constant")) {
		protect((void *)table, 3);
		*(volatile long *)&table[1] = 77;
		protect((void *)table, 1);
	}
	if (!strcmp(how, "fork")) {
		patch(7, 5);
		if (fork())
			return wait(NULL) < 0;
	}
	if (!strcmp(how, "hook") || !strcmp(how, "call")) {
		for (long i = 0; i < n; i++)
			out[3] += orig(5);
	} else {
		patched(n);
		reads(n);
	}
	plain(n);
	printf("%lx %lx %ld %lx\n", out[0], out[1], out[2], out[3]);
	return 0;
}
END
gcc -O2 -Wl,--build-id -o self self.c || exit 99
registers=AX,BX,CX,DX,SI,DI,BP,SP,IP,FLAGS,R8,R9,R10,R11,R12,R13,R14,R15
perf record -q -e cpu-clock:u -F 999 --user-regs=$registers -o try.data ./self >/dev/null 2>&1 ||
	t_skip_all "perf record does not work here"

# Each loop takes a cycle or more for each of its 60 million rounds, 10 ms, in which the timer, of 1 ms
# of the program's own time, ticks ten times; eight instructions from anywhere in it have its values.
#
# They are looked for where they are computed: string functions compute masks of any value before main,
# and counters of loops pass all numbers.
own='^0x5[0-9a-f]{8}' # the program's addresses, which it has wherever it is loaded
code=$own$(t_places self patched_at patched_add).
constant=$own$(t_places self reads_load reads_add).
other=$own$(t_places self plain_add).
hooked=$own$(t_places self orig_add).

# found NAME MODE WRONG [PERF OPTION]: values that are not of the run are told of none of its samples.
found()
{
	local name=$1 mode=$2 wrong=$3
	shift 3
	t_ok "$name: recorded" perf record -q -e cpu-clock:u -F 999 --user-regs=$registers "$@" \
		-o "$mode.data" ./self "$mode"
	vtrace decode -o "$mode.vt" "$mode.data"
	vinterp -l 8 -w results,loads "$mode.vt" 2>errors | vtrace dump -k VALUE -F ip,value | sort -u >values
	t_unlike "$name: nothing that the file has" "$wrong" values
	t_like "$name: what other pages compute" "$other"'0x5556$' values
}

found "not patched" none 'no such value' --data
t_like "its code is known" "$code"'0x1112$' values
t_like "and its constants" "$constant"'0x17$' values
for mode in rwx rw left fork; do
	found "patched code, $mode" $mode "$code"'(0x1111|0x1112)$'
	found "patched code, $mode, data told" $mode "$code"'(0x1111|0x1112)$' --data
	t_like "its constants are known" "$constant"'0x17$' values
	t_is "and why its code is not" "$(vinterp --summary --json $mode.vt 2>errors | jq '.withheld.patched.code > 0')" true
done
found "no hook" call 'no such value'
t_like "what it calls is known" "$hooked"'0x666b$' values
found "a hook" hook "$hooked"'0x666b$'
found "constants" constant "$constant"'(0x16|0x17)$'
found "constants, data told" constant "$constant"'(0x16|0x17)$' --data
t_is "and why they are not" "$(vinterp --summary --json constant.vt 2>errors | jq '.withheld.patched.constants > 0')" true
t_done
