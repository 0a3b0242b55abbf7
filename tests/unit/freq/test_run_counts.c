/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs with exact counts: of procedures without samples, of another run, out of order, with the
 * effective clock of loops that nothing stalls, and of code that is in two procedures.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/run.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define IMAGE  7
#define OTHER  8 /* the same program */
#define TIME   3 /* ids of events */
#define MISSES 4
#define BASE   0x400000 /* addresses less offsets in the file */
#define ROWS   64

static struct vt_error err;
static char *dir;

/* Three loops of 6, 12 and 3 cycles a round (a multiplication takes 3), and two that overlap. */
static const char program[] = ".text\n.globl _start\n_start:\n"
			      ".type six,@function\nsix:\n"
			      "1: imul %rbx,%rax\nimul %rbx,%rax\n" /* 401000, 401004 */
			      "dec %rcx\njne 1b\nret\n"		    /* 401008, 40100b, 40100d */
			      ".size six,.-six\n.org 0x20\n"
			      ".type twelve,@function\ntwelve:\n"
			      "1: imul %rbx,%rax\nimul %rbx,%rax\n" /* 401020, 401024 */
			      "imul %rbx,%rax\nimul %rbx,%rax\n"    /* 401028, 40102c */
			      "dec %rcx\njne 1b\nret\n"		    /* 401030, 401033, 401035 */
			      ".size twelve,.-twelve\n.org 0x40\n"
			      ".type fixed,@function\nfixed:\n"
			      "1: imul %rbx,%rax\n"	/* 401040 */
			      "mov (%rdi),%rdx\n"	/* 401044 */
			      "mov %rdx,8(%rdi)\n"	/* 401047 */
			      "dec %rcx\njne 1b\nret\n" /* 40104b, 40104e, 401050 */
			      ".size fixed,.-fixed\n.org 0x60\n"
			      ".type over,@function\nover: nop\n"	     /* 401060 */
			      ".type tail,@function\ntail: test %edi,%edi\n" /* 401061 */
			      "je 1f\n"					     /* 401063 */
			      "nop\n"					     /* 401065 */
			      "1: nop\n"				     /* 401066 */
			      ".size over,.-over\n"
			      ".type behind,@function\n"
			      "behind: ret\n" /* 401067 */
			      ".size tail,.-tail\n.size behind,.-behind\n.org 0x70\n"
			      ".type caller,@function\ncaller: nop\n" /* 401070 */
			      "call callee\n"			      /* 401071 */
			      "ret\n.size caller,.-caller\n"	      /* 401076 */
			      ".type callee,@function\ncallee: nop\n" /* 401077 */
			      "nop\nret\n.size callee,.-callee\n"     /* 401078, 401079 */
			      ".org 0x80\n.type huge,@function\n"
			      "huge: ret\n" /* 401080: too large for its code to be looked at */
			      ".size huge,0x5000000\n";

/* ---- what was counted ---- */

static const struct {
	uint64_t first, end;
	double executions;
} exact[] = {
	{0x1000, 0x100d, 1e6}, {0x100d, 0x100e, 10},  {0x1020, 0x1035, 1e6}, {0x1035, 0x1036, 10},
	{0x1040, 0x1050, 1e6}, {0x1050, 0x1051, 10},  {0x1060, 0x1061, 40},  {0x1061, 0x1065, 100},
	{0x1065, 0x1066, 70},  {0x1066, 0x1068, 100},
};

static const struct edge {
	uint64_t from, to;
	double executions;
} edges[] = {
	{0x100b, 0x100d, 10},	  {0x100b, 0x1000, 999990}, {0x1033, 0x1035, 10},
	{0x1033, 0x1020, 999990}, {0x104e, 0x1050, 10},	    {0x104e, 0x1040, 999990},
	{0x1063, 0x1065, 70},	  {0x1063, 0x1066, 30},	    {0x1065, 0x1066, 70},
};

#define NEDGES (sizeof(edges) / sizeof(edges[0]))

