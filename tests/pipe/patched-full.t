#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Full recordings of programs that patch themselves: listings show the code that ran, with a mark, and
# what was computed is known as it was.

. "$(dirname "$0")/../lib.sh"

t_need valgrind gcc nm
cat >self.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#define PAGE 4096
static const long table[512] __attribute__((aligned(PAGE))) = {11, 0x12345, 33};
extern char patched_at[];
volatile long out[4];
__attribute__((noinline, aligned(PAGE))) void patched(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile(".globl patched_at\npatched_at: mov $0x1111, %%eax\n"
				 "patched_add: add $1, %%eax\n\tmov %%rax, %0" : "=m"(out[0]) : : "rax");
}
__attribute__((noinline)) int before(void)
{
	int x = 1;

	__asm__ volatile("add $7, %0" : "+a"(x));
	return x;
}
__attribute__((noinline, aligned(PAGE))) void reads(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("reads_load: mov %1, %%rdx\nreads_add: lea 1(%%rdx), %%rdx\n\tmov %%rdx, %0"
				 : "=m"(out[2]) : "m"(table[1]) : "rdx");
}
int main(void)
{
	void *code = (void *)((uintptr_t)patched_at & ~(uintptr_t)(PAGE - 1));

	out[3] = before();
	if (mprotect(code, PAGE, 7) || mprotect((void *)table, PAGE, 3))
		return 1;
	*(volatile int *)(patched_at + 1) = 0x2222;
	*(volatile long *)&table[1] = 0x54321;
	if (mprotect(code, PAGE, 5) || mprotect((void *)table, PAGE, 1))
		return 1;
	patched(100);
	reads(100);
	printf("%lx %lx\n", out[0], out[2]);
	return 0;
}
END
gcc -O1 -Wl,--build-id -o self self.c || exit 99
t_ok "record" vtrace record --full --values all -o self.vt -- ./self
t_is "the program's own word" "$(cat "$T_OUT" "$T_ERR" | grep -c '2223 54322')" 1
t_ok "list it" vlist -i self.vt patched
t_like "what ran" '[$]0x2222,%eax  \[patched at run time\]$' "$T_OUT"
t_unlike "not what the file has" '0x1111' "$T_OUT"
t_like "without a mark where it is the same" 'add +[$]0x1,%eax$' "$T_OUT"
t_pipe "hot lists of it, listed" 'vhot -o hot.vt self.vt; vlist -i hot.vt --values patched >listed'
t_like "with what ran" '[$]0x2222,%eax  \[patched at run time\]$' listed
t_like "also where that is the same" 'add +[$]0x1,%eax$' listed
t_unlike "and not with what the file has" 'in the file' listed
# formats/vt.md: 0 is code of 64 bits.
t_unlike "which has the mode of its code" 'mode=' <(vtrace dump -k BLOCK hot.vt)
t_pipe "what ran before its page was written to" 'vlist -i hot.vt --values before >listed'
t_like "is listed, too" 'add +[$]0x7,%eax$' listed
t_unlike "as it ran" 'in the file' listed
# By the instructions' places in the page: the C library's string functions compute masks of any value.
code="^0x[0-9a-f]*$(t_places self patched_at patched_add)."
vinterp --path -w results,loads self.vt 2>errors | vtrace dump -k VALUE -F ip,value >values
t_like "the patched immediate is known" "$code"'0x2222$' values
t_unlike "and the file's is not told" "$code"'(0x1111|0x1112)$' values
t_unlike "nor its constant" "^0x[0-9a-f]*$(t_places self reads_load reads_add)."'(0x12345|0x12346)$' values

