/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several threads make of a trace what one does, and a job's walk joins the walk before it where,
 * and only where, both stand at the same place in the same state.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "formats/pt/decode/lazy.h"
#include "formats/pt/decode/parallel.h"
#include "tests/tools/pt_engines.h"
#include "tests/unit/common/pttrace.h"

/* ---- traces that are long enough for jobs ---------------------------------------- */

#define GROUP_SIZE 4096 /* from one PSB to the next, about */
#define DENSE	   7	/* of so many groups one has decisions instead of padding */

/* Two calls to the same function, so that a return says where it came from. */
static const uint8_t code[] = {
	0x74, 0xfe,	     /* 400000: je 400000 */
	0x74, 0x06,	     /* 400002: je 40000a */
	0xe8, 0x07, 0, 0, 0, /* 400004: call 400010 */
	0xc3,		     /* 400009: ret */
	0xe8, 0x01, 0, 0, 0, /* 40000a: call 400010 */
	0xc3,		     /* 40000f: ret */
	0x74, 0xee,	     /* 400010: je 400000 */
	0xc3,		     /* 400012: ret */
};

/* What a trace is like. */
enum {
	KEEPS_RETURNS = 1, /* returns are compressed across PSBs, as no processor does */
	TIMED = 2,
	NO_MODE = 4, /* of three PSB+ only one tells the mode */
	OFF = 8,     /* tracing is off at some PSBs */
	STATES = 16, /* page tables and the clock's ratio change */
	DAMAGED = 32,
	SOME_STATES = 64, /* which not all PSB+ tell */
	PLAIN = 128,	  /* nothing happens but branches */
};

struct maker {
	struct trace t;
	struct vt_rng rng;
	char bits[7]; /* decisions that are not yet in a packet */
	unsigned nbits;
	unsigned depth; /* calls without their return, as far as they are remembered */
	unsigned style;
	uint64_t tsc;
};

static void flush(struct maker *m)
{
	m->bits[m->nbits] = 0;
	if (m->nbits)
		put_tnt(&m->t, m->bits);
	m->nbits = 0;
}

static void decide(struct maker *m, const char *bits)
{
	for (; *bits; bits++) {
		m->bits[m->nbits++] = *bits;
		if (m->nbits == 6)
			flush(m);
	}
}

static void put_a_psb(struct maker *m, unsigned number)
{
	bool off = m->style & OFF && number % 3 == 2;

	flush(m);
	if (!(m->style & KEEPS_RETURNS))
		m->depth = 0;
	if (off)
		put_no_ip(&m->t, VT_PT_TIP_PGD);
	put_kind(&m->t, VT_PT_PSB, 0);
	if (m->style & TIMED)
		put_kind(&m->t, VT_PT_TSC, m->tsc);
	if (m->style & STATES || (m->style & SOME_STATES && number % 2))
		put_kind(&m->t, VT_PT_PIP, (number / 64 + 1) << 12);
	if (m->style & STATES || (m->style & SOME_STATES && number % 3 == 0))
		put_kind(&m->t, VT_PT_CBR, 20 + number / 32);
	if (!off)
		put_ip(&m->t, VT_PT_FUP, BASE);
	if (!(m->style & NO_MODE) || number % 3 == 0)
		put_kind(&m->t, VT_PT_MODE_EXEC, 64);
	put_kind(&m->t, VT_PT_PSBEND, 0);
	if (off)
		put_ip(&m->t, VT_PT_TIP_PGE, BASE);
}

/* One call without its return, or as many returns as there were calls and more. */
static void call_or_return(struct maker *m)
{
	if (m->depth < 90 && vt_rng_below(&m->rng, 12)) {
		decide(m, vt_rng_below(&m->rng, 2) ? "001" : "011");
		m->depth++;
		return;
	}
	decide(m, "000");
	m->depth = m->depth + 1 < 64 ? m->depth + 1 : 64;
	for (; m->depth && vt_rng_below(&m->rng, 8); m->depth--)
		decide(m, "1");
	flush(m);
	put_ip(&m->t, VT_PT_TIP, BASE);
}

