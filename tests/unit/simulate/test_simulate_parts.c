/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the simulation of a recording: counters, branch stacks, and what is true. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"
#include "profile/profile.h"
#include "simulate/internal.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

static struct vt_record next(struct vt_reader *r, uint32_t kind)
{
	struct vt_record rec = {.kind = 0};

	assert_int_equal(vt_reader_next(r, &rec, &err), 1);
	assert_int_equal(rec.kind, kind);
	return rec;
}

static void ends(struct vt_reader *r, int fd)
{
	struct vt_record rec;

	assert_int_equal(vt_reader_next(r, &rec, &err), 0);
	vt_reader_close(r);
	close(fd);
}

/* ---- the branches taken last ---- */

/* Newest first; flags are perf's: mispredicted, predicted, cycles from bit 4 on. */
static void test_stack(void **state)
{
	static const struct vti_simbranch pushed[] = {
		{0x10, 0x11, 100, true},  {0x20, 0x21, 110, false},    {0x30, 0x31, 130, true},
		{0x40, 0x41, 131, false}, {0x50, 0x51, 0x20000, true},
	};
	static const struct {
		uint32_t size;
		uint32_t count;
		uint32_t n;
		uint64_t from[5];
		uint64_t flags[5];
	} rows[] = {
		{0, 5, 0, {0}, {0}},
		{3, 0, 0, {0}, {0}},
		/* Of the oldest one it is not known how long it took to come there. */
		{3, 1, 1, {0x10}, {1}},
		{3, 2, 2, {0x20, 0x10}, {2 | 10 << 4, 1}},
		{3, 3, 3, {0x30, 0x20, 0x10}, {1 | 20 << 4, 2 | 10 << 4, 1}},
		{3, 4, 3, {0x40, 0x30, 0x20}, {2 | 1 << 4, 1 | 20 << 4, 2}},
		{3, 5, 3, {0x50, 0x40, 0x30}, {1 | 0xffff << 4, 2 | 1 << 4, 1}},
		{5,
		 5,
		 5,
		 {0x50, 0x40, 0x30, 0x20, 0x10},
		 {1 | 0xffff << 4, 2 | 1 << 4, 1 | 20 << 4, 2 | 10 << 4, 1}},
	};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vti_simstack s = {.size = rows[i].size};

		for (k = 0; k < rows[i].count; k++)
			vti_simstack_push(&s, &pushed[k]);
		assert_int_equal(s.count, rows[i].size ? rows[i].count : 0);
		vt_writer_row(w, VT_SAMPLE);
		vti_simstack_write(&s, w);
	}
	r = reread_stream(fd, w);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_record rec = next(r, VT_SAMPLE);
		struct vt_words from = vt_record_words(&rec, VT_SAMPLE_BR_FROM);
		struct vt_words to = vt_record_words(&rec, VT_SAMPLE_BR_TO);
		struct vt_words flags = vt_record_words(&rec, VT_SAMPLE_BR_FLAGS);

		assert_int_equal(from.count, rows[i].n);
		assert_int_equal(to.count, rows[i].n);
		assert_int_equal(flags.count, rows[i].n);
		for (k = 0; k < rows[i].n; k++) {
			assert_int_equal(from.data[k], rows[i].from[k]);
			assert_int_equal(to.data[k], rows[i].from[k] + 1);
			assert_int_equal(flags.data[k], rows[i].flags[k]);
		}
	}
	ends(r, fd);
}

/* ---- counters ---- */

struct delivery {
	uint64_t cycle;
	uint32_t event;
	uint64_t period;
};

struct log {
	struct delivery list[64];
	unsigned n;
};

static void take(void *arg, const struct vt_sim_retired *r, uint32_t event, uint64_t period)
{
	struct log *log = arg;

	assert_true(log->n < 64);
	log->list[log->n++] = (struct delivery){r->cycle, event, period};
}

static void assert_delivery(const struct log *log, unsigned i, uint64_t cycle, uint32_t event,
			    uint64_t period)
{
	assert_true(i < log->n);
	assert_int_equal(log->list[i].cycle, cycle);
	assert_int_equal(log->list[i].event, event);
	assert_int_equal(log->list[i].period, period);
}

