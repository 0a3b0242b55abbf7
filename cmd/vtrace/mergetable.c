/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/mergetable.h"

#include <inttypes.h>
#include <string.h>

#include "cmd/common/stream.h"
#include "listing/json.h"
#include "profile/collector.h"

/* ---- one table ---- */

static bool parse_shape(struct app *a, const struct merge_table_options *o,
			struct vt_sampletable_shape *shape)
{
	const char *x = strchr(o->table, 'x');
	struct vt_error err = VT_ERROR_INIT;
	uint64_t buckets, ways;
	char text[24];

	if (!x || (size_t)(x - o->table) >= sizeof(text))
		return app_usage(a, "--table: '%s' is not of the form BUCKETSxWAYS", o->table);
	memcpy(text, o->table, (size_t)(x - o->table));
	text[x - o->table] = '\0';
	if (vt_parse_u64(text, "--table", &buckets, &err) < 0 ||
	    vt_parse_u64(x + 1, "--table", &ways, &err) < 0)
		return app_fail(a, &err);
	if (!buckets || buckets & (buckets - 1) || buckets > VT_SAMPLETABLE_BUCKETS)
		return app_usage(a, "--table: the buckets are a power of 2, at most %u",
				 VT_SAMPLETABLE_BUCKETS);
	if (!ways || ways > VT_SAMPLETABLE_WAYS)
		return app_usage(a, "--table: 1 to %d entries in a bucket", VT_SAMPLETABLE_WAYS);
	*shape = (struct vt_sampletable_shape){
		.buckets = (uint32_t)buckets,
		.ways = (uint32_t)ways,
		.victim = o->front ? VT_VICTIM_LAST : VT_VICTIM_ROUND_ROBIN,
	};
	return true;
}

static int feed_one(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	return vt_collector_feed(arg, block, first, count, err);
}

static bool write_counts(struct app *a, const struct merge_table_options *o, struct vt_reader *r,
			 const struct vt_sampletable_shape *shape)
{
	struct vt_writer *w = app_open_writer(a, o->output, o->compress, &r, 1);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_collector *c;
	bool ok;

	if (!w)
		return false;
	c = vt_collector_new(shape, o->overflow, w);
	ok = c != NULL || app_no_memory(a);
	ok = ok && app_each_run(a, r, feed_one, c) && app_need_samples(a, vt_reader_name(r));
	ok = ok && (vt_collector_finish(c, &err) == 0 || app_fail(a, &err));
	vt_collector_free(c);
	return app_close_writer(a, w) && ok;
}

/* ---- the study of DCPI 5.4 ---- */

static const struct {
	const char *what; /* is changed: the rows of each are compared with the first of all */
	int32_t buckets;  /* log2 of the factor */
	uint8_t ways;	  /* 0: as asked for */
	enum vt_sample_victim victim;
	enum vt_sample_hash hash;
} variants[] = {
	{"as asked for", 0, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"swap to front", 0, 0, VT_VICTIM_LAST, VT_SAMPLE_HASH_MULTIPLY},
	{"associativity", 0, 1, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"associativity", 0, 2, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"associativity", 0, 4, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"associativity", 0, 6, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"associativity", 0, 8, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"both", 0, 6, VT_VICTIM_LAST, VT_SAMPLE_HASH_MULTIPLY},
	{"both", 0, 8, VT_VICTIM_LAST, VT_SAMPLE_HASH_MULTIPLY},
	{"size", -2, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"size", -1, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"size", 1, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"size", 2, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_MULTIPLY},
	{"hash function", 0, 0, VT_VICTIM_ROUND_ROBIN, VT_SAMPLE_HASH_FOLD},
};

#define NVARIANTS (sizeof(variants) / sizeof(*variants))

struct study {
	struct vt_sampletable_shape shape[NVARIANTS];
	struct vt_collector *collector[NVARIANTS];
};

static struct vt_sampletable_shape shape_of(const struct vt_sampletable_shape *base, size_t i)
{
	struct vt_sampletable_shape s = *base;

	if (variants[i].buckets < 0)
		s.buckets >>= -variants[i].buckets;
	else
		s.buckets <<= variants[i].buckets;
	if (!s.buckets)
		s.buckets = 1;
	if (variants[i].ways)
		s.ways = variants[i].ways;
	s.hash = variants[i].hash;
	if (i)
		s.victim = variants[i].victim;
	return s;
}