struct counts {
	bool none;	    /* nothing was counted */
	bool zero;	    /* the first loop was not executed */
	uint64_t places[2]; /* offsets without samples, that are told of; 0: none */
	double scale[2];    /* as told first and last */
	unsigned asked;
};

static double count_insn(const struct counts *s, uint64_t offset)
{
	size_t i;

	if (s->zero && offset < 0x1020)
		return 0;
	for (i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (offset >= exact[i].first && offset < exact[i].end)
			return exact[i].executions;
	return -1;
}

static double count_edge(const struct counts *s, uint64_t from, uint64_t to)
{
	size_t i;

	for (i = 0; i < NEDGES; i++)
		if (edges[i].from == from && edges[i].to == to)
			return s->zero && from < 0x1020 ? 0 : edges[i].executions;
	return -1;
}

static int count(const void *source, const struct vt_count_request *r, struct vt_freq_counts *c,
		 struct vt_error *e)
{
	struct counts *s = *(struct counts *const *)source;
	const struct vt_cfg *g = r->flow->cfg;
	uint32_t i;

	(void)e;
	if (!s->asked++)
		s->scale[0] = r->scale;
	s->scale[1] = r->scale;
	assert_int_equal(r->event, TIME);
	assert_int_equal(r->offset, r->flow->proc.start - BASE);
	if (s->none || r->flow->proc.image != IMAGE)
		return 0;
	c->exact = malloc((g->ninsns + 1) * sizeof(double));
	c->exact_edges = malloc((g->nedges + 1) * sizeof(double));
	assert_true(c->exact && c->exact_edges);
	for (i = 0; i < g->ninsns; i++)
		c->exact[i] = count_insn(s, g->insns[i].addr - BASE);
	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_block *from = &g->blocks[g->edges[i].from],
					  *to = &g->blocks[g->edges[i].to];

		c->exact_edges[i] =
			from->ninsns && to->ninsns
				? count_edge(s, g->insns[from->insn + from->ninsns - 1].addr - BASE,
					     to->start - BASE)
				: -1;
	}
	return 0;
}

static bool place(const void *source, uint64_t event, size_t i, struct vt_place *to)
{
	const struct counts *s = *(struct counts *const *)source;

	assert_int_equal(event, TIME);
	assert_true(i < 3);
	if (i == 2 || !s->places[i])
		return false;
	to->image = IMAGE;
	to->offset = s->places[i];
	return true;
}

/* ---- one run ---- */

struct sampled {
	uint64_t image, offset, samples, period;
	uint64_t event; /* 0: of time */
};

struct freq {
	uint64_t offset, samples, period;
	double executions, low, high, cycles;
	uint64_t confidence, method;
	double issue;
};

struct result {
	struct vt_freqrun_totals totals;
	struct freq freqs[ROWS];
	unsigned nfreqs;
	double other; /* executions of the other image's call */
	struct edge edges[ROWS];
	unsigned nedges;
	unsigned regions;
	char clock[24], exact[64], scale[24], slowed[24]; /* META records */
};

static void put_event(struct vt_writer *w, uint64_t id, enum vt_policy policy, const char *name)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	vt_writer_text(w, VT_EVENT_NAME, name);
	vt_writer_text(w, VT_EVENT_UNIT, "ns");
}

/* `list` ends with one in no image. */
static struct vt_profile *make_profile(struct vt_images *images, enum vt_policy policy,
				       const struct sampled *list)
{
	struct vt_profile *p = new_profile(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t id, *row;

	put_event(w, MISSES, policy, "misses");
	put_event(w, TIME, policy, "cpu-clock");
	for (id = IMAGE; id <= OTHER; id++) {
		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = id;
		row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
		vt_writer_text(w, VT_IMAGE_PATH, toolbox_path(dir, "p"));
	}
	for (; list->image; list++) {
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_IMAGE] = list->image;
		row[VT_COUNT_OFFSET] = list->offset;
		row[VT_COUNT_EVENT] = list->event ? list->event : TIME;
		row[VT_COUNT_SAMPLES] = list->samples;
		row[VT_COUNT_PERIOD] = list->period;
	}
	read_context(vt_profile_context(p), fd, w);
	assert_int_equal(vt_profile_finish(p, &err), 0);
	return p;
}

