/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frequencies of all procedures of a profile: which samples count where, what is written of
 * them, and how often stubs are called.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/counted.h"
#include "freq/event.h"
#include "freq/run.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define IMAGE  7
#define TIME   3 /* ids of events */
#define MISSES 4
#define SCALE  2.0
#define ROWS   32

/* Offsets in the file are addresses less 400000. */
static const char program[] = ".text\n.globl _start\n_start:\n"
			      ".type stub,@function\nstub: jmp *0x402000\n" /* 401000 */
			      ".size stub,.-stub\n"
			      ".org 0x10\n.type f,@function\nf: nop\n" /* 401010 */
			      "call stub\n"			       /* 401011 */
			      "nop\n"				       /* 401016 */
			      "test %edi,%edi\n"		       /* 401017 */
			      "je 1f\n"				       /* 401019 */
			      "nop\n"				       /* 40101b */
			      "1: ret\n"			       /* 40101c */
			      ".byte 6,6\n.size f,.-f\n"	       /* 40101d */
			      ".org 0x30\n.type g,@function\ng: nop\nnop\n"
			      ".type other,@function\nother: nop\n" /* 401032 */
			      ".size g,.-g\n"
			      "nop\nret\n.size other,.-other\n" /* 401033 */
			      ".org 0x40\n.type h,@function\nh: jmp stub\n.size h,.-h\n";

static struct vt_error err;
static char *dir;

struct count {
	uint64_t image;
	uint64_t offset;
	uint64_t event;
	uint64_t samples;
	uint64_t period;
};

static const struct count counts[] = {
	{IMAGE, 0x1010, TIME, 5, 50},
	{IMAGE, 0x1013, TIME, 3, 31}, /* in the middle of the call */
	{IMAGE, 0x1016, MISSES, 9, 900},
	{IMAGE, 0x1017, TIME, 4, 44},
	{IMAGE, 0x101c, TIME, 2, 20},
	{IMAGE, 0x101d, TIME, 1, 10}, /* no instruction that control comes to */
	{IMAGE, 0x1030, TIME, 6, 60},
	{IMAGE, 0x1032, TIME, 7, 70},
	{IMAGE, 0x1040, TIME, 8, 80},
	{IMAGE, 0x1000, TIME, 11, 110},
	{IMAGE, 0x1f00, TIME, 13, 130}, /* in no procedure */
	{IMAGE + 1, 0x10, TIME, 17, 170},
	{VT_UNMAPPED_IMAGE, 0x10, TIME, 19, 190},
};

/* What was counted of each instruction. */
static const struct {
	uint64_t offset;
	double executions;
} exact[] = {
	{0x1000, 400}, {0x1010, 100}, {0x1011, 100}, {0x1016, 100}, {0x1017, 100},
	{0x1019, 100}, {0x101b, 60},  {0x101c, 100}, {0x1030, 20},  {0x1031, 20},
	{0x1032, 50},  {0x1033, 50},  {0x1034, 50},  {0x1040, 300},
};

static void put_real(uint64_t *field, double v)
{
	memcpy(field, &v, sizeof(v));
}

static double real(const struct vt_record *rec, uint32_t field)
{
	uint64_t bits = vt_record_u64(rec, field);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void put_event(struct vt_writer *w, uint64_t id, const char *name, const char *unit)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = VT_POLICY_MODEL;
	vt_writer_text(w, VT_EVENT_NAME, name);
	vt_writer_text(w, VT_EVENT_UNIT, unit);
}

static void put_image(struct vt_writer *w, uint64_t id, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

static void put_count(struct vt_writer *w, const struct count *c)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = c->image;
	row[VT_COUNT_OFFSET] = c->offset;
	row[VT_COUNT_EVENT] = c->event;
	row[VT_COUNT_SAMPLES] = c->samples;
	row[VT_COUNT_PERIOD] = c->period;
}

/* ---- one run ---- */

struct freq {
	uint64_t offset;
	uint64_t event;
	uint64_t samples;
	uint64_t period;
	double executions;
	double cycles;
	double issue;
	uint64_t confidence;
	uint64_t method;
};

struct result {
	struct vt_freqrun_totals totals;
	struct freq freqs[ROWS];
	unsigned nfreqs;
	struct {
		uint64_t from;
		uint64_t to;
		double executions;
		double low;
		double high;
		uint64_t method;
		uint64_t confidence;
	} edges[ROWS];
	unsigned nedges;
};

