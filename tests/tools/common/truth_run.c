/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/truth_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPTURE                                                                                    \
	(1u << VT_WHAT_UNKNOWN | 1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE |                        \
	 1u << VT_WHAT_LOAD_ADDRESS | 1u << VT_WHAT_STORE_ADDRESS | 1u << VT_WHAT_RESULT |         \
	 1u << VT_WHAT_ARG | 1u << VT_WHAT_TARGET | 1u << VT_WHAT_OPERAND)

#define MXCSR_DEFAULT 0x1f80
#define MEMORY	      (256u << 20)
#define CODE	      (256u << 20)
#define MOST_LENGTH   128
#define LEAST_LENGTH  16
#define MOST_GAP      96 /* instructions between windows */

static const char *const way_names[NWAYS] = {"followed", "free", "valgrind",
					     "sample",	 "part", "path"};

static void no_memory(void)
{
	fprintf(stderr, "out of memory\n");
	exit(1);
}

uint64_t truth_addr(const struct vt_step *s)
{
	return vt_bblock_insn_addr(s->block, s->insn);
}

/* ---- the shadow of memory ---- */

static void remember(struct truth *t, uint64_t addr, const struct access *a)
{
	uint8_t *old = vt_buf_reserve(&t->old, 2 * (size_t)a->size);

	if (!old || !vt_array_grow(&t->stored, &t->stored_cap, t->nstored + 1, sizeof(*t->stored)))
		no_memory();
	shadow_get(t->memory, addr, old, old + a->size, a->size);
	t->stored[t->nstored++] = (struct stored){addr, a->value, a->size, t->old.size};
	t->old.size += 2 * (size_t)a->size;
}

static void keep_accesses(struct truth *t)
{
	size_t i;

	for (i = 0; i < t->naccesses; i++) {
		const struct access *a = &t->accesses[i];
		uint64_t addr;

		if (!a->happened || !a->addr || !a->value)
			continue;
		addr = bytes_number(a->addr, a->addr_size);
		if (a->store && t->open)
			remember(t, addr, a);
		shadow_put(t->memory, addr, a->value, a->size, 1);
	}
}

/* Back to what memory was where the window began; what was loaded was there. */
static void undo(struct truth *t)
{
	size_t i = t->nstored;
	uint32_t k;

	while (i--) {
		const struct stored *s = &t->stored[i];
		const uint8_t *old = t->old.data + s->old;

		for (k = 0; k < s->size; k++)
			shadow_put(t->memory, s->addr + k, old + k, 1, old[s->size + k]);
	}
}

static void redo(struct truth *t)
{
	size_t i;

	for (i = 0; i < t->nstored; i++)
		shadow_put(t->memory, t->stored[i].addr, t->stored[i].value, t->stored[i].size, 1);
	t->nstored = t->old.size = 0;
}

/* ---- following ---- */

static void find_accesses(struct truth *t, const struct vt_step *s)
{
	uint32_t slot, end;

	t->naccesses = 0;
	for (slot = s->slot; slot < s->slot_end; slot = end) {
		for (end = slot + 1; end < s->slot_end; end++)
			if (s->block->slots[end].insn != s->block->slots[slot].insn)
				break;
		if (!vt_array_grow(&t->accesses, &t->accesses_cap, t->naccesses + MOST_ACCESSES,
				   sizeof(*t->accesses)))
			no_memory();
		t->naccesses += accesses_of(s, slot, end, t->accesses + t->naccesses);
	}
	if (!vt_array_grow(&t->taken, &t->taken_cap, t->naccesses + 1, sizeof(*t->taken)))
		no_memory();
	memset(t->taken, 0, t->naccesses * sizeof(*t->taken));
	t->step = s;
	t->guards = 0;
}

static void forget_bit_tests(struct truth *t, const struct vt_step *s)
{
	uint64_t addr;
	uint32_t i;

	for (i = s->slot; i < s->slot_end; i++) {
		if (!is_bit_test(s, i, &addr))
			continue;
		shadow_put(t->memory, addr, NULL, 8, 0);
		vt_known_memory_forget_range(t->known, addr, 8);
	}
}