static struct vti_simcounters start(const struct vt_simulate_event *events, size_t n, uint32_t skid)
{
	const struct vt_core core = {.skid = skid};
	const struct vt_simulate_options o = {.core = &core, .events = events, .nevents = n};
	struct vti_simcounters c;

	vti_simcounters_init(&c, &o, 7);
	return c;
}

static struct vt_simulate_event every(enum vt_simulate_kind kind, uint64_t mean)
{
	return (struct vt_simulate_event){kind, vt_interval_make(VT_INTERVAL_FIXED, mean)};
}

/* Samples of time come late all alike: the first by the skid, the others a period apart. */
static void test_time(void **state)
{
	const struct vt_simulate_event event = every(VT_SIMULATE_CYCLES, 10);
	struct vti_simcounters c = start(&event, 1, 4);
	struct log log = {.n = 0};
	struct vt_rng rng;
	uint64_t first;
	unsigned i;

	(void)state;
	vt_rng_init(&rng, 7);
	first = vt_interval_first(&event.interval, &rng);
	assert_false(c.events);
	assert_int_equal(c.due, first + 4);
	/* One cycle at a time, then many: the instruction has all samples of its time. */
	for (i = 1; i <= 60; i++) {
		const struct vt_sim_retired r = {.cycle = i};

		vti_simcounters_retire(&c, &r, take, &log);
	}
	assert_int_equal(log.n, (60 - 4 - first) / 10 + 1);
	for (i = 0; i < log.n; i++)
		assert_delivery(&log, i, first + 4 + 10 * i, 0, i ? 10 : first);
	assert_int_equal(c.due, first + 4 + 10 * i);
	{
		const struct vt_sim_retired r = {.cycle = first + 4 + 10 * i + 20};

		vti_simcounters_retire(&c, &r, take, &log);
		assert_int_equal(log.n, i + 3);
		assert_delivery(&log, i + 2, r.cycle, 0, 10);
		assert_int_equal(c.due, r.cycle + 10);
	}
}

/* What is an event, and in which cycle; of every event a sample is due, two cycles later. */
static void test_kinds(void **state)
{
	static const struct {
		uint32_t fetch;
		uint32_t data;
		bool mispredicted;
		uint64_t due[VT_NSIMULATE]; /* of each kind; 0: none */
	} rows[] = {
		{0, 0, false, {[VT_SIMULATE_RETIRED] = 35}},
		{VT_MISS_L1, 0, false, {[VT_SIMULATE_IMISS] = 13, [VT_SIMULATE_RETIRED] = 35}},
		{VT_MISS_TLB, 0, false, {[VT_SIMULATE_ITBMISS] = 13, [VT_SIMULATE_RETIRED] = 35}},
		{VT_MISS_L2, 0, false, {[VT_SIMULATE_L2MISS] = 13, [VT_SIMULATE_RETIRED] = 35}},
		{VT_MISS_L3 | VT_MISS_STLB | VT_MISS_BUFFER,
		 VT_MISS_L3 | VT_MISS_STLB,
		 false,
		 {[VT_SIMULATE_RETIRED] = 35}},
		{0, VT_MISS_L1, false, {[VT_SIMULATE_DMISS] = 24, [VT_SIMULATE_RETIRED] = 35}},
		{0, VT_MISS_TLB, false, {[VT_SIMULATE_DTBMISS] = 24, [VT_SIMULATE_RETIRED] = 35}},
		{0, VT_MISS_L2, false, {[VT_SIMULATE_L2MISS] = 24, [VT_SIMULATE_RETIRED] = 35}},
		{VT_MISS_L2,
		 VT_MISS_L2,
		 false,
		 {[VT_SIMULATE_L2MISS] = 24, [VT_SIMULATE_RETIRED] = 35}},
		{0, VT_MISS_BUFFER, false, {[VT_SIMULATE_WBFULL] = 24, [VT_SIMULATE_RETIRED] = 35}},
		{0, 0, true, {[VT_SIMULATE_BRANCHMP] = 35, [VT_SIMULATE_RETIRED] = 35}},
	};
	unsigned i, kind;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (kind = 1; kind < VT_NSIMULATE; kind++) {
			const struct vt_simulate_event event =
				every((enum vt_simulate_kind)kind, 1);
			const struct vt_sim_retired r = {
				.fetch_cycle = 11,
				.access_cycle = kind == VT_SIMULATE_DREF && rows[i].fetch ? 0 : 22,
				.cycle = 33,
				.fetch_missed = rows[i].fetch,
				.data_missed = rows[i].data,
				.mispredicted = rows[i].mispredicted,
			};
			struct vti_simcounters c = start(&event, 1, 2);
			uint64_t due = kind != VT_SIMULATE_DREF ? rows[i].due[kind]
				       : rows[i].fetch		? 0
								: 24;

			assert_true(c.events && c.due == UINT64_MAX);
			vti_simcounters_count(&c, &r);
			if (c.due != (due ? due : UINT64_MAX))
				fail_msg("row %u, %s: due %llu", i,
					 vt_simulate_name((enum vt_simulate_kind)kind),
					 (unsigned long long)c.due);
		}
	assert_string_equal(vt_simulate_name(VT_SIMULATE_CYCLES), "cycles");
	assert_string_equal(vt_simulate_name(VT_SIMULATE_RETIRED), "retired");
	assert_string_equal(vt_simulate_name(VT_SIMULATE_TAKEN), "taken");
	assert_string_equal(vt_simulate_name(VT_SIMULATE_DREF), "dref");
	assert_null(vt_simulate_name(VT_NSIMULATE));
}

