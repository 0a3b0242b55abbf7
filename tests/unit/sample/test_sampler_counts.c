/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samplers of random walks through a small program, against a count of each instruction for itself:
 * which are sampled, which are interpreted, and who their callers are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stream/exec.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/sample/sampled.h"

#define RUNS	 300
#define MOST	 100000 /* instructions, and samples */
#define NTHREADS 4	/* two of each process */
#define DEPTH	 5
#define SHIFT	 10 /* three cycles a nanosecond */
#define MULT	 341

enum { A, B, C, D, E, F, G, H, I, J, K, L, NBLOCKS };

/* A calls C, which returns to D; C may call itself in G, and goes on in H. L is a loop. */
static const struct sampled_block blocks[NBLOCKS] = {
	[A] = {0x1000,
	       3,
	       {2, 3, 1},
	       VT_END_FALL,
	       3,
	       {SAMPLED_SLOT(0, VT_WHAT_LOAD_ADDRESS, 8), SAMPLED_SLOT(0, VT_WHAT_LOAD, 4),
		SAMPLED_SLOT(2, VT_WHAT_STORE, 2)}},
	[B] = {0x1006, 2, {3, 2}, VT_END_CALL, 1, {SAMPLED_SLOT(0, VT_WHAT_STORE_ADDRESS, 8)}},
	[D] = {0x100b,
	       4,
	       {1, 1, 2, 2},
	       VT_END_BRANCH,
	       3,
	       {SAMPLED_SLOT(1, VT_WHAT_LOAD, 1), SAMPLED_SLOT(2, VT_WHAT_RESULT, 8),
		SAMPLED_SLOT(3, VT_WHAT_STORE, 8)}},
	[F] = {0x1011, 2, {2, 2}, VT_END_JUMP, 0, {0}},
	[C] = {0x10fff, 2, {1, 1}, VT_END_BRANCH, 1, {SAMPLED_SLOT(1, VT_WHAT_LOAD_ADDRESS, 8)}},
	[E] = {0x3002, 1, {1}, VT_END_RETURN, 0, {0}},
	[G] = {0x3010, 1, {5}, VT_END_CALL_INDIRECT, 0, {0}},
	[H] = {0x3015, 3, {1, 1, 1}, VT_END_RETURN, 1, {SAMPLED_SLOT(0, VT_WHAT_STORE, 1)}},
	[I] = {0x4000, 1, {2}, VT_END_SYSCALL, 0, {0}},
	[J] = {0x4002, 1, {1}, VT_END_OTHER, 0, {0}},
	[K] = {0x4003, 1, {3}, VT_END_JUMP_INDIRECT, 0, {0}},
	[L] = {0x5000, 1, {2}, VT_END_JUMP, 0, {0}},
};

/* One that was executed. */
struct insn {
	int64_t pid;
	int64_t tid;
	uint64_t time;
	uint64_t pos; /* in its process */
	uint64_t addr;
	uint64_t caller; /* as it is, and as the run says where it begins */
	uint64_t told;
	bool units[VT_NSAMPLERUNITS];
	bool valued;
	bool begins; /* a run */
	bool written;
	uint8_t nbytes;
	uint8_t bytes[16];
};

struct walker {
	unsigned at;
	unsigned insn;
	unsigned frames[DEPTH]; /* blocks to return to */
	unsigned depth;
	uint64_t burst; /* still to be interpreted */
};

struct process {
	struct vt_rng rng;
	uint64_t interval, left, time;
};

struct turn {
	uint64_t on, off, bound, since;
	bool mute;
};

struct sample {
	int64_t pid;
	int64_t tid;
	uint64_t time;
	uint64_t ip;
	uint64_t period;
};

static struct insn insns[MOST];
static size_t ninsns;
static struct sample samples[MOST];
static size_t nsamples;
static struct process processes[2];
static struct walker walkers[NTHREADS];
static struct vt_error err;

/* ---- walks ---- */

static unsigned go_on(struct walker *k, struct vt_rng *rng)
{
	switch (k->at) {
	case A:
		return B;
	case B:
	case G:
		k->frames[k->depth++] = k->at == B ? D : H;
		return C;
	case C:
		return k->depth < DEPTH && vt_rng_below(rng, 2) ? G : E;
	case E:
	case H:
		return k->frames[--k->depth];
	case D:
		return vt_rng_below(rng, 2) ? A : F;
	case F:
		return vt_rng_below(rng, 2) ? A : vt_rng_below(rng, 2) ? I : L;
	case I:
		return J;
	case J:
		return K;
	case K:
		return A;
	default:
		return vt_rng_below(rng, 40) ? L : A;
	}
}

