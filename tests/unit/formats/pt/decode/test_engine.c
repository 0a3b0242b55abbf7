/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Both engines on traces of a few packets, written by hand together with what must come of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/decode/engine.h"
#include "formats/pt/decode/libipt.h"
#include "tests/unit/common/pttrace.h"

/* ---- what comes of them ---- */

struct text {
	char text[4096];
	size_t size;
};

static void say(struct text *to, const char *fmt, ...) VT_PRINTF(2, 3);

static void say(struct text *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	to->size += (size_t)vsnprintf(to->text + to->size, sizeof(to->text) - to->size, fmt, ap);
	va_end(ap);
	assert_true(to->size < sizeof(to->text));
}

static void say_note(struct text *to, const struct vt_pt_note *n)
{
	static const char *const names[VT_PT_NNOTES] = {
		"enabled", "disabled", "async-disabled", "async", "paging", "vmcs", "mode",
		"tsx",	   "stop",     "exstop",	 "mwait", "pwre",   "pwrx", "ptwrite",
		"cbr",	   "mnt",      "overflow",	 "error",
	};

	if (n->type == VT_PT_NOTE_ERROR) {
		say(to, "[%s %u+%u", vt_pt_error_text(n->error), (unsigned)n->offset,
		    (unsigned)n->bytes);
		if (n->has_ip)
			say(to, " at %x", (unsigned)n->ip);
		say(to, "]");
		return;
	}
	say(to, "<%s", names[n->type]);
	if (n->has_ip)
		say(to, " %x", (unsigned)n->ip);
	if (n->has_to)
		say(to, " to %x", (unsigned)n->to);
	if (n->value)
		say(to, " =%x", (unsigned)n->value);
	say(to, ">");
}

/* Blocks as ADDRESS/INSTRUCTIONS, times as @TSC, in their order. */
static void say_batch(struct text *to, const struct vt_pt_batch *b)
{
	size_t i, note = 0, time = 0;
	uint64_t insns = 0;

	for (i = 0; i <= b->nids; i++) {
		const struct vt_pt_block *k;

		for (; note < b->nnotes && b->notes[note].at == i; note++)
			say_note(to, &b->notes[note]);
		for (; time < b->ntimes && b->times[time].at == i; time++)
			say(to, "@%u ", (unsigned)b->times[time].tsc);
		if (i == b->nids)
			break;
		k = vt_pt_blocks_get(b->blocks, b->ids[i]);
		say(to, "%x/%u ", (unsigned)k->addr, k->insns);
		insns += k->insns;
	}
	assert_int_equal(note, b->nnotes);
	assert_int_equal(time, b->ntimes);
	assert_int_equal(insns, b->insns);
}

static const struct vt_pt_engine_ops *const engines[] = {&vt_pt_libipt, &vt_pt_fast};

