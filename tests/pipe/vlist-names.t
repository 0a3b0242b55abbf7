#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What vlist takes as the name of a procedure: as vprof prints it where there is no symbol, and where
# the compiler has split a procedure.

. "$(dirname "$0")/../lib.sh"

t_need valgrind gcc g++ objdump

# A program that makes code and runs it: 9 bytes of 5 instructions, of which 3 are a loop.
cat >made.c <<'END_OF_C'
#include <string.h>
#include <sys/mman.h>
int main(void)
{
	static const unsigned char code[] = "\x31\xc0\x01\xf8\xff\xcf\x75\xfa\xc3";
	unsigned char *p = mmap((void *)0x10000000, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memcpy(p, code, sizeof(code));
	for (int i = 0; i < 50; i++)
		((int (*)(int))p)(100);
	return 0;
}
END_OF_C
gcc -O1 -o made made.c || exit 99
vtrace record --full --blocks -o made.vt -- ./made >record.out 2>&1 || exit 99
printf '\x31\xc0\x01\xf8\xff\xcf\x75\xfa\xc3' >made.bin
objdump -D -b binary -m i386:x86-64 made.bin | sed -n 's/.*\t\([a-z]\{2,5\}\) .*/\1/p; s/.*\t\(ret\)$/\1/p' >mnemonics
printf '%s\n' 50 5000 5000 5000 50 | paste -d' ' - mnemonics >expected
cause=$(vprof --json made.vt | jq -r '.rows[] | select(.image == "//anon").procedure')
t_is "vprof's name for it" "$cause" "[generated code without a perf map]"
for name in "$cause" "//anon:$cause" 0x10000000 0x10000004 //anon:0x10000000; do
	t_ok "vlist $name" vlist --asm -i made.vt "$name"
	awk '$3 ~ /^1000000[0-9]$/ { print $1, $4 }' "$T_OUT" >listed
	t_same "shows each instruction and its count" listed expected
	t_is "and nothing to complain of" "$(cat "$T_ERR")" ""
done
vtrace record --full --values all -o valued.vt -- ./made >record.out 2>&1 || exit 99
vhot valued.vt -o made.hot
name=$(vprof --json made.hot | jq -r '.rows[] | select(.image | startswith("//anon")) | "\(.image):\(.procedure)"')
for name in "$name" "${name%:*}:0x10000002" 0x10000002; do
	t_ok "hot lists: ${name/[0-9]*:/PID:}" vlist --asm --values -i made.hot "$name"
	awk '$2 ~ /^1000000[0-9]$/ { print $3 }' "$T_OUT" >listed
	t_same "shows each instruction" listed mnemonics
done
t_status "an address where nothing was" 2 vlist -i made.vt 0x20000000
t_status "another cause" 2 vlist -i made.vt "[file not found]"

t_ok "its values" vinterp --path --summary made.vt
t_is "the dynamic linker's cache, which it maps, is not complained of" "$(grep -c 'not an ELF' "$T_ERR")" 0

# GCC's parts of a procedure have its name for people.
cat >split.cc <<'END_OF_C'
namespace space {
volatile int sink;
__attribute__((noinline, cold)) void rare(int s) { sink = s; }
__attribute__((noinline)) int run(int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		s += i;
		sink = s;
		if (i % 100 == 99) {
			rare(s);
			for (int k = 0; k < 20; k++)
				sink = sink + k;
		}
	}
	return s;
}
}
int main() { return space::run(1000) == 1; }
END_OF_C
g++ -O2 -o split split.cc || exit 99
if ! nm split | grep -q '_ZN5space3runEi[.]cold'; then
	t_skip "a procedure in two parts" "this compiler does not split it"
	t_done
	exit
fi
vtrace record --full --blocks -o split.vt -- ./split >record.out 2>&1 || exit 99
t_ok "the name means the main part" vlist --asm -i split.vt space::run
start=$(nm split | sed -n 's/^0*\([0-9a-f]*\) . _ZN5space3runEi$/\1/p')
t_like "and lists it from its start" "^ +1 +[0-9.]+% +$start " "$T_OUT"
t_ok "the symbol means the cold part" vlist --asm -i split.vt _ZN5space3runEi.cold
start=$(nm split | sed -n 's/^0*\([0-9a-f]*\) . _ZN5space3runEi[.]cold$/\1/p')
t_like "which was executed 10 times" "^ +10 +[0-9.]+% +$start " "$T_OUT"
t_done
