/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <intel-pt.h>

#include "base/rng.h"
#include "formats/pt/decode/lazy.h"
#include "tests/tools/pt_engines.h"
#include "tests/unit/common/pttrace.h"

#define RANDOM_TRACES 8000

#define PSB 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82
/* A PSB+ of 64-bit code that is at 0x1000 + n. */
#define HEADER(n) PSB, 0x99, 1, 0x7d, (n), 0x10, 0, 0, 0, 0, 2, 0x23

/* The errata of each processor are those that libipt knows, and BDM70. */
static void knows_the_errata(void **state)
{
	unsigned model;

	(void)state;
	for (model = 0; model < 256; model++) {
		struct pt_cpu cpu = {pcv_intel, 6, (uint8_t)model, 0};
		struct vt_pt_options opt = {.family = 6, .model = (uint8_t)model};
		struct pt_errata e;
		unsigned want;

		pt_cpu_errata(&e, &cpu);
		want = VTI_PT_BDM70 | (e.bdm64 ? VTI_PT_BDM64 : 0) |
		       (e.skd007 ? VTI_PT_SKD007 : 0) | (e.skd022 ? VTI_PT_SKD022 : 0) |
		       (e.skd010 ? VTI_PT_SKD010 : 0) | (e.apl11 ? VTI_PT_APL11 : 0) |
		       (e.apl12 ? VTI_PT_APL12 : 0) | (e.skz84 ? VTI_PT_SKZ84 : 0);
		assert_int_equal(vti_pt_errata(&opt), want);
	}
}

/* Of more than 64 return addresses the oldest are forgotten. */
static void forgets_old_returns(void **state)
{
	struct vti_pt_walk w = {.pos = NULL};
	uint64_t ip, i;

	(void)state;
	for (i = 0; i < 70; i++)
		vti_pt_walk_push(&w, i);
	for (i = 70; i-- > 6;) {
		assert_true(vti_pt_walk_pop(&w, &ip));
		assert_int_equal(ip, i);
	}
	assert_false(vti_pt_walk_pop(&w, &ip));
}

struct story {
	struct vt_pt_code *code;
	struct vt_pt_engine *engine;
	struct vt_pt_batch batch;
};

static void tell(struct story *s, const struct vt_pt_engine_ops *ops, const uint8_t *code,
		 size_t code_size, const uint8_t *trace, size_t size)
{
	struct vt_pt_section section = {.start = 0x1000, .size = code_size, .bytes = code};
	struct vt_pt_options opt = {.jobs = 0};
	struct vt_error err = VT_ERROR_INIT;

	s->code = vt_pt_code_new();
	assert_non_null(s->code);
	assert_int_equal(vt_pt_code_add(s->code, &section, &err), 0);
	s->engine = ops->open(trace, size, &opt, &err);
	assert_non_null(s->engine);
	assert_int_equal(ops->set_code(s->engine, s->code, &err), 0);
	assert_int_equal(ops->next(s->engine, UINT64_MAX, &s->batch, &err), 1);
}

static void forget(struct story *s, const struct vt_pt_engine_ops *ops)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(ops->next(s->engine, UINT64_MAX, &s->batch, &err), 0);
	ops->close(s->engine);
	vt_pt_code_free(s->code);
}

static const struct vt_pt_engine_ops *const engines[] = {&vt_pt_libipt, &vt_pt_careful,
							 &vt_pt_fast};
#define NENGINES (sizeof(engines) / sizeof(engines[0]))

/* A jump to itself ends in a gap, whoever decodes it. */
static void ends_loops(void **state)
{
	static const uint8_t code[] = {0x90, 0xeb, 0xfe};
	static const uint8_t trace[] = {HEADER(0), 0x04};
	size_t i;

	(void)state;
	for (i = 0; i < NENGINES; i++) {
		const struct vt_pt_note *last;
		struct story s;

		tell(&s, engines[i], code, sizeof(code), trace, sizeof(trace));
		assert_int_equal(s.batch.insns, 3);
		last = &s.batch.notes[s.batch.nnotes - 1];
		assert_int_equal(last->type, VT_PT_NOTE_ERROR);
		assert_int_equal(last->error, VT_PT_ERR_LOOP);
		assert_int_equal(last->bytes, 1);
		forget(&s, engines[i]);
	}
}