static void take_meta(struct result *out, const struct vt_record *rec)
{
	static const char *const keys[] = {"vfreq.clock", "vfreq.exact", "vfreq.scale",
					   "vfreq.slowed"};
	char *const texts[] = {out->clock, out->exact, out->scale, out->slowed};
	const size_t room[] = {sizeof(out->clock), sizeof(out->exact), sizeof(out->scale),
			       sizeof(out->slowed)};
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned i;

	for (i = 0; i < 4; i++)
		if (vt_record_is_meta(rec, keys[i])) {
			assert_true(value.size < room[i]);
			memcpy(texts[i], value.data, value.size);
		}
}

static void read_result(struct result *out, struct vt_reader *r)
{
	struct vt_record rec;
	bool other = false;

	while (vt_reader_next(r, &rec, &err) > 0) {
		assert_true(out->nfreqs < ROWS && out->nedges < ROWS);
		out->regions += rec.kind == VT_REGION;
		if (rec.kind == VT_META)
			take_meta(out, &rec);
		if (rec.kind == VT_FREQ && vt_record_u64(&rec, VT_FREQ_IMAGE) == OTHER) {
			other = true;
			if (vt_record_u64(&rec, VT_FREQ_OFFSET) == 0x1071)
				out->other = vt_record_f64(&rec, VT_FREQ_EXECUTIONS);
		} else if (rec.kind == VT_FREQ) {
			assert_false(other);
			out->freqs[out->nfreqs++] = (struct freq){
				vt_record_u64(&rec, VT_FREQ_OFFSET),
				vt_record_u64(&rec, VT_FREQ_SAMPLES),
				vt_record_u64(&rec, VT_FREQ_PERIOD),
				vt_record_f64(&rec, VT_FREQ_EXECUTIONS),
				vt_record_f64(&rec, VT_FREQ_LOW),
				vt_record_f64(&rec, VT_FREQ_HIGH),
				vt_record_f64(&rec, VT_FREQ_CYCLES),
				vt_record_u64(&rec, VT_FREQ_CONFIDENCE),
				vt_record_u64(&rec, VT_FREQ_METHOD),
				vt_record_f64(&rec, VT_FREQ_ISSUE),
			};
		}
		if (rec.kind == VT_EDGE && vt_record_u64(&rec, VT_EDGE_IMAGE) == IMAGE)
			out->edges[out->nedges++] = (struct edge){
				vt_record_u64(&rec, VT_EDGE_FROM), vt_record_u64(&rec, VT_EDGE_TO),
				vt_record_f64(&rec, VT_EDGE_EXECUTIONS)};
	}
	vt_reader_close(r);
}

/* How a run is to be. */
struct how {
	const char *core;
	enum vt_policy policy;
	double scale;
	bool untimed, fit_clock, other_run;
	unsigned threads;
};

static const struct how plain = {"skylake", VT_POLICY_MODEL, 1, false, false, false, 0};

