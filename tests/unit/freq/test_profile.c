/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FREQ, EDGE, STALL, REGION and LOADS records by place: which numbers can be, and how they are put
 * in order. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "freq/profile.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static void put_f64(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

static void write_freq(struct vt_writer *w, uint64_t offset, const struct vt_freq *f)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);

	row[VT_FREQ_IMAGE] = f->image;
	row[VT_FREQ_OFFSET] = offset;
	row[VT_FREQ_EVENT] = f->event;
	row[VT_FREQ_SAMPLES] = f->samples;
	row[VT_FREQ_PERIOD] = f->period;
	put_f64(&row[VT_FREQ_EXECUTIONS], f->executions);
	put_f64(&row[VT_FREQ_LOW], f->low);
	put_f64(&row[VT_FREQ_HIGH], f->high);
	put_f64(&row[VT_FREQ_CYCLES], f->cycles);
	put_f64(&row[VT_FREQ_ISSUE], f->issue);
	row[VT_FREQ_CONFIDENCE] = f->confidence;
	row[VT_FREQ_METHOD] = f->method;
}

static void write_edge(struct vt_writer *w, const struct vt_edgefreq *e)
{
	uint64_t *row = vt_writer_row(w, VT_EDGE);

	row[VT_EDGE_IMAGE] = e->image;
	row[VT_EDGE_FROM] = e->from;
	row[VT_EDGE_TO] = e->to;
	put_f64(&row[VT_EDGE_EXECUTIONS], e->executions);
	put_f64(&row[VT_EDGE_LOW], e->low);
	put_f64(&row[VT_EDGE_HIGH], e->high);
	row[VT_EDGE_CONFIDENCE] = e->confidence;
	row[VT_EDGE_METHOD] = e->method;
}

static void write_stall(struct vt_writer *w, const struct vt_stall *s)
{
	uint64_t *row = vt_writer_row(w, VT_STALL);

	row[VT_STALL_IMAGE] = s->image;
	row[VT_STALL_OFFSET] = s->offset;
	row[VT_STALL_CAUSE] = s->cause;
	put_f64(&row[VT_STALL_LOW], s->low);
	put_f64(&row[VT_STALL_HIGH], s->high);
	row[VT_STALL_CONFIDENCE] = s->confidence;
	put_f64(&row[VT_STALL_CYCLES], s->cycles);
	put_f64(&row[VT_STALL_BOUND], s->bound);
	row[VT_STALL_WHY] = s->why;
	row[VT_STALL_FLAGS] = s->flags;
	vt_writer_words(w, VT_STALL_CULPRITS, s->culprits, s->nculprits);
}

static void write_region(struct vt_writer *w, const struct vt_regionfreq *r)
{
	uint64_t *row = vt_writer_row(w, VT_REGION);

	row[VT_REGION_IMAGE] = r->image;
	row[VT_REGION_OFFSET] = r->offset;
	row[VT_REGION_EVENT] = r->event;
	row[VT_REGION_SAMPLES] = r->samples;
	put_f64(&row[VT_REGION_VISITS], r->visits);
	put_f64(&row[VT_REGION_ROUNDS], r->rounds);
	put_f64(&row[VT_REGION_INSNS], r->insns);
	put_f64(&row[VT_REGION_CYCLES], r->cycles);
	put_f64(&row[VT_REGION_CYCLES_LOW], r->low);
	put_f64(&row[VT_REGION_CYCLES_HIGH], r->high);
	put_f64(&row[VT_REGION_BEST], r->best);
	put_f64(&row[VT_REGION_LEAST], r->least);
	put_f64(&row[VT_REGION_WITH_CALLS], r->with_calls);
	put_f64(&row[VT_REGION_WITH_CALLS_LOW], r->with_calls_low);
	put_f64(&row[VT_REGION_WITH_CALLS_HIGH], r->with_calls_high);
	row[VT_REGION_FLAGS] = r->flags;
	vt_writer_words(w, VT_REGION_RANGES, r->ranges, r->nranges);
}

struct made {
	struct vt_freqprofile *profile;
	struct vt_writer *w;
	int fd;
	unsigned refused;
};

