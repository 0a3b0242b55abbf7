/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "coprocessor/assemble.h"
#include "coprocessor/buffer.h"
#include "coprocessor/filters.h"
#include "coprocessor/machine.h"
#include "coprocessor/sizes.h"

static const struct vt_assemble_options none;

static struct vt_ucode program;

static struct vt_coproc *make(const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_coproc *m;

	if (vt_ucode_assemble(&program, text, strlen(text), &none, &err) < 0)
		fail_msg("%s", err.text);
	m = vt_coproc_new(&program, 1024, 2048, &err);
	assert_non_null(m);
	return m;
}

/* Runs a load of a value; returns its cycles. */
static uint64_t run(struct vt_coproc *m, uint64_t pc, uint64_t value)
{
	const struct vt_sample s = {.pc = pc, .value = value, .addr = 0x12345678, .size = 4};
	uint64_t cycles;

	assert_int_equal(vt_coproc_run(m, &s, 1000, &cycles), VT_COPROC_DONE);
	return cycles;
}

/* What v0 is after a word, whose operands are v0 and v1. */
static uint64_t compute(const char *op, uint64_t a, uint64_t b, bool *over)
{
	char text[256];
	struct vt_coproc *m;
	uint64_t v;

	snprintf(text, sizeof(text),
		 ".constant a %llu\n.constant b %llu\n.class load -> s\n"
		 "s: mov v0, a\nmov v1, b\n%s | if over o\ngo done\no: mov v3, one | go done\n",
		 (unsigned long long)a, (unsigned long long)b, op);
	m = make(text);
	run(m, 1, 2);
	v = vt_coproc_operand(m, VT_OP_V0);
	*over = vt_coproc_operand(m, VT_OP_V0 + 3);
	vt_coproc_free(m);
	return v;
}

static void arithmetic(void **state)
{
	static const struct {
		const char *op;
		uint64_t a, b, result;
		bool over;
	} rows[] = {
		{"add v0, v0, v1", 5, 7, 12, false},
		{"add v0, v0, v1", UINT64_MAX - 1, 1, UINT64_MAX, false},
		{"add v0, v0, v1", UINT64_MAX, 1, UINT64_MAX, true},
		{"sub v0, v0, v1", 7, 7, 0, false},
		{"sub v0, v0, v1", 7, 8, 0, true},
		{"and v0, v0, v1", 12, 10, 8, false},
		{"or v0, v0, v1", 12, 10, 14, false},
		{"xor v0, v0, v1", 12, 10, 6, false},
		{"not v0, v0", 1, 0, UINT64_MAX - 1, false},
		{"shl1 v0, v0", 3, 0, 6, false},
		{"shl2 v0, v0", 3, 0, 12, false},
		{"shl4 v0, v0", 3, 0, 48, false},
		{"shl8 v0, v0", 3, 0, 768, false},
		{"shr1 v0, v0", 0x300, 0, 0x180, false},
		{"shr2 v0, v0", 0x300, 0, 0xc0, false},
		{"shr4 v0, v0", 0x300, 0, 0x30, false},
		{"shr8 v0, v0", 0x300, 0, 3, false},
	};
	size_t i;
	bool over;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(compute(rows[i].op, rows[i].a, rows[i].b, &over), rows[i].result);
		assert_int_equal(over, rows[i].over);
	}
}

static void conditions(void **state)
{
	static const struct {
		const char *cond;
		bool less, equal, more;
	} rows[] = {
		{"eq", false, true, false}, {"ne", true, false, true}, {"lt", true, false, false},
		{"ge", false, true, true},  {"le", true, true, false}, {"gt", false, false, true},
	};
	char text[256];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_coproc *m;

		snprintf(text, sizeof(text),
			 ".constant c 10\n.class load -> s\ns: test value, c | if %s y\n"
			 "mov v0, zero | go done\ny: mov v0, one | go done\n",
			 rows[i].cond);
		m = make(text);
		run(m, 1, 9);
		assert_int_equal(vt_coproc_operand(m, VT_OP_V0), rows[i].less);
		run(m, 1, 10);
		assert_int_equal(vt_coproc_operand(m, VT_OP_V0), rows[i].equal);
		run(m, 1, UINT64_MAX);
		assert_int_equal(vt_coproc_operand(m, VT_OP_V0), rows[i].more);
		vt_coproc_free(m);
	}
}