static void run(const struct how *how, struct counts *counts, const struct sampled *samples,
		struct result *out)
{
	const struct vt_images_options none = {.warn = NULL};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_profile *p = make_profile(images, how->policy, samples);
	static const struct counts nobody = {.none = true};
	struct counts other = nobody;
	struct counts *const lists[] = {counts, &other};
	const struct vt_count_source sources[] = {{count, place, &lists[0]},
						  {count, NULL, &lists[1]}};
	struct vt_core core;
	struct vt_freqrun_options o = {
		.profile = p,
		.images = images,
		.core = &core,
		.model = how->core,
		.event = 1,
		.scale = how->scale,
		.untimed = how->untimed,
		.clock = "given",
		.fit_clock = how->fit_clock,
		.other_run = how->other_run,
		.method = VT_METHOD_FLOW,
		.sources = sources,
		.nsources = 2,
		.threads = how->threads,
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	memset(out, 0, sizeof(*out));
	assert_int_equal(vt_core_load(&core, how->core, &err), 0);
	assert_int_equal(vt_profile_event(p, 1)->id, TIME);
	assert_int_equal(vt_freqrun(&o, w, &out->totals, &err), 0);
	assert_int_equal(counts->asked, other.asked);
	assert_true(counts->scale[0] == how->scale && counts->scale[1] == out->totals.scale);
	read_result(out, reread_stream(fd, w));
	close(fd);
	free_profile(p);
	vt_images_free(images);
}

static const struct freq *find(const struct result *r, uint64_t offset)
{
	unsigned i, n = 0, at = 0;

	for (i = 0; i < r->nfreqs; i++)
		if (r->freqs[i].offset == offset) {
			at = i;
			n++;
		}
	if (n != 1)
		fail_msg("%u frequencies of %#llx", n, (unsigned long long)offset);
	return &r->freqs[at];
}

/* All edges of the procedures that begin within a range, by that factor. */
static void check_edges(const struct result *r, uint64_t first, uint64_t end, double factor)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < NEDGES; i++) {
		if (edges[i].from < first || edges[i].from >= end)
			continue;
		assert_true(n < r->nedges);
		assert_int_equal(r->edges[n].from, edges[i].from);
		assert_int_equal(r->edges[n].to, edges[i].to);
		assert_float_equal(r->edges[n].executions, edges[i].executions * factor, 1e-6);
		n++;
	}
	assert_int_equal(r->nedges, n);
}

/* ---- places ---- */

/* Procedures that only a source tells of are estimated, too, in their order. */
static void test_places(void **state)
{
	static const struct sampled samples[] = {{IMAGE, 0x1044, 5, 50, 0}, {0, 0, 0, 0, 0}};
	static struct result r;
	struct counts counts = {.none = false};
	unsigned i;

	(void)state;
	run(&plain, &counts, samples, &r);
	assert_int_equal(counts.asked, 1);
	assert_int_equal(r.totals.procedures, 1);
	assert_int_equal(r.nfreqs, 6);
	check_edges(&r, 0x1040, 0x1051, 1);
	counts = (struct counts){.places = {0x1024, 0x1000}};
	run(&plain, &counts, samples, &r);
	assert_int_equal(counts.asked, 3);
	assert_int_equal(r.totals.procedures, 3);
	assert_int_equal(r.totals.samples, 5);
	assert_int_equal(r.nfreqs, 5 + 7 + 6);
	for (i = 1; i < r.nfreqs; i++)
		assert_true(r.freqs[i - 1].offset < r.freqs[i].offset);
	assert_int_equal(r.freqs[0].offset, 0x1000);
	assert_int_equal(find(&r, 0x1024)->samples, 0);
	assert_true(find(&r, 0x1024)->executions == 1e6);
	assert_true(find(&r, 0x1024)->cycles == 0);
	assert_true(find(&r, 0x1044)->cycles == 50 / 1e6);
	check_edges(&r, 0x1000, 0x1051, 1);
	/* One that has samples as well has them once. */
	counts = (struct counts){.places = {0x1044}};
	run(&plain, &counts, samples, &r);
	assert_int_equal(counts.asked, 1);
	assert_int_equal(r.totals.samples, 5);
	assert_int_equal(find(&r, 0x1044)->samples, 5);
	assert_int_equal(find(&r, 0x1044)->period, 50);
}

/*
 * Where nothing was executed, no time is that of an execution.  Out of order nothing is scheduled,
 * either, since what comes before is not known.
 */
static void test_not_executed(void **state)
{
	static const struct how in_order = {"alpha21164", VT_POLICY_MODEL, 1, false,
					    false,	  false,	   0};
	static const struct sampled samples[] = {{IMAGE, 0x1004, 5, 50, 0}, {0, 0, 0, 0, 0}};
	static struct result r;
	struct counts counts = {.zero = true};

	(void)state;
	run(&plain, &counts, samples, &r);
	assert_true(find(&r, 0x1004)->executions == 0);
	assert_true(isnan(find(&r, 0x1004)->cycles));
	assert_int_equal(find(&r, 0x1004)->confidence, VT_CONFIDENCE_EXACT);
	assert_int_equal(r.totals.by_confidence[VT_CONFIDENCE_EXACT], 5);
	assert_true(isnan(find(&r, 0x1004)->issue));
	counts = (struct counts){.zero = true};
	run(&in_order, &counts, samples, &r);
	assert_true(find(&r, 0x1004)->executions == 0);
	assert_true(find(&r, 0x1004)->issue >= 0);
	counts = (struct counts){.zero = false};
	run(&plain, &counts, samples, &r);
	assert_true(find(&r, 0x1004)->issue > 0);
}

