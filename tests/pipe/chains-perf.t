#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof --children shows what perf report --children shows, for each symbol and for each image: on
# fresh recordings with frame pointers, and on every recorded perf.data with call chains at hand.

. "$(dirname "$0")/../lib.sh"
t_need perf "$PYTHON"

# compare NAME FILE: skipped where perf shows no call chains.
compare()
{
	t_run "$ROOT/tests/chain_totals.py" "$2"
	if [ "$T_STATUS" = 77 ]; then
		t_skip "$1: inclusive totals are perf's" "no call chains"
	elif [ "$T_STATUS" = 0 ]; then
		t_pass "$1: inclusive totals are perf's"
		sed 's/^/# /' "$T_OUT"
	else
		t_fail "$1: inclusive totals are perf's" "$(t_last)"
	fi
}

# ---- fresh recordings ----

# Chains of frame pointers, and unwound copies of stacks: --call-graph takes the word.
#
# A program that starts another is none of these: perf shows the chains of a process that is between
# two programs with the code of the old one, vprof without.
record()
{
	local how=$1 name=$1-$2 frequency=2000
	shift 2
	[ "$how" = fp ] || frequency=500
	if perf record -q --call-graph "$how" -o "$name.data" -e cpu-clock -F $frequency "$@" \
		>/dev/null 2>"$name.err"; then
		compare "$name" "$name.data"
	else
		t_skip "$name: inclusive totals are perf's" \
			"perf cannot record here: $(tail -n 1 "$name.err")"
	fi
}

seq 1 300000 >numbers
for how in fp dwarf; do
	record $how gzip gzip -9 -k -f numbers
	record $how sort sort -r -o sorted numbers
	record $how python "$PYTHON" -c 'print(sum(hash(str(i)) % 7 for i in range(1000000)))'
	record $how dd dd if=/dev/zero of=zeros bs=512 count=100000
done
if command -v gcc >/dev/null; then
	cat >deep.c <<-'END'
		__attribute__((noinline)) long leaf(long n)
		{
			volatile long s = 0;
			for (long i = 0; i < n; i++)
				s += i;
			return s;
		}
		__attribute__((noinline)) long even(int d, long n);
		__attribute__((noinline)) long odd(int d, long n) { return d ? even(d - 1, n) + 1 : leaf(n); }
		long even(int d, long n) { return d ? odd(d - 1, n) + 1 : leaf(n); }
		int main(void)
		{
			long t = 0;
			for (int i = 0; i < 3000; i++)
				t += leaf(20000) + even(i % 110, 50000);
			return t == 1;
		}
	END
	if gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c; then
		record fp deep ./deep
	fi
	if gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o bare deep.c; then
		record dwarf deep ./bare
	fi
fi

# At least as many chains reach the program's entry as with perf's unwinding.
if [ -s dwarf-deep.data ]; then
	perf script -i dwarf-deep.data -F ip,sym --no-inline 2>/dev/null |
		awk '/^$/ { n += entry; entry = 0 } $2 == "_start" { entry = 1 } END { print n + entry }' >theirs
	vprof --tree --csv dwarf-deep.data |
		awk -F, '$5 == 0 && $6 == "_start" { n += $1 } END { print n + 0 }' >ours
	t_ok "unwound chains are complete where perf's are" test "$(cat ours)" -ge "$(cat theirs)"
	t_ok "there are such" test "$(cat ours)" -gt 10
	echo "# of $(vprof --tree --json dwarf-deep.data | grep -c '"depth": 0') first procedures:" \
		"$(cat ours) chains from _start, perf $(cat theirs)"
fi

# A handler is called by the trampoline, and that by what was interrupted, up to main.
cat >signals.c <<'END'
#include <signal.h>
#include <sys/time.h>
static volatile long sum;
static volatile int handled;
__attribute__((noinline)) static void handler(int sig)
{
	for (long i = 0; i < 2000000; i++)
		sum += sig;
	handled++;
}
__attribute__((noinline)) static void busy(void)
{
	while (handled < 150)
		sum++;
}
int main(void)
{
	struct itimerval each = {{0, 10000}, {0, 10000}};
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &each, 0);
	busy();
	return sum == 1;
}
END
if command -v gcc >/dev/null && gcc -O2 -fno-optimize-sibling-calls -o signals signals.c &&
	perf record -q --call-graph dwarf -o signals.data -e cpu-clock -F 500 ./signals \
		>/dev/null 2>&1; then
	vtrace dump -k SAMPLE -F callchainsym signals.data | grep 'handler+' >handled
	t_ok "samples of a signal's handler" test "$(wc -l <handled)" -gt 10
	t_is "all lead to main" "$(grep -c 'handler+.*;__restore_rt+0x0 .*;busy+.*;main+' handled)" \
		"$(wc -l <handled)"
fi

# Code without call frame information: perf has no such chains.
if gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-asynchronous-unwind-tables \
	-o untold deep.c && perf record -q --call-graph dwarf -o untold.data -e cpu-clock -F 500 ./untold \
	>/dev/null 2>&1; then
	t_ok "chains through code without tables" vprof --callers --procedure leaf --csv untold.data
	t_is "end nowhere in it" "$(grep -c 'no caller' "$T_OUT")" 0
	t_is "and have its callers" "$(awk -F, '$4 == "leaf" && $6 { print $6 }' "$T_OUT" | sort |
		tr '\n' ' ')" "even main odd "
fi

# ---- recorded data ----

if [ ! -d "$VT_DATA/perf" ]; then
	t_skip "recorded data" "no optional test data at \$VTRACE_DATA or ../shared/data"
	t_done
fi
while read -r file; do
	compare "${file#"$VT_DATA/perf/"}" "$file"
done < <(find "$VT_DATA/perf" -type f \( -name '*.data' -o -name 'perf.data.*' \) | sort)
t_done
