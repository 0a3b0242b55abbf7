/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conflicts of code whose addresses are not recorded: interpreted along its path, or from samples
 * with registers; and which of these a stream is taken for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/conflict/replayed.h"

#define EVENT	 3
#define USER	 2
#define BIT(reg) (UINT64_C(1) << (reg))

static struct vt_error err;

/* ---- along a path ---- */

/* What is stored and loaded at %rdi, or at 9000; where no address is known, it is relative. */
static const struct replayed_code codes[] = {
	{'W', 0x1000, 1, {2}, {MOV_TO}, 0, {0}},
	{'R', 0x2000, 1, {3}, {0x48, 0x8b, 0x1f}, 0, {0}},		  /* mov (%rdi),%rbx */
	{'b', 0x2100, 1, {4}, {0x48, 0x8b, 0x5f, 0xfc}, 0, {0}},	  /* mov -4(%rdi),%rbx */
	{'s', 0x2200, 1, {3}, {0x8b, 0x5f, 0xfc}, 0, {0}},		  /* mov -4(%rdi),%ebx */
	{'a', 0x3000, 1, {4}, {0x48, 0x83, 0xc7, 0x02}, 0, {0}},	  /* add $2,%rdi */
	{'l', 0x3100, 1, {3}, {0x48, 0x8b, 0x3f}, 0, {0}},		  /* mov (%rdi),%rdi */
	{'e', 0x3200, 1, {3}, {0x67, 0x8b, 0x1f}, 0, {0}},		  /* mov (%edi),%ebx */
	{'E', 0x3280, 1, {3}, {0x67, 0x89, 0x07}, 0, {0}},		  /* mov %eax,(%edi) */
	{'m', 0x3300, 1, {2}, {0x48, 0xa5}, 0, {0}},			  /* movsq */
	{'x', 0x3400, 1, {3}, {0x0f, 0xae, 0x0f}, 0, {0}},		  /* fxrstor (%rdi) */
	{'n', 0x3500, 1, {1}, {0x90}, 0, {0}},				  /* nop */
	{'2', 0x3600, 2, {2, 3}, {MOV_TO, 0x48, 0x8b, 0x1f}, 0, {0}},	  /* as W and R */
	{'t', 0x3700, 1, {2}, {0xdb, 0x3f}, 0, {0}},			  /* fstpt (%rdi) */
	{'f', 0x3800, 1, {2}, {0xdb, 0x2f}, 0, {0}},			  /* fldt (%rdi) */
	{'8', 0x3900, 1, {3}, {0x8b, 0x5f, 8}, 0, {0}},			  /* mov 8(%rdi),%ebx */
	{'9', 0x3910, 1, {3}, {0x8b, 0x5f, 10}, 0, {0}},		  /* mov 10(%rdi),%ebx */
	{'6', 0x3920, 1, {3}, {0x89, 0x47, 8}, 0, {0}},			  /* mov %eax,8(%rdi) */
	{'7', 0x3930, 1, {3}, {0x89, 0x47, 10}, 0, {0}},		  /* mov %eax,10(%rdi) */
	{'A', 0x4000, 1, {7}, {0x89, 0x04, 0x25, 0, 0x90}, 0, {0}},	  /* mov %eax,9000 */
	{'B', 0x4100, 1, {8}, {0x48, 0x8b, 0x1c, 0x25, 0, 0x90}, 0, {0}}, /* mov 9000,%rbx */
};

static void put_blocks(struct replayed_maker *m)
{
	replayed_put_blocks(m, codes, sizeof(codes) / sizeof(codes[0]));
}

struct want {
	const char *pairs;
	unsigned runs, insns, accesses, known, relative;
};

static void check(const struct replayed *s, const struct want *want)
{
	const struct vt_conflict_totals *t = &vt_replay_totals(s->rp)->of;

	replayed_check(s, want->pairs);
	if (t->runs != want->runs || t->insns != want->insns || t->accesses != want->accesses ||
	    t->known != want->known || t->relative != want->relative)
		fail_msg("%s: %d, %d, %d, %d, %d", want->pairs, (int)t->runs, (int)t->insns,
			 (int)t->accesses, (int)t->known, (int)t->relative);
}

static struct vt_replay_options usual(void)
{
	return (struct vt_replay_options){.length = 10, .trust = VT_TRUST_IMAGES};
}

static const char *path_text;

static void put_path(struct replayed_maker *m)
{
	put_blocks(m);
	replayed_run(m, path_text, NULL);
}