/*
 * Code that is in two procedures is the second one's; but what was sampled there counts for the
 * first one as well: an interrupt's samples are of what is before, wherever that is.
 */
static void test_overlapping(void **state)
{
	static const struct sampled samples[] = {
		{IMAGE, 0x1060, 2, 20, 0},	  {IMAGE, 0x1061, 5, 50, 0},
		{IMAGE, 0x1066, 9, 90, 0},	  {IMAGE, 0x1067, 3, 30, 0},
		{IMAGE, 0x1080, 23, 230, 0},	  {OTHER, 0x1061, 70, 700, 0},
		{IMAGE, 0x1061, 80, 800, MISSES}, {0, 0, 0, 0, 0}};
	struct how how = plain;
	static struct result r;
	struct counts counts = {.none = false};

	(void)state;
	how.policy = VT_POLICY_INTERRUPT;
	run(&how, &counts, samples, &r);
	/* Nobody is before the first one. */
	assert_int_equal(find(&r, 0x1060)->samples, 2 + 5);
	assert_int_equal(find(&r, 0x1060)->period, 20 + 50);
	assert_true(find(&r, 0x1060)->executions == 40);
	assert_int_equal(find(&r, 0x1061)->samples, 5);
	assert_true(find(&r, 0x1061)->executions == 100);
	/* Of the 9, 3 in 10 came by the branch, and 7 in 10 past it; 3 came from there. */
	assert_int_equal(find(&r, 0x1063)->samples + find(&r, 0x1065)->samples, 9);
	assert_int_equal(find(&r, 0x1063)->samples, 3);
	assert_int_equal(find(&r, 0x1066)->samples, 3);
	check_edges(&r, 0x1060, 0x1068, 1);
	assert_int_equal(r.totals.samples, 2 + 5 + 9 + 3 + 23 + 70);
	assert_int_equal(r.totals.no_code, 23);
	assert_int_equal(r.totals.stray, 0);
	assert_int_equal(r.totals.estimated, 0);
	/* In order each has its own; no table has any of these instructions. */
	how.core = "alpha21164";
	counts.asked = 0;
	run(&how, &counts, samples, &r);
	assert_int_equal(find(&r, 0x1060)->samples, 2);
	assert_int_equal(find(&r, 0x1061)->samples, 5);
	assert_int_equal(find(&r, 0x1066)->samples, 9);
	check_edges(&r, 0x1060, 0x1068, 1);
	assert_int_equal(r.totals.estimated, 2 + 5 + 9 + 3 + 70);
	assert_int_equal(r.regions, 0);
}

/* Calls of each image are compared with its procedures, and with no other's. */
static void test_calls(void **state)
{
	static const struct sampled samples[] = {{IMAGE, 0x1070, 40, 400, 0},
						 {IMAGE, 0x1071, 40, 400, 0},
						 {IMAGE, 0x1077, 40, 400, 0},
						 {OTHER, 0x1070, 90, 900, 0},
						 {OTHER, 0x1071, 90, 900, 0},
						 {OTHER, 0x1077, 90, 900, 0},
						 {0, 0, 0, 0, 0}};
	struct how how = plain;
	struct counts counts = {.none = true};
	static struct result r;

	(void)state;
	how.core = "alpha21164";
	run(&how, &counts, samples, &r);
	assert_true(find(&r, 0x1071)->executions > 0 && r.other > find(&r, 0x1071)->executions);
	assert_float_equal(r.totals.calls.compared, find(&r, 0x1071)->executions + r.other, 1e-6);
}