# A program that patches what has run before: the second time it runs the new code.
sed 's/if (mprotect(code, PAGE, 7)/patched(50);\n\t&/' self.c >again.c
gcc -O1 -Wl,--build-id -o again again.c || exit 99
t_is "a program that runs the old code first" "$(./again)" "2223 54322"
t_ok "is recorded" vtrace record --full --values all -o again.vt -- ./again
t_is "and runs as it would" "$(cat "$T_OUT" "$T_ERR" | grep -c '2223 54322')" 1
t_is "both codes have run, and so often" "$(vinterp --path -w results again.vt 2>/dev/null |
	vtrace dump -k VALUE -F ip,value | sed -n -E "s/^0x[0-9a-f]*$(t_places again patched_add)\t(0x1112|0x2223)$/\2/p" |
	sort | uniq -c | tr -s ' \n' ' ')" " 50 0x1112 100 0x2223 "

# A program that writes to the file of its library through a shared mapping; then the file is put
# back, as package managers and developers do.
cat >lib.c <<'END'
__attribute__((noinline, aligned(4096))) long patched(long n)
{
	long r = 0;

	for (long i = 0; i < n; i++)
		__asm__ volatile("mov $0x1111, %%eax\n\tadd $1, %%eax\n\tadd %%rax, %0" : "+r"(r) : : "rax");
	return r;
}
END
cat >shared.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
long patched(long n);
int main(void)
{
	int fd = open("liblib.so", O_RDWR);
	long size = lseek(fd, 0, SEEK_END), at = 0;
	char *file = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (file == MAP_FAILED || mprotect(file, size, PROT_READ | PROT_WRITE))
		return 1;
	while (memcmp(file + at, "\xb8\x11\x11\0", 5))
		at++;
	*(volatile int *)(file + at + 1) = 0x2222;
	printf("%lx\n", patched(100));
	return 0;
}
END
gcc -O1 -shared -fPIC -Wl,--build-id -o liblib.so lib.c || exit 99
gcc -O1 -Wl,-rpath,"$PWD" -o shared shared.c -L. -llib || exit 99
cp liblib.so kept.so
t_ok "record a program that patches a file that it has mapped" \
	vtrace record --full --values all -o shared.vt -- ./shared
t_is "the program's own word" "$(cat "$T_OUT" "$T_ERR" | grep -c d55ac)" 1 # 100 * 0x2223
cp kept.so liblib.so
t_ok "list it" vlist -i shared.vt patched
t_like "what ran, not what the file has again" '[$]0x2222,%eax  \[patched at run time\]$' "$T_OUT"
t_unlike "nothing else" '0x1111,' "$T_OUT"
# Memory that is mapped or moved over a constant: what is computed of the file's is known before it
# alone, also where no loads are recorded.
cat >over.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#define PAGE 4096
extern char over_page[];
long reads(long n);
__asm__(".section .rodata\n.balign 4096\n.globl over_page\nover_page: .quad 0x12345\n.balign 4096\n.text\n"
	".globl reads\nreads: mov over_page(%rip),%rax\n\tadd $1,%rax\n\tdec %rdi\n\tjnz reads\n\tret");
