/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A plain main for the fuzz targets, which any build can have, without libFuzzer:
 * [-n COUNT] [-f FIRST] [-s SEED] [-o PREFIX] FILE...
 *
 * Runs each file through the target once: a kept corpus, or what failed.  Then, with -n, COUNT
 * damaged variants of the files from number FIRST (0) on (tests/tools/common/mutate.h), which are
 * the same on every machine; the first that fails is left as PREFIX (crash-) and its number.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/common/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Far above what is generated; a larger file is a mistake on the command line. */
#define MAX_INPUT ((size_t)64 << 20)

#define MAX_VARIANT  65536
#define SECONDS_EACH 600 /* more than any needs, however busy the machine */

struct replay {
	struct mutate_input *in;
	size_t count;
	uint64_t seed;
	uint64_t first;
	uint64_t variants;
	const char *prefix;
	FILE *at; /* the number of the variant that is run */
};

static uint8_t *load(const char *name, size_t *size)
{
	FILE *f = fopen(name, "rb");
	uint8_t *data = NULL, *bigger;
	size_t room = 0, got;

	*size = 0;
	if (!f)
		goto fail;
	do {
		if (*size == room) {
			bigger = room < MAX_INPUT ? realloc(data, room + (1 << 16)) : NULL;
			if (!bigger)
				goto fail;
			data = bigger;
			room += 1 << 16;
		}
		got = fread(data + *size, 1, room - *size, f);
		*size += got;
	} while (got > 0);
	if (ferror(f))
		goto fail;
	fclose(f);
	return data;
fail:
	fprintf(stderr, "replay: %s: %s\n", name, strerror(errno));
	exit(1);
}

static void run_one(const uint8_t *data, size_t size)
{
	/* An exact-size copy lets the address sanitizer see a read one byte past the end. */
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact) {
		fprintf(stderr, "replay: %s\n", strerror(errno));
		exit(1);
	}
	if (size)
		memcpy(exact, data, size);
	alarm(SECONDS_EACH);
	LLVMFuzzerTestOneInput(exact, size);
	alarm(0);
	free(exact);
}

/* Returns the number of the one behind the last. */
static uint64_t run_variants(const struct replay *r)
{
	static uint8_t data[MAX_VARIANT];
	uint64_t n;
	size_t size;

	for (n = r->first; n < r->first + r->variants; n++) {
		if (pwrite(fileno(r->at), &n, sizeof(n), 0) != (ssize_t)sizeof(n))
			exit(1);
		size = mutate_inputs(r->in, r->count, r->seed, n, data, sizeof(data));
		run_one(data, size);
	}
	if (pwrite(fileno(r->at), &n, sizeof(n), 0) != (ssize_t)sizeof(n))
		exit(1);
	return n;
}

static int leave_variant(const struct replay *r, uint64_t n)
{
	static uint8_t data[MAX_VARIANT];
	size_t size = mutate_inputs(r->in, r->count, r->seed, n, data, sizeof(data));
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s%" PRIu64 "-%" PRIu64, r->prefix, r->seed, n);
	f = fopen(name, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f)) {
		fprintf(stderr, "replay: %s: %s\n", name, strerror(errno));
		return 1;
	}
	fprintf(stderr, "replay: variant %" PRIu64 " of seed %" PRIu64 " fails: %s\n", n, r->seed,
		name);
	return 1;
}

/* In a process of its own, so that its end is survived, whatever the sanitizer does. */
static int run_apart(const struct replay *r)
{
	uint64_t n = r->first;
	int status = 0;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		run_variants(r);
		exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child) {
		fprintf(stderr, "replay: %s\n", strerror(errno));
		return 1;
	}
	if (!status)
		return 0;
	if (pread(fileno(r->at), &n, sizeof(n), 0) == (ssize_t)sizeof(n) &&
	    n < r->first + r->variants)
		return leave_variant(r, n);
	fprintf(stderr, "replay: something fails behind the last variant: a leak of one of them\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct replay r = {.seed = 1, .prefix = "crash-", .at = tmpfile()};
	int o, failed = 0;
	size_t i;

	while ((o = getopt(argc, argv, "f:n:o:s:")) != -1) {
		if (o == 'f')
			r.first = strtoull(optarg, NULL, 0);
		else if (o == 'n')
			r.variants = strtoull(optarg, NULL, 0);
		else if (o == 'o')
			r.prefix = optarg;
		else if (o == 's')
			r.seed = strtoull(optarg, NULL, 0);
		else
			return 2;
	}
	r.count = (size_t)(argc - optind);
	if (!r.at || (r.variants && !r.count))
		return 2;
	r.in = calloc(r.count + 1, sizeof(*r.in));
	if (!r.in)
		return 2;
	for (i = 0; i < r.count; i++) {
		r.in[i].data = load(argv[optind + (int)i], &r.in[i].size);
		run_one(r.in[i].data, r.in[i].size);
	}
	if (r.variants)
		failed = run_apart(&r);
	for (i = 0; i < r.count; i++)
		free((void *)r.in[i].data);
	free(r.in);
	fclose(r.at);
	return failed;
}