/* Counters of each width stop; index registers stop or go round. */
static void counters(void **state)
{
	struct vt_coproc *m = make(".index up 2\n.index round 2\n.index low 2 = 1\n.index back 2\n"
				   ".index n 4\n.base b 8 16\n.base w 16 1\n"
				   ".class load -> s\n.class store -> t\n"
				   "s: up up | inc b | if full f\n"
				   "r: next round\n down low\n back back\n"
				   " mov -, value | addto w | go done\n"
				   "f: mov v2, one | go r\n"
				   "t: dec b | go done\n");
	int i;

	(void)state;
	for (i = 1; i <= 300; i++) {
		run(m, 1, 1000);
		assert_int_equal(vt_coproc_index(m, 0), i < 3 ? i : 3);
		assert_int_equal(vt_coproc_index(m, 1), i % 4);
		assert_int_equal(vt_coproc_index(m, 2), 0);
		assert_int_equal(vt_coproc_index(m, 3), (4 - i % 4) % 4);
		assert_int_equal(vt_coproc_data(m, &program.bases[0], 0), i < 255 ? i : 255);
		assert_int_equal(vt_coproc_operand(m, VT_OP_V0 + 2), i >= 255);
		assert_int_equal(vt_coproc_data(m, &program.bases[1], 0),
				 i < 66 ? i * 1000 : 65535);
	}
	vt_coproc_clear(m);
	assert_int_equal(vt_coproc_data(m, &program.bases[0], 0), 0);
	vt_coproc_restart(m);
	assert_int_equal(vt_coproc_index(m, 2), 1);
	vt_coproc_set_index(m, 1, 7);
	assert_int_equal(vt_coproc_index(m, 1), 3);
	vt_coproc_free(m);
}

/* Entries become valid, are replaced and invalidated; the lowest of several matches. */
static void associative_array(void **state)
{
	struct vt_coproc *m = make(".slots 4\n.index i 2\n.base hits 8\n"
				   ".class load -> l\n.class store -> s\n.class branch -> b\n"
				   "l: match pc | if miss done\n inc hits[m] | go done\n"
				   "s: enter i, pc | next i | go done\n"
				   "b: match pc | if miss done\n invalidate m | go done\n");
	struct vt_sample s = {.pc = 0};
	const uint8_t L = VT_CLASS_LOAD, S = VT_CLASS_STORE, B = VT_CLASS_BRANCH;
	const struct {
		uint8_t class;
		uint64_t pc;
	} steps[] = {
		{L, 7},
		{S, 7},
		{L, 7},
		{S, 9},
		{S, 7},
		{L, 7},
		{L, 9},
		{B, 7},
		{L, 7},
		{S, 5},
		{S, 6},
		{L, 7},
		{L, UINT64_C(0x100000006)},
		{B, 7},
		{L, 7},
	};
	static const uint8_t hits[] = {3, 1, 2, 0};
	uint64_t cycles, key;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		s.pc = steps[i].pc;
		s.class = steps[i].class;
		assert_int_equal(vt_coproc_run(m, &s, 10, &cycles), VT_COPROC_DONE);
	}
	for (i = 0; i < 4; i++)
		assert_int_equal(vt_coproc_data(m, &program.bases[0], (uint32_t)i), hits[i]);
	/* the keys have 32 bits */
	assert_true(vt_coproc_entry(m, 0, &key) && key == 6);
	assert_true(vt_coproc_entry(m, 1, &key) && key == 9);
	assert_false(vt_coproc_entry(m, 2, &key));
	assert_true(vt_coproc_entry(m, 3, &key) && key == 5);
	vt_coproc_invalidate(m);
	assert_false(vt_coproc_entry(m, 1, &key));
	vt_coproc_free(m);
}