static void begin(struct made *m)
{
	*m = (struct made){.profile = vt_freqprofile_new(), .fd = scratch_file()};
	m->w = start_stream(m->fd);
	assert_non_null(m->profile);
}

static void read_back(struct made *m)
{
	struct vt_reader *r = reread_stream(m->fd, m->w);
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) > 0) {
		int code = vt_freqprofile_feed(m->profile, rec.block, rec.row, 1, &err);

		assert_true(code == 0 || code == -VT_E_FORMAT);
		m->refused += code < 0;
	}
	vt_reader_close(r);
	close(m->fd);
	vt_freqprofile_finish(m->profile);
}

/* ---- fields ---- */

static void test_fields(void **state)
{
	static uint64_t culprits[] = {0x41, 0x42, 0x43};
	struct vt_stall other = {.image = 1, .offset = 0x40, .cause = VT_STALL_DTLB, .high = 1};
	struct vt_stall stall = {
		1,    0x40,	    VT_STALL_ICACHE,   0.25,	 0.5, 3,
		0.75, VT_WHY_STEPS, VT_STALL_OVERLAPS, culprits, 3,   VT_CONFIDENCE_LOW};
	struct vt_freq freq = {
		1, VT_CONFIDENCE_MEDIUM, VT_METHOD_MODEL, 5, 7, 700, 30, 20, 40, 2.5, 1.5};
	struct vt_edgefreq edge = {1, VT_CONFIDENCE_HIGH, VT_METHOD_FLOW, 0x20, 0x30, 9, 8, 10};
	const struct vt_edgefreq *e;
	const struct vt_stall *s;
	const struct vt_freq_at *at;
	const struct vt_freq *f;
	struct made m;
	size_t n;

	(void)state;
	begin(&m);
	write_freq(m.w, 0x10, &freq);
	write_edge(m.w, &edge);
	/* The culprits of one stall go on behind those of another. */
	other.culprits = culprits + 2;
	other.nculprits = 1;
	write_stall(m.w, &other);
	write_stall(m.w, &stall);
	read_back(&m);
	assert_int_equal(m.refused, 0);
	at = vt_freqprofile_freqs(m.profile, 1, 0x10, 0x11, &n);
	assert_int_equal(n, 1);
	f = at->freq;
	assert_true(f->image == 1 && at->offset == 0x10 && f->event == 5 && f->samples == 7);
	assert_true(f->period == 700 && f->executions == 30 && f->low == 20 && f->high == 40);
	assert_true(f->cycles == 2.5 && f->issue == 1.5);
	assert_true(f->confidence == VT_CONFIDENCE_MEDIUM && f->method == VT_METHOD_MODEL);
	e = vt_freqprofile_edges(m.profile, 1, 0x20, 0x21, &n);
	assert_int_equal(n, 1);
	assert_true(e->image == 1 && e->from == 0x20 && e->to == 0x30 && e->executions == 9);
	assert_true(e->low == 8 && e->high == 10);
	assert_true(e->confidence == VT_CONFIDENCE_HIGH && e->method == VT_METHOD_FLOW);
	s = vt_freqprofile_stalls(m.profile, 1, 0x40, 0x41, &n);
	assert_int_equal(n, 2);
	assert_true(s->image == 1 && s->offset == 0x40 && s->cause == VT_STALL_ICACHE);
	assert_true(s->low == 0.25 && s->high == 0.5 && s->confidence == VT_CONFIDENCE_LOW);
	assert_true(s->cycles == 3 && s->bound == 0.75);
	assert_true(s->why == VT_WHY_STEPS && s->flags == VT_STALL_OVERLAPS);
	assert_int_equal(s->nculprits, 3);
	assert_memory_equal(s->culprits, culprits, sizeof(culprits));
	assert_true(s[1].cause == VT_STALL_DTLB && s[1].nculprits == 1);
	assert_int_equal(s[1].culprits[0], 0x43);
	vt_freqprofile_free(m.profile);
}