static void check_code(const struct trace *t, const struct vt_pt_code *code, const char *want)
{
	const struct vt_pt_options opt = {.jobs = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_batch batch;
	size_t i;
	int r;

	for (i = 0; i < 2; i++) {
		struct vt_pt_engine *e = engines[i]->open(t->bytes, size_of(t), &opt, &err);
		struct text got = {.size = 0};

		assert_non_null(e);
		assert_int_equal(engines[i]->set_code(e, code, &err), 0);
		while ((r = engines[i]->next(e, UINT64_MAX, &batch, &err)) > 0)
			say_batch(&got, &batch);
		assert_int_equal(r, 0);
		if (strcmp(got.text, want) != 0)
			fail_msg("%s: got %s\n  wanted %s", engines[i]->name, got.text, want);
		engines[i]->close(e);
	}
}

static void check(const struct trace *t, const void *bytes, size_t size, const char *want)
{
	struct vt_pt_code *code = vt_pt_code_new();

	assert_non_null(code);
	add_code(code, BASE, bytes, size);
	check_code(t, code, want);
	vt_pt_code_free(code);
}

/* ---- flow ---- */

static const uint8_t flow[] = {
	0x90, /* 400000: nop */
	0xe8,
	0x0a,
	0,
	0,
	0, /* 400001: call 400010 */
	0x74,
	0xf8, /* 400006: je 400000 */
	0xff,
	0xe0, /* 400008: jmp *%rax */
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc, /* 40000a */
	0xc3, /* 400010: ret */
	0xeb,
	0xfe, /* 400011: jmp 400011 */
	0xf3,
	0x48,
	0x0f,
	0xae,
	0xe0, /* 400013: ptwrite %rax */
	0x90, /* 400018: nop */
	0xeb,
	0xe5, /* 400019: jmp 400000 */
	0x0f,
	0x05, /* 40001b: syscall */
	/* 40001d: too long for an instruction */
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x66,
	0x90,
};

static void test_flow(void **state)
{
	struct trace t;

	(void)state;
	put_psb(start(&t), BASE);
	put_tnt(&t, "10");
	put_ip(&t, VT_PT_TIP, BASE);
	put_tnt(&t, "1");
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>400000/2 400010/1 400006/1 400008/1 400000/2 400010/1 400006/1 ");
	/* A return that goes elsewhere is told by its address, and leaves the stack alone. */
	put_psb(start(&t), BASE);
	put_ip(&t, VT_PT_TIP, BASE + 0x10);
	put_tnt(&t, "1");
	put_tnt(&t, "0");
	check(&t, flow, sizeof(flow), "<mode 400000 =40>400000/2 400010/1 400010/1 400006/1 ");
}

static void test_events(void **state)
{
	struct trace t;

	(void)state;
	put_psb(start(&t), 0);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_ip(&t, VT_PT_TIP_PGE, BASE + 0x1b);
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	/* An interrupt before the call. */
	put_ip(&t, VT_PT_FUP, BASE + 1);
	put_ip(&t, VT_PT_TIP, BASE + 8);
	put_ip(&t, VT_PT_TIP, BASE + 6);
	/* And one that is not traced. */
	put_ip(&t, VT_PT_FUP, BASE + 6);
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_kind(&t, VT_PT_PIP, 0x1000);
	check(&t, flow, sizeof(flow),
	      "<enabled 40001b><mode 40001b =40>40001b/1 <disabled><enabled 400000>400000/1 "
	      "<async 400001 to 400008>400008/1 <async-disabled 400006><paging =1000>");
	/* A value in the middle of a block, which is cut behind it. */
	put_psb(start(&t), BASE + 0x13);
	put(&t, (struct vt_pt_packet){.kind = VT_PT_PTW, .count = 8, .payload = 0x77});
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400013 =40>400013/1 <ptwrite 400013 =77>400018/2 400000/2 400010/1 ");
	/* Told again at the next PSB: nothing new. */
	put_psb(start(&t), BASE);
	put_tnt(&t, "1");
	put_psb(&t, BASE + 6);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode 400000 =40>400000/2 400010/1 400006/1 ");
}

static void test_errata(void **state)
{
	struct trace t;

	(void)state;
	/* A FUP in the PSB+ though tracing is off: BDM70. */
	put_psb(start(&t), BASE);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode =40><enabled 400000>400000/2 400010/1 ");
}

/* ---- gaps ---- */

static void test_gaps(void **state)
{
	struct trace t;

	(void)state;
	put_psb(start(&t), BASE + 0x10);
	put_tnt(&t, "1"); /* at 27: a return without its call; the next PSB+ is read already */
	put_psb(&t, BASE);
	put_psb(&t, BASE);
	put_tnt(&t, "1");
	put_ip(&t, VT_PT_TIP, BASE); /* where a decision is wanted */
	check(&t, flow, sizeof(flow),
	      "<mode 400010 =40>400010/1 [return without its call 53+2]400000/2 400010/1 "
	      "400006/1 [trace and code contradict each other 83+7]");
	put_psb(start(&t), BASE + 8);
	put_ip(&t, VT_PT_TIP, 0x500000);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode 400008 =40>400008/1 [no code 34+1 at 500000]");
	put_psb(start(&t), BASE + 8);
	put_ip(&t, VT_PT_TIP, BASE + 0x1d);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode 400008 =40>400008/1 [bad code 34+1 at 40001d]");
	put_psb(start(&t), BASE + 8);
	put_no_ip(&t, VT_PT_TIP);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode 400008 =40>400008/1 [suppressed address 28+1]");
	put_psb(start(&t), BASE);
	t.bytes[size_of(&t)] = t.bytes[size_of(&t) + 1] = 0xd9;
	t.end += 2;
	check(&t, flow, sizeof(flow), "[bad packet 0+29]");
}

static void test_start(void **state)
{
	struct trace t;

	(void)state;
	memset(start(&t)->bytes, 0, 24);
	t.end += 24;
	put_psb(&t, BASE);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "<mode 400000 =40>400000/2 400010/1 ");
	t.bytes[7] = 0xd9;
	check(&t, flow, sizeof(flow), "[bad packet 0+24]<mode 400000 =40>400000/2 400010/1 ");
	memset(start(&t)->bytes, 0x55, 100);
	t.end += 100;
	check(&t, flow, sizeof(flow), "[bad packet 0+100]");
	memset(t.bytes, 0, 100);
	check(&t, flow, sizeof(flow), "");
	check(start(&t), flow, sizeof(flow), "");
	/* Nobody says what code it is. */
	put_kind(start(&t), VT_PT_PSB, 0);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_PSBEND, 0);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow), "[trace and code contradict each other 25+1]");
}