/* Every third event; what overflows while a sample is under way waits for that. */
static void test_events(void **state)
{
	const struct vt_simulate_event events[] = {every(VT_SIMULATE_BRANCHMP, 3),
						   every(VT_SIMULATE_RETIRED, 1)};
	struct vti_simcounters c = start(events, 1, 0);
	struct log log = {.n = 0};
	struct vt_rng rng;
	uint64_t first;
	unsigned i;

	(void)state;
	vt_rng_init(&rng, 7);
	first = vt_interval_first(&events[0].interval, &rng);
	assert_in_range(first, 1, 3);
	for (i = 1; i <= 40; i++) {
		const struct vt_sim_retired r = {.cycle = i, .mispredicted = i % 2 == 0};

		vti_simcounters_retire(&c, &r, take, &log);
	}
	assert_int_equal(log.n, (20 - first) / 3 + 1);
	for (i = 0; i < log.n; i++)
		assert_delivery(&log, i, 2 * (first + 3 * i), 0, i ? 3 : first);
	/* Each instruction, with a skid of 5: those of cycles 11 to 15 are not counted again. */
	c = start(events + 1, 1, 5);
	log.n = 0;
	for (i = 10; i <= 40; i++) {
		const struct vt_sim_retired r = {.cycle = i};

		vti_simcounters_retire(&c, &r, take, &log);
	}
	assert_int_equal(log.n, 5);
	for (i = 0; i < log.n; i++)
		assert_delivery(&log, i, 15 + 6 * i, 0, 1);
	/* Both at a time: the first that is due is the first of all. */
	c = start(events, 2, 0);
	log.n = 0;
	for (i = 1; i <= 12; i++) {
		const struct vt_sim_retired r = {.cycle = i, .mispredicted = true};

		vti_simcounters_retire(&c, &r, take, &log);
	}
	assert_int_equal(log.n, 12 + (12 - first) / 3 + 1);
	for (i = 0; i < log.n && log.list[i].event; i++)
		assert_delivery(&log, i, i + 1, 1, 1);
	assert_delivery(&log, i, first, 0, first);
	assert_delivery(&log, i + 1, first, 1, 1);
}

/* ---- what is true ---- */

enum { A, B, C, D, ELSEWHERE, UNMAPPED, NPLACES };

static void make_places(struct vti_simtruth *t)
{
	vti_simtruth_init(t);
	/* Not in their order. */
	assert_int_equal(vti_simtruth_place(t, 2, 0x18), A);
	assert_int_equal(vti_simtruth_place(t, 2, 0x10), B);
	assert_int_equal(vti_simtruth_place(t, 2, 0x14), C);
	assert_int_equal(vti_simtruth_place(t, 2, 0x20), D);
	assert_int_equal(vti_simtruth_place(t, 1, 0x14), ELSEWHERE);
	assert_int_equal(vti_simtruth_place(t, VT_UNMAPPED_IMAGE, 0x14), UNMAPPED);
	assert_int_equal(vti_simtruth_place(t, 2, 0x14), C);
	assert_int_equal(t->places.count, NPLACES);
	assert_true(vti_simplace_at(t, A)->next == VTI_NONE);
}