/*
 * Samples that fall somewhere behind tell of no instruction, only of their sum: 100 of 10 cycles by
 * what the schedule gives all three instructions, as uncertain as one point of 35 %.
 */
static void test_skewed(void **state)
{
	static const struct sampled samples[] = {{IMAGE, 0x1077, 60, 600, 0},
						 {IMAGE, 0x1078, 30, 300, 0},
						 {IMAGE, 0x1079, 10, 100, 0},
						 {0, 0, 0, 0, 0}};
	static const struct {
		enum vt_policy policy;
		bool skewed;
	} rows[] = {
		{VT_POLICY_UNKNOWN, true},  {VT_POLICY_INTERRUPT, true},
		{VT_POLICY_PRECISE, false}, {VT_POLICY_DISPATCH, false},
		{VT_POLICY_MODEL, false},   {VT_POLICY_EXACT, false},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct how how = plain;
		struct counts counts = {.none = true};
		static struct result r;
		double f, sigma;

		how.core = "alpha21164";
		how.policy = rows[i].policy;
		run(&how, &counts, samples, &r);
		f = 1000 /
		    (find(&r, 0x1077)->issue + find(&r, 0x1078)->issue + find(&r, 0x1079)->issue);
		sigma = f * hypot(0.1, 0.35);
		if ((fabs(find(&r, 0x1078)->high - (f + 2 * sigma)) < 1e-5 * f) != rows[i].skewed)
			fail_msg("%u: %g to %g, not %g", rows[i].policy, find(&r, 0x1078)->low,
				 find(&r, 0x1078)->high, f + 2 * sigma);
	}
}

/* ---- clocks and other runs ---- */

/* Loops of 6, 12 and 3 million cycles, and the time of each. */
static void run_loops(const struct how *how, uint64_t six, uint64_t twelve, uint64_t fixed,
		      uint64_t last, struct result *r)
{
	/* Of the second one in the middle of an instruction, too. */
	const struct sampled samples[] = {{IMAGE, 0x1044, last, 1000 * fixed, 0},
					  {IMAGE, 0x1026, 100, 400 * twelve, 0},
					  {IMAGE, 0x1024, 200, 600 * twelve, 0},
					  {IMAGE, 0x1004, 300, 1000 * six, 0},
					  {0, 0, 0, 0, 0}};
	struct counts counts = {.none = false};

	run(how, &counts, samples, r);
}

/* Regions are of machines that issue out of order, where time is measured. */
static void test_regions(void **state)
{
	struct how how = plain;
	static struct result r;

	(void)state;
	run_loops(&how, 6000, 12000, 3000, 300, &r);
	assert_true(r.regions >= 3);
	assert_true(find(&r, 0x1004)->cycles == 6);
	assert_true(find(&r, 0x1024)->cycles == 12);
	assert_string_equal(r.clock, "given");
	assert_string_equal(r.exact, "");
	assert_string_equal(r.scale, "1");
	how.untimed = true;
	run_loops(&how, 6000, 12000, 3000, 300, &r);
	assert_int_equal(r.regions, 0);
	assert_true(isnan(find(&r, 0x1004)->cycles));
	assert_true(find(&r, 0x1004)->executions == 1e6);
	how.core = "alpha21164";
	how.untimed = false;
	run_loops(&how, 6000, 12000, 3000, 300, &r);
	assert_int_equal(r.regions, 0);
	assert_true(find(&r, 0x1004)->cycles == 6);
}

/* The counts of a run are the same however many threads estimate them. */
static void test_threads(void **state)
{
	struct how how = plain;
	static struct result one, r;

	(void)state;
	run_loops(&how, 6000, 12000, 3000, 300, &one);
	assert_int_equal(one.nfreqs, 5 + 7 + 6);
	check_edges(&one, 0x1000, 0x1051, 1);
	for (how.threads = 1; how.threads < 4; how.threads++) {
		run_loops(&how, 6000, 12000, 3000, 300, &r);
		assert_int_equal(r.nfreqs, one.nfreqs);
		assert_memory_equal(r.freqs, one.freqs, sizeof(r.freqs));
		assert_memory_equal(r.edges, one.edges, sizeof(r.edges));
	}
}