/* The first numbers of the register from 1 on, by hand: x^32 + x^22 + x^2 + x + 1. */
static void random_numbers(void **state)
{
	static const uint64_t bits[] = {1, 0, 1, 1, 0, 1, 1, 0};
	struct vt_coproc *m = make(".random 1\n.class load -> s\ns: test d, rand | go done\n");
	uint32_t r = 1;
	unsigned seen[16] = {0}, i;

	(void)state;
	for (i = 0; i < 8; i++) {
		r = r >> 1 ^ (r & 1 ? 0x80200003u : 0);
		run(m, 1, 1);
		assert_int_equal(vt_coproc_operand(m, VT_OP_RAND), r & 1);
		assert_int_equal(r & 1, bits[i]);
	}
	vt_coproc_free(m);
	/* 0 to 15, each about as often. */
	m = make(".random 4\n.class load -> s\ns: test d, rand | go done\n");
	for (i = 0; i < 16000; i++) {
		run(m, 1, 1);
		seen[vt_coproc_operand(m, VT_OP_RAND)]++;
	}
	for (i = 0; i < 16; i++)
		assert_in_range(seen[i], 850, 1150);
	vt_coproc_free(m);
}

/* A word a cycle, and one more for a misprediction of a 2-bit counter that begins at 1. */
static void cycles(void **state)
{
	struct vt_coproc *m = make(".class load -> s\ns: and -, value, one | if nonzero odd\n"
				   "nop | go done\nodd: nop\nnop | go done\n");
	/* taken: +1 as predicted not taken, then right; not taken from 3: wrong twice */
	static const struct {
		uint64_t value, cycles;
	} steps[] = {{0, 2}, {1, 4}, {1, 4}, {1, 3}, {1, 3}, {0, 3}, {0, 3}, {0, 2}};
	const struct vt_coproc_stats *s = vt_coproc_stats(m);
	uint64_t sum = 0;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		assert_int_equal(run(m, 1, steps[i].value), steps[i].cycles);
		sum += steps[i].cycles;
	}
	assert_int_equal(s->samples, 8);
	assert_int_equal(s->words, 20);
	assert_int_equal(s->branches, 8);
	assert_int_equal(s->mispredicted, 4);
	assert_int_equal(s->cycles, sum);
	vt_coproc_free(m);
}

static void sizes_and_stops(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_coproc *m = make(".base b 64 256\n.class load -> s\ns: nop\nnop | go s\n");
	const struct vt_sample s = {.pc = 1};
	struct vt_buf text = VT_BUF_INIT;
	uint64_t n;

	(void)state;
	assert_int_equal(vt_coproc_run(m, &s, 1001, &n), VT_COPROC_STUCK);
	assert_int_equal(vt_coproc_stats(m)->words, 1001);
	vt_coproc_describe(m, &text);
	assert_string_equal(vt_buf_str(&text), "word 0 v0=0x0 v1=0x0 v2=0x0 v3=0x0 d=0x0 m=0");
	vt_buf_free(&text);
	vt_coproc_free(m);
	assert_null(vt_coproc_new(&program, 512, 2048, &err));
	assert_int_equal(err.code, VT_E_USAGE);
	assert_null(vt_coproc_new(&program, 1024, 1024, &err));
	assert_int_equal(err.code, VT_E_USAGE);
	assert_null(vt_coproc_new(&program, 1024, 3000, &err));
	assert_int_equal(err.code, VT_E_USAGE);
}

