/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_threads N
 *
 * Four threads add 1 to N, each in its own variable and, under a lock, in a common one. Prints the
 * five sums.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long common;
static unsigned long upto;

struct work {
	pthread_t thread;
	unsigned long sum;
};

static void *run(void *arg)
{
	struct work *w = arg;

	for (unsigned long i = 1; i <= upto; i++) {
		w->sum += i;
		pthread_mutex_lock(&lock);
		common += i;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct work work[NTHREADS] = {0};

	upto = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	for (int i = 0; i < NTHREADS; i++) {
		if (pthread_create(&work[i].thread, NULL, run, &work[i]) != 0)
			return 1;
	}
	for (int i = 0; i < NTHREADS; i++) {
		pthread_join(work[i].thread, NULL);
		printf("%lu\n", work[i].sum);
	}
	printf("%lu\n", common);
	return 0;
}
