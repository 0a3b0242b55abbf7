/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is read of frequencies, edges and stalls, of branch stacks, counts and call trees, and of a
 * database's profiles.  An input begins with a zero byte and goes on with a packed profile, or it
 * is a sequence of records, made straight into a block as a reader would give it: a byte for the
 * kind, and for each field a byte that says how many more bytes it has (0 to 8, beyond that it is
 * that byte less 9); arrays and texts begin with their length.  A first byte of 192 and more has
 * executions counted and compared, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "chains/gather.h"
#include "formats/db/places.h"
#include "freq/compare.h"
#include "freq/profile.h"
#include "freq/stack_count.h"
#include "listing/cycles/cycles.h"
#include "stream/schema.h"
#include "tests/fuzz/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ARRAY 32

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

/* All that reads them. */
struct readers {
	struct vt_images *images;
	struct vt_freqprofile *freqs;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_flowcount *counts; /* NULL: takes too long for most inputs */
	struct vt_stackcount *stacks;
	struct vt_callgather *chains;
};

static void readers_init(struct readers *r, bool counts)
{
	const struct vt_images_options o = {0};
	struct vt_error err;

	r->images = vt_images_new(&o, &err);
	r->freqs = vt_freqprofile_new();
	r->context = vt_context_new(NULL);
	check(r->context != NULL, "no memory");
	r->profile = vt_profile_new(r->context);
	r->counts = counts ? vt_flowcount_new(r->context) : NULL;
	r->stacks = vt_stackcount_new(r->context, 2);
	r->chains = vt_callgather_new(r->context);
	check(r->images && r->freqs && r->profile && !r->counts == !counts && r->stacks &&
		      r->chains,
	      "no memory");
	if (counts)
		vt_context_add(r->context, &(struct vt_consumer){.record = vt_flowcount_feed,
								 .arg = r->counts});
	vt_context_add(r->context,
		       &(struct vt_consumer){.take = vt_profile_feed, .arg = r->profile});
	vt_context_add(r->context, &(struct vt_consumer){.record = vt_stackcount_feed,
							 .arg = r->stacks,
							 .kinds = VT_STACKCOUNT_KINDS});
	vt_context_add(r->context, &(struct vt_consumer){.take = vt_callgather_feed,
							 .arg = r->chains,
							 .kinds = VT_CALLGATHER_KINDS});
}

static void readers_fini(struct readers *r)
{
	vt_images_free(r->images);
	vt_freqprofile_free(r->freqs);
	vt_callgather_free(r->chains);
	vt_profile_free(r->profile);
	vt_flowcount_free(r->counts);
	vt_context_free(r->context);
	vt_stackcount_free(r->stacks);
}

/* A record of frequencies that cannot be ends all. */
static int give(const struct readers *r, const struct vt_record *rec, struct vt_error *err)
{
	if (rec->kind == VT_IMAGE)
		vt_images_feed(r->images, rec, err);
	check(vt_context_feed(r->context, rec->block, rec->row, 1, err) != -VT_E_NOMEM,
	      "no memory");
	return vt_freqprofile_feed(r->freqs, rec->block, rec->row, 1, err);
}

static unsigned kind_of(uint8_t n)
{
	static const unsigned estimates[] = {VT_FREQ, VT_EDGE, VT_STALL};
	static const unsigned others[] = {VT_SAMPLE, VT_EVENT, VT_IMAGE, VT_MAP, VT_COUNT};

	if (n >= 224)
		return VT_CHAIN;
	return n < 128 ? estimates[n % 3] : others[n % 5];
}

static int feed(const struct readers *r, struct vt_cursor *c, const struct vt_schema *schema,
		struct vt_error *err)
{
	unsigned kind = kind_of(vt_cursor_u8(c));
	struct vt_column columns[VT_MAX_FIELDS];
	uint64_t numbers[VT_MAX_FIELDS], words[VT_MAX_FIELDS][MAX_ARRAY];
	uint8_t bytes[VT_MAX_FIELDS][MAX_ARRAY];
	uint32_t off[VT_MAX_FIELDS][2], f, i;
	struct vt_block block = {.kind = kind,
				 .nrecords = 1,
				 .ncolumns = schema->kinds[kind].nfields,
				 .desc = &schema->kinds[kind],
				 .columns = columns};
	struct vt_record rec = {&block, kind, 0};