/* Table 1 of the paper. */
static void transistors(void **state)
{
	struct vt_coproc_sizes s = {4096, 1024, 1024, 2048};
	struct vt_coproc_structure rows[VT_COPROC_STRUCTURES];
	uint64_t sum = 0;
	size_t i;

	(void)state;
	vt_coproc_structures(&s, rows);
	for (i = 0; i < VT_COPROC_STRUCTURES; i++)
		sum += rows[i].transistors;
	assert_in_range(sum, 289000, 289999);
	assert_int_equal(rows[3].transistors, 74000);
	assert_int_equal(rows[4].bits, 16384);
	s.cam_bytes = 512;
	s.data_bytes = 4096;
	vt_coproc_structures(&s, rows);
	assert_int_equal(rows[3].transistors, 37000);
	assert_int_equal(rows[4].transistors, 196000);
}

/* ---- filters ---- */

static void hashes(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_filters f;
	unsigned regions[4] = {0}, i;

	(void)state;
	assert_int_equal(vt_filter_hash(VT_HASH_LOW, 0x12345, 12), 0x345);
	assert_int_equal(vt_filter_hash(VT_HASH_FOLD, 0x12345678, 16), 0x1234 ^ 0x5678);
	assert_int_equal(vt_filter_hash(VT_HASH_MIX, 1, 16), 0x9e37);
	assert_int_equal(vt_filter_hash(VT_HASH_SHIFT, 0x1000, 16), 0x1000 ^ 0x80 ^ 2);
	/* of 32 bits */
	assert_int_equal(vt_filter_hash(VT_HASH_MIX, UINT64_C(0x700000001), 16), 0x9e37);
	assert_int_equal(vt_filters_init(&f, 4096, &err), 0);
	for (i = 0; i < 4; i++) {
		unsigned pc;

		vt_filters_partition(&f, 3, i);
		for (pc = 0; pc < 4000; pc++)
			regions[i] += vt_filters_pass(&f, 0x400000 + pc);
		assert_in_range(regions[i], 900, 1100);
	}
	/* Each is in one of them. */
	assert_int_equal(regions[0] + regions[1] + regions[2] + regions[3], 4000);
	vt_filters_partition(&f, 0, 0);
	vt_filters_exclude(&f, 0x400000);
	assert_false(vt_filters_pass(&f, 0x400000));
	assert_true(vt_filters_pass(&f, 0x400001));
	assert_int_equal(vt_filters_excluded(&f), 1);
	vt_filters_include_all(&f);
	assert_true(vt_filters_pass(&f, 0x400000));
	vt_filters_fini(&f);
}

/* ---- the buffer ---- */

static int offer(struct vt_buffer *b, const struct vt_sample *s, uint32_t ahead, bool pass,
		 struct vt_error *err)
{
	struct vt_sample *place;
	int code = vt_buffer_claim(b, ahead, pass, &place, err);

	if (place)
		*place = *s;
	return code;
}

static int count_call(void *arg, bool turn, uint64_t retired, struct vt_error *err)
{
	int *calls = arg;

	(void)retired;
	(void)err;
	calls[turn]++;
	return 0;
}

/*
 * A routine of 4 cycles, a load each instruction, 2 instructions a cycle: of a burst, a buffer of
 * 2 entries takes the first 2, and then one for each 8 instructions.
 */