/* Regions in order of their offsets; their ranges are each its own. */
static void test_regions(void **state)
{
	static uint64_t near[] = {0x10, 0x18, 0x20, 0x24}, far[] = {0x40, 0x50};
	static const struct vt_regionfreq second = {.image = 1,
						    .offset = 0x40,
						    .event = 6,
						    .high = (double)INFINITY,
						    .flags = VT_REGION_IS_WIDE,
						    .ranges = far,
						    .nranges = 2};
	static const struct vt_regionfreq first = {.image = 1,
						   .offset = 0x10,
						   .event = 5,
						   .samples = 70,
						   .visits = 10,
						   .rounds = 20,
						   .insns = 30,
						   .cycles = 9,
						   .low = 8.5,
						   .high = 10,
						   .best = 7,
						   .least = 6,
						   .with_calls = 11,
						   .with_calls_low = 10.5,
						   .with_calls_high = 12,
						   .flags = VT_REGION_IS_LOOP | VT_REGION_OVERLAPS,
						   .ranges = near,
						   .nranges = 4};
	const struct vt_regionfreq *r;
	struct made m;
	size_t n;

	(void)state;
	begin(&m);
	write_region(m.w, &second);
	write_region(m.w, &first);
	read_back(&m);
	assert_int_equal(m.refused, 0);
	r = vt_freqprofile_regions(m.profile, 1, 0, 0x41, &n);
	assert_int_equal(n, 2);
	assert_true(r->image == 1 && r->offset == 0x10 && r->event == 5 && r->samples == 70);
	assert_true(r->visits == 10 && r->rounds == 20 && r->insns == 30 && r->cycles == 9);
	assert_true(r->low == 8.5 && r->high == 10 && r->best == 7 && r->least == 6);
	assert_true(r->with_calls == 11 && r->with_calls_low == 10.5 && r->with_calls_high == 12);
	assert_int_equal(r->flags, VT_REGION_IS_LOOP | VT_REGION_OVERLAPS);
	assert_int_equal(r->nranges, 4);
	assert_memory_equal(r->ranges, near, sizeof(near));
	assert_true(isinf(r[1].high) && r[1].nranges == 2 && r[1].ranges[1] == 0x50);
	assert_null(vt_freqprofile_regions(m.profile, 1, 0x41, UINT64_MAX, &n));
	assert_int_equal(n, 0);
	assert_null(vt_freqprofile_regions(m.profile, 2, 0, UINT64_MAX, &n));
	vt_freqprofile_free(m.profile);
}

/* Causes that were ruled out are not among the stalls; a region's come behind an instruction's. */
static void test_acquittals(void **state)
{
	static const struct vt_stall list[] = {
		{.image = 1, .offset = 8, .cause = VT_STALL_DCACHE, .flags = VT_STALL_OF_REGION},
		{.image = 1, .offset = 8, .cause = VT_STALL_ICACHE, .why = VT_WHY_ABSENT},
		{.image = 1, .offset = 4, .cause = VT_STALL_SYNC, .why = VT_WHY_MINOR},
		{.image = 1, .offset = 8, .cause = VT_STALL_DTLB, .why = VT_WHY_NOBODY},
	};
	const struct vt_stall *s;
	struct made m;
	size_t n, i;

	(void)state;
	begin(&m);
	for (i = 0; i < 4; i++)
		write_stall(m.w, &list[i]);
	read_back(&m);
	s = vt_freqprofile_stalls(m.profile, 1, 0, 100, &n);
	assert_int_equal(n, 2);
	assert_int_equal(s[0].cause, VT_STALL_DTLB);
	assert_int_equal(s[1].cause, VT_STALL_DCACHE);
	s = vt_freqprofile_acquittals(m.profile, 1, 0, 100, &n);
	assert_int_equal(n, 2);
	assert_int_equal(s[0].cause, VT_STALL_SYNC);
	assert_int_equal(s[1].cause, VT_STALL_ICACHE);
	assert_null(vt_freqprofile_acquittals(m.profile, 1, 5, 8, &n));
	assert_int_equal(n, 0);
	vt_freqprofile_free(m.profile);
}

