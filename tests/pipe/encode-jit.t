#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Code that a program generated goes into a jitdump beside the perf.data: what is decoded of that is
# what was executed, though the code at one address is another one time and again.
. "$(dirname "$0")/../lib.sh"
t_need valgrind
t_need perf

tools=$VT_BUILD/tests/tools
t_ok "the program is recorded" vtrace record --full --blocks -o jit.vt -- "$tools/rec_jit"
"$tools/exec_ips" jit.vt >want
mkdir out
for options in "--tsc" "--mtc 3 --cyc" "--mtc 0 --cpi 3" "--tsc --cpus 2 --slice 3000"; do
	rm -f out/*
	# shellcheck disable=SC2086
	t_ok "$options: encoded" vtrace encode --perf-data $options -o out/jit.data jit.vt
	for engine in fast libipt; do
		t_ok "$options: $engine decodes it" vtrace decode --engine=$engine -o back.vt out/jit.data
		"$tools/exec_ips" back.vt >got
		t_same "$options: $engine finds what was executed" got want
		t_is "$options: $engine has no gap" "$(vtrace dump -k GAP back.vt)" ''
	done
	# perf makes an image of each function, and a mapping when it was there: all that was executed is
	# decoded with these. perf alone loses the first when only PSBs have times.
	t_ok "$options: perf injects the code" perf inject --jit -i out/jit.data -o injected.data
	for engine in fast libipt; do
		vtrace decode --engine=$engine -o back.vt injected.data
		"$tools/exec_ips" back.vt >got
		t_same "$options: $engine finds the same by perf's images" got want
	done
	if [ "$options" != --tsc ]; then
		t_is "$options: so does perf" "$(perf script -i injected.data --itrace=i1ie -F ip 2>perf.err | wc -l)" \
			"$(cut -d ' ' -f 1 want)"
	fi
done

# The dump as its specification has it: each function's code is a block's of the recording.
pid=$(vtrace dump -k EXEC -F pid jit.vt | head -n 1)
vtrace dump -k BLOCK -F addr,code jit.vt | tr '\t' ' ' >blocks
mkdir other
t_ok "into a directory without a dump" vtrace encode --perf-data --tsc -o other/jit.data jit.vt
t_is "nothing is replaced" "$(cat "$T_ERR")" ""
t_ok "a second trace beside it" vtrace encode --perf-data --tsc -o other/more.data jit.vt
t_is "replaces the dump, and says so" "$(cat "$T_ERR")" "vtrace encode: 1 jit-PID.dump beside \
the output replaced: a trace made with the old one has lost that code"
t_ok "the dump is a jitdump" "$PYTHON" -c '
import struct, sys
dump = open(sys.argv[1], "rb").read()
pid = int(sys.argv[2])
blocks = {tuple(line.split()) for line in open("blocks")}
magic, version, size, machine, pad, owner = struct.unpack_from("<6I", dump)
assert (magic, version, size, machine, owner) == (0x4A695444, 1, 40, 62, pid)
assert struct.unpack_from("<Q", dump, 32) == (1,)  # times are ticks
at, last, n = size, 0, 0
while at < len(dump):
    kind, size, time, owner, tid, vma, addr, length, index = struct.unpack_from("<IIQIIQQQQ", dump, at)
    name, _, rest = dump[at + 56 : at + size].partition(b"\0")
    assert (kind, owner, vma, index) == (0, pid, addr, n) and len(rest) == length and time >= last
    assert (hex(addr), rest.hex()) in blocks, (hex(addr), rest.hex())
    at, last, n = at + size, time, n + 1
assert at == len(dump) and n >= 30, n
' "out/jit-$pid.dump" "$pid"

t_status "without times, it is left out" 1 vtrace encode --perf-data -o plain.data jit.vt
t_like "says so" 'blocks of generated or patched code are left out: with times \(--tsc\) and -o FILE' "$T_ERR"
t_is "there is no dump" "$(find . -maxdepth 1 -name 'jit-*' ! -name jit.vt | wc -l)" 0
t_status "nor is there one beside a pipe" 1 bash -c 'set -o pipefail; vtrace encode --perf-data --tsc jit.vt | cat >x'
# Decoders take no code of pages from files that were writable: the dump has it, patched or not.
cat >text.c <<'END'
#include <stdint.h>
#include <sys/mman.h>
static volatile int sum;
__attribute__((noinline)) static void work(void)
{
	for (int i = 0; i < 100; i++)
		sum += i;
}
int main(void)
{
	char *page = (char *)((uintptr_t)work & -4096);

	work();
	if (mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	work();
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		return 1;
	work();
	return 0;
}
END
gcc -O1 -o text text.c || exit 99
t_ok "record a program whose text is writable for a time" vtrace record --full --blocks -o text.vt -- ./text
"$tools/exec_ips" text.vt >want
t_ok "it is encoded" vtrace encode --perf-data --tsc -o out/text.data text.vt
for engine in fast libipt; do
	t_ok "$engine decodes it" vtrace decode --engine=$engine -o back.vt out/text.data
	"$tools/exec_ips" back.vt >got
	t_same "$engine finds all that was executed" got want
done
rm -f out/*

t_ok "other programs are not affected" vtrace record --full --blocks -o calls.vt -- "$tools/rec_calls" 20
t_ok "they are encoded" vtrace encode --perf-data --tsc -o out/calls.data calls.vt
t_is "without a dump of theirs" "$(find out -name 'jit-*' | wc -l)" 0
t_done
