/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What reads sums that were written by vevent, vpair, vpath and vmem: merging, and the listings of
 * events, pairs, paths and memory.  An input is a sequence of records, made straight into a block
 * as a reader would give it: a byte for the kind, and for each field a byte that says how many more
 * bytes it has (0 to 8, beyond that it is that byte less 9); arrays and texts begin with their
 * length.  A first byte with its highest bit has the same stream merged twice.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "events/gather.h"
#include "listing/code/report.h"
#include "listing/events/code.h"
#include "listing/events/report.h"
#include "listing/memory/print.h"
#include "listing/pairs/listing.h"
#include "listing/paths/paths.h"
#include "memory/memory.h"
#include "merge/merge.h"
#include "stream/reader.h"
#include "stream/schema.h"
#include "tests/fuzz/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ARRAY 32

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_sums: %s\n", what);
		abort();
	}
}

static void ignore(void *arg, const char *text)
{
	(void)arg;
	(void)text;
}

/* ---- all that reads them ---- */

struct readers {
	struct vt_images *images;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_evgather *events;
	struct vt_pairlist *pairs;
	struct vt_listpaths *paths;
	struct vt_memory *memory;
	struct vt_losses losses;
};

static int feed_images(void *images, const struct vt_record *rec, struct vt_error *err)
{
	return vt_images_feed(images, rec, err) == -VT_E_NOMEM ? -VT_E_NOMEM : 0;
}

static void readers_init(struct readers *r)
{
	const struct vt_images_options o = {0};
	const struct vt_memory_options mo = {.recorded = true};
	struct vt_error err;

	memset(r, 0, sizeof(*r));
	r->images = vt_images_new(&o, &err);
	r->context = vt_context_new(NULL);
	check(r->images && r->context, "no memory");
	r->profile = vt_profile_new(r->context);
	r->events = vt_evgather_new(r->context, VT_EVBY_PLACE);
	check(r->profile && r->events, "no memory");
	r->pairs = vt_pairlist_new(r->profile, r->images);
	r->paths = vt_listpaths_new(r->images, "vpath/1");
	r->memory = vt_memory_new(&mo, r->context, &err);
	check(r->pairs && r->paths && r->memory, "no memory");
	vt_evgather_warn(r->events, ignore, NULL);
	vt_context_add(r->context, &(struct vt_consumer){.record = feed_images,
							 .arg = r->images,
							 .kinds = VT_KIND(VT_IMAGE)});
	vt_context_add(r->context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = r->profile});
	vt_context_add(r->context, &(struct vt_consumer){.take = vt_evgather_feed,
							 .arg = r->events,
							 .kinds = VT_EVGATHER_KINDS});
	vt_context_add(r->context, &(struct vt_consumer){.record = vt_pairlist_feed,
							 .arg = r->pairs,
							 .kinds = VT_KIND(VT_PAIRSTAT)});
	vt_context_add(r->context,
		       &(struct vt_consumer){.record = vt_listpaths_feed, .arg = r->paths});
}

static void readers_fini(struct readers *r)
{
	vt_memory_free(r->memory);
	vt_listpaths_free(r->paths);
	vt_pairlist_free(r->pairs);
	vt_evgather_free(r->events);
	vt_profile_free(r->profile);
	vt_context_free(r->context);
	vt_images_free(r->images);
}

static void print_events(const struct readers *r, bool json, struct vt_output *out)
{
	struct vt_evreport p = {.gather = r->events,
				.context = r->context,
				.images = r->images,
				.level = VT_LEVEL_INSTRUCTION,
				.together = json,
				.histogram = -1,
				.json = json,
				.losses = &r->losses};
	struct vt_error err;

	check(vt_evreport_print(&p, out, &err) != -VT_E_NOMEM, "no memory");
	p.histogram = (int)vt_evstat_named("lat_load", strlen("lat_load"));
	p.bins = json ? 7 : 0;
	check(vt_evreport_print(&p, out, &err) != -VT_E_NOMEM, "no memory");
}

