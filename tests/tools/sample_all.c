/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the profile of a busy minute: samples of some procedures of some files, few of most of
 * them.
 *
 *	sample_all PROCEDURES SAMPLES DEPTH FILE... >STREAM
 *
 * The procedures are taken evenly from all of the files, and each is walked through at random with
 * a fixed seed.  A sample has the last DEPTH taken branches of its walk; 0: none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "flow/cfg.h"
#include "image/images.h"
#include "stream/kinds.h"
#include "stream/writer.h"
#include "tests/unit/common/graphs.h"

#define EVENT	  1
#define PERIOD	  62000
#define MAX_DEPTH 32
#define LIMIT	  4096 /* instructions between two samples, at most */

/* A file is mapped at this times its number. */
#define APART 0x100000000

struct chosen {
	uint32_t image;
	uint64_t start;
	uint64_t end;
};

struct maker {
	struct vt_images *images;
	struct vt_writer *w;
	struct vt_rng rng;
	struct chosen *list;
	size_t count;
	uint64_t depth;
	uint64_t from[MAX_DEPTH]; /* newest first */
	uint64_t to[MAX_DEPTH];
	uint64_t flags[MAX_DEPTH]; /* cycles since the one before, and that it was predicted */
	uint64_t branches;
	uint64_t insns; /* behind the newest */
};

static void die(const char *why, const char *what)
{
	fprintf(stderr, "sample_all: %s: %s\n", why, what);
	exit(2);
}

/* ---- the procedures ---- */

static void put_image(struct maker *m, uint32_t image, const char *path)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = image;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
	row = vt_writer_row(m->w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = 1;
	row[VT_MAP_START] = image * APART;
	row[VT_MAP_LENGTH] = APART;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = 5;
}

static void take_file(struct maker *m, uint32_t image, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *symbols;
	enum vt_unknown why;
	size_t i;

	if (vt_images_add(m->images, image, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0)
		die(path, err.text);
	put_image(m, image, path);
	symbols = vt_images_symbols(m->images, image, 0, &why);
	if (!symbols)
		die(path, vt_unknown_text(why));
	m->list = realloc(m->list, (m->count + vt_symbols_count(symbols) + 1) * sizeof(*m->list));
	if (!m->list)
		die(path, "out of memory");
	for (i = 0; i < vt_symbols_count(symbols); i++) {
		const struct vt_symbol *s = vt_symbols_at(symbols, i);

		if (!(s->flags & (VT_SYMBOL_OBJECT | VT_SYMBOL_PLT)) && s->end - s->start > 16)
			m->list[m->count++] = (struct chosen){image, s->start, s->end};
	}
}

/* ---- a walk ---- */

static uint64_t address_of(const struct maker *m, uint32_t image, uint64_t vaddr)
{
	uint64_t offset = 0;

	vt_images_offset(m->images, image, vaddr, &offset);
	return image * APART + offset;
}

static void put_sample(struct maker *m, uint64_t ip)
{
	uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);
	size_t n = m->branches < m->depth ? m->branches : m->depth;

	row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 1;
	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = PERIOD;
	row[VT_SAMPLE_MISC] = 2;
	if (!n)
		return;
	vt_writer_words(m->w, VT_SAMPLE_BR_FROM, m->from, n);
	vt_writer_words(m->w, VT_SAMPLE_BR_TO, m->to, n);
	vt_writer_words(m->w, VT_SAMPLE_BR_FLAGS, m->flags, n);
}

static void take_branch(struct maker *m, uint64_t from, uint64_t to)
{
	memmove(m->from + 1, m->from, (MAX_DEPTH - 1) * sizeof(m->from[0]));
	memmove(m->to + 1, m->to, (MAX_DEPTH - 1) * sizeof(m->to[0]));
	memmove(m->flags + 1, m->flags, (MAX_DEPTH - 1) * sizeof(m->flags[0]));
	m->from[0] = from;
	m->to[0] = to;
	m->flags[0] = (m->insns / 2 + 1) << 4 | 2;
	m->insns = 0;
	m->branches++;
}

