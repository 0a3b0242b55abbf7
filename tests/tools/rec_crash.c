/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_crash load|store|abort|illegal|divide|kill
 *
 * Ends by a signal, in the middle of a block where there is one.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int zero;
static int *volatile nowhere;

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	volatile int one = 1;

	puts("crashing");
	fflush(stdout);
	if (strcmp(how, "load") == 0)
		return one + *nowhere;
	if (strcmp(how, "store") == 0)
		*nowhere = one;
	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "illegal") == 0)
		__builtin_trap();
	if (strcmp(how, "divide") == 0)
		return one / zero;
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	fprintf(stderr, "rec_crash: not crashed\n");
	return 2;
}