static void write_mispredict(struct vt_writer *w, const struct vt_mispredict *m)
{
	uint64_t *row = vt_writer_row(w, VT_MISPREDICT);

	row[VT_MISPREDICT_IMAGE] = m->image;
	row[VT_MISPREDICT_OFFSET] = m->offset;
	row[VT_MISPREDICT_EVENT] = m->event;
	row[VT_MISPREDICT_BRANCHES] = m->branches;
	row[VT_MISPREDICT_MISPREDICTED] = m->mispredicted;
	put_f64(&row[VT_MISPREDICT_COST], m->cost);
	put_f64(&row[VT_MISPREDICT_DEVIATION], m->deviation);
}

/* By place; two processes may tell of one. */
static void test_mispredicts(void **state)
{
	static const struct vt_mispredict list[] = {
		{1, 0x20, 5, 30, 20, 2.5, 0.5}, {1, 0x10, 5, 9, 9, -1, (double)INFINITY},
		{1, 0x20, 5, 10, 0, 0, 0},	{2, 0x10, 5, 1, 0, 0, 0},
		{1, 0x20, 5, 10, 11, 0, 0},	{1, 0x20, 5, 10, 1, (double)INFINITY, 0},
		{1, 0x20, 5, 10, 1, 0, -0.5},	{1, 0x20, 5, 10, 1, 0, (double)NAN},
	};
	const struct vt_mispredict *m;
	struct made made;
	size_t n, i;

	(void)state;
	begin(&made);
	for (i = 0; i < 8; i++)
		write_mispredict(made.w, &list[i]);
	read_back(&made);
	/* Of those that cannot be, as much is mispredicted at most as there is, and costs a number.
	 */
	assert_int_equal(made.refused, 4);
	m = vt_freqprofile_mispredicts(made.profile, 1, 0, 0x21, &n);
	assert_int_equal(n, 3);
	assert_true(m[0].offset == 0x10 && m[0].cost == -1 && isinf(m[0].deviation));
	assert_true(m[1].branches == 10 && m[1].mispredicted == 0);
	assert_true(m[2].branches == 30 && m[2].mispredicted == 20 && m[2].event == 5);
	assert_true(m[2].cost == 2.5 && m[2].deviation == 0.5);
	assert_null(vt_freqprofile_mispredicts(made.profile, 1, 0x21, UINT64_MAX, &n));
	assert_int_equal(n, 0);
	vt_freqprofile_free(made.profile);
}

/* ---- what cannot be ---- */

#define INF ((double)INFINITY)
#define NOT ((double)NAN)

static void test_impossible_freqs(void **state)
{
	static const struct {
		double executions, low, high, cycles, issue;
		unsigned confidence;
		bool taken;
	} rows[] = {
		{5, 4, 6, 1, 1, VT_CONFIDENCE_LOW, true},
		{0, 0, 0, 0, 0, 0, true},
		{5, 5, 5, NOT, NOT, VT_CONFIDENCE_EXACT, true},
		{5, 0, INF, 1, 1, 0, true},
		{5, 4, 6, 1, 1, VT_NCONFIDENCES, false},
		{-1, 4, 6, 1, 1, 0, false},
		{INF, 4, 6, 1, 1, 0, false},
		{NOT, 4, 6, 1, 1, 0, false},
		{5, -1, 6, 1, 1, 0, false},
		{5, NOT, 6, 1, 1, 0, false},
		{5, INF, INF, 1, 1, 0, false},
		{5, 7, 6, 1, 1, 0, false},
		{5, 4, NOT, 1, 1, 0, false},
		{5, 0, -INF, 1, 1, 0, false},
		{5, 4, 6, -1, 1, 0, false},
		{5, 4, 6, INF, 1, 0, false},
		{5, 4, 6, 1, -1, 0, false},
		{5, 4, 6, 1, INF, 0, false},
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_freq f = {
			.executions = rows[i].executions,
			.low = rows[i].low,
			.high = rows[i].high,
			.cycles = rows[i].cycles,
			.issue = rows[i].issue,
			.confidence = (enum vt_confidence)rows[i].confidence,
		};
		struct made m;

		begin(&m);
		write_freq(m.w, 0, &f);
		read_back(&m);
		vt_freqprofile_freqs(m.profile, 0, 0, 1, &n);
		if (m.refused == rows[i].taken || n != rows[i].taken)
			fail_msg("row %zu: %zu, %u refused", i, n, m.refused);
		vt_freqprofile_free(m.profile);
	}
}