/* What the follower does not know of registers it is told. */
static void tell_register(struct truth *t, const struct vt_step *s, uint32_t insn, unsigned reg)
{
	unsigned lane;

	for (lane = 0; lane < (reg < VT_REG_VECTOR ? 1 : 4); lane++) {
		struct vt_word is = vt_interp_get(t->follower, reg, lane);
		struct vt_word was = t->recorded.w[reg][lane];

		if ((is.value ^ was.value) & is.known & was.known)
			tally_differ(&t->tallies[WAY_FOLLOW], s, insn, "afterwards,", reg, is.value,
				     was.value);
		is.value |= was.value & was.known & ~is.known;
		is.known |= was.known;
		vt_interp_set(t->follower, reg, lane, is);
	}
}

static void tell_registers(struct truth *t, const struct vt_step *s)
{
	unsigned reg, lane;
	uint32_t i;

	for (i = s->slot; i < s->slot_end; i++) {
		reg = slot_register(&s->block->slots[i], &lane);
		if (reg < VT_NREGS)
			tell_register(t, s, s->block->slots[i].insn, reg);
	}
}

/* What was captured; some of it falsified, when that is wanted, in one bit. */
static const struct vt_capture *captures_of(struct truth *t, const struct vt_interp *m, size_t *n)
{
	const struct vt_capture *captures = vt_interp_captures(m, n);
	size_t i;

	if (!t->falsify || !*n)
		return captures;
	if (!vt_array_grow(&t->false_captures, &t->false_cap, *n + 1, sizeof(*captures)))
		no_memory();
	memcpy(t->false_captures, captures, *n * sizeof(*captures));
	for (i = 0; i < *n; i++) {
		struct vt_capture *c = &t->false_captures[i];

		if (c->what != VT_WHAT_RESULT || !c->known || vt_rng_below(&t->rng, t->falsify))
			continue;
		c->value ^= UINT64_C(1) << vt_rng_below(&t->rng, 8);
		t->falsified++;
	}
	return t->false_captures;
}

static void follow(struct truth *t, const struct vt_step *s, uint64_t next)
{
	struct tally *y = &t->tallies[WAY_FOLLOW];
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_capture *captures;
	enum vt_stop why;
	size_t n;

	truth_learn_code(t, s->block);
	find_accesses(t, s);
	vt_interp_clear(t->follower);
	why = vt_interp_follow(t->follower, (uint64_t)t->pid, truth_addr(s), s->insn_end - s->insn,
			       next, &err);
	y->stops[why]++;
	y->runs++;
	if (why == VT_STOP_MEMORY)
		no_memory();
	if (why == VT_STOP_PATH)
		tally_differ(y, s, s->insn_end - 1, "a contradiction", VT_NREGS, 0, next);
	captures = captures_of(t, t->follower, &n);
	compare_captures(y, captures, n, s, 1, next, &t->recorded);
	keep_accesses(t);
	forget_bit_tests(t, s);
	if (why == VT_STOP_LENGTH) {
		tell_registers(t, s);
		return;
	}
	vt_interp_forget(t->follower);
	registers_set(t->follower, &t->recorded);
	vt_known_memory_forget(t->known);
}

/* ---- windows ---- */

static void hide(struct truth *t, struct registers *r)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_REG_VECTOR + 16; reg++) {
		uint64_t draw = vt_rng_next(&t->rng);

		if (reg == VT_REG_IP)
			continue;
		for (lane = 0; lane < 4; lane++) {
			struct vt_word *w = &r->w[reg][lane];

			if (draw % 4 == 0)
				w->known = 0;
			else if (draw % 16 == 1)
				w->known &= vt_rng_next(&t->rng);
			else if (draw % 16 == 2)
				w->known &= UINT64_C(0xff) << 8 * (draw >> 8 & 7);
			w->value &= w->known;
		}
	}
}

static void narrow(struct truth *t, struct registers *r)
{
	if (t->way == WAY_PART || t->way == WAY_PATH)
		hide(t, r);
	if (t->way != WAY_SAMPLE)
		return;
	memset(r->w[VT_REG_VECTOR], 0, sizeof(r->w[0]) * 16);
	r->w[VT_REG_FS][0] = r->w[VT_REG_GS][0] = (struct vt_word){0, 0};
}

/* True when the run went to the end of the window. */
static bool run_along(struct truth *t, struct vt_interp *m, const struct vt_step *steps, size_t n,
		      uint64_t next)
{
	struct tally *y = &t->tallies[t->way];
	struct vt_error err = VT_ERROR_INIT;
	enum vt_stop why = VT_STOP_LENGTH;
	size_t i;

	for (i = 0; i < n && why == VT_STOP_LENGTH; i++) {
		const struct vt_step *s = &steps[i];

		t->step = s;
		why = vt_interp_follow(m, (uint64_t)t->pid, truth_addr(s), s->insn_end - s->insn,
				       i + 1 < n ? truth_addr(s + 1) : next, &err);
		if (why == VT_STOP_PATH)
			tally_differ(y, s, s->insn_end - 1, "a contradiction", VT_NREGS, 0, next);
	}
	y->stops[why]++;
	return why == VT_STOP_LENGTH;
}