static void retire(struct vti_simtruth *t, unsigned place, uint64_t head, uint8_t cause,
		   uint32_t slots, uint64_t by)
{
	const struct vt_inorder_stall stall = {cause, slots, by};
	const struct vt_sim_retired r = {
		.tag = place, .head = head, .nstalls = slots > 0, .stalls = &stall};

	vti_simtruth_retire(t, &r);
}

static void go(struct vti_simtruth *t, uint32_t from, uint32_t to, uint64_t n)
{
	uint32_t e = vti_simtruth_edge(t, from, to);

	((struct vti_simedge *)vt_hash_at(&t->edges, e))->executions += n;
}

static struct vt_reader *written(struct vti_simtruth *t, int fd, uint32_t width)
{
	struct vt_writer *w = start_stream(fd);

	assert_int_equal(vti_simtruth_write(t, width, 99, w, &err), 0);
	vti_simtruth_fini(t);
	return reread_stream(fd, w);
}

static double real(const struct vt_record *rec, uint32_t field)
{
	uint64_t bits = vt_record_u64(rec, field);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void next_freq(struct vt_reader *r, uint64_t image, uint64_t offset, double executions,
		      double cycles, double issue)
{
	struct vt_record rec = next(r, VT_FREQ);

	assert_int_equal(vt_record_u64(&rec, VT_FREQ_IMAGE), image);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_OFFSET), offset);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_EVENT), 99);
	assert_true(real(&rec, VT_FREQ_EXECUTIONS) == executions);
	assert_true(real(&rec, VT_FREQ_LOW) == executions);
	assert_true(real(&rec, VT_FREQ_HIGH) == executions);
	assert_true(real(&rec, VT_FREQ_CYCLES) == cycles);
	assert_true(real(&rec, VT_FREQ_ISSUE) == issue);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_CONFIDENCE), VT_CONFIDENCE_EXACT);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_METHOD), VT_METHOD_MODEL);
}

static void next_edge(struct vt_reader *r, uint64_t from, uint64_t to, double n)
{
	struct vt_record rec = next(r, VT_EDGE);

	assert_int_equal(vt_record_u64(&rec, VT_EDGE_IMAGE), 2);
	assert_int_equal(vt_record_u64(&rec, VT_EDGE_FROM), from);
	assert_int_equal(vt_record_u64(&rec, VT_EDGE_TO), to);
	assert_true(real(&rec, VT_EDGE_EXECUTIONS) == n);
	assert_true(real(&rec, VT_EDGE_LOW) == n);
	assert_true(real(&rec, VT_EDGE_HIGH) == n);
	assert_int_equal(vt_record_u64(&rec, VT_EDGE_CONFIDENCE), VT_CONFIDENCE_EXACT);
	assert_int_equal(vt_record_u64(&rec, VT_EDGE_METHOD), VT_METHOD_MODEL);
}

static void next_stall(struct vt_reader *r, uint64_t offset, uint64_t cause, double cycles,
		       uint64_t culprit)
{
	struct vt_words culprits;
	struct vt_record rec = next(r, VT_STALL);

	assert_int_equal(vt_record_u64(&rec, VT_STALL_IMAGE), 2);
	assert_int_equal(vt_record_u64(&rec, VT_STALL_OFFSET), offset);
	assert_int_equal(vt_record_u64(&rec, VT_STALL_CAUSE), cause);
	assert_true(real(&rec, VT_STALL_LOW) == cycles);
	assert_true(real(&rec, VT_STALL_HIGH) == cycles);
	assert_int_equal(vt_record_u64(&rec, VT_STALL_CONFIDENCE), VT_CONFIDENCE_EXACT);
	culprits = vt_record_words(&rec, VT_STALL_CULPRITS);
	assert_int_equal(culprits.count, culprit != 0);
	if (culprit)
		assert_int_equal(culprits.data[0], culprit);
}