static void test_impossible_edges(void **state)
{
	static const struct {
		double executions, low, high;
		unsigned confidence;
		bool taken;
	} rows[] = {
		{5, 4, 6, VT_CONFIDENCE_EXACT, true},
		{0, 0, INF, 0, true},
		{NOT, 4, 6, 0, false},
		{5, 7, 6, 0, false},
		{5, 4, 6, VT_NCONFIDENCES, false},
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_edgefreq e = {
			.executions = rows[i].executions,
			.low = rows[i].low,
			.high = rows[i].high,
			.confidence = (enum vt_confidence)rows[i].confidence,
		};
		struct made m;

		begin(&m);
		write_edge(m.w, &e);
		read_back(&m);
		vt_freqprofile_edges(m.profile, 0, 0, 1, &n);
		if (m.refused == rows[i].taken || n != rows[i].taken)
			fail_msg("row %zu: %zu, %u refused", i, n, m.refused);
		vt_freqprofile_free(m.profile);
	}
}

static void test_impossible_stalls(void **state)
{
	static uint64_t many[65537];
	static const struct {
		double low, high;
		unsigned cause, confidence, culprits;
		bool taken;
	} rows[] = {
		{0, 0, VT_NSTALLS - 1, VT_NCONFIDENCES - 1, 65536, true},
		{0, 1, 0, 0, 0, true},
		{0, 1, VT_NSTALLS, 0, 0, false},
		{0, 1, 0, VT_NCONFIDENCES, 0, false},
		{0, 1, 0, 0, 65537, false},
		{1, 0, 0, 0, 0, false},
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_stall s = {
			.low = rows[i].low,
			.high = rows[i].high,
			.cause = (enum vt_stall_cause)rows[i].cause,
			.confidence = (enum vt_confidence)rows[i].confidence,
			.culprits = many,
			.nculprits = rows[i].culprits,
		};
		struct made m;

		begin(&m);
		write_stall(m.w, &s);
		read_back(&m);
		vt_freqprofile_stalls(m.profile, 0, 0, 1, &n);
		if (m.refused == rows[i].taken || n != rows[i].taken)
			fail_msg("row %zu: %zu, %u refused", i, n, m.refused);
		vt_freqprofile_free(m.profile);
	}
}

/* A method of a later version is none that is known. */
static void test_methods(void **state)
{
	struct vt_freq f = {.method = (enum vt_method)VT_NMETHODS};
	struct vt_edgefreq e = {.method = (enum vt_method)VT_NMETHODS};
	struct made m;
	size_t n;

	(void)state;
	begin(&m);
	write_freq(m.w, 0, &f);
	write_edge(m.w, &e);
	e.from = 1;
	f.method = e.method = VT_NMETHODS - 1;
	write_freq(m.w, 1, &f);
	write_edge(m.w, &e);
	read_back(&m);
	assert_int_equal(vt_freqprofile_freqs(m.profile, 0, 0, 1, &n)->freq->method,
			 VT_METHOD_UNKNOWN);
	assert_int_equal(vt_freqprofile_freqs(m.profile, 0, 1, 2, &n)->freq->method,
			 VT_NMETHODS - 1);
	assert_int_equal(vt_freqprofile_edges(m.profile, 0, 0, 1, &n)->method, VT_METHOD_UNKNOWN);
	assert_int_equal(vt_freqprofile_edges(m.profile, 0, 1, 2, &n)->method, VT_NMETHODS - 1);
	vt_freqprofile_free(m.profile);
}