static uint64_t caller_of(const struct walker *k)
{
	return k->depth ? blocks[k->frames[k->depth - 1]].addr : 0;
}

static void describe(struct insn *i, const struct walker *k, struct vt_rng *rng)
{
	const struct sampled_block *b = &blocks[k->at];
	unsigned s, n;

	i->addr = b->addr;
	for (s = 0; s < k->insn; s++)
		i->addr += b->lengths[s];
	i->caller = caller_of(k);
	i->units[VT_SAMPLER_INSNS] = true;
	i->units[VT_SAMPLER_BLOCKS] = k->insn == 0;
	i->units[VT_SAMPLER_BRANCHES] =
		k->insn + 1 == b->ninsns && k->at != A && k->at != I && k->at != J;
	for (s = 0; s < b->nslots; s++) {
		unsigned what = b->slots[s] >> 16 & 0xffff;

		if ((b->slots[s] & 0xffff) != k->insn)
			continue;
		i->valued = true;
		i->units[VT_SAMPLER_LOADS] |= what == VT_WHAT_LOAD || what == VT_WHAT_LOAD_ADDRESS;
		i->units[VT_SAMPLER_STORES] |=
			what == VT_WHAT_STORE || what == VT_WHAT_STORE_ADDRESS;
		for (n = b->slots[s] >> 32 & 0xffff; n; n--)
			i->bytes[i->nbytes++] = (uint8_t)vt_rng_next(rng);
	}
}

/* A run of a thread; what its instructions are goes to `insns`. */
static void put_run(struct vt_writer *w, unsigned thread, uint64_t n, uint64_t time,
		    struct vt_rng *rng)
{
	static uint64_t positions[2];
	static uint32_t ids[MOST];
	static uint8_t data[16 * MOST];
	struct walker *k = &walkers[thread];
	unsigned p = thread / 2;
	struct sampled_run run = {10 + p, 20 + 0x10000 * thread, time, 0, 0, 0, n};
	size_t nblocks = 0, size = 0;
	uint64_t done;

	if (!ninsns)
		memset(positions, 0, sizeof(positions));
	run.first = positions[p];
	run.skip = k->insn;
	run.caller = vt_rng_below(rng, 2) ? caller_of(k) : 0;
	for (done = 0; done < n; done++) {
		struct insn *i = &insns[ninsns++];

		*i = (struct insn){.pid = run.pid,
				   .tid = run.tid,
				   .time = time,
				   .pos = positions[p]++,
				   .begins = !done,
				   .told = run.caller};
		describe(i, k, rng);
		memcpy(data + size, i->bytes, i->nbytes);
		size += i->nbytes;
		if (!done || !k->insn)
			ids[nblocks++] = p * NBLOCKS + k->at;
		if (++k->insn == blocks[k->at].ninsns) {
			k->at = go_on(k, rng);
			k->insn = 0;
		}
	}
	sampled_put_run(w, &run, ids, nblocks, data, size);
}

static void put_walks(struct vt_writer *w, uint64_t seed)
{
	uint64_t time = 1000000;
	struct vt_rng rng;
	unsigned i;

	vt_rng_init(&rng, seed);
	memset(walkers, 0, sizeof(walkers));
	ninsns = 0;
	sampled_put_timeconv(w, SHIFT, MULT);
	for (i = 0; i < 2 * NBLOCKS; i++)
		sampled_put_block(w, i, 10 + i / NBLOCKS, &blocks[i % NBLOCKS]);
	for (i = 0; i < RUNS; i++) {
		uint64_t n = 1 + vt_rng_below(&rng, vt_rng_below(&rng, 3) ? 30 : 500);

		put_run(w, (unsigned)vt_rng_below(&rng, NTHREADS), n, time, &rng);
		/* Now and then it stands still, goes back, or nothing runs for long. */
		if (i % 50 == 20)
			time += 1000000000;
		else if (i % 10 == 7)
			time -= 100;
		else if (i % 10)
			time += vt_rng_below(&rng, 3000);
	}
}

/* ---- what is to come of them ---- */

static void add_sample(const struct insn *i, uint64_t period)
{
	samples[nsamples++] = (struct sample){i->pid, i->tid, i->time, i->addr, period};
}

static void next_interval(const struct vt_sampler_options *o, struct process *p)
{
	p->interval = p->left = vt_interval_next(&o->interval, &p->rng);
}

static void sample(const struct vt_sampler_options *o, const struct insn *i, struct process *p,
		   uint64_t period)
{
	add_sample(i, period);
	if (o->burst && (o->fraction <= 1 || !vt_rng_below(&p->rng, o->fraction)))
		walkers[(i->tid - 20) >> 16].burst = o->burst;
}

