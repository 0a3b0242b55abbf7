#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace record --full: options, what becomes of the program and its output, and that what was
# recorded is what was executed: totals against those of Valgrind's own lackey tool.
#
# true, cat, echo and sh stand for any program that is found in PATH: nothing is expected of them but
# what every system's do.

. "$(dirname "$0")/../lib.sh"

t_status "not with perf's options" 2 vtrace record --full --regs true
t_status "nor with a process that runs" 2 vtrace record --full -p 1
t_status "its options go with it alone" 2 vtrace record --count 5 true
t_status "blocks are no values" 2 vtrace record --full --blocks --values loads true
t_status "no such values" 2 vtrace record --full --values some true
t_status "no instructions" 2 vtrace record --full --count 0 true
t_status "no program" 2 vtrace record --full
t_ok "only print" vtrace record --full --dry-run --mem --args --follow --toggle f --values all prog 'a b'
t_like "as a shell takes it" "^VALGRIND_LIB=.* valgrind .* --tool=vtrace .*--trace-children=yes --dir=DIR --values=all --mem=yes --args=yes --follow=yes --toggle=f -- prog 'a b'\$" "$T_OUT"

mkdir bin tmp
export VTRACE_TMPDIR=$PWD/tmp
ln -s "$(command -v vtrace)" bin/
t_status "no recorder" 3 env VTRACE_LIBEXEC="$PWD/tmp" vtrace record --full -o x.vt true
t_like "says so" '^vtrace record: no recorder: .*valgrind' "$T_ERR"

if ! vtrace record --full -o probe.vt true >/dev/null 2>&1; then
	t_skip "recordings" "vtrace record --full does not work here: $(head -c 200 "$T_ERR")"
	t_done
fi
programs=$VT_BUILD/tests/tools

t_status "no valgrind" 3 env PATH="$PWD/bin" vtrace record --full -o x.vt "$programs/rec_longjmp"
t_like "says what to install" '^vtrace record: valgrind: No such file .*apt-get install valgrind' "$T_ERR"
t_status "no such program" 3 vtrace record --full -o x.vt ./no-such-program
t_status "an output that cannot be" 3 vtrace record --full -o no/such/x.vt true
t_is "these leave nothing" "$(ls tmp; ls x.vt 2>&1)" "ls: cannot access 'x.vt': No such file or directory"

# ---- the program and its output ----

cat >prog.sh <<'END'
cat
echo error >&2
exit 7
END
t_status "the program's status" 7 vtrace record --full -o x.vt -- sh prog.sh </dev/null
t_is "its standard error" "$(grep -v '^vtrace record: ' "$T_ERR")" error
t_pipe "its standard input and output are its own" \
	'echo hello >hello; vtrace record --full -o x.vt -- cat <hello >out; cmp hello out'
t_pipe "without a name, into a pipe" \
	'vtrace record --full -- echo hello 2>err | vtrace info --json >info'
t_is "the program's output is then on standard error" "$(cat err)" hello
t_pipe "without a name or pipe" 'vtrace record --full true >out; vtrace info vtrace.vt >/dev/null'
t_status "a reader that has seen enough" 0 bash -c \
	"vtrace record --full -- '$programs/rec_work' pack '$ROOT/LICENSE' 2>/dev/null | head -c 1000 >part"
t_is "gets its part" "$(stat -c %s part)" 1000
t_ok "into a file, compressed" vtrace record --full -o z.vt -- true
t_ok "not compressed" vtrace record --full -z none -o n.vt -- true
t_ok "compressed faster" vtrace decode -z zstd:fast -o f.vt n.vt
t_is "with the same content" "$(vtrace dump f.vt | cksum)" "$(vtrace dump n.vt | cksum)"
t_is "the first is smaller" "$(($(stat -c %s z.vt) * 2 < $(stat -c %s n.vt)))" 1
t_is "nothing is left" "$(ls tmp)" ""

# ---- what there is ----

# usage: of STREAM KIND FIELDS
of()
{
	vtrace dump -k "$2" -F "$3" "$1"
}

insns()
{
	of "$1" EXEC insns | awk '{ n += $1 } END { printf "%d", n }'
}