/* Records share what they tell with the one before, and only that. */
static void test_shared(void **state)
{
	struct vt_freq f = {.image = 1, .executions = 1, .high = 2, .cycles = NAN};
	const struct vt_freq_at *at;
	struct made m;
	size_t i, n;

	(void)state;
	begin(&m);
	for (i = 0; i < 10000; i++) {
		f.issue = (double)(i / 2 % 4001);
		write_freq(m.w, i, &f);
	}
	read_back(&m);
	at = vt_freqprofile_freqs(m.profile, 1, 0, UINT64_MAX, &n);
	assert_int_equal(n, 10000);
	for (i = 0; i < n; i++) {
		assert_int_equal(at[i].offset, i);
		assert_true(at[i].freq->issue == (double)(i / 2 % 4001));
		assert_true(at[i].freq->high == 2 && isnan(at[i].freq->cycles));
		if (i)
			assert_int_equal(at[i].freq == at[i - 1].freq, i % 2);
	}
	vt_freqprofile_free(m.profile);
}

/* ---- order ---- */

/* Offsets in these orders, of two images and two events: `samples` is where each came. */
static uint64_t offset_at(unsigned order, uint64_t i, uint64_t n, struct vt_rng *rng)
{
	switch (order) {
	case 0: /* in order, but for a few that come last */
		return i + 9 < n ? i : i * 37 % n;
	case 1: /* two that lie one behind the other */
		return i < n / 2 ? i + n : i;
	case 2:
		return n - i;
	case 3: /* each is there several times */
		return i % 5;
	default:
		return vt_rng_below(rng, 2 * n);
	}
}

static bool comes_after(const struct vt_freq_at *a, const struct vt_freq_at *b)
{
	if (a->freq->image != b->freq->image)
		return a->freq->image > b->freq->image;
	if (a->offset != b->offset)
		return a->offset > b->offset;
	return a->freq->event > b->freq->event;
}

/* Puts them in order as slowly as can be. */
static void insert(struct vt_freq_at *list, size_t n, const struct vt_freq_at *f)
{
	for (; n && comes_after(&list[n - 1], f); n--)
		list[n] = list[n - 1];
	list[n] = *f;
}

static void test_order(void **state)
{
	static struct vt_freq made[300];
	static struct vt_freq_at want[300];
	struct vt_rng rng;
	unsigned order;

	(void)state;
	vt_rng_init(&rng, 3);
	for (order = 0; order < 5; order++) {
		size_t i, n, total = order ? 300 : 100, at = 0;
		const struct vt_freq_at *f;
		uint32_t image;
		struct made m;

		begin(&m);
		for (i = 0; i < total; i++) {
			struct vt_freq_at one = {offset_at(order, i, total, &rng), &made[i]};
			struct vt_edgefreq e = {.from = one.offset};

			made[i] = (struct vt_freq){
				.image = order > 2 ? 1 + (uint32_t)i % 2 : 1,
				.event = order > 2 ? i / 3 % 2 : 0,
				.samples = i,
			};
			e.image = made[i].image;
			e.to = made[i].event;
			write_freq(m.w, one.offset, &made[i]);
			write_edge(m.w, &e);
			insert(want, i, &one);
		}
		read_back(&m);
		for (image = 1; image < 3; image++) {
			const struct vt_edgefreq *e =
				vt_freqprofile_edges(m.profile, image, 0, UINT64_MAX, &n);

			f = vt_freqprofile_freqs(m.profile, image, 0, UINT64_MAX, &n);
			for (i = 0; i < n; i++, at++) {
				assert_int_equal(f[i].freq->image, image);
				assert_int_equal(f[i].offset, want[at].offset);
				assert_int_equal(f[i].freq->event, want[at].freq->event);
				assert_int_equal(f[i].freq->samples, want[at].freq->samples);
				assert_int_equal(e[i].from, want[at].offset);
				assert_int_equal(e[i].to, want[at].freq->event);
			}
		}
		assert_int_equal(at, total);
		vt_freqprofile_free(m.profile);
	}
}