/* Two ticks of the TSC for a cycle. */
static void put_cycles(struct maker *m)
{
	uint64_t cycles = vt_rng_below(&m->rng, 300);

	flush(m);
	put_kind(&m->t, VT_PT_CYC, cycles);
	m->tsc += 2 * cycles;
}

static void put_an_event(struct maker *m)
{
	flush(m);
	switch (vt_rng_below(&m->rng, 4)) {
	case 0:
		put_ip(&m->t, VT_PT_FUP, BASE);
		put_ip(&m->t, VT_PT_TIP, BASE);
		break;
	case 1:
		if (m->style & TIMED)
			put_kind(&m->t, VT_PT_TSC, m->tsc);
		break;
	case 2:
		if (m->style & (STATES | SOME_STATES))
			put_kind(&m->t, VT_PT_CBR, 20 + vt_rng_below(&m->rng, 3));
		break;
	default:
		/* After that no rate is measured for a while. */
		if (m->style & TIMED)
			break;
		put_no_ip(&m->t, VT_PT_TIP_PGD);
		put_ip(&m->t, VT_PT_TIP_PGE, BASE);
		break;
	}
}

static void put_group(struct maker *m, unsigned number)
{
	const uint8_t *start = m->t.end;
	unsigned i;

	put_a_psb(m, number);
	for (i = 0; m->t.end - start < (number % DENSE ? 200 : GROUP_SIZE); i++) {
		if (vt_rng_below(&m->rng, 3))
			decide(m, "11111");
		else if (vt_rng_below(&m->rng, 8))
			call_or_return(m);
		else if (!(m->style & PLAIN))
			put_an_event(m);
		if (m->style & TIMED && !vt_rng_below(&m->rng, 4))
			put_cycles(m);
	}
	flush(m);
	if (m->style & DAMAGED && number % 50 == 49)
		memset(m->t.end, 0xff, 8), m->t.end += 8;
	while (m->t.end - start < GROUP_SIZE)
		put_kind(&m->t, VT_PT_PAD, 0);
}

static void make(struct maker *m, unsigned style)
{
	unsigned i;

	memset(m, 0, offsetof(struct maker, t));
	*m = (struct maker){.style = style, .tsc = 1000};
	start(&m->t);
	vt_rng_init(&m->rng, style + 1);
	for (i = 0; size_of(&m->t) < TRACE_SIZE - 2 * GROUP_SIZE; i++)
		put_group(m, i);
}

/* ---- several threads and one -------------------------------------------------------- */

struct jobs {
	size_t walked;
	size_t joined;
};

/* What a batch shows of its blocks is the code that they were made from. */
static void check_blocks(const struct vt_pt_batch *b)
{
	size_t i, n;
	unsigned insn;

	for (i = 0; i < b->nids; i++) {
		const struct vt_pt_block *k = vt_pt_blocks_get(b->blocks, b->ids[i]);
		const uint8_t *lengths = vt_pt_block_lengths(b->blocks, k);

		for (insn = 0, n = 0; insn < k->insns; insn++)
			n += lengths[insn];
		assert_int_equal(n, k->size);
		assert_memory_equal(vt_pt_block_code(b->blocks, k), code + (k->addr - BASE), n);
	}
}

static void run_jobs(const struct trace *t, const struct vt_pt_code *c, struct vt_pt_options opt,
		     struct result *r, struct jobs *jobs)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_walk *w = open_walk(c, &opt, t->bytes, size_of(t));
	struct vti_pt_parallel *p = vti_pt_parallel_new(w, opt.jobs);
	struct vt_pt_batch batch;
	int rc;

	assert_non_null(p);
	r->nblocks = r->nnotes = r->nmarks = 0;
	r->insns = 0;
	while ((rc = vti_pt_parallel_next(p, &batch, &err)) > 0) {
		take_batch(r, &batch);
		check_blocks(&batch);
	}
	assert_int_equal(rc, 0);
	jobs->joined = vti_pt_parallel_joined(p, &jobs->walked);
	vti_pt_parallel_free(p);
	close_walk(w);
}