	memset(columns, 0, sizeof(columns));
	memset(off, 0, sizeof(off));
	for (f = 0; f < block.ncolumns; f++) {
		char type = block.desc->fields[f].type;
		bool text = type == VT_TYPE_S || type == VT_TYPE_B;

		columns[f].v = &numbers[f];
		columns[f].off = off[f];
		columns[f].words = words[f];
		columns[f].bytes = bytes[f];
		numbers[f] = 0;
		/* Nothing here reads what is known of followed instructions. */
		if (kind == VT_SAMPLE && f >= VT_SAMPLE_PM_HAS)
			continue;
		if (type != VT_TYPE_A && !text) {
			numbers[f] = fuzz_number(c);
			continue;
		}
		off[f][1] = vt_cursor_u8(c) % (MAX_ARRAY + 1);
		for (i = 0; i < off[f][1] && text; i++)
			bytes[f][i] = vt_cursor_u8(c);
		for (i = 0; i < off[f][1] && !text; i++)
			words[f][i] = fuzz_number(c);
	}
	return give(r, &rec, err);
}

static void look_up(const struct vt_freqprofile *p, uint32_t image)
{
	const struct vt_freq_at *freqs;
	const struct vt_edgefreq *edges;
	const struct vt_stall *stalls;
	size_t i, n;

	freqs = vt_freqprofile_freqs(p, image, 0, UINT64_MAX, &n);
	for (i = 0; i < n; i++) {
		check(freqs[i].freq->image == image && freqs[i].freq->executions >= 0,
		      "not of the image");
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

/* Links of any range, also of one that ends before it begins. */
static void look_up_links(const struct vt_stackcount *c, uint32_t image, uint64_t start,
			  uint64_t end)
{
	const struct vt_stackcount_event *e = vt_stackcount_best(c, 0);
	const struct vt_stackcount_link *l;
	size_t i, n;
	int runs;

	for (runs = 0; e && runs < 2; runs++) {
		l = vt_stackcount_links(c, e->id, image, 0, runs, start, end, &n);
		for (i = 0; i < n; i++) {
			check(l[i].from >= start && l[i].from < end, "not in the range");
			check(l[i].stacks > 0 && vt_stackcount_count(&l[i].sum) >= 0,
			      "in no stack");
		}
	}
}

/* Parents come first, and have what is below them. */
static void list_trees(const struct readers *r)
{
	const struct vt_calltree *t;
	struct vt_callroot root;
	struct vt_error err;
	size_t i;

	check(vt_callgather_finish(r->chains, r->images, VT_LEVEL_PROCEDURE, false, &err) == 0,
	      "no end");
	t = vt_callgather_tree(r->chains);
	for (i = 0; i < vt_calltree_count(t); i++) {
		const struct vt_callnode *n = vt_calltree_at(t, i);

		check(n->parent == VT_CALL_NONE || n->parent < i, "a parent after its child");
		check(n->total.samples >= n->self.samples, "a total that lacks its own samples");
		check(n->parent == VT_CALL_NONE ||
			      vt_calltree_at(t, n->parent)->total.samples >= n->total.samples,
		      "a child with more than its parent");
	}
	for (i = 0; vt_callgather_root_at(r->chains, i, &root); i++)
		check(root.node == VT_CALL_NONE || root.node < vt_calltree_count(t), "no root");
}

/* Of what the records say, compared with what they say themselves. */
static void compare(const struct readers *r)
{
	const struct vt_freqcompare_input in = {.estimate = r->freqs,
						.samples = r->profile,
						.images = r->images,
						.truth = r->counts,
						.truth_images = r->images,
						.fit = true};
	struct vt_freqcompare out;
	struct vt_cyclesum sum = {0};
	struct vt_error err;
	size_t i;

	if (r->counts) {
		check(vt_flowcount_finish(r->counts, &err) == 0, "no end");
		check(vt_freqcompare(&in, &out, &err) == 0, "no comparison");
	}
	for (i = 0; i < vt_images_count(r->images); i++)
		vt_cyclesum_add(&sum, r->freqs, vt_images_at(r->images, i)->id, 0, UINT64_MAX);
}

static void records(const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_schema schema;
	struct vt_error err;
	struct readers r;
	uint32_t image;

	readers_init(&r, size && data[0] >= 192);
	check(vt_schema_init(&schema, &err) == 0, "no memory");
	while (vt_cursor_left(&c) && feed(&r, &c, &schema, &err) >= 0)
		;
	vt_freqprofile_finish(r.freqs);
	check(vt_profile_finish(r.profile, &err) == 0, "no end");
	check(vt_stackcount_finish(r.stacks, &err) == 0, "no end");
	list_trees(&r);
	for (image = 0; image < 4; image++) {
		look_up(r.freqs, image);
		look_up_links(r.stacks, image, 0, UINT64_MAX);
		look_up_links(r.stacks, image, 0x20, 0x10);
		look_up_links(r.stacks, image, UINT64_MAX - 0x10, 0x10);
	}
	compare(&r);
	vt_schema_fini(&schema);
	readers_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && data[0] == 0)
		profile(data + 1, size - 1);
	else
		records(data, size);
	return 0;
}
