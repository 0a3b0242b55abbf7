#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# vprof's totals for each symbol are those of perf report --no-children: on fresh recordings of real
# programs, and on every recorded perf.data at hand. Both count the same samples: equal they are
# whatever chance has recorded.

. "$(dirname "$0")/../lib.sh"
t_need perf "$PYTHON"

# ---- fresh recordings ----

program()
{
	cat >spin.c <<-'END'
		#include <math.h>
		static volatile double sink;
		static double inner(double x) { return sqrt(x) + 1; }
		__attribute__((noinline)) double work(int n)
		{
			double x = 0;
			for (int i = 0; i < n; i++)
				x = inner(x);
			return x;
		}
		int main(void)
		{
			for (int i = 0; i < 300; i++)
				sink = work(200000);
			return 0;
		}
	END
	gcc -O1 -g -o spin spin.c -lm
}

record()
{
	local name=$1
	shift
	if ! perf record -q -o "$name.data" -e cpu-clock -F 2000 "$@" >/dev/null 2>"$name.err"; then
		t_skip "$name: totals are perf's" "perf cannot record here: $(tail -n 1 "$name.err")"
		return
	fi
	t_ok "$name: totals are perf's" "$ROOT/tests/perf_totals.py" "$name.data"
	sed 's/^/# /' "$T_OUT"
}

# The machine's programs are the point: as distributions build them, without symbols and with libraries
# of their own.  What differs between machines, both sides see.
seq 1 300000 >numbers
record gzip gzip -9 -k numbers
record sort sort -r -o sorted numbers
record python "$PYTHON" -c 'print(sum(hash(str(i)) % 7 for i in range(1000000)))'
if command -v gcc >/dev/null && program; then
	record c-program ./spin
fi

# perf's pipe mode names no build-ids, not even the kernel's.  Much time in the kernel, and enough
# outside of it where only that may be sampled: some 80 samples are expected, so that none come by a
# chance below 1e-30.
if perf record -q -o - -e cpu-clock -F 2000 -- dd if=/dev/zero of=zeros bs=512 count=300000 \
	>pipe.data 2>pipe.err; then
	t_run "$ROOT/tests/perf_totals.py" pipe.data
	sed 's/^/# /' "$T_OUT"
	if [ "$T_STATUS" = 77 ]; then
		# On a machine with much else to do, perf report now and then shows nothing of a pipe.
		t_skip "pipe mode: totals are perf's" "perf shows nothing: $(
			perf report -i pipe.data --stdio 2>&1 >/dev/null | tail -n 1)"
	elif [ "$T_STATUS" = 0 ]; then
		t_pass "pipe mode: totals are perf's, the kernel's symbols too"
	else
		t_fail "pipe mode: totals are perf's, the kernel's symbols too" "$(t_last)"
	fi
else
	t_skip "pipe mode" "perf cannot record here: $(tail -n 1 pipe.err)"
fi

# ---- recorded data ----

# FILE REASON...: what perf 6.1 shows nothing of.
perf_fails()
{
	case $1 in
	linux-perf-data/fibo.compressed2.pipe.data)
		echo "perf 6.1 does not know PERF_RECORD_COMPRESSED2" ;;
	pt-hase-control_flow-a/perf.data | pt-tmon-ptwrite/perf.data)
		echo "there are no samples; perf shows events that it makes up from the trace" ;;
	*) return 1 ;;
	esac
}

if [ ! -d "$VT_DATA/perf" ]; then
	t_skip "recorded data" "no optional test data at \$VTRACE_DATA or ../shared/data"
	t_done
fi
while read -r file; do
	name=${file#"$VT_DATA/perf/"}
	options=(--ignore cbr --ignore psb --ignore ptwrite)
	case $name in
	quipper/perf.data.piped.target-3.8 | linux-perf-data/sleep*.data)
		# No build-id of the kernel, or none that perf takes into account: it gives samples of
		# another machine's kernel the symbols of the one that runs here.
		options+=(--fold-kernel) ;;
	esac
	t_run "$ROOT/tests/perf_totals.py" "${options[@]}" "$file"
	if [ "$T_STATUS" = 77 ] && reason=$(perf_fails "$name"); then
		t_skip "$name: totals are perf's" "$reason"
	elif [ "$T_STATUS" = 0 ]; then
		t_pass "$name: totals are perf's"
		sed 's/^/# /' "$T_OUT"
	else
		t_fail "$name: totals are perf's" "$(t_last)"
	fi
done < <(find "$VT_DATA/perf" -type f \( -name '*.data' -o -name 'perf.data.*' \) | sort)
t_done