/* Beside code, of which there is none. */
static void print_code(const struct readers *r, bool json, struct vt_output *out)
{
	const struct vt_listing_options listing = {.context = 3};
	const struct vt_evlisting events = {.profile = r->profile,
					    .images = r->images,
					    .gather = r->events,
					    .options = &listing,
					    .losses = &r->losses,
					    .json = json,
					    .out = out,
					    .note = ignore};
	const struct vt_pairlist_options pairs = {
		.listing = &listing, .losses = &r->losses, .json = json};
	struct vt_event_choice choice = {0};
	struct vt_listreport report = {
		.profile = r->profile, .images = r->images, .events = &choice};
	struct vt_error err;

	if (vt_event_choice_init(&choice, r->profile, NULL, 0, &err) == 0) {
		check(vt_listreport_find_top(&report, 3, &err) != -VT_E_NOMEM, "no memory");
		check(vt_evlisting_print(&events, &report.found, &err) != -VT_E_NOMEM, "no memory");
		check(vt_pairlist_print(r->pairs, &report.found, &pairs, out, ignore, NULL, &err) !=
			      -VT_E_NOMEM,
		      "no memory");
	}
	vt_listreport_fini(&report);
	vt_event_choice_fini(&choice);
}

static void print_memory(const struct readers *r, bool json, struct vt_output *out)
{
	const struct vt_value_style style = {.images = r->images};
	const struct vt_memlist_options o = {
		.rows = json ? VT_MEMLIST_LOCATIONS : VT_MEMLIST_LAYOUT,
		.top = 9,
		.types = UINT32_MAX,
		.style = json ? &style : NULL,
		.show = 3,
	};
	const struct vt_memlist_form form = {.json = json, .losses = &r->losses, .out = out};
	struct vt_error err;

	check(vt_memlist_print(&vt_memlist_objects, r->memory, r->images, &o, &form, &err) == 0,
	      "no memory");
}

static void print(const struct readers *r)
{
	struct vt_output out = {0};
	int fd = open("/dev/null", O_WRONLY), json;
	struct vt_error err;

	check(vt_profile_finish(r->profile, &err) == 0, "no end");
	check(vt_memory_finish(r->memory, &err) == 0, "no memory");
	check(vt_output_open_fd(&out, fd, "output", &err) == 0, "no output");
	for (json = 0; json < 2; json++) {
		print_events(r, json, &out);
		print_code(r, json, &out);
		print_memory(r, json, &out);
		check(vt_listpaths_print(r->paths, 5, json ? &r->losses : NULL, VT_TABLE_TEXT,
					 false, &out, &err) == 0,
		      "no list");
	}
	check(vt_output_close(&out, &err) == 0, "no end");
	close(fd);
}

/* ---- records ---- */

static unsigned kind_of(uint8_t n)
{
	static const unsigned kinds[] = {VT_EVSTAT, VT_PAIRSTAT, VT_PATH,  VT_EVENT,
					 VT_IMAGE,  VT_META,	 VT_COUNT, VT_ACCESSES,
					 VT_OBJECT, VT_LOCATION};

	return kinds[(n & 0x7f) % (sizeof(kinds) / sizeof(kinds[0]))];
}

/* All of a record, with what its block points to. */
struct made {
	struct vt_block block;
	struct vt_column columns[VT_MAX_FIELDS];
	uint64_t numbers[VT_MAX_FIELDS], words[VT_MAX_FIELDS][MAX_ARRAY];
	uint8_t bytes[VT_MAX_FIELDS][MAX_ARRAY];
	uint32_t off[VT_MAX_FIELDS][2];
};