/* Which jobs another thread has walked in time is chance, but some are; none: it was too slow. */
#define TRIES 100

static void check_jobs(struct maker *m, unsigned style, unsigned threads, struct jobs *jobs)
{
	struct vt_pt_options opt = {.clock = {3, style & STATES ? 32 : 0, 256, 2}, .jobs = 1};
	struct vt_pt_code *c = vt_pt_code_new();
	struct result one = {.insns = 0}, many = {.insns = 0};
	unsigned i;

	add_code(c, BASE, code, sizeof(code));
	make(m, style);
	run_engine(&vt_pt_fast, c, &opt, m->t.bytes, size_of(&m->t), false, &one);
	assert_true(one.insns > TRACE_SIZE / 8);
	opt.jobs = threads;
	for (i = 0; i < TRIES; i++) {
		run_jobs(&m->t, c, opt, &many, jobs);
		assert_true(same_result(&one, &many));
		if (jobs->walked)
			break;
	}
	assert_true(i < TRIES);
	free_result(&one);
	free_result(&many);
	vt_pt_code_free(c);
}

static struct maker maker;

/* Nothing that a processor writes keeps a job from joining. */
static void test_joins(void **state)
{
	static const unsigned styles[] = {0,	TIMED, OFF, NO_MODE, STATES, TIMED | STATES | OFF,
					  PLAIN};
	struct jobs jobs;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		check_jobs(&maker, styles[i], 2 + (unsigned)i % 3, &jobs);
		if (jobs.joined != jobs.walked)
			fail_msg("style %u: %zu of %zu", styles[i], jobs.joined, jobs.walked);
	}
}

static void test_same(void **state)
{
	static const unsigned styles[] = {DAMAGED, KEEPS_RETURNS, DAMAGED | TIMED | STATES,
					  SOME_STATES, KEEPS_RETURNS | TIMED | OFF};
	struct jobs jobs;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		check_jobs(&maker, styles[i], 2 + (unsigned)i % 3, &jobs);
}

/* ---- threads that cannot be had ------------------------------------------------------ */

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static unsigned threads_made, threads_left = UINT_MAX;

/* Takes the place of the C library's, which is asked as long as threads are left. */
int pthread_create(pthread_t *newthread, const pthread_attr_t *attr, void *(*start_routine)(void *),
		   void *arg)
{
	union {
		void *from;
		create_fn *to;
	} real = {dlsym(RTLD_NEXT, "pthread_create")};

	if (!threads_left)
		return EAGAIN;
	threads_left--;
	threads_made++;
	return real.to(newthread, attr, start_routine, arg);
}

/* The caller is one of the threads, and there are 64 at most; where fewer can be had, they do. */
static void test_threads(void **state)
{
	static const struct {
		unsigned asked, left, made;
	} rows[] = {{2, 9, 1},	  {3, 9, 2}, {64, 99, 63}, {65, 99, 63},
		    {66, 99, 63}, {4, 2, 2}, {4, 0, 0}};
	struct vt_pt_options opt = {.clock = {3, 0, 256, 2}, .jobs = 1};
	struct result one = {.insns = 0}, many = {.insns = 0};
	struct vt_pt_code *c = vt_pt_code_new();
	struct jobs jobs;
	size_t i;

	(void)state;
	add_code(c, BASE, code, sizeof(code));
	make(&maker, 0);
	run_engine(&vt_pt_fast, c, &opt, maker.t.bytes, size_of(&maker.t), false, &one);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		opt.jobs = rows[i].asked;
		threads_made = 0;
		threads_left = rows[i].left;
		run_jobs(&maker.t, c, opt, &many, &jobs);
		assert_int_equal(threads_made, rows[i].made);
		assert_true(same_result(&one, &many));
		/* Nobody else has walked any. */
		if (!rows[i].left)
			assert_int_equal(jobs.walked, 0);
	}
	threads_left = UINT_MAX;
	free_result(&one);
	free_result(&many);
	vt_pt_code_free(c);
}

/* ---- when states join --------------------------------------------------------------- */