/* What a FUP and a TIP leave in straight code cuts a block: an interrupt. */
static void cuts_at_interrupts(void **state)
{
	/* nop; nop; nop; nop; jmp *%rax */
	static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0xff, 0xe0};
	static const uint8_t trace[] = {HEADER(0), 0x3d, 0x02, 0x10, 0x2d, 0x03, 0x10};
	size_t i;

	(void)state;
	for (i = 0; i < NENGINES; i++) {
		const struct vt_pt_block *k;
		struct story s;

		tell(&s, engines[i], code, sizeof(code), trace, sizeof(trace));
		assert_int_equal(s.batch.nids, 1);
		k = vt_pt_blocks_get(s.batch.blocks, s.batch.ids[0]);
		assert_int_equal(k->addr, 0x1000);
		assert_int_equal(k->insns, 2);
		assert_int_equal(s.batch.notes[s.batch.nnotes - 1].type, VT_PT_NOTE_ASYNC_BRANCH);
		assert_int_equal(s.batch.notes[s.batch.nnotes - 1].ip, 0x1002);
		assert_int_equal(s.batch.notes[s.batch.nnotes - 1].to, 0x1003);
		forget(&s, engines[i]);
	}
}

/* What is wrong behind a packet spoils it: the reference reads ahead. */
static void reads_ahead(void **state)
{
	/* jz +0; nop; jz +0; nop */
	static const uint8_t code[] = {0x74, 0x00, 0x90, 0x74, 0x00, 0x90};
	static const uint8_t trace[] = {HEADER(0), 0x04, 0x04, 0x05};
	size_t i;

	(void)state;
	for (i = 0; i < NENGINES; i++) {
		struct story s;

		tell(&s, engines[i], code, sizeof(code), trace, sizeof(trace));
		assert_int_equal(s.batch.nids, 2);
		assert_int_equal(s.batch.notes[s.batch.nnotes - 1].error, VT_PT_ERR_BAD_PACKET);
		forget(&s, engines[i]);
	}
}

/* A PSB of which a bad packet takes the first bytes is found all the same. */
static void finds_eaten_psbs(void **state)
{
	static const uint8_t code[] = {0x90, 0x74, 0x00, 0x90, 0x74, 0x00};
	static const uint8_t trace[] = {HEADER(0), 0x71, 0, 0, 0, 0, HEADER(3), 0x06};
	size_t i;

	(void)state;
	for (i = 0; i < NENGINES; i++) {
		struct story s;

		tell(&s, engines[i], code, sizeof(code), trace, sizeof(trace));
		assert_int_equal(
			vt_pt_blocks_get(s.batch.blocks, s.batch.ids[s.batch.nids - 1])->addr,
			0x1003);
		forget(&s, engines[i]);
	}
}