/* Where control goes behind a block: most branches go one way nine times of ten. */
static const struct vt_cfg_edge *choose_edge(struct maker *m, const struct vt_cfg *g, uint32_t b)
{
	const struct vt_cfg_block *block = &g->blocks[b];
	uint64_t way = vt_rng_below(&m->rng, 10) ? b * 2654435761U >> 7 : vt_rng_next(&m->rng);

	return block->nout ? &g->edges[block->out + way % block->nout] : NULL;
}

static void walk(struct maker *m, const struct chosen *c, const struct vt_cfg *g, uint64_t samples)
{
	uint64_t left = vt_rng_below(&m->rng, LIMIT), steps = (samples + 1) * LIMIT;
	uint32_t at = VT_CFG_ENTRY;

	m->branches = 0;
	while (samples && steps--) {
		const struct vt_cfg_edge *e = choose_edge(m, g, at);
		uint32_t to = e && e->to != VT_CFG_EXIT ? e->to : VT_CFG_FIRST;
		const struct vt_cfg_block *b = &g->blocks[at], *next = &g->blocks[to];

		if (at >= VT_CFG_FIRST && b->ninsns && (!e || e->kind != VT_EDGE_FALL))
			take_branch(m,
				    address_of(m, c->image, g->insns[b->insn + b->ninsns - 1].addr),
				    address_of(m, c->image, next->start));
		at = to;
		m->insns += next->ninsns;
		for (; samples && next->ninsns && left < next->ninsns; samples--) {
			put_sample(m, address_of(m, c->image, g->insns[next->insn + left].addr));
			left += 1 + vt_rng_below(&m->rng, LIMIT);
		}
		left -= left < next->ninsns ? left : next->ninsns;
	}
}

/* The procedure's samples: as 1, 1/2, 1/3 … of those of the first. */
static void sample_procedure(struct maker *m, const struct chosen *c, uint64_t samples)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_cfg *g = image_graph(m->images, c->image, c->start, c->end, &err);

	if (g && g->nblocks > VT_CFG_FIRST)
		walk(m, c, g, samples);
	if (g)
		vt_cfg_free(g);
}

static void sample_all(struct maker *m, uint64_t procedures, uint64_t samples)
{
	double sum = 0;
	uint64_t i;

	for (i = 1; i <= procedures; i++)
		sum += 1 / (double)i;
	for (i = 0; i < procedures && m->count; i++) {
		/* A prime apart, so that neighbours are not alike. */
		size_t at = (size_t)(i * m->count / procedures);
		uint64_t rank = i * 7919 % procedures + 1;

		sample_procedure(m, &m->list[at],
				 1 + (uint64_t)((double)samples / sum / (double)rank));
	}
}

static void put_event(const struct maker *m)
{
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_POLICY] = VT_POLICY_INTERRUPT;
	row[VT_EVENT_PERIOD] = PERIOD;
	row[VT_EVENT_BRANCH_TYPE] = m->depth ? VT_BRANCH_ANY : 0;
	vt_writer_text(m->w, VT_EVENT_NAME, "cycles");
	vt_writer_text(m->w, VT_EVENT_UNIT, "cycles");
}

int main(int argc, char **argv)
{
	const struct vt_images_options images = {.find = {.symfs = NULL}};
	const struct vt_writer_options writer = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct maker m = {0};
	int i;

	if (argc < 5)
		die("usage", "sample_all PROCEDURES SAMPLES DEPTH FILE... >STREAM");
	m.depth = strtoul(argv[3], NULL, 10);
	if (m.depth > MAX_DEPTH)
		die(argv[3], "too deep");
	vt_rng_init(&m.rng, 1);
	m.images = vt_images_new(&images, &err);
	m.w = m.images ? vt_writer_open("-", &writer, &err) : NULL;
	if (!m.w)
		die("standard output", err.text);
	put_event(&m);
	for (i = 4; i < argc; i++)
		take_file(&m, (uint32_t)i, argv[i]);
	sample_all(&m, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
	vt_images_free(m.images);
	free(m.list);
	if (vt_writer_close(m.w, VT_STATUS_COMPLETE, &err) < 0)
		die("standard output", err.text);
	return 0;
}