static void read_result(struct result *out, struct vt_reader *r)
{
	struct vt_record rec;

	while (vt_reader_next(r, &rec, &err) > 0) {
		assert_true(out->nfreqs < ROWS && out->nedges < ROWS);
		if (rec.kind == VT_FREQ) {
			assert_int_equal(vt_record_u64(&rec, VT_FREQ_IMAGE), IMAGE);
			assert_true(real(&rec, VT_FREQ_LOW) <= real(&rec, VT_FREQ_EXECUTIONS));
			assert_true(real(&rec, VT_FREQ_HIGH) >= real(&rec, VT_FREQ_EXECUTIONS));
			out->freqs[out->nfreqs++] = (struct freq){
				.offset = vt_record_u64(&rec, VT_FREQ_OFFSET),
				.event = vt_record_u64(&rec, VT_FREQ_EVENT),
				.samples = vt_record_u64(&rec, VT_FREQ_SAMPLES),
				.period = vt_record_u64(&rec, VT_FREQ_PERIOD),
				.executions = real(&rec, VT_FREQ_EXECUTIONS),
				.cycles = real(&rec, VT_FREQ_CYCLES),
				.issue = real(&rec, VT_FREQ_ISSUE),
				.confidence = vt_record_u64(&rec, VT_FREQ_CONFIDENCE),
				.method = vt_record_u64(&rec, VT_FREQ_METHOD),
			};
		} else if (rec.kind == VT_EDGE) {
			out->edges[out->nedges].from = vt_record_u64(&rec, VT_EDGE_FROM);
			out->edges[out->nedges].to = vt_record_u64(&rec, VT_EDGE_TO);
			out->edges[out->nedges].method = vt_record_u64(&rec, VT_EDGE_METHOD);
			out->edges[out->nedges].low = real(&rec, VT_EDGE_LOW);
			out->edges[out->nedges].high = real(&rec, VT_EDGE_HIGH);
			out->edges[out->nedges].confidence =
				vt_record_u64(&rec, VT_EDGE_CONFIDENCE);
			assert_int_equal(vt_record_u64(&rec, VT_EDGE_IMAGE), IMAGE);
			out->edges[out->nedges++].executions = real(&rec, VT_EDGE_EXECUTIONS);
		}
	}
	vt_reader_close(r);
}

static struct vt_profile *make_profile(struct vt_images *images, struct vt_flowcount *c)
{
	struct vt_profile *p = new_profile(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	unsigned i;

	put_event(w, TIME, "cycles", "cycles");
	put_event(w, MISSES, "misses", "misses");
	put_image(w, IMAGE, toolbox_path(dir, "p"));
	put_image(w, IMAGE + 1, "/nonexistent/program");
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		put_count(w, &counts[i]);
	read_context(vt_profile_context(p), fd, w);
	assert_int_equal(vt_profile_finish(p, &err), 0);
	if (c)
		assert_int_equal(vt_flowcount_finish(c, &err), 0);
	return p;
}

static struct vt_flowcount *make_exact(struct vt_context *context)
{
	struct vt_flowcount *c = vt_flowcount_new(context);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row;
	unsigned i;

	for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		row = vt_writer_row(w, VT_FREQ);
		row[VT_FREQ_IMAGE] = IMAGE;
		row[VT_FREQ_OFFSET] = exact[i].offset;
		put_real(&row[VT_FREQ_EXECUTIONS], exact[i].executions);
		row[VT_FREQ_CONFIDENCE] = VT_CONFIDENCE_EXACT;
	}
	row = vt_writer_row(w, VT_EDGE);
	row[VT_EDGE_IMAGE] = IMAGE;
	row[VT_EDGE_FROM] = 0x1019;
	row[VT_EDGE_TO] = 0x101b;
	put_real(&row[VT_EDGE_EXECUTIONS], 60);
	row[VT_EDGE_CONFIDENCE] = VT_CONFIDENCE_EXACT;
	vt_context_add(context, &(struct vt_consumer){.record = vt_flowcount_feed, .arg = c});
	read_context(context, fd, w);
	return c;
}

static void estimate(bool counted, enum vt_method method, struct vt_writer *w,
		     struct vt_freqrun_totals *totals)
{
	const struct vt_images_options none = {.warn = NULL};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_context *exact = vt_context_new(NULL);
	struct vt_flowcount *c = counted ? make_exact(exact) : NULL;
	const struct vt_flowcount_source counts_of = {c, images};
	const struct vt_count_source source = {.count = vt_flowcount_count, .source = &counts_of};
	struct vt_profile *p = make_profile(images, c);
	struct vt_freqrun_options o = {
		.profile = p,
		.images = images,
		.model = "./core",
		.scale = SCALE,
		.clock = "given",
		.method = method,
		.sources = &source,
		.nsources = 1,
	};
	struct vt_core core;