#define TOLD_EARLIER (1U << VT_PT_NOTE_PAGING)
#define TOLD_BOTH    (1U << VT_PT_NOTE_TSX)
#define TOLD_LATER   (1U << VT_PT_NOTE_VMCS)

/* A walk that has come to where a job's walk began, `cycles` before it, and where that ended. */
struct meeting {
	struct vti_pt_lazy now, from, to;
};

static void set_cycles(struct vti_pt_lazy *s, uint64_t cycles)
{
	s->cursor.timing.cycles = cycles;
	s->cursor.timing.rate_cycles = cycles - 3;
	s->marked.cycles = cycles - 5;
}

static void meet(struct meeting *m, uint64_t now, uint64_t from, uint64_t to)
{
	static const uint64_t earlier[] = {1, 2, 3, 4};
	struct vti_pt_lazy *s = &m->from;

	memset(m, 0, sizeof(*m));
	s->ip = BASE;
	s->mode = 64;
	s->cursor.timing.has_tsc = true;
	s->cursor.timing.measuring = true;
	s->reported.types = TOLD_BOTH;
	s->reported.last[VT_PT_NOTE_TSX] = 1;
	m->now = m->to = *s;
	set_cycles(&m->now, now);
	set_cycles(&m->from, from);
	set_cycles(&m->to, to);
	m->now.cursor.timing.lost = 5;
	m->from.cursor.timing.lost = 2;
	m->to.cursor.timing.lost = 4;
	m->now.reported.types |= TOLD_EARLIER;
	m->now.reported.last[VT_PT_NOTE_PAGING] = 77;
	m->to.reported.types |= TOLD_LATER;
	m->to.reported.last[VT_PT_NOTE_TSX] = 2;
	m->to.reported.last[VT_PT_NOTE_VMCS] = 3;
	/* Four calls, of which the job has seen two; it has returned from one, and called. */
	m->now.nreturns = m->now.high = 4;
	memcpy(m->now.returns, earlier, sizeof(earlier));
	m->from.nreturns = m->from.high = 2;
	memcpy(m->from.returns, earlier + 2, 2 * sizeof(*earlier));
	m->to.nreturns = m->to.high = 2;
	m->to.returns[0] = 3;
	m->to.returns[1] = 9;
}

static void test_joined(void **state)
{
	static const uint64_t returns[] = {1, 2, 3, 9};
	static const uint8_t sync = 0;
	struct meeting m;
	uint64_t cycles, i;

	(void)state;
	meet(&m, 1000, 100, 150);
	m.now.sync = &sync;
	m.to.ip = BASE + 7;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	assert_int_equal(cycles, 900);
	assert_int_equal(m.now.ip, BASE + 7);
	assert_ptr_equal(m.now.sync, &sync);
	assert_int_equal(m.now.cursor.timing.cycles, 1050);
	assert_int_equal(m.now.cursor.timing.rate_cycles, 1047);
	assert_int_equal(m.now.marked.cycles, 1045);
	assert_int_equal(m.now.cursor.timing.lost, 7);
	assert_int_equal(m.now.reported.types, TOLD_EARLIER | TOLD_BOTH | TOLD_LATER);
	assert_int_equal(m.now.reported.last[VT_PT_NOTE_PAGING], 77);
	assert_int_equal(m.now.reported.last[VT_PT_NOTE_TSX], 2);
	assert_int_equal(m.now.reported.last[VT_PT_NOTE_VMCS], 3);
	assert_int_equal(m.now.nreturns, 4);
	assert_memory_equal(m.now.returns, returns, sizeof(returns));
	/* Calls push the oldest out of a stack that has been full but for 3. */
	meet(&m, 1000, 100, 150);
	m.now.nreturns = 63;
	m.to.nreturns = m.to.high = 61;
	for (i = 0; i < 63; i++)
		m.now.returns[i] = 100 + i;
	for (i = 0; i < 61; i++)
		m.to.returns[i] = 200 + i;
	m.from.returns[0] = 161;
	m.from.returns[1] = 162;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	assert_int_equal(m.now.nreturns, 64);
	assert_int_equal(m.now.returns[0], 158);
	assert_int_equal(m.now.returns[2], 160);
	assert_int_equal(m.now.returns[3], 200);
	assert_int_equal(m.now.returns[63], 260);
}