static void make(struct made *m, struct vt_cursor *c, const struct vt_schema *schema)
{
	unsigned kind = kind_of(vt_cursor_u8(c));
	uint32_t f, i;

	memset(m, 0, sizeof(*m));
	m->block = (struct vt_block){.kind = kind,
				     .nrecords = 1,
				     .ncolumns = schema->kinds[kind].nfields,
				     .desc = &schema->kinds[kind],
				     .columns = m->columns};
	for (f = 0; f < m->block.ncolumns; f++) {
		char type = m->block.desc->fields[f].type;
		bool text = type == VT_TYPE_S || type == VT_TYPE_B;

		m->columns[f].v = &m->numbers[f];
		m->columns[f].off = m->off[f];
		m->columns[f].words = m->words[f];
		m->columns[f].bytes = m->bytes[f];
		if (type != VT_TYPE_A && !text) {
			m->numbers[f] = fuzz_number(c);
			continue;
		}
		m->off[f][1] = vt_cursor_u8(c) % (MAX_ARRAY + 1);
		for (i = 0; i < m->off[f][1] && text; i++)
			m->bytes[f][i] = vt_cursor_u8(c);
		for (i = 0; i < m->off[f][1] && !text; i++)
			m->words[f][i] = fuzz_number(c);
	}
}

/* A merged stream, merged again: what was written can be, and is all of the same machine. */
static void read_merged(int fd)
{
	struct vt_merge *again = vt_merge_new(1);
	const struct vt_block *block;
	struct vt_reader *reader;
	uint32_t first, count;
	struct vt_error err;
	int code;

	check(again && lseek(fd, 0, SEEK_SET) == 0, "no memory");
	reader = vt_reader_open_fd(fd, "merged", &err);
	check(reader != NULL, "no stream");
	while ((code = vt_reader_next_run(reader, &block, &first, &count, &err)) == 1)
		check(vt_merge_feed(again, block, first, count, &err) == 0, "not taken");
	check(code == 0, "damaged");
	code = vt_merge_end_stream(again, "merged", &err);
	check(code == 0 || code == -VT_E_LIMIT, "not joined");
	check(vt_merge_bad(again) == 0, "a record that was written cannot be");
	vt_reader_close(reader);
	vt_merge_free(again);
}

static void write_merged(struct vt_merge *m)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	FILE *f = tmpfile();
	struct vt_writer *w;
	struct vt_error err;
	int code;

	check(f != NULL, "no file");
	w = vt_writer_open_fd(fileno(f), "merged", &o, &err);
	check(w != NULL, "no writer");
	code = vt_merge_write(m, w, &err);
	check(code != -VT_E_NOMEM, "no memory");
	if (vt_writer_close(w, VT_STATUS_COMPLETE, &err) == 0 && code == 0)
		read_merged(fileno(f));
	fclose(f);
}

/* The same records to all readers, and to a merge.  False: they cannot be merged. */
static bool read_records(struct readers *r, struct vt_merge *m, const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_schema schema;
	struct vt_error err;
	struct made made;
	int code = 0;

	check(vt_schema_init(&schema, &err) == 0, "no memory");
	while (vt_cursor_left(&c) && code == 0) {
		make(&made, &c, &schema);
		if (r)
			check(vt_context_feed(r->context, &made.block, 0, 1, &err) != -VT_E_NOMEM,
			      "no memory");
		code = vt_merge_feed(m, &made.block, 0, 1, &err);
	}
	if (code == 0)
		code = vt_merge_end_stream(m, "made", &err);
	check(code != -VT_E_NOMEM, "no memory");
	vt_schema_fini(&schema);
	return code == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_merge *m = vt_merge_new(1);
	struct readers r;
	bool merges;

	check(m != NULL, "no memory");
	readers_init(&r);
	merges = read_records(&r, m, data, size);
	print(&r);
	readers_fini(&r);
	if (merges && size && (data[0] & 0x80))
		merges = read_records(NULL, m, data, size);
	if (merges)
		write_merged(m);
	vt_merge_free(m);
	return 0;
}