	assert_int_equal(vt_core_load(&core, "alpha21164", &err), 0);
	o.core = &core;
	assert_int_equal(vt_freqrun_event(p, NULL, &o.event, &err), 0);
	assert_int_equal(vt_freqrun(&o, w, totals, &err), 0);
	free_profile(p);
	vt_flowcount_free(c);
	vt_context_free(exact);
	vt_images_free(images);
}

static void run(bool counted, enum vt_method method, bool writes, struct result *out)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	memset(out, 0, sizeof(*out));
	estimate(counted, method, writes ? w : NULL, &out->totals);
	read_result(out, reread_stream(fd, w));
	close(fd);
}

static const struct freq *find(const struct result *r, uint64_t offset)
{
	unsigned i;

	for (i = 0; i < r->nfreqs; i++)
		if (r->freqs[i].offset == offset)
			return &r->freqs[i];
	fail_msg("no frequency of %#llx", (unsigned long long)offset);
	return NULL;
}

/* ---- what was counted ---- */

/* In the order in which they are written: stubs last. */
static void test_counted(void **state)
{
	static const struct {
		uint64_t offset;
		uint64_t samples;
		uint64_t period;
		double executions;
	} want[] = {
		{0x1010, 5, 50, 100}, {0x1011, 3, 31, 100},   {0x1016, 0, 0, 100},
		{0x1017, 4, 44, 100}, {0x1019, 0, 0, 100},    {0x101b, 0, 0, 60},
		{0x101c, 2, 20, 100}, {0x1030, 6, 60, 20},    {0x1031, 0, 0, 20},
		{0x1032, 7, 70, 50},  {0x1033, 0, 0, 50},     {0x1034, 0, 0, 50},
		{0x1040, 8, 80, 300}, {0x1000, 11, 110, 400},
	};
	static struct result r;
	unsigned i;

	(void)state;
	run(true, VT_METHOD_FLOW, true, &r);
	assert_int_equal(r.nfreqs, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < r.nfreqs; i++) {
		const struct freq *f = &r.freqs[i];

		assert_int_equal(f->offset, want[i].offset);
		assert_int_equal(f->event, TIME);
		assert_int_equal(f->samples, want[i].samples);
		assert_int_equal(f->period, want[i].period);
		assert_true(f->executions == want[i].executions);
		assert_float_equal(f->cycles, (double)want[i].period * SCALE / want[i].executions,
				   1e-9);
		assert_int_equal(f->confidence, VT_CONFIDENCE_EXACT);
		assert_int_equal(f->method, VT_METHOD_COUNTED);
	}
	/* The one edge that was counted. */
	for (i = 0; i < r.nedges && r.edges[i].to != 0x101b; i++)
		;
	assert_true(i < r.nedges && r.edges[i].from == 0x1019 && r.edges[i].executions == 60);
	assert_true(r.edges[i].low == 60 && r.edges[i].high == 60);
	assert_int_equal(r.edges[i].method, VT_METHOD_COUNTED);
	assert_int_equal(r.edges[i].confidence, VT_CONFIDENCE_EXACT);
}

static void test_totals(void **state)
{
	static struct result r;

	(void)state;
	run(true, VT_METHOD_FLOW, true, &r);
	assert_int_equal(r.totals.samples, 5 + 3 + 4 + 2 + 1 + 6 + 7 + 8 + 11 + 13 + 17 + 19);
	assert_int_equal(r.totals.by_confidence[VT_CONFIDENCE_EXACT],
			 5 + 3 + 4 + 2 + 6 + 7 + 8 + 11);
	assert_int_equal(r.totals.stray, 1);
	assert_int_equal(r.totals.outside, 13 + 17);
	assert_int_equal(r.totals.unmapped, 19);
	assert_int_equal(r.totals.no_code, 0);
	assert_int_equal(r.totals.procedures, 5);
	assert_int_equal(r.totals.complete, 5);
	run(true, VT_METHOD_FLOW, false, &r);
	assert_int_equal(r.totals.procedures, 5);
	assert_int_equal(r.nfreqs, 0);
}

/* ---- stubs ---- */

