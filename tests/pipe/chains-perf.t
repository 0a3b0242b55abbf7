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

# A program that starts another is none of these: perf shows the chains of a process that is between
# two programs with the code of the old one, vprof without.
record()
{
	local name=$1
	shift
	if perf record -q -g -o "$name.data" -e cpu-clock -F 2000 "$@" >/dev/null 2>"$name.err"; then
		compare "$name" "$name.data"
	else
		t_skip "$name: inclusive totals are perf's" \
			"perf cannot record here: $(tail -n 1 "$name.err")"
	fi
}

seq 1 300000 >numbers
record gzip gzip -9 -k numbers
record sort sort -r -o sorted numbers
record python "$PYTHON" -c 'print(sum(hash(str(i)) % 7 for i in range(1000000)))'
record dd dd if=/dev/zero of=zeros bs=512 count=100000
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
	gcc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c && record deep ./deep
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