static int feed_all(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	const struct study *s = arg;
	int code = 0;
	size_t i;

	for (i = 0; i < NVARIANTS && code == 0; i++)
		code = vt_collector_feed(s->collector[i], block, first, count, err);
	return code;
}

static struct vt_table *make_table(const struct study *s)
{
	struct vt_table *t = vt_table_new();
	double base = 0;
	size_t i;

	if (!t)
		return NULL;
	vt_table_column(t, "buckets", "buckets", VT_FORMAT_NUMBER);
	vt_table_column(t, "ways", "ways", VT_FORMAT_NUMBER);
	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "miss_percent", "miss%", VT_FORMAT_PERCENT);
	vt_table_column(t, "evicted_percent", "evicted%", VT_FORMAT_PERCENT);
	vt_table_column(t, "compared", "compared", VT_FORMAT_REAL);
	vt_table_column(t, "records", "records", VT_FORMAT_NUMBER);
	vt_table_column(t, "cost", "cost", VT_FORMAT_REAL);
	vt_table_column(t, "cost_points", "change", VT_FORMAT_POINTS);
	vt_table_column(t, "victim", "victim", VT_FORMAT_TEXT);
	vt_table_column(t, "changed", "changed", VT_FORMAT_TEXT);
	for (i = 0; i < NVARIANTS; i++) {
		struct vt_sampletable_counts n = vt_collector_table_counts(s->collector[i]);
		double cost = vt_collector_cost(&n);

		base = i ? base : cost;
		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_number(t, s->shape[i].buckets);
		vt_table_number(t, s->shape[i].ways);
		vt_table_number(t, n.samples);
		vt_table_percent(t, n.misses, n.samples);
		vt_table_percent(t, n.evictions, n.samples);
		vt_table_real(t, n.samples ? (double)n.compared / (double)n.samples : 0);
		vt_table_number(t, vt_collector_counts(s->collector[i])->written);
		vt_table_real(t, cost);
		vt_table_real(t, base > 0 ? 100 * (cost - base) / base : 0);
		vt_table_str(t, s->shape[i].victim == VT_VICTIM_LAST ? "last, swapped to front"
								     : "by turns");
		vt_table_str(t, variants[i].what);
	}
	return t;
}

static bool print_study(struct app *a, const struct merge_table_options *o, const struct study *s)
{
	struct vt_output *out = app_text(a, o->output);
	struct vt_table *t = make_table(s);
	bool ok = out && (t || app_no_memory(a));

	if (ok && o->form.json) {
		json_t *doc = vt_json_doc("vtrace-merge-table/1");

		vt_json_losses(doc, &a->losses);
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, doc, true);
	} else if (ok)
		ok = app_print_table(a, t, &o->form, o->color, out);
	vt_table_free(t);
	return ok;
}

static bool study(struct app *a, const struct merge_table_options *o, struct vt_reader *r,
		  const struct vt_sampletable_shape *shape)
{
	struct study s = {0};
	struct vt_error err = VT_ERROR_INIT;
	bool ok = true;
	size_t i;

	for (i = 0; i < NVARIANTS && ok; i++) {
		s.shape[i] = shape_of(shape, i);
		s.collector[i] = vt_collector_new(&s.shape[i], o->overflow, NULL);
		ok = s.collector[i] != NULL || app_no_memory(a);
	}
	ok = ok && app_each_run(a, r, feed_all, &s) && app_need_samples(a, vt_reader_name(r));
	for (i = 0; i < NVARIANTS && ok; i++)
		ok = vt_collector_finish(s.collector[i], &err) == 0 || app_fail(a, &err);
	ok = ok && print_study(a, o, &s);
	for (i = 0; i < NVARIANTS; i++)
		vt_collector_free(s.collector[i]);
	return ok;
}

bool merge_table(struct app *a, const struct merge_table_options *o)
{
	struct vt_sampletable_shape shape;
	struct vt_reader *r;
	bool ok;

	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (!o->stats)
		app_make_stream(a, o->output);
	if (a->argc > 1)
		return app_usage(a, "--table takes one stream");
	if (!parse_shape(a, o, &shape))
		return false;
	r = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (!r)
		return false;
	ok = o->stats ? study(a, o, r, &shape) : write_counts(a, o, r, &shape);
	vt_reader_close(r);
	return ok;
}