/* A stub is executed as often as it is called and jumped to. */
static void test_stubs(void **state)
{
	static struct result r;
	double calls;

	(void)state;
	run(false, VT_METHOD_FLOW, true, &r);
	calls = find(&r, 0x1011)->executions + find(&r, 0x1040)->executions;
	assert_true(calls > 0);
	assert_float_equal(find(&r, 0x1000)->executions, calls, 1e-6 * calls);
	assert_int_equal(find(&r, 0x1000)->method, VT_METHOD_FLOW);
	assert_int_equal(r.freqs[r.nfreqs - 1].offset, 0x1000);
	/*
	 * The naive method: cycles at the head of the queue by those of the schedule.  96 samples
	 * of all places, also those of no procedure, stand for 965.
	 */
	run(false, VT_METHOD_NAIVE, true, &r);
	assert_float_equal(find(&r, 0x1040)->executions,
			   8 * (965 / 96.0) * SCALE / find(&r, 0x1040)->issue, 1e-9);
	assert_int_equal(find(&r, 0x1040)->method, VT_METHOD_NAIVE);
	assert_float_equal(find(&r, 0x1040)->cycles,
			   find(&r, 0x1040)->issue * 80 / (8 * (965 / 96.0)), 1e-9);
	assert_int_equal(r.nedges, 0);
}

/* ---- counts and events ---- */

/* The COUNT records come first, in order of image and offset; META records come last. */
static void test_written(void **state)
{
	static const unsigned order[] = {9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12};
	static const char *const facts[][2] = {
		{"vfreq.model", "./core"}, {"vfreq.event", "cycles"}, {"vfreq.method", "flow"},
		{"vfreq.scale", "2"},	   {"vfreq.clock", "given"},  {"vfreq.samples", "96"},
		{"vfreq.unmapped", "19"},  {"vfreq.outside", "30"},   {"vfreq.no_code", "0"},
		{"vfreq.stray", "1"},	   {"vfreq.estimated", NULL},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_freqrun_totals totals;
	struct vt_record rec = {.kind = 0};
	struct vt_reader *r;
	char own[24];
	unsigned i;

	(void)state;
	estimate(false, VT_METHOD_FLOW, w, &totals);
	r = reread_stream(fd, w);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct count *c = &counts[order[i]];

		assert_int_equal(vt_reader_next(r, &rec, &err), 1);
		assert_int_equal(rec.kind, VT_COUNT);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_IMAGE), c->image);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_OFFSET), c->offset);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_EVENT), c->event);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_SAMPLES), c->samples);
		assert_int_equal(vt_record_u64(&rec, VT_COUNT_PERIOD), c->period);
		assert_true(vt_freqrun_replaces(&rec));
	}
	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		rec = next_of_kind(r, VT_META);
		assert_true(vt_record_is_meta(&rec, facts[i][0]));
		snprintf(own, sizeof(own), "%llu", (unsigned long long)totals.estimated);
		if (!vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE),
				  facts[i][1] ? facts[i][1] : own))
			fail_msg("%s is not %s", facts[i][0], facts[i][1]);
		assert_true(vt_freqrun_replaces(&rec));
	}
	vt_reader_close(r);
	close(fd);
}

/* Without an event, nothing is estimated. */
static void test_no_event(void **state)
{
	const struct vt_freqrun_options o = {.event = SIZE_MAX};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_freqrun_totals totals;
	struct vt_record rec;
	struct vt_reader *r;

	(void)state;
	assert_int_equal(vt_freqrun(&o, w, &totals, &err), 0);
	assert_int_equal(totals.samples, 0);
	vt_writer_meta(w, "vfreq", "");
	vt_writer_meta(w, "vfreq.", "");
	vt_writer_meta(w, "vculprit.cpu", "");
	vt_writer_row(w, VT_LOST);
	r = reread_stream(fd, w);
	rec = next_of_kind(r, VT_META);
	assert_true(vt_record_is_meta(&rec, "vfreq.samples"));
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), "0"));
	rec = next_of_kind(r, VT_META);
	assert_false(vt_freqrun_replaces(&rec));
	rec = next_of_kind(r, VT_META);
	assert_true(vt_freqrun_replaces(&rec));
	rec = next_of_kind(r, VT_META);
	assert_false(vt_freqrun_replaces(&rec));
	rec = next_of_kind(r, VT_LOST);
	assert_false(vt_freqrun_replaces(&rec));
	vt_reader_close(r);
	close(fd);
}

