/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * libipt's block decoder and nothing else, at its best: images as file sections in a cache. The
 * yardstick of tests/bench/pt.sh.
 *
 *	pt_libipt TRACE SECTIONS
 *
 * SECTIONS has a line for each section of code: `file offset size address`. Prints instructions,
 * blocks, errors, the seconds of the decoding, and those with all that goes before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <intel-pt.h>

struct count {
	uint64_t insns;
	uint64_t blocks;
	uint64_t errors;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "pt_libipt: %s\n", what);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint8_t *load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
		fail("no trace");
	rewind(f);
	*size = (size_t)n;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size)
		fail("the trace cannot be read");
	fclose(f);
	return data;
}

static void add_sections(struct pt_image *image, struct pt_image_section_cache *cache,
			 const char *path)
{
	FILE *f = fopen(path, "r");
	uint64_t offset, size, addr;
	char file[4096];

	if (!f)
		fail("no list of sections");
	while (fscanf(f, "%4095s %" SCNi64 " %" SCNi64 " %" SCNi64, file, (int64_t *)&offset,
		      (int64_t *)&size, (int64_t *)&addr) == 4) {
		int isid = pt_iscache_add_file(cache, file, offset, size, addr);

		if (isid < 0 || pt_image_add_cached(image, cache, isid, NULL) < 0)
			fail("a section cannot be added");
	}
	fclose(f);
}

/* Decodes from a PSB up to an error or the end. */
static int decode(struct pt_block_decoder *d, int status, struct count *count)
{
	while (status >= 0) {
		struct pt_block block;
		struct pt_event event;

		while (status >= 0 && status & pts_event_pending)
			status = pt_blk_event(d, &event, sizeof(event));
		if (status < 0 || status & pts_eos)
			return status;
		block.ninsn = 0;
		status = pt_blk_next(d, &block, sizeof(block));
		count->blocks += block.ninsn != 0;
		count->insns += block.ninsn;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc(NULL);
	struct pt_image *image = pt_image_alloc(NULL);
	struct count count = {0, 0, 0};
	struct pt_block_decoder *d;
	struct pt_config config;
	double start = now(), loop;
	uint8_t *trace;
	size_t size;
	int status;

	if (argc != 3 || !cache || !image)
		fail("usage: pt_libipt TRACE SECTIONS");
	trace = load(argv[1], &size);
	add_sections(image, cache, argv[2]);
	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + size;
	config.flags.variant.block.end_on_call = 0;
	d = pt_blk_alloc_decoder(&config);
	if (!d || pt_blk_set_image(d, image) < 0)
		fail("no decoder");
	loop = now();
	while ((status = pt_blk_sync_forward(d)) >= 0) {
		status = decode(d, status, &count);
		count.errors += status < 0 && status != -pte_eos;
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " blocks, %" PRIu64
	       " errors, decoded in %.6f s, all in %.6f s\n",
	       count.insns, count.blocks, count.errors, now() - loop, now() - start);
	pt_blk_free_decoder(d);
	pt_image_free(image);
	pt_iscache_free(cache);
	free(trace);
	return 0;
}