# A directory from which both tools come, so that the program's environment is the same.
mkdir lib
ln -s "${VTRACE_LIBEXEC:-$VT_BUILD/libexec/vtrace}"/* lib/
ln -s "$(dirname "$(readlink -f lib/default.supp)")"/lackey-amd64-linux lib/
export VTRACE_LIBEXEC=$PWD/lib VALGRIND_LIB=$PWD/lib
launcher=$(command -v valgrind.bin || command -v valgrind)
cc=$(command -v gcc || command -v cc)
[ -z "$cc" ] || "$cc" -O1 -o loop -x c - <<'END'
int main(void)
{
	volatile unsigned i;

	for (i = 0; i < 100000; i++)
		;
	return 0;
}
END

# Runs a command whose program is to execute the same instructions each time: addresses stay, and
# libc is not asked to hide what the processor has, for it looks at random bytes behind the names.
steadily()
{
	env -u GLIBC_TUNABLES setarch -R "$@"
}

# usage: same_total NAME PROGRAM...
same_total()
{
	local name=$1
	shift
	t_run steadily vtrace record --full --values stores -o x.vt -- "$@"
	steadily "$launcher" --command-line-only=yes --vgdb=no --vex-guest-chase=no \
		--log-file=lackey --tool=lackey --basic-counts=yes "$@" >out
	t_is "as many instructions as lackey counts: $name" "$(($(insns x.vt) + $("$PYTHON" "$ROOT/tests/extra_looks.py" x.vt)))" \
		"$(sed -n 's/.*guest instrs: *//p' lackey | tr -d ,)"
}

if [ -e lib/lackey-amd64-linux ] && setarch -R true 2>/dev/null; then
	same_total "a loop" ./loop
	same_total "a program that works" "$programs/rec_work" count "$ROOT/LICENSE"
	same_total "longjmp" "$programs/rec_longjmp" 30
	same_total "code that is made" "$programs/rec_jit"
	same_total "libraries opened and closed" "$programs/rec_dlopen" libm.so.6 cos
else
	t_skip "totals" "no lackey, or no setarch -R"
fi

t_ok "values" vtrace record --full -o x.vt -- true
t_is "loads, no others" "$(vtrace dump --values x.vt | awk '{ print $0 }' | grep -c 'store\|result')" 0
t_ok "no values" vtrace record --full --blocks -o b.vt -- true
t_is "none but what no replay could find out" "$(vtrace dump --values b.vt | cut -f 5 | sort -u)" state
t_ok "all values" vtrace record --full --values all --mem --args -o a.vt -- true
for what in load store result load-address store-address arg; do
	t_is "all: $what" "$(vtrace dump --values a.vt | grep -cm1 -w -e "$what")" 1
done
t_like "images have their build-ids" "^file +[0-9a-f]{40} +/.*/libc.so.6" <(vtrace info x.vt)
t_is "the thread has the program's name" "$(of x.vt THREAD op,comm | head -n 1)" "exec	true"
t_like "provenance" '^ +vtrace record --full true ' <(vtrace info x.vt)

# ---- threads, signals, code that changes ----

t_ok "threads" vtrace record --full -o x.vt -- "$programs/rec_threads" 200
t_is "their work is right" "$(tail -n 1 "$T_OUT")" 80400
t_is "four start" "$(of x.vt THREAD op | grep -c fork)" 4
t_is "five run" "$(of x.vt EXEC tid | sort -u | wc -l)" 5
t_is "counted one after the other" "$(of x.vt EXEC first,insns |
	awk '$1 != n { bad = 1 } { n += $2 } END { print bad + 0 }')" 0

# Faults within a block, so many that parts of blocks lie at every place of the recorder's buffers.
cat >faults.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>
static char good;
static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RDI] = (greg_t)&good;
}
__asm__(".globl faults\n.type faults,@function\nfaults: xor %eax,%eax\n"
	"1: add $1,%rax\n\txor %edi,%edi\n\tmov (%rdi),%dl\n\tadd $2,%rax\n\tdec %rsi\n\tjnz 1b\n\tret\n"
	".size faults,.-faults");
int main(void)
{
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	unsigned random = 1;
	long r, sum = 0;

	sigaction(SIGSEGV, &sa, NULL);
	for (long i = 0; i < 30000; i++) {
		long times = 1 + (random >> 20) % 5;

		__asm__ volatile("call faults" : "=a"(r), "+S"(times) : : "rdi", "rdx", "cc", "memory");
		sum += r;
		for (unsigned j = (random >> 16) % 7; j > 0; j--)
			getppid();
		random = random * 1103515245 + 12345;
	}
	printf("%ld\n", sum);
	return 0;
}
END
gcc -O1 -o faults faults.c || exit 99
t_ok "a program with many faults" vtrace record --full --blocks -o faults.vt -- ./faults
n=$(($(grep -h '^[0-9]*$' "$T_OUT" "$T_ERR") / 3))
vlist -i faults.vt faults >listed
t_is "instructions before and behind a fault are executed as often as the program says" \
	"$(sed -n 's/^ *\([0-9]*\) .*\(add\|mov\) .*/\1/p' listed | tr '\n' ' ')" "$n $n $n "