static bool run_free(struct truth *t, struct vt_interp *m, const struct vt_step *last,
		     uint64_t next)
{
	struct tally *y = &t->tallies[t->way];
	struct vt_error err = VT_ERROR_INIT;
	enum vt_stop why;
	struct vt_word ip;
	uint64_t done;

	t->step = NULL;
	why = vt_interp_run(m, (uint64_t)t->pid, t->insns, &done, &err);
	y->stops[why]++;
	if (why == VT_STOP_MEMORY)
		no_memory();
	if (why != VT_STOP_LENGTH || done != t->insns)
		return false;
	ip = vt_interp_get(m, VT_REG_IP, 0);
	if (next && vt_word_is_known(ip) && ip.value != next)
		tally_differ(y, last, last->insn_end - 1, "the end", VT_NREGS, ip.value, next);
	return true;
}

static void try_window(struct truth *t, const struct vt_step *steps, size_t n, uint64_t next)
{
	struct tally *y = &t->tallies[t->way];
	struct vt_interp *m = t->runners[t->way].m;
	static struct registers end, want;
	const struct vt_capture *captures;
	size_t count;
	bool full;

	want = t->start;
	narrow(t, &want);
	vt_known_memory_reset(t->runners[t->way].mem);
	vt_interp_forget(m);
	registers_set(m, &want);
	if (vt_rng_below(&t->rng, 2))
		vt_interp_set_mxcsr(m, MXCSR_DEFAULT);
	vt_interp_clear(m);
	y->runs++;
	if (t->way == WAY_PATH)
		full = run_along(t, m, steps, n, next);
	else
		full = run_free(t, m, &steps[n - 1], next);
	captures = captures_of(t, m, &count);
	compare_captures(y, captures, count, steps, n, next, &t->start_recorded);
	if (!full)
		return;
	registers_get(&end, m);
	registers_get(&want, t->follower);
	compare_registers(y, &steps[n - 1], &end, &want);
}

static void open_window(struct truth *t, size_t at)
{
	static const enum way ways[8] = {WAY_FREE, WAY_FREE,   WAY_FREE, WAY_FREE,
					 WAY_FREE, WAY_SAMPLE, WAY_PART, WAY_PATH};

	t->open = true;
	t->spoilt = false;
	t->first = at;
	t->insns = 0;
	t->length = LEAST_LENGTH + vt_rng_below(&t->rng, MOST_LENGTH - LEAST_LENGTH + 1);
	t->way = ways[vt_rng_below(&t->rng, 8)];
	if (t->way == WAY_FREE && vt_rng_below(&t->rng, 5) == 0)
		t->way = WAY_VALGRIND;
	t->secret = vt_rng_next(&t->rng);
	registers_get(&t->start, t->follower);
	t->start.w[VT_REG_IP][0] = vt_word_unknown(64);
	t->start_recorded = t->recorded;
}

static void close_window(struct truth *t, const struct vt_step *steps, size_t last, uint64_t next)
{
	t->start.w[VT_REG_IP][0] = vt_word_of(truth_addr(&steps[t->first]));
	undo(t);
	if (!t->spoilt)
		try_window(t, steps + t->first, last - t->first + 1, next);
	redo(t);
	t->open = false;
	t->countdown = vt_rng_below(&t->rng, MOST_GAP);
}

/* ---- steps ---- */

/* Cuts the first `insns` instructions off. */
static struct vt_step split(struct vt_step *s, uint32_t insns)
{
	struct vt_step first = *s;
	uint32_t slot = s->slot, offset;

	while (slot < s->slot_end && s->block->slots[slot].insn < s->insn + insns)
		slot++;
	offset = slot < s->block->nslots ? s->block->slots[slot].offset : s->block->data_size;
	s->data += offset - s->data_offset;
	s->data_offset = offset;
	s->insn += insns;
	s->slot = slot;
	first.insn_end = s->insn;
	first.slot_end = slot;
	return first;
}