static void test_path(void **state)
{
	static const struct {
		const char *text;
		struct want want;
	} rows[] = {
		{"WR", {"1:-1:2000<-1:1000 1/1 1,1 *0 ", 1, 2, 2, 0, 2}},
		{"WnR", {"1:-1:2000<-1:1000 1/1 2,2 *0 ", 1, 3, 2, 0, 2}},
		{"2", {"1:-1:3602<-1:3600 1/1 1,1 *0 ", 1, 2, 2, 0, 2}},
		/* The last 4 of 8 bytes, and none of 4. */
		{"Wb", {"1:-1:2100<-1:1000 1/1 1,1 *0 ", 1, 2, 2, 0, 2}},
		{"Ws", {"", 1, 2, 2, 0, 2}},
		/* The register moves on, or becomes another. */
		{"WaR", {"1:-1:2000<-1:1000 1/1 2,2 *0 ", 1, 3, 2, 0, 2}},
		{"WaaR", {"", 1, 4, 2, 0, 2}},
		{"WlR", {"1:-1:3100<-1:1000 1/1 1,1 *0 ", 1, 3, 3, 0, 3}},
		{"WmR", {"", 1, 3, 4, 0, 4}},
		/* Only a part of the register; many loads, each elsewhere. */
		{"We", {"", 1, 2, 2, 0, 1}},
		{"ER", {"", 1, 2, 2, 0, 1}},
		{"Wx", {"", 1, 2, 19, 0, 1}},
		/* Ten bytes, whose value is not captured. */
		{"t8", {"1:-1:3900<-1:3700 1/1 1,1 *0 ", 1, 2, 2, 0, 2}},
		{"t9", {"", 1, 2, 2, 0, 2}},
		{"6f", {"1:-1:3800<-1:3920 1/1 1,1 *0 ", 1, 2, 2, 0, 2}},
		{"7f", {"", 1, 2, 2, 0, 2}},
		{"AB", {"1:-1:4100<-1:4000 1/1 1,1 *0 ", 1, 2, 2, 2, 0}},
		{"WB", {"", 1, 2, 2, 1, 1}},
		{"AR", {"", 1, 2, 2, 1, 1}},
	};
	struct vt_replay_options o = usual();
	struct replayed s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path_text = rows[i].text;
		replayed_take(&s, &o, put_path);
		check(&s, &rows[i].want);
		replayed_drop(&s);
	}
}

/* ---- prefixes ---- */

static const uint8_t prefixed[][5] = {
	{0x67, 0x8b, 0x07}, /* mov (%edi),%eax, and behind other prefixes */
	{0x66, 0x67, 0x8b, 0x07},
	{0x2e, 0x67, 0x8b, 0x07},
	{0x36, 0x67, 0x8b, 0x07},
	{0x3e, 0x67, 0x8b, 0x07},
	{0x26, 0x67, 0x8b, 0x07},
	{0xf0, 0x67, 0x01, 0x07},
	{0xf2, 0x67, 0x0f, 0x10, 0x07},
	{0xf3, 0x67, 0x0f, 0x10, 0x07},
	{0xc6, 0x07, 0x67},	  /* movb $0x67,(%rdi) */
	{0x66, 0x8b, 0x47, 0x67}, /* mov 0x67(%rdi),%ax */
};

#define NPREFIXED (sizeof(prefixed) / sizeof(prefixed[0]))
#define SHORT	  9 /* so many of them have addresses of 32 bits */

static unsigned prefixed_row;

static void put_prefixed(struct replayed_maker *m)
{
	struct replayed_code c = {'P', 0x1000, 1, {5}, {0}, 0, {0}};

	memcpy(c.code, prefixed[prefixed_row], 5);
	while (!c.code[c.lengths[0] - 1])
		c.lengths[0]--;
	replayed_put_blocks(m, &c, 1);
	replayed_run(m, "P", NULL);
}

static void test_prefixes(void **state)
{
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	for (prefixed_row = 0; prefixed_row < NPREFIXED; prefixed_row++) {
		const struct vt_conflict_totals *t;

		replayed_take(&s, &o, put_prefixed);
		t = &vt_replay_totals(s.rp)->of;
		if (!t->accesses || t->relative != (prefixed_row >= SHORT))
			fail_msg("row %u: %d of %d", prefixed_row, (int)t->relative,
				 (int)t->accesses);
		replayed_drop(&s);
	}
}

/* ---- what ends a run ---- */

#define BETWEEN(name, between)                                                                     \
	static void put_##name(struct replayed_maker *m)                                           \
	{                                                                                          \
		put_blocks(m);                                                                     \
		replayed_run(m, "WA", NULL);                                                       \
		between;                                                                           \
		replayed_run(m, "RB", NULL);                                                       \
	}