static void test_scale(void **state)
{
	static const struct {
		const char *unit;
		double given;
		double calibrated;
		const char *description;
		const char *how; /* NULL: cycles */
		double scale;
	} rows[] = {
		{"cycles", 2, 4, "CPU @ 3GHz", NULL, 1},
		{"ns", 2, 4, "CPU @ 3GHz", "given", 2},
		{"ns", 0, 2.25, "CPU @ 3GHz", "calibrated", 2.25},
		{"ns", 0, 0.5, "CPU @ 3GHz", "calibrated", 0.5},
		{"ns", 0.5, 4, "CPU @ 3GHz", "given", 0.5},
		{"ns", 0, 0, "CPU @ 2.50GHz", "described", 2.5},
		{"ns", 0, 0, "CPU @ home @ 3.5 GHz", "described", 3.5},
		{"ns", 0, 0, "CPU @ 100GHz", "assumed", 1},
		{"ns", 0, 0, "CPU @ 0GHz", "assumed", 1},
		{"ns", 0, 0, "CPU @ 3MHz", "assumed", 1},
		{"ns", 0, 0, "CPU 3GHz", "assumed", 1},
		{"ns", 0, 0, NULL, "assumed", 1},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char unit[8];
		struct vt_profile_event e = {.unit = unit};
		double scale = 0;
		const char *how;

		strcpy(unit, rows[i].unit);
		how = vt_freqrun_scale(&e, rows[i].given, rows[i].calibrated, rows[i].description,
				       &scale);
		if (strcmp(how ? how : "", rows[i].how ? rows[i].how : "") != 0 ||
		    scale != rows[i].scale)
			fail_msg("row %u: %s, %g", i, how ? how : "NULL", scale);
	}
}

/* Events by their names and units; those in capitals have samples. */
static void test_events(void **state)
{
	static const struct {
		struct {
			const char *name;
			const char *unit;
			uint64_t samples;
		} events[3];
		const char *wanted;
		int found; /* its index; negative: none */
	} rows[] = {
		{{{"misses", "", 1}, {"cycles:u", "cycles", 1}}, NULL, 1},
		{{{"cpu-clock", "ns", 1}, {"cycles", "cycles", 1}}, NULL, 1},
		{{{"cpu-clock", "ns", 1}, {"cycles", "cycles", 0}}, NULL, 0},
		{{{"cpu/cycles/u", "", 1}, {"ticks", "ns", 1}}, NULL, 0},
		{{{"cyclesx", "", 1}, {"ticks", "ns", 1}}, NULL, 1},
		{{{"misses", "", 1}, {"cycles,u", "", 1}}, NULL, 1},
		{{{"misses", "", 1}, {"cycles/u", "", 1}}, NULL, 1},
		{{{"misses", "", 1}, {"cycles-u", "", 1}}, NULL, -VT_E_ABSENT},
		{{{"misses", "", 1}, {"own", "cycles", 1}}, NULL, 1},
		{{{"misses", "", 1}, {"own", "cycles", 0}}, NULL, -VT_E_ABSENT},
		{{{"misses", "", 1}, {"refs", "", 1}}, NULL, -VT_E_ABSENT},
		{{{"misses:u", "", 1}, {"cycles", "cycles", 1}}, "misses", 0},
		{{{"misses", "", 1}, {"cycles", "cycles", 1}}, "miss", -VT_E_NOTFOUND},
		{{{"cycles", "", 1}, {"cycles,u", "cycles", 1}}, "cycles,u", 1},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_profile *p = new_profile(NULL);
		int fd = scratch_file(), code;
		struct vt_writer *w = start_stream(fd);
		size_t event = 99;

		for (k = 0; k < 3 && rows[i].events[k].name; k++) {
			const struct count c = {IMAGE, 0x10, k + 1, rows[i].events[k].samples, 1};

			put_event(w, k + 1, rows[i].events[k].name, rows[i].events[k].unit);
			if (c.samples)
				put_count(w, &c);
		}
		read_context(vt_profile_context(p), fd, w);
		assert_int_equal(vt_profile_finish(p, &err), 0);
		code = vt_freqrun_event(p, rows[i].wanted, &event, &err);
		if (rows[i].found < 0 ? code != rows[i].found
				      : code || event != (size_t)rows[i].found)
			fail_msg("row %u: %d, %zu", i, code, event);
		free_profile(p);
	}
}

static int compile(void **state)
{
	(void)state;
	dir = toolbox_assemble(program);
	free(toolbox_run(dir, "objcopy --redefine-sym stub=stub@plt p"));
	return 0;
}

static int discard(void **state)
{
	(void)state;
	toolbox_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted),	 cmocka_unit_test(test_totals),
		cmocka_unit_test(test_stubs),	 cmocka_unit_test(test_written),
		cmocka_unit_test(test_no_event), cmocka_unit_test(test_events),
		cmocka_unit_test(test_scale),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