/* Which cycles the code alone does not explain. */
static void test_true_times(void **state)
{
	static const bool dynamic[VT_NSTALLS] = {
		[VT_STALL_ICACHE] = true,	[VT_STALL_ITLB] = true,
		[VT_STALL_DCACHE] = true,	[VT_STALL_DTLB] = true,
		[VT_STALL_WRITE_BUFFER] = true, [VT_STALL_FORWARD] = true,
		[VT_STALL_MISPREDICT] = true,	[VT_STALL_SYNC] = true,
		[VT_STALL_QUEUE] = true,
	};
	unsigned cause;

	(void)state;
	for (cause = 0; cause < VT_NSTALLS; cause++) {
		int fd = scratch_file();
		struct vti_simtruth t;
		struct vt_reader *r;

		make_places(&t);
		vti_simplace_at(&t, A)->samples = 3;
		vti_simplace_at(&t, A)->period = 34;
		/* Ten cycles; eight slots of two in each. */
		retire(&t, A, 10, (uint8_t)cause, 8, B);
		r = written(&t, fd, 2);
		next_freq(r, 2, 0x18, 1, 10, dynamic[cause] ? 6 : 10);
		next_stall(r, 0x18, cause, 4, 0x10);
		ends(r, fd);
	}
}

/* In the order of places; what is not in an image, or was not executed, is left out. */
static void test_true_order(void **state)
{
	int fd = scratch_file();
	struct vti_simtruth t;
	struct vt_reader *r;
	struct vt_record rec;

	(void)state;
	make_places(&t);
	retire(&t, A, 1, 0, 0, 0);
	retire(&t, UNMAPPED, 1, 0, 0, 0);
	retire(&t, B, 6, VT_STALL_DCACHE, 2, A);
	retire(&t, B, 7, VT_STALL_SLOTTING, 1, B);
	retire(&t, B, 2, VT_STALL_DCACHE, 2, A);
	retire(&t, C, 3, 0, 0, 0);
	retire(&t, ELSEWHERE, 5, 0, 0, 0);
	vti_simplace_at(&t, C)->samples = 3;
	vti_simplace_at(&t, C)->period = 34;
	r = written(&t, fd, 1);
	next_freq(r, 1, 0x14, 1, 5, 5);
	next_freq(r, 2, 0x10, 3, 5, (15 - 4) / 3.0);
	rec = next(r, VT_FREQ);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_OFFSET), 0x14);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_SAMPLES), 3);
	assert_int_equal(vt_record_u64(&rec, VT_FREQ_PERIOD), 34);
	next_freq(r, 2, 0x18, 1, 1, 1);
	next_stall(r, 0x10, VT_STALL_SLOTTING, 1, 0x10);
	next_stall(r, 0x10, VT_STALL_DCACHE, 4, 0x18);
	ends(r, fd);
}

/* By images, then by offsets, in whatever order they came. */
static void test_true_sorting(void **state)
{
	static const uint32_t images[] = {3, 1, 2, 1, 3, 2};
	static const uint64_t offsets[] = {0x10, 0x30, 0x20, 0x8, 0x4, 0x28};
	static const unsigned order[] = {3, 1, 2, 5, 4, 0};
	int fd = scratch_file();
	struct vti_simtruth t;
	struct vt_reader *r;
	unsigned i;

	(void)state;
	vti_simtruth_init(&t);
	for (i = 0; i < 6; i++)
		retire(&t, vti_simtruth_place(&t, images[i], offsets[i]), i + 1, 0, 0, 0);
	r = written(&t, fd, 1);
	for (i = 0; i < 6; i++)
		next_freq(r, images[order[i]], offsets[order[i]], 1, order[i] + 1, order[i] + 1);
	ends(r, fd);
}