static void test_overflow(void **state)
{
	struct trace t;

	(void)state;
	put_psb(start(&t), BASE);
	put_tnt(&t, "1");
	put_kind(&t, VT_PT_OVF, 0);
	put_ip(&t, VT_PT_FUP, BASE + 0x19);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>400000/2 400010/1 <overflow 400019>400019/1 400000/2 400010/1 ");
	put_psb(start(&t), BASE);
	put_tnt(&t, "1");
	put_kind(&t, VT_PT_OVF, 0);
	put_ip(&t, VT_PT_TIP_PGE, BASE + 8);
	put_ip(&t, VT_PT_TIP, BASE);
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>400000/2 400010/1 <overflow><enabled 400008>400008/1 ");
}

/* An OVF instead of the PSBEND: it ends the header, and events follow. */
static void test_overflow_in_header(void **state)
{
	const struct vt_pt_options opt = {.jobs = 1};
	struct vt_pt_code *code = vt_pt_code_new();
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_batch b;
	struct trace t;
	size_t i;

	(void)state;
	put_kind(start(&t), VT_PT_PSB, 0);
	put_kind(&t, VT_PT_OVF, 0);
	/* Of C-state 0x6, by the processor itself; its bit is not where libipt looks. */
	memcpy(t.end, "\x02\x22\xfa\x60", 4);
	t.end += 4;
	for (i = 0; i < 2; i++) {
		struct vt_pt_engine *e = engines[i]->open(t.bytes, size_of(&t), &opt, &err);

		assert_int_equal(engines[i]->set_code(e, code, &err), 0);
		assert_int_equal(engines[i]->next(e, UINT64_MAX, &b, &err), 1);
		assert_int_equal(b.nnotes, 2);
		assert_int_equal(b.notes[0].type, VT_PT_NOTE_OVERFLOW);
		assert_int_equal(b.notes[0].offset, VT_PT_PSB_SIZE);
		assert_int_equal(b.notes[1].type, VT_PT_NOTE_PWRE);
		assert_int_equal(b.notes[1].offset, VT_PT_PSB_SIZE + 2);
		assert_int_equal(b.notes[1].value, 6);
		assert_true(b.notes[1].flag);
		engines[i]->close(e);
	}
	vt_pt_code_free(code);
}

/* `jmp .` leaves no trace: it is told once, and then what ends it, or that nothing does. */
static void test_loops(void **state)
{
	struct trace t;

	(void)state;
	put_psb(start(&t), BASE + 0x11);
	put_tnt(&t, "1");
	put_psb(&t, BASE);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400011 =40>400011/1 [loop without trace 27+1]400000/2 400010/1 ");
	put_psb(start(&t), BASE + 0x11);
	put_ip(&t, VT_PT_FUP, BASE + 0x11);
	put_ip(&t, VT_PT_TIP, BASE);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400011 =40><async 400011 to 400000>400000/2 400010/1 ");
	/* An event that does not lie in the loop does not end it. */
	put_psb(start(&t), BASE + 0x11);
	put_ip(&t, VT_PT_FUP, BASE + 0x10);
	put_ip(&t, VT_PT_TIP, BASE);
	check(&t, flow, sizeof(flow), "<mode 400011 =40>400011/1 [loop without trace 41+0]");
}