BETWEEN(nothing, (void)0)
BETWEEN(gap, vt_writer_row(m->w, VT_GAP))
BETWEEN(lost, vt_writer_row(m->w, VT_LOST))
BETWEEN(signal, vt_writer_row(m->w, VT_SIGNAL)[VT_SIGNAL_PID] = 99)
BETWEEN(meta, vt_writer_row(m->w, VT_META))
BETWEEN(other, m->tid++)
BETWEEN(bad, replayed_run(m, "n", NULL)[VT_EXEC_INSNS]++)

static void put_other_process(struct replayed_maker *m)
{
	put_blocks(m);
	replayed_run(m, "WA", NULL);
	m->first = 0;
	replayed_run(m, "RB", NULL)[VT_EXEC_PID] = REPLAYED_PID + 1;
}

static void test_ends(void **state)
{
#define BOTH "1:-1:2000<-1:1000 1/1 2,2 *0 1:-1:4100<-1:4000 1/1 2,2 *0 "
	static const struct {
		replayed_put_fn *put;
		struct want want;
		const char *warning;
	} rows[] = {
		{put_nothing, {BOTH, 1, 4, 4, 2, 2}, ""},
		{put_meta, {BOTH, 1, 4, 4, 2, 2}, ""},
		{put_gap, {"", 2, 4, 4, 2, 2}, ""},
		{put_lost, {"", 2, 4, 4, 2, 2}, ""},
		{put_signal, {"", 2, 4, 4, 2, 2}, ""},
		{put_other, {"", 2, 4, 4, 2, 2}, ""},
		/* Whose code is not known. */
		{put_other_process, {"", 2, 4, 4, 2, 1}, ""},
		{put_bad,
		 {"", 2, 4, 4, 2, 2},
		 "executed blocks: fewer instructions than were said\n"},
	};
	struct vt_replay_options o = usual();
	struct replayed s;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		replayed_take(&s, &o, rows[i].put);
		assert_string_equal(vt_buf_str(&s.warnings), rows[i].warning);
		assert_int_equal(vt_replay_totals(s.rp)->bad, rows[i].warning[0] != 0);
		check(&s, &rows[i].want);
		replayed_drop(&s);
	}
}

/* ---- what a stream is taken for ---- */

static void put_sample(struct replayed_maker *m, uint64_t ip, const uint64_t *regs, unsigned n)
{
	uint64_t *row = vt_writer_row(m->w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = REPLAYED_PID;
	row[VT_SAMPLE_TID] = REPLAYED_TID;
	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_MISC] = USER;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_UREGS_ABI] = 2;
	vt_writer_words(m->w, VT_SAMPLE_UREGS, regs, n);
}

/* A is a block with the address of a store, L one of a load, V one with a value alone; E runs N, a
 * nop; S is a sample with registers, and s one without. */
static void put_kinds(struct replayed_maker *m)
{
	static const struct replayed_code kinds[] = {
		{'A', 0x1000, 1, {2}, {MOV_TO}, 0, {STORE(0, 4), SADDR(0)}},
		{'L', 0x2000, 1, {3}, {MOV_FROM}, 0, {LADDR(0), LOAD(0, 8)}},
		{'V', 0x3000, 1, {2}, {MOV_TO}, 0, {STORE(0, 4)}},
		{'N', 0x4000, 1, {1}, {0x90}, 0, {0}},
	};
	const uint64_t regs[] = {1};
	const char *p;
	unsigned i;

	m->codes = kinds;
	for (p = path_text; *p; p++) {
		if (*p == 'E')
			replayed_run(m, "N", NULL);
		else if (*p == 'S' || *p == 's')
			put_sample(m, 0x1000, regs, *p == 'S');
		for (i = 0; i < 4; i++)
			if (kinds[i].name == *p)
				replayed_put_block(m->w, i, &kinds[i]);
	}
}