static void drops(void **state)
{
	struct vt_coproc *m = make(".class load -> s\ns: mov -, pc.lo\nnop\nnop\nnop | go done\n");
	int calls[2] = {0, 0};
	struct vt_buffer_options o = {.bytes = 8,
				      .clock = 1,
				      .ipc = 2,
				      .max_words = 100,
				      .turn = 50,
				      .host = count_call,
				      .host_arg = calls};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buffer *b = vt_buffer_new(m, &program, &o, &err);
	const struct vt_buffer_stats *s = vt_buffer_stats(b);
	const struct vt_sample load = {.pc = 1};
	unsigned i;

	(void)state;
	assert_int_equal(vt_buffer_entry_bytes(&program), 4);
	assert_int_equal(vt_buffer_entries(b), 2);
	for (i = 0; i < 80; i++) {
		assert_int_equal(offer(b, &load, 0, true, &err), 0);
		assert_int_equal(vt_buffer_retire(b, 1, &err), 0);
	}
	assert_int_equal(offer(b, &load, 3, false, &err), 0);
	assert_int_equal(s->offered, 81);
	assert_int_equal(s->filtered, 1);
	/* at 0 and 1, and where a place gets free: 8, 16, ... 72 */
	assert_int_equal(s->offered - s->filtered - s->dropped, 11);
	assert_int_equal(vt_buffer_drain(b, &err), 0);
	assert_int_equal(vt_coproc_stats(m)->samples, 11);
	assert_int_equal(s->retired, 80);
	assert_int_equal(calls[0], 0);
	assert_int_equal(calls[1], 1);
	vt_buffer_free(b);

	/* With 4 times the clock all are taken. */
	o.clock = 4;
	b = vt_buffer_new(m, &program, &o, &err);
	for (i = 0; i < 80; i++) {
		assert_int_equal(offer(b, &load, i, true, &err), 0);
	}
	assert_true(vt_buffer_stats(b)->dropped > 0);
	vt_buffer_free(b);
	o.clock = 8;
	b = vt_buffer_new(m, &program, &o, &err);
	for (i = 0; i < 80; i++)
		assert_int_equal(offer(b, &load, i, true, &err), 0);
	assert_int_equal(vt_buffer_stats(b)->dropped, 0);
	vt_buffer_free(b);
	o.bytes = 3;
	assert_null(vt_buffer_new(m, &program, &o, &err));
	assert_int_equal(err.code, VT_E_USAGE);
	vt_coproc_free(m);
}

/*
 * The same routine and buffer.  40 instructions of 4 cycles each, as told, are all taken, the last
 * one from 156 to 160.  Of 40 more, at 2 a cycle, are those at 160, 160.5, and 164, 168, 172 and
 * 176.
 */
static void cycles_that_are_told(void **state)
{
	struct vt_coproc *m = make(".class load -> s\ns: mov -, pc.lo\nnop\nnop\nnop | go done\n");
	struct vt_buffer_options o = {.bytes = 8, .clock = 1, .ipc = 2, .max_words = 100};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buffer *b = vt_buffer_new(m, &program, &o, &err);
	const struct vt_sample load = {.pc = 1};
	unsigned i;

	(void)state;
	vt_buffer_pace(b, 40, 160);
	for (i = 0; i < 80; i++) {
		assert_int_equal(offer(b, &load, 0, true, &err), 0);
		assert_int_equal(vt_buffer_retire(b, 1, &err), 0);
		if (i == 39)
			assert_int_equal(vt_buffer_stats(b)->dropped, 0);
	}
	assert_int_equal(vt_buffer_stats(b)->dropped, 34);
	assert_int_equal(vt_buffer_stats(b)->timed, 40);
	assert_true(vt_buffer_stats(b)->cycles == 160);
	vt_buffer_free(b);

	/* A time of more than 64 bits: 2^20 cycles of a clock of 1000 in 2^16 parts, 300000 times.
	 */
	o.clock = 1000;
	b = vt_buffer_new(m, &program, &o, &err);
	for (i = 0; i < 300000; i++) {
		vt_buffer_pace(b, 1, VT_BUFFER_MAX_PACE);
		assert_int_equal(offer(b, &load, 0, true, &err), 0);
		assert_int_equal(vt_buffer_retire(b, 1, &err), 0);
	}
	assert_int_equal(vt_buffer_stats(b)->dropped, 0);
	vt_buffer_free(b);
	vt_coproc_free(m);
}