/* A walk that was lent to a later part of the trace looks for PSBs where it was, not there. */
static void goes_on_where_it_was(void **state)
{
	/* jz to itself */
	static const uint8_t code[] = {0x74, 0xfe};
	/* Four decisions, something that is no packet, and two more PSBs. */
	static const uint8_t trace[] = {HEADER(0), 0x06, 0x06, 0x06, 0x06,	2,    0xff, 0xff,
					HEADER(0), 0x06, 0x06, 0x06, HEADER(0), 0x06, 0x06};
	const size_t header = sizeof((uint8_t[]){HEADER(0)}), gap = header + 4;
	struct vt_pt_section section = {.start = 0x1000, .size = sizeof(code), .bytes = code};
	struct vt_pt_options opt = {.jobs = 0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_code *c = vt_pt_code_new();
	struct vti_pt_lazy was;
	struct vti_pt_walk *w;
	struct vt_pt_batch b;
	size_t i;

	(void)state;
	assert_non_null(c);
	assert_int_equal(vt_pt_code_add(c, &section, &err), 0);
	w = open_walk(c, &opt, trace, sizeof(trace));

	w->stop = w->begin + header + 1;
	while (!w->reached)
		assert_int_equal(vti_pt_walk_next(w, UINT64_MAX, &b, &err), 1);
	vti_pt_lazy_get(w, &was);
	w->stop = NULL;
	vti_pt_lazy_restart(w, trace + gap + 3 + header + 3, trace + gap + 3 + header + 3);
	while (vti_pt_walk_next(w, UINT64_MAX, &b, &err) > 0)
		;
	assert_ptr_equal(w->query.sync, trace + gap + 3 + header + 3);

	vti_pt_lazy_set(w, &was);
	assert_int_equal(vti_pt_walk_next(w, UINT64_MAX, &b, &err), 1);
	for (i = 0; i < b.nnotes && b.notes[i].type != VT_PT_NOTE_ERROR; i++)
		;
	assert_true(i < b.nnotes);
	assert_int_equal(b.notes[i].offset, gap);
	assert_int_equal(b.notes[i].bytes, 3);
	close_walk(w);
	vt_pt_code_free(c);
}

/* The same bytes are other instructions in 64, 32 and 16-bit code, whichever was decoded before. */
static void decodes_in_each_mode(void **state)
{
	/*
	 * movabs $..., %rax; or dec %eax, mov $..., %eax, four nops; or dec %ax, mov $..., %ax, six
	 * nops.  Then je and ret.
	 */
	static const uint8_t code[] = {0x48, 0xb8, 0x74, 0,    0x90, 0x90, 0x90,
				       0x90, 0x90, 0x90, 0x74, 0,    0xc3};
	static const struct {
		unsigned mode, insns;
	} parts[] = {{64, 3}, {32, 8}, {16, 10}, {64, 3}, {16, 10}, {32, 8}};
	struct vt_pt_options opt = {.family = 0};
	struct vt_pt_code *c = vt_pt_code_new();
	static struct trace t;
	size_t i, k, n, block;

	(void)state;
	add_code(c, BASE, code, sizeof(code));
	start(&t);
	put_psb(&t, 0);
	n = sizeof(parts) / sizeof(parts[0]);
	for (i = 0; i < n; i++) {
		put_kind(&t, VT_PT_MODE_EXEC, parts[i].mode);
		put_ip(&t, VT_PT_TIP_PGE, BASE);
		put_tnt(&t, "0");
		put_no_ip(&t, VT_PT_TIP_PGD);
	}
	for (i = 0; i < NENGINES; i++) {
		struct result r = {.nblocks = 0};

		run_engine(engines[i], c, &opt, t.bytes, size_of(&t), false, &r);
		for (block = k = 0; k < n; k++) {
			unsigned insns = 0;

			for (; block < r.nblocks && insns < parts[k].insns; block++)
				insns += r.blocks[block].insns;
			assert_int_equal(insns, parts[k].insns);
		}
		assert_int_equal(block, r.nblocks);
		free_result(&r);
	}
	vt_pt_code_free(c);
}

/* ---- the engines agree on traces made at random, of processors of all kinds ---- */

/* Conditional and indirect jumps, a call and a return, writes of CR3 and PTWRITE, a system call. */
static const uint8_t random_code[] = {
	0x74, 0x06,		      /* 400000: je 400008 */
	0xe8, 0x09, 0,	  0,	0,    /* 400002: call 400010 */
	0x90,			      /* 400007: nop */
	0xff, 0xe0,		      /* 400008: jmp *%rax */
	0x0f, 0x22, 0xd8,	      /* 40000a: mov %rax,%cr3 */
	0xeb, 0xf1,		      /* 40000d: jmp 400000 */
	0x90,			      /* 40000f: nop */
	0xf3, 0x48, 0x0f, 0xae, 0xe0, /* 400010: ptwrite %rax */
	0x74, 0x02,		      /* 400015: je 400019 */
	0x0f, 0x05,		      /* 400017: syscall */
	0xc3,			      /* 400019: ret */
	0x0f, 0xc7, 0x30,	      /* 40001a: vmptrld (%rax) */
	0xeb, 0xe1,		      /* 40001d: jmp 400000 */
	0x0f, 0x01, 0xc2,	      /* 40001f: vmlaunch */
	0xff, 0xd0,		      /* 400022: call *%rax */
	0x90,			      /* 400024: nop */
	0xeb, 0xd9,		      /* 400025: jmp 400000 */
};

/* An instruction, or now and then the middle of one or no code. */
static uint64_t some_ip(struct vt_rng *rng)
{
	static const uint64_t starts[] = {0,	2,    7,    8,	  0xa,	0xd,  0xf, 0x10, 0x15,
					  0x17, 0x19, 0x1a, 0x1d, 0x1f, 0x22, 1,   0x800};

	return BASE + starts[vt_rng_below(rng, sizeof(starts) / sizeof(starts[0]))];
}

/* A PSB+ with some of what it may tell. */
static void put_rich_psb(struct trace *t, struct vt_rng *rng, uint64_t ip)
{
	static const struct vt_pt_packet packets[] = {
		{.kind = VT_PT_TSC, .payload = 1000},
		{.kind = VT_PT_TMA, .payload = 7, .extra = 3},
		{.kind = VT_PT_PIP, .payload = 0x2000},
		{.kind = VT_PT_MODE_TSX, .payload = 1},
		{.kind = VT_PT_MODE_TSX},
		{.kind = VT_PT_VMCS, .payload = 0x3000},
		{.kind = VT_PT_CBR, .payload = 30},
		{.kind = VT_PT_MNT, .payload = 5},
	};
	size_t i;

	put_kind(t, VT_PT_PSB, 0);
	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		if (vt_rng_below(rng, 4) == 0)
			put(t, packets[i]);
	if (vt_rng_below(rng, 8))
		put_ip(t, VT_PT_FUP, ip);
	put_kind(t, VT_PT_MODE_EXEC, 64);
	if (vt_rng_below(rng, 30))
		put_kind(t, VT_PT_PSBEND, 0);
}

static void put_some_bits(struct trace *t, struct vt_rng *rng)
{
	char bits[7];
	size_t n = 1 + vt_rng_below(rng, 6), i;

	for (i = 0; i < n; i++)
		bits[i] = vt_rng_below(rng, 2) ? '1' : '0';
	bits[n] = 0;
	put_tnt(t, bits);
}

static void put_clock(struct trace *t, struct vt_rng *rng)
{
	static const enum vt_pt_kind kinds[] = {VT_PT_TSC, VT_PT_CBR, VT_PT_CYC, VT_PT_CYC,
						VT_PT_MTC};
	size_t i = vt_rng_below(rng, 5);

	put_kind(t, kinds[i], i == 2 ? 1 + vt_rng_below(rng, 30) : vt_rng_below(rng, 250));
}

/* PTWRITE, or a power event; of some a FUP tells the address. */
static void put_told(struct trace *t, struct vt_rng *rng)
{
	static const struct vt_pt_packet packets[] = {
		{.kind = VT_PT_PTW, .count = 8, .payload = 0x77},
		{.kind = VT_PT_PTW, .count = 4, .payload = 0x78},
		{.kind = VT_PT_PTW, .count = 4, .payload = 0x79, .ip = true},
		{.kind = VT_PT_EXSTOP},
		{.kind = VT_PT_EXSTOP, .ip = true},
		{.kind = VT_PT_MWAIT, .payload = 0x10, .extra = 1},
		{.kind = VT_PT_PWRE, .payload = 3, .extra = 1},
		{.kind = VT_PT_PWRX, .payload = 0x21, .extra = 1},
	};
	const struct vt_pt_packet *k = &packets[vt_rng_below(rng, 4)];

	if (vt_rng_below(rng, 3) == 0)
		k = &packets[vt_rng_below(rng, sizeof(packets) / sizeof(packets[0]))];
	put(t, *k);
	if (k->ip)
		put_ip(t, VT_PT_FUP, some_ip(rng));
}

/* One or a few packets that may come after one another. */
static void put_something(struct trace *t, struct vt_rng *rng)
{
	switch (vt_rng_below(rng, 17)) {
	case 0:
		put_ip(t, VT_PT_FUP, some_ip(rng));
		put_ip(t, VT_PT_TIP, some_ip(rng));
		break;
	case 1:
		put_ip(t, VT_PT_FUP, some_ip(rng));
		put_no_ip(t, VT_PT_TIP_PGD);
		break;
	case 2:
		put_ip(t, VT_PT_TIP_PGD, some_ip(rng));
		break;
	case 3:
	case 4:
		put_ip(t, VT_PT_TIP_PGE, some_ip(rng));
		break;
	case 5:
		put_kind(t, VT_PT_OVF, 0);
		if (vt_rng_below(rng, 3))
			put_ip(t, VT_PT_FUP, some_ip(rng));
		break;
	case 6:
		put_kind(t, VT_PT_MODE_TSX, vt_rng_below(rng, 3));
		put_ip(t, VT_PT_FUP, some_ip(rng));
		if (vt_rng_below(rng, 2))
			put_ip(t, VT_PT_TIP, some_ip(rng));
		break;
	case 7:
		put_kind(t, VT_PT_PIP, (1 + vt_rng_below(rng, 3)) << 12);
		break;
	case 8:
		put_kind(t, VT_PT_VMCS, (1 + vt_rng_below(rng, 3)) << 12);
		break;
	case 9:
		put_rich_psb(t, rng, some_ip(rng));
		break;
	case 10:
		put_clock(t, rng);
		break;
	case 11:
		put_ip(t, VT_PT_TIP, some_ip(rng));
		break;
	case 12:
		put_told(t, rng);
		break;
	default:
		put_some_bits(t, rng);
		break;
	}
}

/* PTWRITE whose address a FUP tells, behind a call and where the trace begins. */
static void finds_told_ptwrites(void **state)
{
	static const struct vt_pt_packet ptw = {
		.kind = VT_PT_PTW, .count = 4, .payload = 0x78, .ip = true};
	struct vt_pt_code *c = vt_pt_code_new();
	static struct trace t;
	size_t i, k;

	(void)state;
	add_code(c, BASE, random_code, sizeof(random_code));
	start(&t);
	put_psb(&t, BASE + 2);
	for (i = 0; i < 3; i++) {
		put(&t, ptw);
		put_ip(&t, VT_PT_FUP, BASE + 0x10);
		put_tnt(&t, "1");
		put_ip(&t, VT_PT_TIP, BASE + (i ? 2 : 0x10));
	}
	for (i = 0; i < NENGINES; i++) {
		struct vt_pt_options opt = {.family = 6};
		struct result r = {.nblocks = 0};

		run_engine(engines[i], c, &opt, t.bytes, size_of(&t), false, &r);
		/* call, ptwrite, je, ret; ptwrite, je, ret; call, ptwrite, je, ret */
		assert_int_equal(r.insns, 11);
		for (k = 0; k < 3; k++) {
			const struct vt_pt_note *n = &r.notes[r.nnotes - 3 + k].note;

			assert_int_equal(n->type, VT_PT_NOTE_PTWRITE);
			assert_int_equal(n->ip, BASE + 0x10);
			assert_int_equal(n->value, 0x78);
		}
		free_result(&r);
	}
	vt_pt_code_free(c);
}

/* A processor that runs the code, and what it has written. */
struct runner {
	struct trace *t;
	struct vt_rng rng;
	char bits[7]; /* decisions that are not yet in a packet */
	unsigned nbits;
	uint64_t calls[8];
	unsigned ncalls;
	uint64_t ip; /* from BASE on */
};

static void flush_bits(struct runner *r)
{
	r->bits[r->nbits] = 0;
	if (r->nbits)
		put_tnt(r->t, r->bits);
	r->nbits = 0;
}

static void run_bit(struct runner *r, bool taken)
{
	r->bits[r->nbits++] = taken ? '1' : '0';
	if (r->nbits == 6)
		flush_bits(r);
}

static void run_to_any(struct runner *r, enum vt_pt_kind kind)
{
	static const uint64_t starts[] = {0,	2,    7,    8,	  0xa,	0xd,  0xf,
					  0x10, 0x15, 0x17, 0x19, 0x1a, 0x1f, 0x22};

	flush_bits(r);
	r->ip = starts[vt_rng_below(&r->rng, sizeof(starts) / sizeof(starts[0]))];
	put_ip(r->t, kind, BASE + r->ip);
}

/* Page tables and virtual machines may change at the same time as something else. */
static void put_switch(struct runner *r)
{
	if (vt_rng_below(&r->rng, 4) == 0)
		put_kind(r->t, VT_PT_PIP, (1 + vt_rng_below(&r->rng, 3)) << 12);
	if (vt_rng_below(&r->rng, 4) == 0)
		put_kind(r->t, VT_PT_VMCS, (1 + vt_rng_below(&r->rng, 3)) << 12);
}

/* Tracing is off for a while. */
static void run_off(struct runner *r)
{
	flush_bits(r);
	put_no_ip(r->t, VT_PT_TIP_PGD);
	if (vt_rng_below(&r->rng, 8) == 0)
		put_kind(r->t, VT_PT_STOP, 0);
	put_switch(r);
	run_to_any(r, VT_PT_TIP_PGE);
}

static void run_away(struct runner *r)
{
	if (vt_rng_below(&r->rng, 4))
		run_to_any(r, VT_PT_TIP);
	else
		run_off(r);
}

static void run_return(struct runner *r)
{
	if (r->ncalls && vt_rng_below(&r->rng, 4)) {
		run_bit(r, true);
		r->ip = r->calls[--r->ncalls];
	} else {
		r->ncalls -= r->ncalls > 0;
		run_away(r);
	}
}

static void run_told(struct runner *r, enum vt_pt_kind kind, uint64_t payload, uint64_t next)
{
	flush_bits(r);
	put(r->t, (struct vt_pt_packet){.kind = (uint8_t)kind,
					.count = kind == VT_PT_PTW ? 8 : 0,
					.payload = payload});
	r->ip = next;
}

static void run_insn(struct runner *r)
{
	bool taken = vt_rng_below(&r->rng, 2);

	switch (r->ip) {
	case 0:
	case 0x15:
		run_bit(r, taken);
		r->ip = r->ip == 0 ? (taken ? 8 : 2) : taken ? 0x19 : 0x17;
		break;
	case 2:
		if (r->ncalls < 8)
			r->calls[r->ncalls++] = 7;
		r->ip = 0x10;
		break;
	case 7:
	case 0xf:
	case 0x24:
		r->ip++;
		break;
	case 0x22:
		if (r->ncalls < 8)
			r->calls[r->ncalls++] = 0x24;
		run_to_any(r, VT_PT_TIP);
		break;
	case 0xa:
		run_told(r, VT_PT_PIP, (1 + vt_rng_below(&r->rng, 3)) << 12, 0xd);
		break;
	case 0x10:
		run_told(r, VT_PT_PTW, vt_rng_below(&r->rng, 100), 0x15);
		break;
	case 0x1a:
		run_told(r, VT_PT_VMCS, (1 + vt_rng_below(&r->rng, 3)) << 12, 0x1d);
		break;
	case 0xd:
	case 0x1d:
	case 0x25:
		r->ip = 0;
		break;
	case 0x19:
		run_return(r);
		break;
	default:
		run_away(r);
		break;
	}
}

/* Packets were lost.  With errata, some of those that should follow are not there, or too many. */
static void run_loss(struct runner *r)
{
	r->nbits = r->ncalls = 0;
	/* SKD007: a CYC takes the first byte of the OVF for its own. */
	if (vt_rng_below(&r->rng, 4) == 0) {
		put_kind(r->t, VT_PT_CYC, 0x20 + vt_rng_below(&r->rng, 0x20));
		*r->t->end++ = 0xf3;
	} else {
		put_kind(r->t, VT_PT_OVF, 0);
	}
	if (vt_rng_below(&r->rng, 4) == 0)
		put_kind(r->t, VT_PT_CYC, 32 + vt_rng_below(&r->rng, 200));
	switch (vt_rng_below(&r->rng, 6)) {
	case 0:
		run_to_any(r, VT_PT_TIP_PGE);
		break;
	case 1: /* no FUP: SKD010 */
		break;
	case 2: /* a TIP.PGD too many: APL11 */
		run_off(r);
		break;
	case 3: /* a FUP too many: APL12 */
		put_ip(r->t, VT_PT_FUP, some_ip(&r->rng));
		run_to_any(r, VT_PT_TIP_PGE);
		break;
	default:
		run_to_any(r, VT_PT_FUP);
		break;
	}
}

/* What may happen between two instructions. */
static void run_event(struct runner *r)
{
	uint64_t what = vt_rng_below(&r->rng, 8);

	/* A branch before an abort may be wrong: BDM64. */
	if (what == 2 && vt_rng_below(&r->rng, 2))
		run_bit(r, vt_rng_below(&r->rng, 2));
	flush_bits(r);
	if (what == 1 || what == 2)
		put_kind(r->t, VT_PT_MODE_TSX, what == 2 ? 2 : vt_rng_below(&r->rng, 2));
	if (what < 4)
		put_ip(r->t, VT_PT_FUP, BASE + r->ip);
	if (what == 0)
		put_switch(r);
	if (what == 0 || what == 2)
		run_to_any(r, VT_PT_TIP);
	else if (what == 3)
		run_off(r);
	else if (what == 4)
		run_loss(r);
	else if (what == 5)
		put_rich_psb(r->t, &r->rng, BASE + r->ip);
	else if (what == 6)
		put_clock(r->t, &r->rng);
	else if (what == 7)
		put_something(r->t, &r->rng);
	if (what == 5)
		r->ncalls = 0;
}

static void run_code(struct trace *t, uint64_t seed)
{
	struct runner r = {.t = t};
	unsigned i;

	vt_rng_init(&r.rng, seed);
	start(t);
	put_psb(t, BASE);
	for (i = 0; i < 60; i++) {
		if (vt_rng_below(&r.rng, 12) == 0)
			run_event(&r);
		run_insn(&r);
	}
	flush_bits(&r);
	put_psb(t, BASE + r.ip);
	put_tnt(t, "10");
}

/* Unknown, and one of each set of errata. */
static const uint8_t models[] = {0, 0x3d, 0x4e, 0x55, 0x66, 0x5c, 0x7a, 0x97};

/* Whether all engines make the same of a trace; the instructions that it leads through. */
static uint64_t agree(const struct vt_pt_code *c, const struct trace *t, size_t run)
{
	static struct result first, other;
	struct vt_pt_options opt = {.family = 6, .model = models[run % sizeof(models)]};
	uint64_t insns;
	size_t i;

	run_engine(engines[0], c, &opt, t->bytes, size_of(t), false, &first);
	insns = first.insns;
	for (i = 1; i < NENGINES; i++) {
		run_engine(engines[i], c, &opt, t->bytes, size_of(t), false, &other);
		if (!same_result(&first, &other))
			fail_msg("trace %zu: %s differs", run, engines[i]->name);
	}
	free_result(&first);
	free_result(&other);
	first = other = (struct result){.nblocks = 0};
	return insns;
}

static void agree_at_random(void **state)
{
	struct vt_pt_code *c = vt_pt_code_new();
	static struct trace t;
	struct vt_rng rng;
	uint64_t insns = 0;
	size_t run, i;

	(void)state;
	add_code(c, BASE, random_code, sizeof(random_code));
	vt_rng_init(&rng, 4);
	for (run = 0; run < RANDOM_TRACES; run++) {
		start(&t);
		put_psb(&t, BASE);
		for (i = 0; i < 12; i++)
			put_something(&t, &rng);
		put_psb(&t, BASE);
		put_some_bits(&t, &rng);
		if (run % 3)
			run_code(&t, run);
		/* The last packet may be cut. */
		if (run % 4 == 0)
			t.end -= vt_rng_below(&rng, 16);
		insns += agree(c, &t, run);
	}
	/* Most of it can be decoded. */
	assert_true(insns > UINT64_C(20) * RANDOM_TRACES);
	vt_pt_code_free(c);
}

/* An event that binds to an instruction, or one that ends tracing there, or goes on. */
static void put_bound(struct trace *t, struct vt_rng *rng)
{
	switch (vt_rng_below(rng, 7)) {
	case 0:
	case 1:
		put_kind(t, vt_rng_below(rng, 3) ? VT_PT_PIP : VT_PT_VMCS, 0x2000);
		break;
	case 2:
	case 3:
		if (vt_rng_below(rng, 3))
			put_ip(t, VT_PT_TIP_PGD, some_ip(rng));
		else
			put_no_ip(t, VT_PT_TIP_PGD);
		put_something(t, rng);
		put_ip(t, VT_PT_TIP_PGE, some_ip(rng));
		break;
	case 4:
		put_told(t, rng);
		break;
	default:
		put_some_bits(t, rng);
		break;
	}
}

/* The same where nearly all binds to some instruction. */
static void agree_on_bound_events(void **state)
{
	struct vt_pt_code *c = vt_pt_code_new();
	static struct trace t;
	struct vt_rng rng;
	size_t run, i;

	(void)state;
	vt_rng_init(&rng, 5);
	add_code(c, BASE, random_code, sizeof(random_code));
	for (run = 0; run < 2UL * RANDOM_TRACES; run++) {
		start(&t);
		for (i = 0; i < 16; i++) {
			if (i % 4 == 0)
				put_psb(&t, some_ip(&rng));
			put_bound(&t, &rng);
		}
		agree(c, &t, run);
	}
	vt_pt_code_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_the_errata),
		cmocka_unit_test(forgets_old_returns),
		cmocka_unit_test(ends_loops),
		cmocka_unit_test(cuts_at_interrupts),
		cmocka_unit_test(reads_ahead),
		cmocka_unit_test(finds_eaten_psbs),
		cmocka_unit_test(goes_on_where_it_was),
		cmocka_unit_test(agree_at_random),
		cmocka_unit_test(agree_on_bound_events),
		cmocka_unit_test(decodes_in_each_mode),
		cmocka_unit_test(finds_told_ptwrites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