#define FIELD(name)                                                                                \
	{                                                                                          \
		offsetof(struct meeting, name), sizeof(((struct meeting *)NULL)->name), #name      \
	}

static const struct {
	size_t at;
	size_t size;
	const char *name;
} fields[] = {
	FIELD(now.pos),
	FIELD(now.ip),
	FIELD(now.last_ip),
	FIELD(now.has_last_ip),
	FIELD(now.ip_suppressed),
	FIELD(now.branched),
	FIELD(now.has_mode),
	FIELD(now.mode),
	FIELD(now.has_tsc),
	FIELD(now.has_tma),
	FIELD(now.reported.nonroot),
	FIELD(now.cursor.p),
	FIELD(now.cursor.bip),
	FIELD(now.cursor.tnt),
	FIELD(now.cursor.pending_end),
	FIELD(now.marked.tsc),
	FIELD(now.marked.cycles),
	FIELD(now.reported.last[VT_PT_NOTE_TSX]),
	FIELD(now.returns[2]),
	FIELD(now.returns[3]),
	FIELD(now.cursor.timing.tsc),
	FIELD(now.cursor.timing.cycles),
	FIELD(now.cursor.timing.cbr),
	FIELD(now.cursor.timing.has_tsc),
	FIELD(now.cursor.timing.has_cycles),
	FIELD(now.cursor.timing.base),
	FIELD(now.cursor.timing.since),
	FIELD(now.cursor.timing.limit),
	FIELD(now.cursor.timing.edge),
	FIELD(now.cursor.timing.part),
	FIELD(now.cursor.timing.ctc),
	FIELD(now.cursor.timing.shown),
	FIELD(now.cursor.timing.has_ctc),
	FIELD(now.cursor.timing.has_mtc),
	FIELD(now.cursor.timing.off),
	FIELD(now.cursor.timing.measuring),
	FIELD(now.cursor.timing.rate),
	FIELD(now.cursor.timing.rate_tsc),
	FIELD(now.cursor.timing.rate_cycles),
};

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

/* Where anything but the cycles differs, a job's walk was not this one. */
static void test_differences(void **state)
{
	struct meeting m;
	uint64_t cycles;
	size_t i;

	(void)state;
	for (i = 0; i < NFIELDS; i++) {
		meet(&m, 1000, 100, 150);
		((uint8_t *)&m)[fields[i].at] ^= 1;
		if (vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles))
			fail_msg("%s", fields[i].name);
	}
}

