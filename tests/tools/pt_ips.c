/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: pt_ips TRACE PREFIX
 *
 * The instructions of a raw Intel PT trace, as libipt's instruction decoder finds them in the pages
 * of PREFIX.dump and PREFIX.addr: prints how many, and a hash of their addresses, as exec_ips.c
 * prints of a stream; then, if there were any, the number of errors and the first one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-pt.h>

#define PAGE 4096

struct ips {
	uint64_t count;
	uint64_t hash;
	uint64_t errors;
	int first_error;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "pt_ips: %s\n", what);
	exit(1);
}

static uint8_t *load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!f || fseek(f, 0, SEEK_END) || (n = ftell(f)) < 0)
		fail("a file is missing");
	rewind(f);
	*size = (size_t)n;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size)
		fail("a file cannot be read");
	fclose(f);
	return data;
}

static void load_pages(struct pt_image *image, struct pt_image_section_cache *cache,
		       const char *prefix)
{
	char dump[1024], addr[1024];
	uint64_t *addresses;
	size_t size, i;

	snprintf(dump, sizeof(dump), "%s.dump", prefix);
	snprintf(addr, sizeof(addr), "%s.addr", prefix);
	addresses = (uint64_t *)(void *)load(addr, &size);
	for (i = 0; i < size / sizeof(*addresses); i++) {
		int id = pt_iscache_add_file(cache, dump, i * PAGE, PAGE, addresses[i]);

		if (id < 0 || pt_image_add_cached(image, cache, id, NULL) < 0)
			fail("pages cannot be added");
	}
	free(addresses);
}

/* From one PSB to the next error; 0 at the end of the trace. */
static int decode(struct pt_insn_decoder *d, struct ips *s)
{
	int status = pt_insn_sync_forward(d);
	struct pt_event event;
	struct pt_insn insn;

	while (status >= 0) {
		while (status >= 0 && (status & pts_event_pending))
			status = pt_insn_event(d, &event, sizeof(event));
		if (status < 0 || (status & pts_eos))
			break;
		insn.iclass = ptic_error;
		status = pt_insn_next(d, &insn, sizeof(insn));
		if (insn.iclass == ptic_error)
			continue;
		s->count++;
		s->hash = (s->hash ^ insn.ip) * 0x9e3779b97f4a7c15u;
		s->hash ^= s->hash >> 29;
	}
	if (status >= 0 || status == -pte_eos)
		return 0;
	if (!s->errors++)
		s->first_error = pt_errcode(status);
	return 1;
}

int main(int argc, char **argv)
{
	struct pt_image_section_cache *cache = pt_iscache_alloc("pages");
	struct pt_image *image = pt_image_alloc("pages");
	struct pt_insn_decoder *d;
	struct pt_config config;
	struct ips s = {0};
	uint8_t *trace;
	size_t size;

	if (argc != 3)
		return 2;
	if (!image || !cache)
		fail("out of memory");
	load_pages(image, cache, argv[2]);
	trace = load(argv[1], &size);
	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + size;
	d = pt_insn_alloc_decoder(&config);
	if (!d || pt_insn_set_image(d, image) < 0)
		fail("no decoder");
	while (decode(d, &s))
		;
	printf("%" PRIu64 " %016" PRIx64 "\n", s.count, s.hash);
	if (s.errors)
		printf("%" PRIu64 " errors; the first: %s\n", s.errors,
		       pt_errstr((enum pt_error_code)s.first_error));
	pt_insn_free_decoder(d);
	pt_image_free(image);
	pt_iscache_free(cache);
	free(trace);
	return 0;
}