void truth_steps(struct truth *t, struct vt_step *steps, size_t n, uint64_t next)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct vt_step *s = &steps[i];
		uint32_t insns = s->insn_end - s->insn;
		uint64_t to = i + 1 < n ? truth_addr(s + 1) : next;

		if (!t->open && t->countdown < insns) {
			/* Some in the middle of blocks: each place costs lifted code. */
			if (t->countdown && vt_rng_below(&t->rng, 4) == 0) {
				struct vt_step before = split(s, (uint32_t)t->countdown);

				follow(t, &before, truth_addr(s));
				insns = s->insn_end - s->insn;
			}
			open_window(t, i);
		}
		follow(t, s, to);
		if (!t->open) {
			t->countdown -= insns;
			continue;
		}
		t->insns += insns;
		if (t->insns >= t->length || i + 1 == n)
			close_window(t, steps, i, to);
	}
}

/* ---- all ---- */

void truth_forget_code(struct truth *t, int64_t pid)
{
	unsigned i;

	vt_interp_forget_space(t->follower, (uint64_t)pid);
	for (i = WAY_FREE; i < NWAYS; i++)
		vt_interp_forget_space(t->runners[i].m, (uint64_t)pid);
}

bool truth_init(struct truth *t, uint64_t seed, struct vt_error *err)
{
	struct vt_interp_options opt = {
		.fetch = truth_fetch, .fetch_arg = t, .capture = CAPTURE, .max_code = CODE};
	unsigned i;

	memset(t, 0, sizeof(*t));
	vt_rng_init(&t->rng, seed);
	for (i = 0; i < NWAYS; i++) {
		struct runner *r = &t->runners[i];

		t->tallies[i].name = way_names[i];
		*r = (struct runner){.truth = t};
		opt.valgrind = i == WAY_FOLLOW || i == WAY_VALGRIND || i == WAY_PATH;
		if (i == WAY_FOLLOW)
			opt.hooks =
				(struct vt_interp_hooks){t, truth_load, truth_state, truth_guard};
		else
			memset(&opt.hooks, 0, sizeof(opt.hooks));
		r->mem = vt_known_memory_new(i == WAY_FOLLOW ? NULL : truth_fill, r, MEMORY);
		if (!r->mem)
			no_memory();
		r->m = vt_interp_new(&opt, r->mem, err);
		if (!r->m)
			return false;
	}
	t->tallies[WAY_FOLLOW].loads_given = true;
	t->follower = t->runners[WAY_FOLLOW].m;
	t->known = t->runners[WAY_FOLLOW].mem;
	t->pid = t->tid = -1;
	return true;
}

void truth_fini(struct truth *t)
{
	unsigned i;

	for (i = 0; i < NWAYS; i++) {
		vt_interp_free(t->runners[i].m);
		vt_known_memory_free(t->runners[i].mem);
	}
	free(t->accesses);
	free(t->taken);
	free(t->false_captures);
	free(t->stored);
	vt_buf_free(&t->old);
}

static void report_more(const struct tally *y)
{
	unsigned i;

	for (i = 0; i < VT_NSTOPS; i++)
		if (y->stops[i])
			printf("%s stop %s %" PRIu64 "\n", y->name, vt_stop_name(i), y->stops[i]);
	for (i = 0; i < VT_NWHATS; i++)
		if (y->compared[i])
			printf("%s compared %s %" PRIu64 "\n", y->name, vt_what_name(i),
			       y->compared[i]);
	printf("%s uncompared %" PRIu64 "\n", y->name, y->uncompared);
	printf("%s registers %" PRIu64 "\n", y->name, y->registers);
}

static void report_line(const char *name, const uint64_t n[6])
{
	printf("%s insns %" PRIu64 " runs %" PRIu64 " full %" PRIu64 " captured %" PRIu64
	       " values %" PRIu64 " differences %" PRIu64 "\n",
	       name, n[0], n[1], n[2], n[3], n[4], n[5]);
}

bool truth_report(const struct truth *t, bool verbose)
{
	uint64_t all[6] = {0};
	unsigned i, k;

	for (i = 0; i < NWAYS; i++) {
		const struct tally *y = &t->tallies[i];
		const uint64_t n[6] = {y->insns,    y->runs,	     y->stops[VT_STOP_LENGTH],
				       y->captured, tally_values(y), y->differences};

		report_line(y->name, n);
		if (verbose)
			report_more(y);
		for (k = 0; k < 6; k++)
			all[k] += n[k];
	}
	report_line("all", all);
	if (t->falsify)
		printf("falsified %" PRIu64 "\n", t->falsified);
	return all[4] && !all[5];
}