static struct how how_fitted(bool fit_clock, bool other_run)
{
	struct how how = plain;

	how.fit_clock = fit_clock;
	how.other_run = other_run;
	return how;
}

/*
 * 6, 12 and 3 million cycles in 3, 6 and 1.5 million units: 2 cycles a unit.  A loop of 199 samples
 * is none to look at, and two show no clock; in order there is none to be fitted.
 */
static void test_fitted_clock(void **state)
{
	struct how how = how_fitted(true, false);
	static struct result r;

	(void)state;
	how.scale = 5;
	run_loops(&how, 3000, 6000, 1500, 200, &r);
	assert_int_equal(r.totals.loops, 3);
	assert_true(fabs(r.totals.scale - 2) < 0.02);
	assert_string_equal(r.totals.clock, "fitted");
	assert_string_equal(r.clock, "fitted");
	assert_true(strtod(r.scale, NULL) > 1.98 && strtod(r.scale, NULL) < 2.02);
	assert_true(find(&r, 0x1004)->cycles == 3 * r.totals.scale);
	/* Each loop once more, for the clock. */
	assert_int_equal(r.totals.procedures, 3);
	assert_int_equal(r.totals.samples, 800);
	assert_int_equal(r.nfreqs, 5 + 7 + 6);
	run_loops(&how, 3000, 6000, 1500, 199, &r);
	assert_int_equal(r.totals.loops, 2);
	assert_true(r.totals.scale == 5);
	assert_string_equal(r.clock, "given");
	assert_true(find(&r, 0x1004)->cycles == 15);
	how.core = "alpha21164";
	run_loops(&how, 3000, 6000, 1500, 200, &r);
	assert_true(r.totals.scale == 5 && r.totals.loops == 0);
	assert_string_equal(r.clock, "given");
}

static bool is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

/* The value of a count of a million by a factor, of which this part is in doubt. */
static void check_scaled(const struct result *r, double doubt, enum vt_confidence confidence)
{
	double f = r->totals.other.verdict == VT_OTHERRUN_SCALED ? r->totals.other.factor : 1;
	const struct freq *x = find(r, 0x1004);

	assert_true(is_near(x->executions, 1e6 * f));
	assert_true(is_near(find(r, 0x1000)->executions, 1e6 * f));
	assert_true(is_near(find(r, 0x100d)->executions, 10 * f));
	assert_true(is_near(x->low, fmax(1e6 * f * (1 - 2 * doubt), 0)));
	assert_true(is_near(x->high, 1e6 * f * (1 + 2 * doubt)));
	assert_int_equal(x->confidence, confidence);
	assert_int_equal(x->method, VT_METHOD_COUNTED);
	check_edges(r, 0x1000, 0x1051, f);
}

/*
 * The other run took 6, 12 and 3 million cycles in these loops.  Three loops of 300 samples, of
 * which two are the faster half: hypot(0.03, 1 / sqrt(600)) of the factor is in doubt.
 */
static void test_other_run(void **state)
{
	struct how how = how_fitted(false, true);
	const double doubt = hypot(0.03, 1 / sqrt(600));
	static struct result r;
	char *end;

	(void)state;
	/* Twice the time: twice as often. */
	run_loops(&how, 12000, 24000, 6000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_SCALED);
	assert_true(fabs(r.totals.other.factor - 2) < 0.02);
	assert_true(fabs(r.totals.other.doubt - doubt) < 1e-4);
	check_scaled(&r, r.totals.other.doubt, VT_CONFIDENCE_HIGH);
	assert_memory_equal(r.exact, "scaled ", 7);
	assert_true(fabs(strtod(r.exact + 7, &end) - r.totals.other.factor) < 1e-8);
	assert_true(fabs(strtod(end, NULL) - doubt) < 1e-3);
	assert_string_equal(r.clock, "given");
	assert_int_equal(r.totals.procedures, 3);
	/* As often: nothing is in doubt where the doubt is small. */
	run_loops(&how, 6000, 12000, 3000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_ALIKE);
	check_scaled(&r, 0, VT_CONFIDENCE_EXACT);
	assert_memory_equal(r.exact, "alike ", 6);
	/* Two of the loops differ by 7/4: schedules are off, and do not tell. */
	run_loops(&how, 7000, 8000, 6125, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_UNTOLD);
	check_scaled(&r, 0, VT_CONFIDENCE_EXACT);
	assert_memory_equal(r.exact, "untold 1 0", 11);
	/* What is not executed by any one factor has none. */
	run_loops(&how, 12000, 3000, 6000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_RATIOS);
	assert_true(find(&r, 0x1004)->executions == 1e6 && find(&r, 0x1004)->low == 0);
	assert_true(isinf(find(&r, 0x1004)->high));
	assert_int_equal(find(&r, 0x1004)->confidence, VT_CONFIDENCE_LOW);
	assert_memory_equal(r.exact, "ratios 1 inf", 12);
}