int main(int argc, char **argv)
{
	int fixed = argv[1][0] == 'm' ? MAP_FIXED : 0;
	char *new;

	(void)argc;
	reads(10);
	if (argv[1][0] == 'u')
		munmap(over_page, PAGE);
	new = mmap(over_page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
	memcpy(new, "\x21\x43\x65", 4);
	if (new != over_page && mremap(new, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, over_page) != over_page)
		return 1;
	printf("%lx\n", reads(100));
	return 0;
}
END
gcc -O1 -o over over.c || exit 99
for how in map unmap remap; do
	t_ok "$how: record a constant that other memory is mapped over" vtrace record --full --blocks -o over.vt -- ./over $how
	t_is "$how: the program's own word" "$(cat "$T_OUT" "$T_ERR" | grep -c '^654322$')" 1
	vinterp --path -w results over.vt 2>errors | vtrace dump -k VALUE -F value >values
	t_is "$how: the file's constant is known while it is there" "$(grep -c -x 0x12346 values)" 10
done
# Generated code whose address the library takes afterwards: each is listed as what it was.
cat >taken.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define PAGE 4096
int main(int argc, char **argv)
{
	/* 0: mov $0x4444,%eax; dec %rdi; jnz 0b; ret */
	static const unsigned char code[] = {0xb8, 0x44, 0x44, 0, 0, 0x48, 0xff, 0xcf, 0x75, 0xf6, 0xc3};
	long (*run)(long) = mmap(NULL, PAGE, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), sum;
	int fd = open("liblib.so", O_RDONLY);

	(void)argc;
	memcpy((void *)run, code, sizeof(code));
	sum = run(1000);
	if (mmap((void *)run, PAGE, 5, MAP_PRIVATE | MAP_FIXED, fd, strtol(argv[1], NULL, 16)) != (void *)run)
		return 1;
	printf("%lx\n", sum + run(100));
	return 0;
}
END
gcc -O1 -o taken taken.c || exit 99
t_ok "record generated code that a library takes the place of" vtrace record --full --values all -o taken.vt -- \
	./taken "$(nm liblib.so | sed -n 's/ . patched$//p')"
t_is "the program's own word" "$(cat "$T_OUT" "$T_ERR" | grep -c '^6ef4c$')" 1 # 0x4444 + 100 * 0x1112
vhot -o hot.vt taken.vt
for from in taken hot; do
	t_ok "$from: list the library's code" vlist -i $from.vt patched
	t_like "$from: as its file has it" '[$]0x1111,%eax$' "$T_OUT"
	t_unlike "$from: without a mark" 'patched at run time|0x4444' "$T_OUT"
	t_ok "$from: list the generated code" vlist -i $from.vt '[generated code without a perf map]'
	t_like "$from: as it was" ' mov +[$]0x4444,%eax$' "$T_OUT"
done
t_like "with its value" ' rax +1000 .* 100% 17476$' <(vlist -i hot.vt --values '[generated code without a perf map]')
# A program whose page of code is replaced by an identical one: what ran before is the file's, what
# ran after is not.
cat >moved.c <<'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define PAGE 4096
extern char moved[];
long turns(long n);
__asm__(".section .text.moved,\"ax\"\n.balign 4096\n.globl moved, turns\n.type moved,@function\n"
	"moved: nop\n\tret\n.size moved,.-moved\n.type turns,@function\nturns: push %rbx\n\tmov %rdi,%rbx\n"
	"1: call moved\n\tdec %rbx\n\tjnz 1b\n\tpop %rbx\n\tret\n.size turns,.-turns\n.balign 4096\n.text");
int main(int argc, char **argv)
{
	char copy[PAGE], *new;
	int fd = memfd_create("copy", 0);

	(void)argc;
	turns(100);
	memcpy(copy, moved, PAGE);
	if (write(fd, copy, PAGE) != PAGE)
		return 1;
	if (argv[1][0] == 'f') {
		new = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	} else {
		new = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memcpy(new, copy, PAGE);
		mprotect(new, PAGE, PROT_READ | PROT_EXEC);
	}
	new = argv[1][1] ? mmap(moved, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0)
			 : mremap(new, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, moved);
	if (new != moved)
		return 1;
	turns(1000);
	return 0;
}
END
gcc -O1 -o moved moved.c || exit 99
for how in a f fm; do
	t_ok "$how: record code that is replaced by the same" vtrace record --full -o moved.vt -- ./moved $how
	t_pipe "$how: profile it" 'vprof -b instruction moved.vt >by'
	t_is "$how: the file's part of it" "$(grep -c -E '^ +100 .* moved\+0x[01] +/.*/moved$' by)" 2
	t_is "$how: and the other mapping's" "$(grep -c -E '^ +1000 .* (//anon|/memfd:copy.*)$' by)" 5
done
# A program that patches code through /proc/self/mem: no mapping changes, only the code that ran shows
# it. One procedure has run before and is put back in the end, the other one has not.
cat >mem.c <<'END'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define PROCEDURE(name, n) \
	__attribute__((noinline, aligned(4096))) long name(long turns) \
	{ \
		long r = 0; \
		while (turns--) \
			__asm__ volatile(".globl " #name "_at\n" #name "_at: mov $" n ", %%eax\n\t" \
					 "add %%rax, %0" : "+r"(r) : : "rax"); \
		return r; \
	} \
	extern char name##_at[];
PROCEDURE(often, "0x1111")
PROCEDURE(late, "0x3333")
static void poke(const char *at, int value)
{
	int fd = open("/proc/self/mem", O_RDWR);

	if (pwrite(fd, &value, sizeof(value), (off_t)(uintptr_t)(at + 1)) != sizeof(value))
		_exit(1);
	close(fd);
}
int main(void)
{
	long sum = often(100);

	poke(often_at, 0x2222);
	sum += often(50);
	if (!fork()) {
		poke(often_at, 0x1111);
		sum = often(10);
		poke(often_at, 0x2222);
		sum += often(7);
		poke(late_at, 0x5555);
		_exit(sum + late(3) == 0);
	}
	wait(NULL);
	poke(often_at, 0x1111);
	poke(late_at, 0x4444);
	printf("%lx\n", sum + often(100) + late(25));
	return 0;
}
END
gcc -O1 -Wl,--build-id -o mem mem.c || exit 99
t_ok "record code that is patched unseen" vtrace record --full --values all -o mem.vt -- ./mem
t_is "the program's own word" "$(cat "$T_OUT" "$T_ERR" | grep -c '^1aaa90$')" 1 # 200 * 0x1111 + 50 * 0x2222 + 25 * 0x4444
vhot -o hot.vt mem.vt
t_pipe "list the one that ran before" 'vlist -i hot.vt --values often >listed'
t_like "with the mark and all of its values" '[$]0x[12]{4},%eax  \[patched at run time\]$' listed
t_like "as often as they were computed" ' 80[.]0% 4369  20[.]0% 8738$' listed
t_is "the rest has no mark" "$(grep -c 'patched at run time' listed)" 1
t_pipe "list the other one" 'vlist -i hot.vt --values late >listed'
t_like "as it ran" '[$]0x4444,%eax  \[patched at run time\]$' listed
t_is "with a mark only there" "$(grep -c 'patched at run time' listed)" 1
t_ok "list the recording" vlist -i mem.vt late
t_like "likewise" '[$]0x4444,%eax  \[patched at run time\]$' "$T_OUT"
strip -o stripped mem
t_ok "record it without symbols" vtrace record --full -o stripped.vt -- ./stripped
t_is "it is listed as it ran" "$(vlist -i stripped.vt --all 2>/dev/null | grep -c '[$]0x4444,%eax  \[patched at run time\]$')" 1
t_ok "record two programs at the same addresses" \
	vtrace record --full --follow -o both.vt -- sh -c './moved a; ./mem; exec ./again'
t_is "neither has the other's code" "$(vlist -i both.vt --asm mem:main moved:main again:main | grep -c 'patched at run time')" 0
# Its Intel PT trace: what is decoded has the code that ran; where that is not kept, there is none.
t_ok "record it with its child" vtrace record --full --follow -o mem.vt -- ./mem
patched=$(t_places mem often_at late_at)
values()
{
	vtrace decode --engine="$1" -o back.vt mem.data || return
	vinterp --path -w results back.vt >values || return
	vtrace dump -k VALUE -F ip,value values | sed -n -E "s/^0x[0-9a-f]*$patched\t(0x([1-5])\3{3})$/\2/p" | sort | uniq -c |
		tr -s ' \n' ' '
}
for options in --tsc "--mtc 3 --cyc"; do
	# shellcheck disable=SC2086
	t_ok "$options: encoded" vtrace encode --perf-data $options -o mem.data mem.vt
	for engine in fast libipt; do
		t_is "$options, $engine: both processes' values" "$(values $engine)" \
			" 210 0x1111 57 0x2222 25 0x4444 3 0x5555 "
	done
done
t_status "without times, patched code is left out" 1 vtrace encode --perf-data -o mem.data mem.vt
t_like "which is told" 'blocks of generated or patched code are left out' "$T_ERR"
for engine in fast libipt; do
	t_is "$engine: the rest is right" "$(values $engine)" " 210 0x1111 "
done
t_done
