#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The registers at the start of a window (record --full --skip, --toggle): what is interpreted from
# there on must be what the recording goes on to say, and the whole recording before it.

. "$(dirname "$0")/../lib.sh"

t_need valgrind gcc
tools=$VT_BUILD/tests/tools

cat >work.c <<'END'
#include <pthread.h>
#include <stdio.h>
static double acc[64];
__attribute__((noinline)) double work(int n)
{
	double s = 0;
	for (int i = 0; i < n; i++)
		acc[i & 63] += 1.5 * i, s += acc[(i * 7) & 63];
	return s;
}
static void *run(void *arg)
{
	char text[200];
	double t = 0;
	for (int i = 0; i < 40; i++)
		t += work(i), snprintf(text, sizeof(text), "%d %f", i, t), puts(text);
	return arg;
}
int main(void)
{
	pthread_t other;
	pthread_create(&other, NULL, run, NULL);
	run(NULL);
	pthread_join(other, NULL);
	return 0;
}
END
gcc -O2 -pthread -o work work.c || exit 99

# record NAME OPTIONS...
record()
{
	local name=$1
	shift
	t_ok "$name is recorded" vtrace record --full --values all --mem "$@" -o "$name.vt" -- ./work
}

# STATE records that have registers.
with_registers() { vtrace dump -k STATE -F reason,regs "$1" | grep -c '^window.*0x'; }

# right NAME LEAST: that many instructions are interpreted from there, and nothing is wrong.
right()
{
	t_ok "$1: nothing is wrong" "$tools/interp_truth" "$1.vt"
	t_is "$1: it goes on from there" \
		"$(awk -v least="$2" '$1 == "followed" { print ($11 >= least) }' "$T_OUT")" 1
}

record whole
for skip in 1 777 123457 150000; do
	record "window$skip" --skip "$skip" --count 20000
	t_is "behind $skip instructions: registers are told" $(($(with_registers "window$skip.vt") >= 1)) 1
	right "window$skip" 10000
done
t_is "the first window is one instruction behind the start" \
	"$(vtrace dump -k STATE -F regs window1.vt | head -n 1 | cut -d, -f8,9 | awk -F, '{ print $2 }')" \
	"$(printf '0x%x' $(($(vtrace dump -k STATE -F regs whole.vt | head -n 1 | cut -d, -f9) + 3)))"

record toggled --toggle work
t_is "each call of the function begins with registers" "$(with_registers toggled.vt)" 80
right toggled 10000
t_done