/* By the vote of the majority, in slots. */
static void test_true_culprits(void **state)
{
	static const struct {
		struct {
			uint32_t by;
			uint32_t slots;
		} votes[5];
		uint64_t culprit; /* its offset; 0: none */
	} rows[] = {
		{{{B, 4}, {C, 3}}, 0x10},
		{{{B, 4}, {C, 3}, {C, 2}}, 0x14},
		{{{B, 4}, {C, 3}, {C, 1}}, 0x10}, /* as much as against it */
		{{{B, 4}, {C, 4}, {D, 1}}, 0x20},
		{{{B, 4}, {C, 3}, {B, 1}, {C, 1}, {D, 1}}, 0x10},
		{{{B, 4}, {B, 4}, {C, 7}}, 0x10},
		{{{B, 1}, {C, 5}, {D, 3}}, 0x14}, /* whose 4 are more than 3 */
		{{{B, 1}, {C, 5}, {D, 5}}, 0x20},
		/* In another image, and nobody. */
		{{{ELSEWHERE, 2}}, 0},
		{{{NPLACES, 2}}, 0},
		{{{VTI_NONE, 2}}, 0},
	};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = scratch_file();
		struct vti_simtruth t;
		struct vt_reader *r;
		uint64_t all = 0;

		make_places(&t);
		for (k = 0; k < 5 && rows[i].votes[k].slots; k++) {
			retire(&t, A, 0, VT_STALL_UNIT, rows[i].votes[k].slots,
			       rows[i].votes[k].by);
			all += rows[i].votes[k].slots;
		}
		r = written(&t, fd, 1);
		next(r, VT_FREQ);
		next_stall(r, 0x18, VT_STALL_UNIT, (double)all, rows[i].culprit);
		ends(r, fd);
	}
}

/* What did not leave by an edge that was seen went on, where that is where others arrive. */
static void test_true_edges(void **state)
{
	int fd = scratch_file();
	struct vti_simtruth t;
	struct vt_reader *r;
	unsigned i;

	(void)state;
	make_places(&t);
	for (i = 0; i < 10; i++) {
		retire(&t, B, 1, 0, 0, 0);
		retire(&t, C, 1, 0, 0, 0);
		retire(&t, A, 1, 0, 0, 0);
		retire(&t, D, 1, 0, 0, 0);
	}
	vti_simplace_at(&t, B)->next = C;
	vti_simplace_at(&t, C)->next = A;
	vti_simplace_at(&t, A)->next = D;
	go(&t, C, B, 4); /* back: C goes on to A, but nothing else comes there */
	go(&t, B, D, 3);
	go(&t, D, VTI_NONE, 1);
	go(&t, D, C, 2);
	go(&t, A, D, 10); /* all of it */
	go(&t, A, ELSEWHERE, 1);
	go(&t, UNMAPPED, UNMAPPED, 1);
	go(&t, UNMAPPED, A, 0);
	vti_simplace_at(&t, A)->leads = false;
	vti_simplace_at(&t, C)->next = VTI_NONE;
	r = written(&t, fd, 1);
	next_freq(r, 2, 0x10, 10, 1, 1);
	next_freq(r, 2, 0x14, 10, 1, 1);
	next_freq(r, 2, 0x18, 10, 1, 1);
	next_freq(r, 2, 0x20, 10, 1, 1);
	next_edge(r, 0x14, 0x10, 4);
	next_edge(r, 0x10, 0x20, 3);
	next_edge(r, 0x20, 0x14, 2);
	next_edge(r, 0x18, 0x20, 10);
	next_edge(r, 0x10, 0x14, 7);
	ends(r, fd);
	/* An edge that was seen leads nowhere that is not a block's first, but itself. */
	fd = scratch_file();
	make_places(&t);
	retire(&t, B, 1, 0, 0, 0);
	retire(&t, C, 1, 0, 0, 0);
	vti_simplace_at(&t, B)->next = C;
	vti_simplace_at(&t, C)->next = A;
	vti_simplace_at(&t, A)->leads = true;
	r = written(&t, fd, 1);
	next_freq(r, 2, 0x10, 1, 1, 1);
	next_freq(r, 2, 0x14, 1, 1, 1);
	next_edge(r, 0x14, 0x18, 1);
	ends(r, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack),	      cmocka_unit_test(test_time),
		cmocka_unit_test(test_kinds),	      cmocka_unit_test(test_events),
		cmocka_unit_test(test_true_times),    cmocka_unit_test(test_true_order),
		cmocka_unit_test(test_true_culprits), cmocka_unit_test(test_true_edges),
		cmocka_unit_test(test_true_sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