/* Stalls by place and cause; of the same, in the order in which they came. */
static void test_order_of_stalls(void **state)
{
	static const struct {
		uint32_t image;
		uint64_t offset;
		enum vt_stall_cause cause;
		uint64_t culprit;
	} made[] = {{2, 1, VT_STALL_GAIN, 0},	{1, 9, VT_STALL_DTLB, 1},
		    {1, 9, VT_STALL_ICACHE, 2}, {1, 9, VT_STALL_ICACHE, 3},
		    {1, 4, VT_STALL_SYNC, 4},	{1, 9, VT_STALL_ICACHE, 5}};
	static const uint64_t want[] = {4, 2, 3, 5, 1};
	const struct vt_stall *s;
	struct made m;
	size_t i, n;

	(void)state;
	begin(&m);
	for (i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		uint64_t culprit = made[i].culprit;
		struct vt_stall one = {.image = made[i].image,
				       .offset = made[i].offset,
				       .cause = made[i].cause,
				       .culprits = &culprit,
				       .nculprits = 1};

		write_stall(m.w, &one);
	}
	read_back(&m);
	s = vt_freqprofile_stalls(m.profile, 1, 0, UINT64_MAX, &n);
	assert_int_equal(n, 5);
	for (i = 0; i < n; i++)
		assert_int_equal(s[i].culprits[0], want[i]);
	/* Of the first offset, up to the end, without it. */
	vt_freqprofile_stalls(m.profile, 1, 4, 9, &n);
	assert_int_equal(n, 1);
	vt_freqprofile_stalls(m.profile, 1, 5, 10, &n);
	assert_int_equal(n, 4);
	assert_null(vt_freqprofile_stalls(m.profile, 1, 10, 5, &n));
	assert_int_equal(n, 0);
	assert_null(vt_freqprofile_stalls(m.profile, 3, 0, UINT64_MAX, &n));
	vt_freqprofile_free(m.profile);
}

static void test_impossible_regions(void **state)
{
	static const struct {
		double visits, rounds, insns, cycles, low, high, best, least;
		uint64_t ranges[4];
		uint32_t nranges;
		bool taken;
	} rows[] = {
		{1, 1, 1, 1, 1, 1, 1, 1, {1, 2, 2, 3}, 4, true},
		{0, 0, 0, 0, 0, INF, 0, 0, {1, 2}, 2, true},
		{-1, 1, 1, 1, 1, 1, 1, 1, {1, 2}, 2, false},
		{1, NOT, 1, 1, 1, 1, 1, 1, {1, 2}, 2, false},
		{1, 1, INF, 1, 1, 1, 1, 1, {1, 2}, 2, false},
		{1, 1, 1, NOT, 1, 1, 1, 1, {1, 2}, 2, false},
		{1, 1, 1, 1, 2, 1, 1, 1, {1, 2}, 2, false},
		{1, 1, 1, 1, 1, 1, -1, 1, {1, 2}, 2, false},
		{1, 1, 1, 1, 1, 1, 1, INF, {1, 2}, 2, false},
		{1, 1, 1, 1, 1, 1, 1, 1, {1, 2}, 0, false},
		{1, 1, 1, 1, 1, 1, 1, 1, {1, 2, 3}, 3, false},
		{1, 1, 1, 1, 1, 1, 1, 1, {2, 2}, 2, false},
		{1, 1, 1, 1, 1, 1, 1, 1, {2, 1}, 2, false},
		{1, 1, 1, 1, 1, 1, 1, 1, {1, 3, 2, 4}, 4, true},
		{1, 1, 1, 1, 1, 1, 1, 1, {3, 4, 1, 2}, 4, false},
	};
	size_t i, n;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t ranges[4];
		struct vt_regionfreq r = {.visits = rows[i].visits,
					  .rounds = rows[i].rounds,
					  .insns = rows[i].insns,
					  .cycles = rows[i].cycles,
					  .low = rows[i].low,
					  .high = rows[i].high,
					  .best = rows[i].best,
					  .least = rows[i].least,
					  .ranges = ranges,
					  .nranges = rows[i].nranges};
		struct made m;

		memcpy(ranges, rows[i].ranges, sizeof(ranges));
		begin(&m);
		write_region(m.w, &r);
		read_back(&m);
		if ((m.refused == 0) != rows[i].taken)
			fail_msg("row %zu", i);
		vt_freqprofile_regions(m.profile, 0, 0, UINT64_MAX, &n);
		assert_int_equal(n, rows[i].taken);
		vt_freqprofile_free(m.profile);
	}
}

