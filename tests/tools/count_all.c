/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes a profile in which every procedure of some files has samples:
 *
 *	count_all FILE... >STREAM
 *
 * Each block of code has samples on a few of its instructions, as many as a fixed seed says.  On
 * standard error it says how many procedures and bytes of code that is.
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

#define EVENT	1
#define PERIOD	62000
#define SAMPLES 20 /* at most, on an instruction */

struct maker {
	struct vt_images *images;
	struct vt_writer *w;
	struct vt_rng rng;
	uint64_t procedures;
	uint64_t bytes;
};

static void die(const char *why, const char *what)
{
	fprintf(stderr, "count_all: %s: %s\n", why, what);
	exit(2);
}

static void put_samples(struct maker *m, uint32_t image, uint64_t vaddr)
{
	uint64_t samples = vt_rng_below(&m->rng, SAMPLES), offset, *row;

	if (!samples || !vt_images_offset(m->images, image, vaddr, &offset))
		return;
	row = vt_writer_row(m->w, VT_COUNT);
	row[VT_COUNT_IMAGE] = image;
	row[VT_COUNT_OFFSET] = offset;
	row[VT_COUNT_EVENT] = EVENT;
	row[VT_COUNT_SAMPLES] = samples;
	row[VT_COUNT_PERIOD] = samples * PERIOD;
}

static void put_procedure(struct maker *m, uint32_t image, const struct vt_symbol *s)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_cfg *g = image_graph(m->images, image, s->start, s->end, &err);
	uint32_t i;

	if (!g)
		return;
	for (i = 0; i < g->ninsns; i++)
		if (vt_rng_below(&m->rng, 2))
			put_samples(m, image, g->insns[i].addr);
	m->procedures += g->ninsns != 0;
	m->bytes += s->end - s->start;
	vt_cfg_free(g);
}

static void put_file(struct maker *m, uint32_t image, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_symbols *symbols;
	enum vt_unknown why;
	uint64_t *row;
	size_t i;

	if (vt_images_add(m->images, image, VT_IMAGE_FILE, path, strlen(path), NULL, 0, &err) < 0)
		die(path, err.text);
	row = vt_writer_row(m->w, VT_IMAGE);
	row[VT_IMAGE_ID] = image;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(m->w, VT_IMAGE_PATH, path);
	symbols = vt_images_symbols(m->images, image, 0, &why);
	if (!symbols)
		die(path, vt_unknown_text(why));
	for (i = 0; i < vt_symbols_count(symbols); i++) {
		const struct vt_symbol *s = vt_symbols_at(symbols, i);

		if (!(s->flags & (VT_SYMBOL_OBJECT | VT_SYMBOL_PLT)))
			put_procedure(m, image, s);
	}
}

static void put_event(struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_POLICY] = VT_POLICY_INTERRUPT;
	row[VT_EVENT_PERIOD] = PERIOD;
	vt_writer_text(w, VT_EVENT_NAME, "cycles");
	vt_writer_text(w, VT_EVENT_UNIT, "cycles");
}

int main(int argc, char **argv)
{
	const struct vt_images_options images = {.find = {.symfs = NULL}};
	const struct vt_writer_options writer = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct maker m = {0};
	int i;

	vt_rng_init(&m.rng, 1);
	m.images = vt_images_new(&images, &err);
	m.w = m.images ? vt_writer_open("-", &writer, &err) : NULL;
	if (!m.w)
		die("standard output", err.text);
	put_event(m.w);
	for (i = 1; i < argc; i++)
		put_file(&m, (uint32_t)i, argv[i]);
	vt_images_free(m.images);
	if (vt_writer_close(m.w, VT_STATUS_COMPLETE, &err) < 0)
		die("standard output", err.text);
	fprintf(stderr, "%" PRIu64 " procedures, %" PRIu64 " bytes\n", m.procedures, m.bytes);
	return 0;
}