static void test_sources(void **state)
{
	static const struct {
		const char *text;
		enum vt_replay_source want;
		unsigned ignored;
		unsigned known; /* instructions that were decoded ahead */
	} rows[] = {
		{"NVs", VT_REPLAY_NOTHING, 0, 2},   {"NE", VT_REPLAY_PATH, 0, 1},
		{"NVE", VT_REPLAY_PATH, 0, 2},	    {"NAE", VT_REPLAY_RECORDED, 0, 0},
		{"NLE", VT_REPLAY_RECORDED, 0, 0},  {"NEA", VT_REPLAY_PATH, 0, 2},
		{"NEAES", VT_REPLAY_PATH, 0, 2},    {"NS", VT_REPLAY_SAMPLES, 0, 0},
		{"NSEAE", VT_REPLAY_SAMPLES, 2, 0}, {"NLS", VT_REPLAY_NOTHING, 0, 2},
		{"NAES", VT_REPLAY_RECORDED, 0, 0}, {"NsE", VT_REPLAY_PATH, 0, 1},
		{"NAEV", VT_REPLAY_RECORDED, 0, 0},
	};
	struct vt_replay_options o = usual();
	struct replayed s;
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path_text = rows[i].text;
		replayed_take(&s, &o, put_kinds);
		assert_string_equal(vt_buf_str(&s.warnings), "");
		if (vt_replay_source(s.rp) != rows[i].want ||
		    vt_replay_totals(s.rp)->ignored != rows[i].ignored ||
		    s.rp->insns.count != rows[i].known)
			fail_msg("%s: %d, %d, %d", path_text, vt_replay_source(s.rp),
				 (int)vt_replay_totals(s.rp)->ignored, (int)s.rp->insns.count);
		/* Others are not needed any more. */
		for (k = 0; k < VT_REPLAY_NSOURCES; k++) {
			bool interprets = k == VT_REPLAY_PATH || k == VT_REPLAY_SAMPLES;
			bool open = rows[i].want == VT_REPLAY_NOTHING || rows[i].want == k;

			assert_int_equal(s.rp->interpret[k] != NULL, interprets && open);
		}
		replayed_drop(&s);
	}
}

/* ---- from samples ---- */

/* Two programs that differ in how far %rdi moves between a store and a load. */
#define PROGRAM(step)                                                                              \
	".text\n.globl _start\n_start:\n"                                                          \
	"mov %eax,(%rdi)\n"    /* 401000 */                                                        \
	"add $" step ",%rdi\n" /* 401002 */                                                        \
	"mov (%rdi),%rbx\n"    /* 401006 */                                                        \
	"mov (%rsi),%rcx\n"    /* 401009 */                                                        \
	"syscall\n"

static char *dirs[2];

static void put_program(struct replayed_maker *m, uint64_t id)
{
	uint64_t *row = vt_writer_row(m->w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(m->w, VT_IMAGE_PATH, toolbox_path(dirs[id - 1], "p"));
	row = vt_writer_row(m->w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = REPLAYED_PID;
	row[VT_MAP_START] = 0x401000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_OFFSET] = 0x1000;
	row[VT_MAP_IMAGE] = id;
	row[VT_MAP_PROT] = 5;
}

/* Where %rdi is known: with %rsi there, or elsewhere. */
static void put_known(struct replayed_maker *m)
{
	const uint64_t near[] = {0x9004, 0x9002, 0x401000}, far[] = {0x9010, 0x9004, 0x401000};
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_REGS_USER] = BIT(VT_REG_SI) | BIT(VT_REG_DI) | BIT(VT_REG_IP);
	put_program(m, 2);
	put_sample(m, 0x401000, near, 3);
	put_sample(m, 0x401000, far, 3);
	/* The load alone. */
	put_sample(m, 0x401006, (const uint64_t[]){0x9004, 0x9002, 0x401006}, 3);
}

static void put_unknown(struct replayed_maker *m)
{
	const uint64_t regs[] = {0x401000};
	uint64_t *row = vt_writer_row(m->w, VT_EVENT);

	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_REGS_USER] = BIT(VT_REG_IP);
	put_program(m, 1);
	put_sample(m, 0x401000, regs, 1);
	put_program(m, 2);
	put_sample(m, 0x401000, regs, 1);
	put_program(m, 1);
	put_sample(m, 0x401000, regs, 1);
}

static void test_samples(void **state)
{
	const struct want known = {"1:2:1009<2:1000 1/3 3,3 *0 ", 3, 3 * 5 - 2, 8, 8, 0};
	const struct want unknown = {"1:1:1006<1:1000 2/2 4,2 *0 ", 3, 3 * 5, 9, 0, 9};
	struct vt_replay_options o = usual();
	struct replayed s;

	(void)state;
	dirs[0] = toolbox_assemble(PROGRAM("2"));
	dirs[1] = toolbox_assemble(PROGRAM("0x40"));
	replayed_take(&s, &o, put_known);
	assert_int_equal(vt_replay_source(s.rp), VT_REPLAY_SAMPLES);
	check(&s, &known);
	replayed_drop(&s);
	/* Other code may lie where some was. */
	replayed_take(&s, &o, put_unknown);
	check(&s, &unknown);
	replayed_drop(&s);
	toolbox_remove(dirs[0]);
	toolbox_remove(dirs[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),	cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_ends),	cmocka_unit_test(test_sources),
		cmocka_unit_test(test_samples),
	};

	(void)err;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