static void write_loads(struct vt_writer *w, const struct vt_sampled_loads *l)
{
	uint64_t *row = vt_writer_row(w, VT_LOADS);

	row[VT_LOADS_IMAGE] = l->image;
	row[VT_LOADS_OFFSET] = l->offset;
	row[VT_LOADS_EVENT] = l->event;
	row[VT_LOADS_CACHE_KNOWN] = l->cache_known;
	row[VT_LOADS_CACHE_MISSED] = l->cache_missed;
	row[VT_LOADS_TLB_KNOWN] = l->tlb_known;
	row[VT_LOADS_TLB_MISSED] = l->tlb_missed;
}

/* In order of image, offset and event; more misses than samples there cannot be. */
static void test_loads(void **state)
{
	static const struct vt_sampled_loads list[] = {
		{2, 0x10, 1, 9, 1, 9, 1}, {1, 0x20, 2, 7, 6, 5, 4}, {1, 0x20, 1, 7, 7, 5, 5},
		{1, 0x18, 9, 3, 0, 0, 0}, {1, 0x20, 3, 7, 8, 5, 4}, {1, 0x20, 3, 7, 6, 5, 6},
	};
	const struct vt_sampled_loads *l;
	struct made m;
	size_t i, n;

	(void)state;
	begin(&m);
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		write_loads(m.w, &list[i]);
	read_back(&m);
	assert_int_equal(m.refused, 2);
	l = vt_freqprofile_loads(m.profile, 1, 0x18, 0x21, &n);
	assert_int_equal(n, 3);
	assert_true(l[0].offset == 0x18 && l[0].event == 9 && l[0].cache_known == 3);
	assert_true(l[1].event == 1 && l[1].cache_missed == 7 && l[1].tlb_missed == 5);
	assert_true(l[2].event == 2 && l[2].image == 1 && l[2].offset == 0x20);
	assert_true(l[2].cache_known == 7 && l[2].cache_missed == 6);
	assert_true(l[2].tlb_known == 5 && l[2].tlb_missed == 4);
	l = vt_freqprofile_loads(m.profile, 1, 0x19, 0x20, &n);
	assert_true(!l && n == 0);
	l = vt_freqprofile_loads(m.profile, 2, 0, UINT64_MAX, &n);
	assert_true(l && n == 1 && l->tlb_known == 9);
	vt_freqprofile_free(m.profile);
}

/* The worst of several; what is no share of time is refused. */
static void test_slowed(void **state)
{
	static const char *const texts[] = {
		"0.25", "0.125", "1",
		"-0.5", "nan",	 "",
		"0.5x", "0.999", "0.0625000000000000000000000000000000000000"};
	struct made m;
	unsigned i;

	(void)state;
	begin(&m);
	vt_writer_meta(m.w, "vfreq.slow", "x");
	for (i = 0; i < 7; i++)
		vt_writer_meta(m.w, "vfreq.slowed", texts[i]);
	read_back(&m);
	assert_int_equal(m.refused, 5);
	assert_true(vt_freqprofile_slowed(m.profile) == 0.25);
	vt_freqprofile_free(m.profile);
	begin(&m);
	vt_writer_meta(m.w, "vfreq.slowed", texts[8]);
	vt_writer_meta(m.w, "vfreq.slowed", texts[7]);
	read_back(&m);
	assert_true(m.refused == 0 && vt_freqprofile_slowed(m.profile) == 0.999);
	vt_freqprofile_free(m.profile);
	begin(&m);
	read_back(&m);
	assert_true(vt_freqprofile_slowed(m.profile) == 0);
	vt_freqprofile_free(m.profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_acquittals),
		cmocka_unit_test(test_mispredicts),
		cmocka_unit_test(test_impossible_regions),
		cmocka_unit_test(test_impossible_freqs),
		cmocka_unit_test(test_impossible_edges),
		cmocka_unit_test(test_impossible_stalls),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_loads),
		cmocka_unit_test(test_slowed),
		cmocka_unit_test(test_order_of_stalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
