/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is read of frequencies, edges and stalls, and of a database's profiles.  An input begins
 * with a zero byte and goes on with a packed profile, or it is a sequence of records, made straight
 * into a block as a reader would give it: a byte for the kind, and for each field a byte that says
 * how many more bytes it has (0 to 8, beyond that it is that byte less 9); arrays begin with their
 * length.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/freqprofile.h"
#include "base/bytes.h"
#include "formats/db/places.h"
#include "stream/schema.h"
#include "tests/fuzz/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_FIELDS 16
#define MAX_ARRAY  32

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_records: %s\n", what);
		abort();
	}
}

/* ---- a database's profile ---- */

static void profile(const uint8_t *data, size_t size)
{
	struct vt_db_places p = {0}, again = {0};
	struct vt_buf packed = VT_BUF_INIT;
	uint64_t samples, period;
	struct vt_error err;
	size_t i;

	if (vt_db_places_unpack(&p, data, size, &err) == 0) {
		for (i = 1; i < p.count; i++)
			check(p.items[i - 1].offset < p.items[i].offset, "not in order");
		vt_db_places_sum(&p, &samples, &period, &err);
		vt_db_places_pack(&p, &packed);
		check(!packed.failed, "no memory");
		check(vt_db_places_unpack(&again, packed.data, packed.size, &err) == 0,
		      "what was packed cannot be unpacked");
		check(p.count == again.count, "places are lost");
		check(!p.count || memcmp(p.items, again.items, p.count * sizeof(*p.items)) == 0,
		      "it is not the same");
		if (vt_db_places_merge(&p, &again, &err) == 0)
			check(p.count == again.count, "the sum has other places");
	}
	vt_buf_free(&packed);
	vt_db_places_fini(&p);
	vt_db_places_fini(&again);
}

/* ---- records ---- */

static int feed(struct vt_freqprofile *p, struct vt_cursor *c, const struct vt_schema *schema,
		struct vt_error *err)
{
	static const unsigned kinds[] = {VT_FREQ, VT_EDGE, VT_STALL};
	unsigned kind = kinds[vt_cursor_u8(c) % 3];
	struct vt_column columns[MAX_FIELDS];
	uint64_t numbers[MAX_FIELDS], words[MAX_FIELDS][MAX_ARRAY];
	uint32_t off[MAX_FIELDS][2], f, i;
	struct vt_block block = {.kind = kind,
				 .nrecords = 1,
				 .ncolumns = schema->kinds[kind].nfields,
				 .desc = &schema->kinds[kind],
				 .columns = columns};
	struct vt_record rec = {&block, kind, 0};

	memset(columns, 0, sizeof(columns));
	memset(off, 0, sizeof(off));
	check(block.ncolumns <= MAX_FIELDS, "too many fields");
	for (f = 0; f < block.ncolumns; f++) {
		columns[f].v = &numbers[f];
		columns[f].off = off[f];
		columns[f].words = words[f];
		numbers[f] = 0;
		if (block.desc->fields[f].type != VT_TYPE_A) {
			numbers[f] = fuzz_number(c);
			continue;
		}
		off[f][1] = vt_cursor_u8(c) % (MAX_ARRAY + 1);
		for (i = 0; i < off[f][1]; i++)
			words[f][i] = fuzz_number(c);
	}
	return vt_freqprofile_feed(p, &rec, err);
}

static void look_up(const struct vt_freqprofile *p, uint32_t image)
{
	const struct vt_freq *freqs;
	const struct vt_edgefreq *edges;
	const struct vt_stall *stalls;
	size_t i, n;

	freqs = vt_freqprofile_freqs(p, image, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		check(freqs[i].image == image && freqs[i].executions >= 0, "not of the image");
		check(!i || freqs[i - 1].offset <= freqs[i].offset, "not in order");
	}
	edges = vt_freqprofile_edges(p, image, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		check(edges[i].image == image && edges[i].executions >= 0, "not of the image");
		check(!i || edges[i - 1].from <= edges[i].from, "not in order");
	}
	stalls = vt_freqprofile_stalls(p, image, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		check(stalls[i].image == image && stalls[i].low <= stalls[i].high, "no interval");
		check(!i || stalls[i - 1].offset <= stalls[i].offset, "not in order");
	}
	freqs = vt_freqprofile_freqs(p, image, 3, 9, &n);
	for (i = 0; i < n; i++)
		check(freqs[i].offset >= 3 && freqs[i].offset < 9, "not in the range");
}

static void records(const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_freqprofile *p = vt_freqprofile_new();
	struct vt_schema schema;
	struct vt_error err;
	uint32_t image;

	check(p && vt_schema_init(&schema, &err) == 0, "no memory");
	while (vt_cursor_left(&c) && feed(p, &c, &schema, &err) >= 0)
		;
	check(vt_freqprofile_finish(p, &err) == 0, "no end");
	for (image = 0; image < 4; image++)
		look_up(p, image);
	vt_schema_fini(&schema);
	vt_freqprofile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 0)
		profile(data + 1, size - 1);
	else
		records(data, size);
	return 0;
}