t_ok "signals" vtrace record --full -o x.vt -- "$programs/rec_signals"
t_is "all of them" "$(of x.vt SIGNAL number | sort -n | uniq -c | awk '{ printf "%s:%s ", $2, $1 }')" \
	"10:10 11:20 12:10 15:10 "
t_is "each with registers at its handler" "$(of x.vt STATE reason | grep -c '^signal')" 50

t_ok "code that is made" vtrace record --full -o x.vt -- "$programs/rec_jit"
t_like "is an image without a file" '^anon ' <(vtrace info x.vt)

# ---- several processes ----

t_ok "forks, not followed" vtrace record --full -o x.vt -- "$programs/rec_fork" "$programs/rec_longjmp" 5
t_like "says so" '2 processes or programs are not recorded' "$T_ERR"
t_is "one process" "$(of x.vt EXEC pid | sort -u | wc -l)" 1
t_ok "forks, followed" vtrace record --full --follow -o x.vt -- "$programs/rec_fork" "$programs/rec_longjmp" 5
t_is "work as ever" "$(tail -n 1 "$T_OUT")" "first 0 second 44 own 45"
t_is "three processes" "$(of x.vt EXEC pid | sort -u | wc -l)" 3
t_is "two are forked" "$(of x.vt THREAD op | grep -c fork)" 2
t_is "and three end" "$(of x.vt THREAD op | grep -c exit)" 3
t_is "one becomes another program" "$(of x.vt THREAD op,comm | grep -c "^exec	rec_longjmp")" 1
t_is "each is counted by itself" "$(of x.vt EXEC pid,first,insns |
	awk '$2 != n[$1] + 0 { bad = 1 } { n[$1] += $3 } END { print bad + 0 }')" 0
t_ok "a program that is executed" vtrace record --full -o x.vt -- sh -c 'exec true'
t_like "is left out without --follow" '1 process or program is not recorded' "$T_ERR"
t_ok "and recorded with it" vtrace record --full --follow -o x.vt -- bash -c 'exec true'
t_is "as the same process" "$(of x.vt THREAD op,comm)" "exec	bash
exec	true
exit	"

# ---- windows ----

if setarch -R true 2>/dev/null; then
	blocks()
	{
		vtrace dump --blocks "$1" | cut -f 3-
	}
	record()
	{
		steadily vtrace record --full -o "$1" "${@:2}" -- "$programs/rec_longjmp" 30 >/dev/null
	}
	flat()
	{
		vtrace dump --values "$1" | cut -f 3-
	}
	record all.vt
	n=$(insns all.vt)
	record w1.vt --count 30001
	record w2.vt --skip 30001 --count 60000
	record w3.vt --skip 90001
	t_is "the first window" "$(insns w1.vt)" 30001
	t_is "the second" "$(insns w2.vt)" 60000
	t_is "the rest" "$(insns w3.vt)" $((n - 90001))
	flat all.vt >whole
	{ flat w1.vt && flat w2.vt && flat w3.vt; } >parts
	t_is "together they have as many values" "$(wc -l <parts)" "$(wc -l <whole)"
	t_is "a window's edge is told" "$(of w2.vt STATE reason,first)" "window	0"
	t_ok "a function" vtrace record --full --toggle inner -o f.vt -- "$programs/rec_longjmp" 30
	calls=$(vtrace dump --blocks f.vt | wc -l)
	t_is "is a small part" "$((calls > 30 && calls * 20 < $(vtrace dump --blocks all.vt | wc -l)))" 1
	t_status "a function that is not there" 1 vtrace record --full --toggle nothing -o f.vt -- true
	t_like "is told" 'left out: the function of --toggle was not entered' "$T_ERR"
	t_is "is never run" "$(insns f.vt)" 0
else
	t_skip "windows" "no setarch -R"
fi
t_is "nothing is left in the end" "$(ls tmp)" ""
t_done