/* ---- time and processes ---- */

static void test_times(void **state)
{
	struct trace t;

	(void)state;
	put_kind(start(&t), VT_PT_PSB, 0);
	put_kind(&t, VT_PT_TSC, 1000);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_kind(&t, VT_PT_PSBEND, 0);
	put_kind(&t, VT_PT_TSC, 2000);
	put_tnt(&t, "10");
	put_kind(&t, VT_PT_TSC, 3000);
	put_ip(&t, VT_PT_TIP, BASE);
	put_kind(&t, VT_PT_TSC, 4000);
	put_kind(&t, VT_PT_TSC, 5000);
	put_tnt(&t, "1");
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>@1000 400000/2 400010/1 @2000 400006/1 400008/1 @3000 400000/2 "
	      "400010/1 @5000 ");
}

/* So much that the accelerator dares to look at what is before. */
static void put_padding(struct trace *t)
{
	unsigned i;

	for (i = 0; i < 64; i++)
		put_kind(t, VT_PT_PAD, 0);
}

/* A PSB+ at BASE, at a time; no ratio of clocks is told, so that cycles are measured. */
static void put_timed_psb(struct trace *t, uint64_t tsc)
{
	put_kind(t, VT_PT_PSB, 0);
	put_kind(t, VT_PT_TSC, tsc);
	put_ip(t, VT_PT_FUP, BASE);
	put_kind(t, VT_PT_MODE_EXEC, 64);
	put_kind(t, VT_PT_PSBEND, 0);
}

/* A turn of 100 cycles, that time, a turn of 10. */
static void put_laps(struct trace *t, uint64_t tsc)
{
	put_tnt(t, "10");
	put_kind(t, VT_PT_CYC, 100);
	put_ip(t, VT_PT_TIP, BASE);
	put_kind(t, VT_PT_TSC, tsc);
	put_tnt(t, "10");
	put_kind(t, VT_PT_CYC, 10);
	put_ip(t, VT_PT_TIP, BASE);
	put_tnt(t, "1");
	put_padding(t);
}

/* Cycles are measured from one TSC to the next, but not across code that is not traced. */
static void test_measuring(void **state)
{
	struct trace t;

	(void)state;
	put_timed_psb(start(&t), 1000);
	put_laps(&t, 3000); /* 100 cycles were 2000 ticks */
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>@1000 400000/2 400010/1 400006/1 400008/1 @1000 400000/2 400010/1 "
	      "@3000 400006/1 400008/1 @3200 400000/2 400010/1 ");
	put_timed_psb(start(&t), 1000);
	put_tnt(&t, "10");
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	put_laps(&t, 3000); /* but how many cycles were not traced? */
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>@1000 400000/2 400010/1 400006/1 400008/1 <disabled>"
	      "<enabled 400000>400000/2 400010/1 400006/1 400008/1 @1000 400000/2 400010/1 "
	      "@3000 400006/1 400008/1 @3000 400000/2 400010/1 ");
}

/* Behind a change of mode and what it is bound to, the clock goes on. */
static void test_clock_of_mode(void **state)
{
	struct trace t;

	(void)state;
	put_timed_psb(start(&t), 1000);
	put_tnt(&t, "10");
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	put_kind(&t, VT_PT_TSC, 2000);
	put_tnt(&t, "10");
	put_kind(&t, VT_PT_TSC, 3000);
	put_ip(&t, VT_PT_TIP, BASE);
	put_tnt(&t, "1");
	put_padding(&t);
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>@1000 400000/2 400010/1 400006/1 400008/1 <disabled>"
	      "<enabled 400000>400000/2 400010/1 @2000 400006/1 400008/1 @3000 400000/2 "
	      "400010/1 ");
	/* From damage: the end of tracing is not told, only the mode. */
	put_timed_psb(start(&t), 1000);
	put_tnt(&t, "10");
	put_ip(&t, VT_PT_TIP, BASE);
	put_tnt(&t, "1");
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_kind(&t, VT_PT_TSC, 2000);
	put_tnt(&t, "0");
	put_kind(&t, VT_PT_TSC, 3000);
	put_ip(&t, VT_PT_TIP, BASE);
	put_tnt(&t, "1");
	put_padding(&t);
	check(&t, flow, sizeof(flow),
	      "<mode 400000 =40>@1000 400000/2 400010/1 400006/1 400008/1 400000/2 400010/1 "
	      "400006/1 @2000 400008/1 @3000 400000/2 400010/1 ");
}

