#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the library takes for the constant bytes of images, against the memory of running programs.

. "$(dirname "$0")/../lib.sh"

t_need gcc

truth=$VT_BUILD/tests/tools/image_truth

# A program with constants that hold addresses, its own and others', in a loop of reading.
cat >self.c <<'END'
#include <stdio.h>
#include <unistd.h>
static int here;
static int f(void) { return 1; }
static const void *const table[] = {&here, f, puts, &stdout, table, "text", 0};
static int (*const calls[200])(const char *) = {[3] = puts, [150] = puts};
static const void *const own[300] = {[0 ... 299] = table};
const void *const *volatile used = table;
int (*const volatile *volatile used_calls)(const char *) = calls;
const void *const *volatile used_own = own;
int main(void)
{
	char c;

	puts("ready");
	return (int)read(0, &c, 1);
}
END

# Prints the number after a word of the program's line.
count()
{
	sed -n "s/.*\\b$1 \\([0-9]*\\).*/\\1/p" "$T_OUT"
}

# check NAME LEAST_TEXT LEAST_RELRO PROGRAM...: all is right, and so many bytes are known.
check()
{
	local name=$1 text=$2 relro=$3 mode

	shift 3
	for mode in all code; do
		t_ok "$name: known bytes are right, told of $mode mappings" "$truth" $mode "$@"
		if [ "$(count text)" -ge "$text" ] && [ "$(count relro)" -ge "$relro" ] &&
			[ "$(count code)" -gt 100 ]; then
			t_pass "$name: enough is known"
		else
			t_fail "$name: enough is known" "$(cat "$T_OUT")"
		fi
	done
}

# variant NAME LEAST_TEXT LEAST_RELRO OPTION...: skipped where not even an empty program can be made.
variant()
{
	local name=$1 text=$2 relro=$3

	shift 3
	if ! echo 'int main(void) { return 0; }' | gcc -o empty "$@" -x c - 2>gcc.err; then
		t_skip "$name" "gcc cannot make it: $(head -n 1 gcc.err)"
	elif gcc -o "$name" "$@" self.c 2>gcc.err; then
		check "$name" "$text" "$relro" "./$name"
	else
		t_fail "$name" "$(head -n 3 gcc.err)"
	fi
}

# A procedure that chooses another runs before the dynamic linker protects data, and writes to it.
cat >chooser.c <<'END'
#include <stdio.h>
#include <unistd.h>
static int here;
__attribute__((section(".data.rel.ro"))) struct { void *at; volatile long word[500]; } table = {&here, {1, 2, 3}};
static int one(void) { return 1; }
static void *choose(void)
{
	table.word[1] = 0x9999;
	return one;
}
int chosen(void) __attribute__((ifunc("choose")));
int main(void)
{
	char c;

	puts("ready");
	return (int)read(0, &c, 1) + chosen() + (int)table.word[1];
}
END

check cat 1000000 8000 cat
check bash 1000000 8000 bash -c 'read x'
check python 1000000 8000 "$PYTHON" -c 'import sys, json, ctypes; sys.stdin.read()'
variant pie 1000000 8000 -O2 -pie -fPIE
variant now 1000000 8000 -O2 -pie -fPIE -Wl,-z,now
variant lazy 1000000 8000 -O2 -pie -fPIE -Wl,-z,lazy
variant fixed 1000000 8000 -O2 -no-pie -fno-pie
variant norelro 1000000 8000 -O2 -no-pie -fno-pie -Wl,-z,norelro
variant packed 1000000 8000 -O2 -pie -fPIE -Wl,-z,pack-relative-relocs
if gcc -o chooser -O2 -pie -fPIE chooser.c 2>gcc.err; then
	check chooser 1000000 8000 ./chooser
else
	t_skip chooser "gcc cannot make it: $(head -n 1 gcc.err)"
fi
variant noseparate 1000000 8000 -O2 -pie -fPIE -Wl,-z,noseparate-code
variant textrel 1000000 8000 -O2 -pie -fno-pie -mcmodel=large -Wl,-z,notext
variant static 100000 0 -O2 -static
variant static-pie 100000 0 -O2 -static-pie -fPIE
t_done
