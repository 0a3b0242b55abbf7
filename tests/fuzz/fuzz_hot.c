/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Value profiles from any HOT records.  An input is a sequence of records, made straight into a
 * block as a reader would give it; three streams of them are joined.  Each number takes a byte that
 * says how many more bytes it has (0 to 8, beyond that it is that byte less 9); arrays begin with
 * their length.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "stream/writer.h"
#include "tests/fuzz/number.h"
#include "value/hot_record.h"
#include "value/invariance.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_ARRAY 64

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "fuzz_hot: %s\n", what);
		abort();
	}
}

/* A block of one record. */
struct record {
	struct vt_column columns[VT_HOT_NFIELDS];
	uint64_t numbers[VT_HOT_NFIELDS];
	uint64_t words[VT_HOT_NFIELDS][MAX_ARRAY];
	uint32_t off[VT_HOT_NFIELDS][2];
};

static void make_record(struct vt_cursor *c, const struct vt_kind_desc *kind, struct record *r)
{
	unsigned f;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	for (f = 0; f < VT_HOT_NFIELDS; f++) {
		r->columns[f].v = &r->numbers[f];
		r->columns[f].off = r->off[f];
		r->columns[f].words = r->words[f];
		if (kind->fields[f].type != VT_TYPE_A) {
			r->numbers[f] = fuzz_number(c);
			continue;
		}
		r->off[f][1] = vt_cursor_u8(c) % (MAX_ARRAY + 1);
		for (i = 0; i < r->off[f][1]; i++)
			r->words[f][i] = fuzz_number(c);
	}
}

static int feed(struct vt_hotprofile *p, struct vt_cursor *c, const struct vt_schema *schema,
		uint32_t most)
{
	struct vt_error err = VT_ERROR_INIT;
	struct record r;
	struct vt_block block = {.kind = VT_HOT,
				 .nrecords = 1,
				 .ncolumns = VT_HOT_NFIELDS,
				 .desc = &schema->kinds[VT_HOT],
				 .columns = r.columns};

	for (; most && vt_cursor_left(c); most--) {
		make_record(c, block.desc, &r);
		check(vt_hotprofile_feed(p, &block, 0, 1, &err) == 0, "a record stops it");
	}
	return vt_hotprofile_end(p, &err);
}

static void check_list(const struct vt_hot *h)
{
	uint64_t sum = 0;
	uint32_t i;
	int m;

	check(!h->capacity || h->nvalues <= h->capacity, "more values than there is room for");
	check(h->profiled <= h->total && h->same <= h->total && h->stride <= h->total &&
		      h->zero <= h->total,
	      "a part exceeds its whole");
	for (i = 0; i < h->nvalues; i++) {
		check(!h->errors || h->errors[i] <= h->counts[i], "an error exceeds its count");
		sum += h->counts[i] - (h->errors ? h->errors[i] : 0);
		check(h->counts[i] <= h->profiled && sum <= h->profiled, "counts exceed the total");
		check(!i || vt_hot_estimate(h, i) <= vt_hot_estimate(h, i - 1), "not in order");
		check(isfinite(vt_hot_estimate(h, i)), "no number");
	}
	for (m = 0; m < VT_NINVMETRICS; m++) {
		double v = vt_inv_value(h, (enum vt_inv_metric)m);

		check(v >= 0 && v <= 1, "a share is not between 0 and 1");
	}
}

static void use(const struct vt_hotprofile *p)
{
	const struct vt_inv_options o = {.what = VT_INV_EVERY, .threshold = 0.3};
	struct vt_writer_options w = {.compression = VT_COMPRESS_NONE};
	double curve[VT_INV_BUCKETS];
	struct vt_inv_comparison c;
	struct vt_inv_pair *pairs;
	struct vt_writer *writer;
	struct vt_error err;
	int fd = open("/dev/null", O_WRONLY);
	size_t i, n;

	writer = vt_writer_open_fd(fd, "output", &w, &err);
	check(writer != NULL, "no writer");
	for (i = 0; i < vt_hotprofile_count(p); i++) {
		check_list(vt_hotprofile_at(p, i));
		check(!i || vt_hot_key_compare(&vt_hotprofile_at(p, i - 1)->key,
					       &vt_hotprofile_at(p, i)->key) < 0,
		      "lists are not in order");
		check(vt_hot_write(vt_hotprofile_at(p, i), 1, 1, writer, &err) == 0, "not written");
	}
	check(vt_writer_close(writer, VT_STATUS_COMPLETE, &err) == 0, "not closed");
	close(fd);
	vt_inv_curve(p, VT_INV_EVERY, VT_INV_TOP, curve);
	pairs = vt_inv_match(p, p, VT_INV_EVERY, &n);
	check(pairs != NULL, "no memory");
	vt_inv_compare(p, p, pairs, n, &o, &c);
	check(c.diff_top == 0 && c.diff_all == 0 && c.only_first == 0, "differs from itself");
	free(pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_cursor c = vt_cursor_make(data, size, false);
	struct vt_hotprofile *p = vt_hotprofile_new(size);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_schema schema;

	check(p && vt_schema_init(&schema, &err) == 0, "no memory");
	if (feed(p, &c, &schema, 2) == 0 && feed(p, &c, &schema, 3) == 0 &&
	    feed(p, &c, &schema, UINT32_MAX) == 0)
		use(p);
	vt_schema_fini(&schema);
	vt_hotprofile_free(p);
	return 0;
}