static void interrupts_and_stuck_routines(void **state)
{
	struct vt_coproc *m = make(".class load -> s\n.class store -> t\ns: go interrupt\n"
				   "t: nop\nu: nop | go t\n");
	int calls[2] = {0, 0};
	const struct vt_buffer_options o = {.bytes = 8,
					    .clock = 1,
					    .ipc = 1,
					    .max_words = 10,
					    .host = count_call,
					    .host_arg = calls};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buffer *b = vt_buffer_new(m, &program, &o, &err);
	struct vt_sample s = {.pc = 0x400123};

	(void)state;
	assert_int_equal(offer(b, &s, 0, true, &err), 0);
	s.class = VT_CLASS_STORE;
	assert_int_equal(offer(b, &s, 1, true, &err), 0);
	assert_int_equal(vt_buffer_drain(b, &err), -VT_E_LIMIT);
	assert_int_equal(calls[0], 1);
	assert_string_equal(err.text, "the program does not say done within 10 words: sample 2, a "
				      "store at 0x400123: word 2 v0=0x0 v1=0x0 v2=0x0 v3=0x0 "
				      "d=0x0 m=0");
	vt_buffer_free(b);
	vt_coproc_free(m);
}

/* An entry has the fields that the program reads, and one byte for the class if there are several.
 */
static void entries(void **state)
{
	static const struct {
		const char *reads;
		unsigned bytes;
	} rows[] = {
		{"pc.lo", 4},	  {"pc", 8},	    {"value.lo", 4},  {"value", 8}, {"addr.lo", 4},
		{"addr", 8},	  {"addr.word", 8}, {"addr.line", 8}, {"next", 8},  {"code", 8},
		{"target.lo", 4}, {"target", 8},    {"tid", 4},	      {"size", 1},  {"taken", 1},
		{"missed", 1},	  {"v1", 1},	    {"class", 1},
	};
	struct vt_buf text = VT_BUF_INIT;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		text.size = 0;
		vt_buf_printf(&text, ".class load -> s\ns: mov v0, %s | go done\n", rows[i].reads);
		vt_coproc_free(make(vt_buf_str(&text)));
		assert_int_equal(vt_buffer_entry_bytes(&program), rows[i].bytes);
	}
	vt_buf_free(&text);
	/* The whole of a field has its half. */
	vt_coproc_free(make(".class load -> s\n.class store -> s\n"
			    "s: mov v0, pc.lo\nmov v1, pc\nmov v2, value.lo | go done\n"));
	assert_int_equal(vt_buffer_entry_bytes(&program), 8 + 4 + 1);
}

/* A field that only operand a can be, and that a buffer entry has a byte for. */
static void missed(void **state)
{
	static const char text[] = ".class load -> s\ns: mov v0, missed | go done\n";
	static const char bad[] = ".class load -> s\ns: add v0, v1, missed\n";
	struct vt_coproc *m = make(text);
	struct vt_sample s = {.addr = 0x1000, .size = 8, .missed = 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_ucode u;
	uint64_t cycles;

	(void)state;
	assert_int_equal(vt_ucode_reads(&program), UINT32_C(1) << VT_OP_MISSED);
	assert_int_equal(vt_buffer_entry_bytes(&program), 1);
	vt_coproc_run(m, &s, 100, &cycles);
	assert_int_equal(vt_coproc_operand(m, VT_OP_V0), 1);
	s.missed = 0;
	vt_coproc_run(m, &s, 100, &cycles);
	assert_int_equal(vt_coproc_operand(m, VT_OP_V0), 0);
	vt_coproc_free(m);
	assert_true(vt_ucode_assemble(&u, bad, strlen(bad), &none, &err) < 0);
	assert_non_null(strstr(err.text, "field b cannot encode missed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic),
		cmocka_unit_test(entries),
		cmocka_unit_test(missed),
		cmocka_unit_test(conditions),
		cmocka_unit_test(counters),
		cmocka_unit_test(associative_array),
		cmocka_unit_test(random_numbers),
		cmocka_unit_test(cycles),
		cmocka_unit_test(sizes_and_stops),
		cmocka_unit_test(transistors),
		cmocka_unit_test(hashes),
		cmocka_unit_test(drops),
		cmocka_unit_test(cycles_that_are_told),
		cmocka_unit_test(interrupts_and_stuck_routines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