/* Between two processes the engine stops, and goes on in other code at the same place. */
static void test_until(void **state)
{
	static const uint8_t other[] = {0x90, 0x90, 0x90, 0xc3};
	const struct vt_pt_options opt = {.jobs = 1};
	struct vt_pt_code *a = vt_pt_code_new(), *b = vt_pt_code_new();
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_batch batch;
	struct trace t;
	size_t i;

	(void)state;
	add_code(a, BASE, flow, sizeof(flow));
	add_code(b, BASE, other, sizeof(other));
	put_psb(start(&t), 0);
	put_kind(&t, VT_PT_TSC, 1000);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_ip(&t, VT_PT_TIP_PGE, BASE + 0x1b);
	put_no_ip(&t, VT_PT_TIP_PGD);
	put_kind(&t, VT_PT_TSC, 2000);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	put_ip(&t, VT_PT_TIP_PGD, BASE + 0x1000);
	for (i = 0; i < 2; i++) {
		struct vt_pt_engine *e = engines[i]->open(t.bytes, size_of(&t), &opt, &err);
		struct text got = {.size = 0};

		assert_int_equal(engines[i]->set_code(e, a, &err), 0);
		assert_int_equal(engines[i]->next(e, 1500, &batch, &err), 1);
		say_batch(&got, &batch);
		say(&got, "| ");
		assert_int_equal(engines[i]->set_code(e, b, &err), 0);
		while (engines[i]->next(e, UINT64_MAX, &batch, &err) > 0)
			say_batch(&got, &batch);
		assert_string_equal(got.text,
				    "<enabled 40001b><mode 40001b =40>@1000 40001b/1 <disabled>| "
				    "<enabled 400000>@2000 400000/4 <disabled to 401000>");
		engines[i]->close(e);
	}
	vt_pt_code_free(a);
	vt_pt_code_free(b);
}

/*
 * A long TNT puts out as much as it can: straight code before each of its decisions, and all that
 * begins right before a batch is full.
 */
static void test_full(void **state)
{
	enum { JUMPS = 119, BEFORE = 28, LONG = 14, PADS = 64 };
	const struct vt_pt_options opt = {.jobs = 1};
	static const uint8_t on[] = {0xeb, 0x00}; /* jmp to what follows */
	static const uint8_t back[] = {0x0f, 0x85, 0x0c, 0xff, 0xff, 0xff}; /* jne to the first */
	uint8_t loop[JUMPS * sizeof(on) + sizeof(back)];
	struct vt_pt_code *code = vt_pt_code_new();
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_batch batch;
	struct trace t;
	size_t i;

	(void)state;
	for (i = 0; i < JUMPS; i++)
		memcpy(loop + i * sizeof(on), on, sizeof(on));
	memcpy(loop + i * sizeof(on), back, sizeof(back));
	add_code(code, BASE, loop, sizeof(loop));
	put_psb(start(&t), BASE);
	for (i = 0; i < BEFORE; i++)
		put_tnt(&t, "1");
	for (i = 0; i < LONG; i++)
		put(&t, (struct vt_pt_packet){.kind = VT_PT_TNT64,
					      .count = 47,
					      .payload = (UINT64_C(1) << 47) - 1});
	for (i = 0; i < PADS; i++)
		put_kind(&t, VT_PT_PAD, 0);
	for (i = 0; i < 2; i++) {
		struct vt_pt_engine *e = engines[i]->open(t.bytes, size_of(&t), &opt, &err);
		uint64_t blocks = 0;

		assert_int_equal(engines[i]->set_code(e, code, &err), 0);
		while (engines[i]->next(e, UINT64_MAX, &batch, &err) > 0)
			blocks += batch.nids;
		assert_int_equal(blocks, (JUMPS + 1) * (BEFORE + 47 * LONG));
		engines[i]->close(e);
	}
	vt_pt_code_free(code);
}

/*
 * A clock that has come to the end of what it counts, as damage makes it: nothing waits for what is
 * later.
 */