/* The cycles since the process's last run. */
static void count_time(const struct vt_sampler_options *o, const struct insn *i, struct process *p)
{
	uint64_t now = (i->time << SHIFT) / MULT, passed = 0, period = 0;

	if (p->time && now > p->time)
		passed = now - p->time;
	if (now > p->time)
		p->time = now;
	if (passed / 1000000 > o->interval.mean) {
		period = passed;
		passed = 0;
	}
	for (; passed; passed--) {
		if (--p->left)
			continue;
		period += p->interval;
		next_interval(o, p);
	}
	if (period)
		sample(o, i, p, period);
}

static void count_all(const struct vt_sampler_options *o)
{
	unsigned known = 0;
	size_t k;

	memset(processes, 0, sizeof(processes));
	for (k = 0; k < ninsns; k++) {
		struct insn *i = &insns[k];
		struct process *p = &processes[i->pid - 10];
		uint64_t *burst = &walkers[(i->tid - 20) >> 16].burst;

		/* Each has numbers of its own, in the order in which they appear. */
		if (!p->interval) {
			vt_rng_init(&p->rng, o->seed + known++ * 0x9e3779b97f4a7c15u);
			p->interval = p->left = vt_interval_first(&o->interval, &p->rng);
		}
		if (o->unit == VT_SAMPLER_CYCLES && i->begins) {
			count_time(o, i, p);
		} else if (i->units[o->unit] && --p->left == 0) {
			sample(o, i, p, p->interval);
			next_interval(o, p);
		}
		i->written = *burst > 0;
		*burst -= i->written;
	}
}

/* Each instruction of each process for itself; what lies between two that are near goes along. */
static void count_turns(const struct vt_sampler_options *o)
{
	static struct turn turns[2][0x12000];
	uint64_t quiet = UINT64_MAX; /* instructions since the last that was written of the run */
	struct vt_rng rng;
	unsigned p;
	size_t k;

	memset(turns, 0, sizeof(turns));
	vt_rng_init(&rng, o->seed);
	for (k = 0; k < ninsns; k++) {
		struct insn *i = &insns[k];
		struct turn *t = &turns[i->pid - 10][i->addr];

		quiet = i->begins ? UINT64_MAX : quiet == UINT64_MAX ? quiet : quiet + 1;
		if (!i->valued)
			continue;
		if (!t->bound)
			*t = (struct turn){.on = o->burst, .bound = o->backoff};
		t->since++;
		if (t->off) {
			t->off--;
			quiet = UINT64_MAX;
			continue;
		}
		if (t->on == o->burst) {
			add_sample(i, t->since);
			t->since = 0;
			t->mute = o->fraction > 1 && vt_rng_below(&rng, o->fraction);
		}
		if (--t->on == 0) {
			t->off = o->backoff + vt_rng_below(&rng, t->bound - o->backoff + 1);
			t->bound *= 2;
			t->on = o->burst;
		}
		if (t->mute) {
			quiet = UINT64_MAX;
			continue;
		}
		/* `quiet` counts this one too. */
		if (quiet <= 64)
			for (; quiet; quiet--)
				insns[k - quiet].written = true;
		i->written = true;
		quiet = 0;
	}
	/* What is left of each, in the order in which they appeared. */
	for (k = 0; k < ninsns; k++) {
		struct turn *t;

		p = (unsigned)insns[k].pid - 10;
		t = &turns[p][insns[k].addr];
		if (t->bound && t->since) {
			struct insn end = {
				.pid = insns[k].pid, .tid = insns[k].pid, .addr = insns[k].addr};

			add_sample(&end, t->since);
		}
		t->since = 0;
	}
}

/* ---- what came of them ---- */

static void check_sample(const struct vt_record *rec, size_t n)
{
	const struct sample *s = &samples[n];

	assert_true(n < nsamples);
	assert_int_equal(vt_record_i64(rec, VT_SAMPLE_PID), s->pid);
	assert_int_equal(vt_record_i64(rec, VT_SAMPLE_TID), s->tid);
	assert_int_equal(vt_record_u64(rec, VT_SAMPLE_TIME), s->time);
	assert_int_equal(vt_record_u64(rec, VT_SAMPLE_IP), s->ip);
	assert_int_equal(vt_record_u64(rec, VT_SAMPLE_PERIOD), s->period);
	/* IP, TID, PERIOD, and TIME where there is one */
	assert_int_equal(vt_record_u64(rec, VT_SAMPLE_HAS), s->time ? 0x107 : 0x103);
}

