#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fresh recordings of three programs, in perf's various modes, against perf script and the
# raw bytes. No PMU is needed: cpu-clock is a timer. Which samples there are is chance; that each is what
# perf and the bytes say is not, and nothing here expects a number of them (but one, in .02 s at 4000 Hz).
. "$(dirname "$0")/../lib.sh"

t_need perf vtrace zstd gcc
check()
{
	"$PYTHON" "$ROOT/tests/perfdata_check.py" "$@"
}
perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1 ||
	t_skip_all "perf record -e cpu-clock does not work on this machine"

cat >fib.c <<'EOF'
#include <stdio.h>
static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) { return printf("%ld\n", fib(32)) < 0; }
EOF
gcc -O1 -g -o fib fib.c
seq 1 40000 >numbers
program[0]="./fib"
work=$VT_BUILD/tests/tools/rec_work
program[1]="$work pack numbers"
program[2]="$work sort numbers"

regs=--user-regs=ip,sp,bp,ax,bx,cx,dx,si,di,r8,r9,r10,r11,r12,r13,r14,r15
[ "$(uname -m)" = x86_64 ] || regs=--user-regs=sp,pc
modes="dwarf
-z --call-graph dwarf
-F 4999
-e task-clock -g
-z -F 1999 -e page-faults
-e context-switches,page-faults --switch-events --namespaces
--sample-cpu -d -P -T"

# compare NAME FILE
compare()
{
	local name=$1 file=$2
	t_ok "$name is decoded" vtrace decode -o x.vt "$file"
	t_ok "$name: as perf script" check script x.vt "$file"
	t_ok "$name: as the raw bytes" check raw x.vt "$file"
}

n=0
while read -r mode; do
	[ "$mode" != dwarf ] || mode="$regs --call-graph dwarf"
	run=${program[n % 3]}
	n=$((n + 1))
	# shellcheck disable=SC2086 # both are lists of words
	perf record -q -o x.data -e cpu-clock $mode -- $run >/dev/null 2>record.err ||
		{ t_skip "perf record $mode" "it fails: $(head -n 1 record.err)"; continue; }
	compare "$run, $mode" x.data
	case $mode in
	*user-regs*) t_ok "$run: registers as perf script" check fields x.vt x.data ;;
	esac
	# shellcheck disable=SC2086
	perf record -q -o - -e cpu-clock $mode -- $run >x.pipe 2>/dev/null </dev/null ||
		{ t_skip "perf record -o - $mode" "it fails"; continue; }
	compare "$run, $mode, in a pipe" x.pipe
done <<EOF
$modes
EOF

for run in "${program[@]}"; do
	# shellcheck disable=SC2086
	perf record -q -o x.data -e cpu-clock "$regs" --call-graph dwarf -- $run >/dev/null 2>&1
	compare "$run, registers and stack" x.data
	t_ok "$run: registers" check fields x.vt x.data
done

# A group read: perf makes a sample of each member whose count moved.
if perf record -q -o x.data -e '{cpu-clock,task-clock,page-faults}:S' ./fib >/dev/null 2>&1; then
	vtrace decode -o x.vt x.data
	t_ok "a group read gives the samples that perf gives" check script x.vt x.data
fi

# shellcheck disable=SC2016 # for the inner shell
t_pipe "a recording goes from perf to the listing without a file" \
	'perf record -q -o - -e cpu-clock ./fib 2>/dev/null | vtrace decode - | vtrace dump -k SAMPLE >out; grep -q ip= out'
t_done