/* With the clock: of a run that did something else there is none, and others take the factor for 1.
 */
static void test_other_run_and_clock(void **state)
{
	struct how how = how_fitted(true, true);
	static struct result r;

	(void)state;
	run_loops(&how, 12000, 3000, 6000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_RATIOS);
	assert_string_equal(r.clock, "given");
	run_loops(&how, 3000, 6000, 1500, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_UNTOLD);
	assert_string_equal(r.clock, "fitted");
	assert_string_equal(r.exact, "untold 1 0");
	assert_true(fabs(r.totals.scale - 2) < 0.02);
	check_scaled(&r, 0, VT_CONFIDENCE_EXACT);
	/* Without time there is nothing to tell either by. */
	how.fit_clock = false;
	how.untimed = true;
	run_loops(&how, 12000, 3000, 6000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_UNTOLD);
	assert_string_equal(r.exact, "untold 1 0");
	check_scaled(&r, 0, VT_CONFIDENCE_EXACT);
}

static void check_slowed(const struct result *r, double want)
{
	assert_true(fabs(r->totals.slowed - want) < 2e-3);
	if (r->totals.slowed > 0)
		assert_true(fabs(strtod(r->slowed, NULL) - r->totals.slowed) < 1e-8);
	else
		assert_string_equal(r->slowed, "");
}

/*
 * The same three loops, at 2 cycles a unit, of which one lost a fifth of its time: by the root of a
 * third, that is .1155.  So it is with counts of another run, whatever their factor.
 */
static void test_slowed(void **state)
{
	struct how fitted = how_fitted(true, false), other = how_fitted(false, true);
	static struct result r;

	(void)state;
	run_loops(&fitted, 3000, 7500, 1500, 300, &r);
	check_slowed(&r, 0.11547);
	/* Two loops, at the clock that is given: the first takes a third of its schedule. */
	fitted.scale = 2;
	run_loops(&fitted, 3000, 7500, 1500, 199, &r);
	assert_string_equal(r.clock, "given");
	check_slowed(&r, 0.14142);
	other.scale = 2;
	run_loops(&other, 3000, 7500, 1500, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_ALIKE);
	check_slowed(&r, 0.11547);
	run_loops(&other, 6000, 15000, 3000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_SCALED);
	check_slowed(&r, 0.11547);
	/* Counts of other work tell nothing. */
	run_loops(&other, 12000, 3000, 6000, 300, &r);
	assert_int_equal(r.totals.other.verdict, VT_OTHERRUN_RATIOS);
	check_slowed(&r, 0);
}

static int compile(void **state)
{
	(void)state;
	dir = toolbox_assemble(program);
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
		cmocka_unit_test(test_places),	    cmocka_unit_test(test_not_executed),
		cmocka_unit_test(test_overlapping), cmocka_unit_test(test_regions),
		cmocka_unit_test(test_calls),	    cmocka_unit_test(test_skewed),
		cmocka_unit_test(test_threads),	    cmocka_unit_test(test_fitted_clock),
		cmocka_unit_test(test_other_run),   cmocka_unit_test(test_other_run_and_clock),
		cmocka_unit_test(test_slowed),
	};

	return cmocka_run_group_tests(tests, compile, discard);
}