/* A part is all that is written without a break, of one run: from number `k` on; where it ends. */
static size_t check_part(const struct vt_record *rec, const struct vt_bblocks *dict, size_t k,
			 bool context)
{
	struct vt_step step;
	struct vt_exec x;
	uint32_t n;

	while (k < ninsns && !insns[k].written)
		k++;
	assert_true(k < ninsns);
	assert_int_equal(vt_exec_open(&x, dict, rec, &err), 0);
	assert_int_equal(x.pid, insns[k].pid);
	assert_int_equal(x.tid, insns[k].tid);
	assert_int_equal(x.time, insns[k].time);
	assert_int_equal(x.first, insns[k].pos);
	assert_int_equal(x.width, 2);
	assert_int_equal(x.caller, context ? insns[k].caller : insns[k].begins ? insns[k].told : 0);
	while (vt_exec_next(&x, &step, &err) > 0) {
		const uint8_t *data = step.data;

		for (n = step.insn; n < step.insn_end; n++, k++) {
			assert_true(k < ninsns && insns[k].written);
			assert_int_equal(vt_bblock_insn_addr(step.block, n), insns[k].addr);
			assert_int_equal(step.block->pid, insns[k].pid);
			assert_memory_equal(data, insns[k].bytes, insns[k].nbytes);
			data += insns[k].nbytes;
		}
	}
	assert_int_equal(x.insns, 0);
	assert_ptr_equal(x.data, x.data_end);
	assert_true(k == ninsns || !insns[k].written || insns[k].begins);
	return k;
}

static void check(const struct vt_sampler_options *o, uint64_t seed)
{
	struct vt_bblocks *dict = vt_bblocks_new();
	size_t n = 0, k = 0, blocks_seen = 0;
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct sampled s;

	put_walks(w, seed);
	nsamples = 0;
	if (o->per_instruction)
		count_turns(o);
	else
		count_all(o);
	sampled_take(&s, fd, w, o);
	assert_int_equal(s.code, 0);
	assert_int_equal(s.warnings.size, 0);
	while (vt_reader_next(s.r, &rec, &err) > 0) {
		if (rec.kind == VT_SAMPLE)
			check_sample(&rec, n++);
		else if (rec.kind == VT_EXEC)
			k = check_part(&rec, dict, k, o->follow);
		else if (rec.kind == VT_BLOCK) {
			assert_int_equal(vt_record_u64(&rec, VT_BLOCK_ID), blocks_seen++);
			assert_int_equal(vt_bblocks_add(dict, &rec, &err), 0);
		}
	}
	while (k < ninsns && !insns[k].written)
		k++;
	assert_int_equal(k, ninsns);
	assert_int_equal(n, nsamples);
	assert_true(n > 0);
	vt_bblocks_free(dict);
	sampled_drop(&s);
}

static void test_counters(void **state)
{
	static const struct {
		enum vt_interval_kind kind;
		uint64_t mean, burst, fraction;
	} rows[] = {
		{VT_INTERVAL_FIXED, 1, 1, 1},	    {VT_INTERVAL_FIXED, 7, 0, 1},
		{VT_INTERVAL_UNIFORM, 40, 9, 0},    {VT_INTERVAL_GEOMETRIC, 25, 5, 3},
		{VT_INTERVAL_GEOMETRIC, 3, 2, 1},   {VT_INTERVAL_UNIFORM, 100, 300, 2},
		{VT_INTERVAL_GEOMETRIC, 90, 12, 1},
	};
	unsigned unit, context, i;

	(void)state;
	for (unit = 0; unit < VT_NSAMPLERUNITS; unit++)
		for (context = 0; context < 2; context++)
			for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
				struct vt_sampler_options o = {
					.unit = (enum vt_sampler_unit)unit,
					.interval = vt_interval_make(rows[i].kind, rows[i].mean),
					.burst = rows[i].burst,
					.fraction = rows[i].fraction,
					.seed = 5 + i,
					.follow = context};

				check(&o, 100 * unit + i);
			}
}

static void test_turns(void **state)
{
	static const struct {
		uint64_t burst, backoff, fraction;
	} rows[] = {{1, 1, 1}, {3, 10, 1}, {2, 5, 3}, {100, 20, 1}, {1, 3, 2}};
	unsigned context, i;

	(void)state;
	for (context = 0; context < 2; context++)
		for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			struct vt_sampler_options o = {
				.per_instruction = true,
				.interval = vt_interval_make(VT_INTERVAL_FIXED, 1),
				.burst = rows[i].burst,
				.backoff = rows[i].backoff,
				.fraction = rows[i].fraction,
				.seed = 9 + i,
				.follow = context};

			check(&o, 1000 + i);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