static void test_last_time(void **state)
{
	const struct vt_pt_options opt = {.clock = {15, 0, UINT32_MAX, 1}, .jobs = 1};
	struct vt_pt_code *code = vt_pt_code_new();
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pt_batch b;
	struct trace t;
	size_t i;

	(void)state;
	add_code(code, BASE, flow, sizeof(flow));
	put_kind(start(&t), VT_PT_PSB, 0);
	put_kind(&t, VT_PT_TSC, 1000);
	put_kind(&t, VT_PT_TMA, 0);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_kind(&t, VT_PT_PSBEND, 0);
	for (i = 1; i < 1000; i++)
		put_kind(&t, VT_PT_MTC, -i & 0xff);
	put_ip(&t, VT_PT_TIP_PGE, BASE);
	put_tnt(&t, "1");
	for (i = 0; i < 2; i++) {
		struct vt_pt_engine *e = engines[i]->open(t.bytes, size_of(&t), &opt, &err);
		uint64_t insns = 0, tsc = 0;
		unsigned n = 0;

		assert_int_equal(engines[i]->set_code(e, code, &err), 0);
		for (; engines[i]->next(e, UINT64_MAX, &b, &err) > 0; n++) {
			assert_true(n < 10);
			insns += b.insns;
			tsc = b.nnotes ? b.notes[b.nnotes - 1].tsc : tsc;
		}
		assert_int_equal(insns, 3);
		assert_true(tsc == UINT64_MAX);
		engines[i]->close(e);
	}
	vt_pt_code_free(code);
}

/* What libipt gets of code: one image of each mode, the same each time while the code does not
 * change, and others for other code.
 */
static void test_images(void **state)
{
	static const unsigned modes[] = {16, 32, 64};
	static const uint8_t ret[] = {0xc3};
	struct vti_ipt_images *all = vti_ipt_images_new();
	struct vt_pt_code *one = vt_pt_code_new(), *two = vt_pt_code_new();
	struct pt_image *images[3], *image;
	struct vti_ipt_image *m, *of_one;
	unsigned i;

	(void)state;
	add_code(one, BASE, ret, sizeof(ret));
	add_code(two, BASE, ret, sizeof(ret));
	for (i = 0; i < 3; i++) {
		m = vti_ipt_image_of(all, one, modes[i], &images[i]);
		assert_non_null(m);
		assert_ptr_equal(m->code, one);
		assert_ptr_equal(m->blocks->code, one);
		assert_ptr_equal(m->images[i], images[i]);
		assert_int_equal(m->generation, vt_pt_code_generation(one));
	}
	assert_ptr_not_equal(images[0], images[1]);
	assert_ptr_not_equal(images[1], images[2]);
	m = vti_ipt_image_of(all, two, 64, &image);
	assert_ptr_equal(m->code, two);
	assert_ptr_not_equal(image, images[2]);
	assert_null(m->images[0]);
	assert_null(m->images[1]);
	for (i = 0; i < 3; i++) {
		of_one = vti_ipt_image_of(all, one, modes[i], &image);
		assert_ptr_equal(of_one->code, one);
		assert_ptr_equal(image, images[i]);
	}
	/* Of code that has changed all are made anew, when they are asked for. */
	add_code(one, BASE + 16, ret, sizeof(ret));
	m = vti_ipt_image_of(all, one, 32, &image);
	assert_ptr_equal(m->images[1], image);
	assert_null(m->images[0]);
	assert_null(m->images[2]);
	assert_int_equal(m->generation, vt_pt_code_generation(one));
	vti_ipt_images_free(all);
	vti_ipt_images_free(NULL);
	vt_pt_code_free(one);
	vt_pt_code_free(two);
}

static void test_names(void **state)
{
	(void)state;
	assert_ptr_equal(vt_pt_engine_by_name("libipt"), &vt_pt_libipt);
	assert_ptr_equal(vt_pt_engine_by_name("fast"), &vt_pt_fast);
	assert_null(vt_pt_engine_by_name("fas"));
	assert_string_equal(vt_pt_error_text(VT_PT_ERR_NO_CODE), "no code");
	assert_non_null(vt_pt_error_text(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_errata),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_overflow_in_header),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_measuring),
		cmocka_unit_test(test_clock_of_mode),
		cmocka_unit_test(test_until),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_last_time),
		cmocka_unit_test(test_images),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