/* A walk that is put into a state is in it. */
static void test_set(void **state)
{
	static const uint8_t bytes[] = {0, 0, 0, 0};
	const struct vt_pt_options opt = {.jobs = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vti_pt_walk *w = vti_pt_walk_open(bytes, sizeof(bytes), &opt, &err);
	struct meeting m, got;
	size_t i;

	(void)state;
	assert_non_null(w);
	meet(&m, 1000, 100, 150);
	for (i = 0; i < NFIELDS; i++)
		((uint8_t *)&m)[fields[i].at] ^= 1;
	m.now.pos = m.now.cursor.p = bytes + 1;
	m.now.sync = bytes + 2;
	vti_pt_lazy_set(w, &m.now);
	vti_pt_lazy_get(w, &got.now);
	for (i = 0; i < NFIELDS; i++)
		if (memcmp((uint8_t *)&got + fields[i].at, (uint8_t *)&m + fields[i].at,
			   fields[i].size) != 0)
			fail_msg("%s", fields[i].name);
	assert_ptr_equal(got.now.sync, m.now.sync);
	assert_int_equal(got.now.reported.types, m.now.reported.types);
	assert_int_equal(got.now.high, m.now.high);
	assert_int_equal(got.now.nreturns, m.now.nreturns);
	assert_true(w->enabled);
	assert_true(w->query.enabled);
	assert_true(w->query.started);
	assert_int_equal(w->query.next, VT_PT_PAD);
	vti_pt_walk_close(w);
}

/* What nothing that follows depends on may differ. */
static void test_no_matter(void **state)
{
	struct meeting m;
	uint64_t cycles;

	(void)state;
	/* No time was told: since when does not matter. */
	meet(&m, 1000, 100, 150);
	m.now.cursor.timing.has_tsc = m.from.cursor.timing.has_tsc = false;
	m.now.cursor.timing.since = 9;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	/* Nothing is being measured. */
	meet(&m, 1000, 100, 150);
	m.now.cursor.timing.measuring = m.from.cursor.timing.measuring = false;
	m.now.cursor.timing.rate_tsc = 9;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	/* The ratio is told, which takes two numbers: what was measured is not used. */
	meet(&m, 1000, 100, 150);
	m.now.cursor.timing.rate = 9;
	m.now.cursor.timing.cbr = m.from.cursor.timing.cbr = 20;
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	m.now.cursor.timing.clock.nominal_ratio = 32;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	/* An older return. */
	meet(&m, 1000, 100, 150);
	m.now.returns[1] = 8;
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	assert_int_equal(m.now.returns[1], 8);
}

static void test_told(void **state)
{
	struct meeting m;
	uint64_t cycles;

	(void)state;
	/* The job knew of what nobody had told. */
	meet(&m, 1000, 100, 150);
	m.now.reported.types &= ~TOLD_BOTH;
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	/* It told of what it did not know to be told. */
	meet(&m, 1000, 100, 150);
	m.to.reported.types |= TOLD_EARLIER;
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	/* More calls than there were. */
	meet(&m, 1000, 100, 150);
	m.now.nreturns = 1;
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
}

/* A clock that may have come to the end of what it counts is not added to. */
static void test_many_cycles(void **state)
{
	const uint64_t many = UINT64_C(1) << 62;
	struct meeting m;
	uint64_t cycles;

	(void)state;
	meet(&m, many - 1, 100, 150);
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	meet(&m, many, 100, 150);
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	meet(&m, 1000, many - 1, 150);
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	meet(&m, 1000, many, 150);
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	meet(&m, 1000, 100, many - 1);
	assert_true(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
	meet(&m, 1000, 100, many);
	assert_false(vti_pt_lazy_join(&m.now, &m.from, &m.to, &cycles));
}

/* ---- locks --------------------------------------------------------------------------- */

#define LOCKED 100000

/*
 * A walk holds the lock when it is asked, gives it up and takes it again as often. The thread has a
 * lock that counts many times, so that one more or less shows.
 */
static void test_locks(void **state)
{
	struct vt_pt_options opt = {.clock = {3, 0, 256, 2}, .jobs = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new();
	struct vti_pt_walk *w;
	pthread_mutexattr_t attr;
	pthread_mutex_t lock;
	struct vt_pt_batch batch;
	unsigned i;

	(void)state;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	assert_int_equal(pthread_mutex_init(&lock, &attr), 0);
	for (i = 0; i < LOCKED; i++)
		assert_int_equal(pthread_mutex_lock(&lock), 0);
	add_code(c, BASE, code, sizeof(code));
	make(&maker, OFF);
	w = open_walk(c, &opt, maker.t.bytes, size_of(&maker.t));
	w->lock = &lock;
	for (i = 0; i < 8; i++)
		assert_int_equal(vti_pt_walk_next(w, UINT64_MAX, &batch, &err), 1);
	w->lock = NULL;
	for (i = 0; i < LOCKED; i++)
		assert_int_equal(pthread_mutex_unlock(&lock), 0);
	assert_int_not_equal(pthread_mutex_unlock(&lock), 0);
	close_walk(w);
	vt_pt_code_free(c);
	pthread_mutex_destroy(&lock);
	pthread_mutexattr_destroy(&attr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins),  cmocka_unit_test(test_same),
		cmocka_unit_test(test_joined), cmocka_unit_test(test_differences),
		cmocka_unit_test(test_set),    cmocka_unit_test(test_no_matter),
		cmocka_unit_test(test_told),   cmocka_unit_test(test_many_cycles),
		cmocka_unit_test(test_locks),  cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
