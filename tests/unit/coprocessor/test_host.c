/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coprocessor/assemble.h"
#include "coprocessor/filters.h"
#include "coprocessor/host.h"
#include "coprocessor/programs.h"

/* A co-processor, its buffer and its host, without an input. */
struct rig {
	struct vt_ucode u;
	struct vt_coproc *c;
	struct vt_filters f;
	struct vt_host *h;
	struct vt_buffer *b;
};

/* The options' own defaults are chosen for longer runs. */
static struct vt_host_masking masking_of(uint32_t least, uint32_t resample)
{
	return (struct vt_host_masking){.high = .95,
					.low = .05,
					.times = 4,
					.samples = 64,
					.least = least,
					.resample = resample,
					.partitions = 10};
}

static void open_masking_rig(struct rig *r, const char *text, uint64_t turn,
			     struct vt_host_masking masking)
{
	const struct vti_text *t = vt_ucode_program(text);
	const struct vt_assemble_options none = {.slots = 0};
	struct vt_buffer_options o = {.bytes = 1024,
				      .clock = 100,
				      .ipc = 1,
				      .max_words = 100,
				      .turn = turn,
				      .host = vt_host_interrupt};
	struct vt_error err = VT_ERROR_INIT;

	text = t ? t->text : text;
	if (vt_ucode_assemble(&r->u, text, strlen(text), &none, &err) < 0)
		fail_msg("%s", err.text);
	r->c = vt_coproc_new(&r->u, 1024, 2048, &err);
	assert_non_null(r->c);
	assert_int_equal(vt_filters_init(&r->f, 4096, &err), 0);
	r->h = vt_host_new(&r->u, r->c, &r->f, &masking);
	assert_non_null(r->h);
	o.host_arg = r->h;
	r->b = vt_buffer_new(r->c, &r->u, &o, &err);
	assert_non_null(r->b);
}

static void open_rig(struct rig *r, const char *text, uint64_t turn)
{
	open_masking_rig(r, text, turn, masking_of(1, 3));
}

static void close_rig(struct rig *r)
{
	vt_buffer_free(r->b);
	vt_host_free(r->h);
	vt_filters_fini(&r->f);
	vt_coproc_free(r->c);
}

static void give(struct rig *r, uint8_t class, uint64_t pc, uint64_t value)
{
	const struct vt_sample s = {.pc = pc, .value = value, .taken = value & 1, .class = class};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_sample *place;

	assert_int_equal(vt_buffer_claim(r->b, 0, vt_filters_pass(&r->f, pc), &place, &err), 0);
	if (place)
		*place = s;
	assert_int_equal(vt_buffer_drain(r->b, &err), 0);
	assert_int_equal(vt_buffer_retire(r->b, 1, &err), 0);
}

static uint64_t slot_data(const struct rig *r, const char *name, uint32_t slot)
{
	return vt_coproc_data(r->c, vt_ucode_find_base(&r->u, name), slot);
}

/* The slot of a pc: valid, or turned off. */
static uint32_t find_slot(const struct rig *r, uint64_t pc, bool *valid)
{
	uint64_t key;
	uint32_t i;

	for (i = 0; i < r->u.slots; i++) {
		*valid = vt_coproc_entry(r->c, i, &key);
		if (key == pc && slot_data(r, "total", i))
			return i;
	}
	return UINT32_MAX;
}

/* Gives a load until it has a slot. */
static uint32_t get_slot(struct rig *r, uint64_t pc, uint64_t value)
{
	bool valid;
	int i;

	for (i = 0; i < 100 && find_slot(r, pc, &valid) == UINT32_MAX; i++)
		give(r, VT_CLASS_LOAD, pc, value);
	return find_slot(r, pc, &valid);
}

static void check_slot(const struct rig *r, uint32_t slot, uint64_t value, uint64_t hits,
		       uint64_t misses, uint64_t total)
{
	assert_int_equal(slot_data(r, "value", slot), value);
	assert_int_equal(slot_data(r, "hits", slot), hits);
	assert_int_equal(slot_data(r, "misses", slot), misses);
	assert_int_equal(slot_data(r, "total", slot), total);
}

/* ---- A.6 ---- */

static void estimates(void **state)
{
	/* 80 samples that no value tells of, of which each gets 20 % at most */
	struct vt_host_value two[] = {{1, 60, 20, 0}, {2, 30, 10, 0}};
	struct vt_host_site s = {.total = 200, .weighted = 200, .values = two, .nvalues = 2};
	/* The misses of each go to the others as their hits. */
	struct vt_host_value three[] = {{1, 60, 20, 0}, {2, 30, 10, 0}, {3, 10, 30, 0}};
	struct vt_host_value one[] = {{1, 3, 7, 0}};

	(void)state;
	vt_host_estimate(&s, true);
	assert_true(fabs(two[0].estimate - (60 + 10 + 16)) < 1e-9);
	assert_true(fabs(two[1].estimate - (30 + 20 + 16)) < 1e-9);
	s = (struct vt_host_site){.total = 160, .weighted = 160, .values = three, .nvalues = 3};
	vt_host_estimate(&s, true);
	assert_true(fabs(three[0].estimate - (60 + 10 * 60. / 70 + 30 * 60. / 90)) < 1e-9);
	assert_true(fabs(three[1].estimate - (30 + 20 * 30. / 40 + 30 * 30. / 90)) < 1e-9);
	assert_true(fabs(three[2].estimate - (10 + 20 * 10. / 40 + 10 * 10. / 70)) < 1e-9);
	/* Nothing else to give them to. */
	s = (struct vt_host_site){.total = 20, .weighted = 20, .values = one, .nvalues = 1};
	vt_host_estimate(&s, true);
	assert_true(fabs(one[0].estimate - (3 + .2 * 10)) < 1e-9);
}

/*
 * A load of three values, of which one never was the active one: what each has where it is the
 * active one, 30 % and 20 %, is what it has, and half belongs to neither.
 */
static void estimates_by_shares(void **state)
{
	struct vt_host_value two[] = {{1, 60, 140, 0}, {2, 20, 80, 0}};
	struct vt_host_site s = {.total = 300, .weighted = 300, .values = two, .nvalues = 2};
	/* Each has nearly all where it is the active one: the rest is the other's. */
	struct vt_host_value apart[] = {{1, 90, 10, 0}, {2, 90, 10, 0}};
	struct vt_host_value one[] = {{1, 3, 7, 0}};
	struct vt_host_value none[] = {{1, 4, 0, 0}, {2, 0, 0, 0}};
	/* Together they have more than all: the likeliest shares whose sum is 1, by bisection. */
	struct vt_host_value three[] = {{1, 60, 40, 0}, {2, 40, 60, 0}, {3, 30, 70, 0}};
	/* An equal share of 60 samples that neither tells of is less than 20 %. */
	struct vt_host_value six[] = {{1, 1, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0},
				      {4, 1, 0, 0}, {5, 1, 0, 0}, {6, 1, 0, 0}};
	static const double likeliest[] = {144.36712, 90.02194, 65.61095};
	unsigned i;

	(void)state;
	vt_host_estimate(&s, false);
	assert_true(fabs(two[0].estimate - 90) < .001);
	assert_true(fabs(two[1].estimate - 60) < .001);
	s = (struct vt_host_site){.total = 200, .weighted = 200, .values = apart, .nvalues = 2};
	vt_host_estimate(&s, false);
	assert_true(fabs(apart[0].estimate - 100) < .001);
	assert_true(fabs(apart[1].estimate - 100) < .001);
	s = (struct vt_host_site){.total = 20, .weighted = 20, .values = one, .nvalues = 1};
	vt_host_estimate(&s, false);
	assert_true(fabs(one[0].estimate - (3 + .2 * 10)) < 1e-9);
	s = (struct vt_host_site){.total = 28, .weighted = 14, .values = none, .nvalues = 2};
	vt_host_estimate(&s, false);
	assert_true(fabs(none[0].estimate - 2 * (4 + 2)) < 1e-9);
	assert_true(fabs(none[1].estimate - 2 * 2) < 1e-9);
	s = (struct vt_host_site){.total = 300, .weighted = 300, .values = three, .nvalues = 3};
	vt_host_estimate(&s, false);
	for (i = 0; i < 3; i++)
		assert_true(fabs(three[i].estimate - likeliest[i]) < .01);
	s = (struct vt_host_site){.total = 66, .weighted = 66, .values = six, .nvalues = 6};
	vt_host_estimate(&s, false);
	assert_true(fabs(six[5].estimate - 11) < 1e-9);
}

/* ---- load-value ---- */

/* A.1: below 20 % another value becomes the active one, with 1 hit. */
static void another_value(void **state)
{
	struct rig r;
	uint32_t slot;
	int i;

	(void)state;
	open_rig(&r, "load-value", 0);
	slot = get_slot(&r, 0x1000, 7);
	check_slot(&r, slot, 7, 1, 0, 1);
	give(&r, VT_CLASS_LOAD, 0x1000, 7);
	check_slot(&r, slot, 7, 2, 0, 2);
	for (i = 0; i < 8; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 8);
	/* 2 of 10 are 20 % */
	check_slot(&r, slot, 7, 2, 8, 10);
	give(&r, VT_CLASS_LOAD, 0x1000, 9);
	check_slot(&r, slot, 9, 1, 0, 11);
	/* Of 64 bits, 32. */
	give(&r, VT_CLASS_LOAD, 0x1000, UINT64_C(0x700000009));
	check_slot(&r, slot, 9, 2, 0, 12);
	close_rig(&r);
}

/* A.2: 16 hits are kept: the slot is turned off. */
static void hits_are_kept(void **state)
{
	struct rig r;
	uint32_t slot;
	bool valid;
	int i;

	(void)state;
	open_rig(&r, "load-value", 0);
	slot = get_slot(&r, 0x1000, 7);
	for (i = 1; i < 16; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 7);
	for (i = 0; i < 64; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 8);
	check_slot(&r, slot, 7, 16, 64, 80);
	find_slot(&r, 0x1000, &valid);
	assert_true(valid);
	give(&r, VT_CLASS_LOAD, 0x1000, 8);
	check_slot(&r, slot, 7, 16, 65, 81);
	find_slot(&r, 0x1000, &valid);
	assert_false(valid);
	close_rig(&r);
}

/* A.2: with 255 hits, the slot is turned off, and the load competes for another. */
static void saturation(void **state)
{
	const struct vt_host_site *s;
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	uint32_t slot;
	int i;

	(void)state;
	open_rig(&r, "load-value", 0);
	slot = get_slot(&r, 0x1000, 7);
	for (i = 1; i < 255; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 7);
	check_slot(&r, slot, 7, 255, 0, 255);
	for (i = 0; i < 45; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 7);
	check_slot(&r, slot, 7, 255, 0, 255);
	assert_int_equal(vt_host_finish(r.h, vt_buffer_stats(r.b)->retired, &err), 0);
	assert_int_equal(vt_host_sites(r.h), 1);
	s = vt_host_site(r.h, 0);
	assert_int_equal(s->pc, 0x1000);
	assert_int_equal(s->nvalues, 1);
	assert_in_range(s->total, 290, 300);
	assert_true(fabs(s->values[0].estimate - (double)s->total) < 1e-9);
	assert_true(s->left > 0);
	close_rig(&r);
}

/* A.4: slots of more than 15 samples are not replaced; when too many fail, they are copied. */
static void interrupt_of_failures(void **state)
{
	struct rig r;
	const struct vt_host_stats *s;
	unsigned pc, i;

	(void)state;
	open_rig(&r, "load-value", 1000000);
	s = vt_host_stats(r.h);
	/* Each has its slot by some replacement: then 100 samples, of few values or of many. */
	for (pc = 0; pc < 256; pc++)
		for (i = 0; i < 100 || get_slot(&r, 0x1000 + pc, 1) == UINT32_MAX; i++)
			give(&r, VT_CLASS_LOAD, 0x1000 + pc, pc & 1 ? 5 : i);
	assert_int_equal(s->interrupts, 0);
	assert_int_equal(vt_filters_excluded(&r.f), 0);
	for (pc = 0; s->interrupts == 0; pc++)
		give(&r, VT_CLASS_LOAD, 0x9000 + pc, 1);
	assert_int_equal(s->copies, 1);
	assert_int_equal(s->thrashes, 0);
	assert_int_equal(s->records, 256);
	/* an invariance of 1, or nearly 0 */
	assert_true(s->masked >= 128);
	assert_true(vt_filters_excluded(&r.f) > 100);
	assert_false(vt_filters_pass(&r.f, 0x1001));
	/* The table has another hash each time that it is loaded, and is empty at the third. */
	for (i = 1; i <= 3; i++) {
		struct vt_error err = VT_ERROR_INIT;

		assert_int_equal(vt_buffer_retire(r.b, 1000000, &err), 0);
		assert_int_equal(r.f.table_hash, (VT_HASH_MIX + 1 + i) % VT_NHASHES);
		assert_int_equal(vt_filters_pass(&r.f, 0x1001), i == 3);
	}
	assert_int_equal(vt_filters_excluded(&r.f), 0);
	assert_int_equal(s->resamples, s->masked);
	close_rig(&r);
}

static void give_many(struct rig *r, uint64_t pc, uint64_t value)
{
	unsigned i;

	/* It has its slot by some replacement. */
	for (i = 0; i < 100 || get_slot(r, pc, value) == UINT32_MAX; i++)
		give(r, VT_CLASS_LOAD, pc, value);
}

/* How many turns a load is excluded for, after an interrupt now. */
static unsigned count_turns(struct rig *r, uint64_t pc)
{
	struct vt_error err = VT_ERROR_INIT;
	unsigned turns = 0;

	assert_int_equal(vt_host_interrupt(r->h, false, 0, &err), 0);
	for (; !vt_filters_pass(&r->f, pc); turns++)
		assert_int_equal(vt_host_interrupt(r->h, true, 0, &err), 0);
	return turns;
}

/* So many turns more each time, or a quarter of that when it is not what it was. */
static void turns_of_exclusion(void **state)
{
	static const struct {
		uint64_t value;
		unsigned turns;
	} steps[] = {{5, 9}, {5, 18}, {5, 27}, {9, 29}, {9, 31}, {9, 33}};
	struct rig r;
	size_t i;

	(void)state;
	open_masking_rig(&r, "load-value", 1000000, masking_of(1, 9));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		give_many(&r, 0x1001, steps[i].value);
		assert_int_equal(count_turns(&r, 0x1001), steps[i].turns);
	}
	close_rig(&r);
}

/* Samples count as the root of the time that they stand for, by that in which they were taken. */
static void weights_of_samples(void **state)
{
	static const struct {
		unsigned turns;
		uint64_t included_at, copied_at;
		double squared;
	} steps[] = {
		{0, 0, 10000, 1},
		{9, 100000, 102000, 1 + 90000 / 2000.},
		/* a window of 100 instructions */
		{11, 202000, 202100, 1 + 100000 / 1000.},
	};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_host_site *s;
	double weighted = 0, counts;
	uint64_t total = 0;
	struct rig r;
	size_t i;
	unsigned k;

	(void)state;
	open_masking_rig(&r, "load-value", 1000000, masking_of(1, 9));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (k = 0; k < steps[i].turns; k++)
			assert_int_equal(vt_host_interrupt(r.h, true, steps[i].included_at, &err),
					 0);
		give_many(&r, 0x1001, i + 5);
		assert_int_equal(vt_host_interrupt(r.h, false, steps[i].copied_at, &err), 0);
		s = vt_host_site(r.h, 0);
		counts = (double)(s->total - total) * sqrt(steps[i].squared);
		assert_true(fabs(s->values[i].hits - counts) < 1e-6);
		assert_true(fabs(s->weighted - weighted - counts) < 1e-6);
		weighted = s->weighted;
		total = s->total;
	}
	/* Estimates are of samples as they were. */
	assert_int_equal(vt_host_finish(r.h, 202100, &err), 0);
	assert_true(fabs(s->values[2].estimate - (double)total * counts / weighted) < 1e-6);
	close_rig(&r);
}

/* Of an instruction that the profile has, no slot of fewer samples is copied; to find out is a
 * read. */
static void few_samples(void **state)
{
	static const struct {
		unsigned give;
		uint64_t records, reads;
	} steps[] = {{9, 1, 387}, {9, 1, 774}, {10, 2, 1160}};
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	size_t i;
	unsigned k;

	(void)state;
	open_masking_rig(&r, "load-value", 1000000, masking_of(10, 0));
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (k = 0; k < steps[i].give; k++)
			give(&r, VT_CLASS_LOAD, 0x1001, 5);
		assert_int_equal(vt_host_interrupt(r.h, false, 0, &err), 0);
		assert_int_equal(vt_host_stats(r.h)->records, steps[i].records);
		assert_int_equal(vt_host_stats(r.h)->reads, steps[i].reads);
	}
	close_rig(&r);
}

/* A quarter of the table at most, for those of which most samples were seen. */
static void full_table(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	unsigned n = 0, pc, i;

	(void)state;
	open_rig(&r, "load-value", 1000000);
	for (i = 0; i < 8; i++) {
		for (pc = 256 * i; pc < 256 * (i + 1); pc++)
			give_many(&r, 0x10000 + 7 * pc, 5);
		assert_int_equal(vt_host_interrupt(r.h, false, 0, &err), 0);
		assert_in_range(vt_filters_excluded(&r.f), 1, 1024);
	}
	/* of the 2048, of which each had 100 */
	for (pc = 0; pc < 2048; pc++)
		n += !vt_filters_pass(&r.f, 0x10000 + 7 * pc);
	assert_in_range(n, 1024, 1400);
	close_rig(&r);
}

/* A.5: four times as many replacements as slots, in fewer than 2 samples each: 4 regions. */
static void thrashing(void **state)
{
	struct rig r;
	const struct vt_host_stats *s;
	unsigned pc, n = 0, turns;

	(void)state;
	open_rig(&r, "load-value", 100000);
	s = vt_host_stats(r.h);
	for (pc = 0; s->interrupts == 0; pc++, n++)
		give(&r, VT_CLASS_LOAD, 0x10000 + 4 * pc, pc);
	/* 1023 and those that failed */
	assert_in_range(n, 1023, 1023 * 2 - 1);
	assert_int_equal(s->thrashes, 1);
	assert_int_equal(s->copies, 0);
	assert_int_equal(s->partitions, 4);
	assert_int_equal(r.f.mask, 3);
	assert_int_equal(r.f.match, 0);
	/* Nothing disturbs any longer: the regions take turns, and are joined. */
	for (turns = 1; turns <= 7; turns++) {
		static const uint32_t mask[] = {3, 3, 3, 3, 1, 1, 0, 0};
		static const uint32_t match[] = {0, 1, 2, 3, 0, 1, 0, 0};
		static const unsigned copies[] = {0, 1, 2, 3, 4, 5, 6, 6};
		struct vt_error err = VT_ERROR_INIT;

		assert_int_equal(vt_buffer_retire(r.b, 100000, &err), 0);
		assert_int_equal(r.f.mask, mask[turns]);
		assert_int_equal(r.f.match, match[turns]);
		assert_int_equal(s->copies, copies[turns]);
	}
	assert_int_equal(s->partitions, 1);
	close_rig(&r);
}

/* ---- counts and rows ---- */

/* All slots in use, or a full counter, are read; nothing is lost. */
static void counts(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	const struct vt_host_stats *s;
	unsigned i, k;

	(void)state;
	open_rig(&r, "edge", 0);
	s = vt_host_stats(r.h);
	for (k = 0; k < 2; k++)
		for (i = 0; i < 300; i++)
			give(&r, VT_CLASS_BRANCH, 0x1000 + i, k + i);
	/* 600 new slots: at each 256th the table is read */
	assert_int_equal(s->interrupts, 2);
	for (i = 0; i < 65535; i++)
		give(&r, VT_CLASS_BRANCH, 0x1007, 1);
	assert_int_equal(s->interrupts, 3);
	assert_int_equal(vt_host_finish(r.h, vt_buffer_stats(r.b)->retired, &err), 0);
	assert_int_equal(vt_host_rows(r.h), 300);
	assert_int_equal(vt_host_keys(r.h), 1);
	assert_int_equal(vt_host_columns(r.h), 3);
	assert_string_equal(vt_host_column(r.h, 0), "pc");
	assert_string_equal(vt_host_column(r.h, 1), "taken");
	for (i = 0; i < 300; i++) {
		const uint64_t *row = vt_host_row(r.h, i);

		assert_int_equal(row[1], row[0] == 0x1007 ? 65536 : 1);
		assert_int_equal(row[2], 1);
	}
	close_rig(&r);
}

static void simple_samples(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	const struct vt_host_site *s;
	unsigned i;

	(void)state;
	open_rig(&r, "simple-sample", 0);
	for (i = 0; i < 1024 * 300; i++)
		give(&r, VT_CLASS_LOAD, 0x1000 + i / 1024 % 2, i / 1024 / 100);
	assert_int_equal(vt_host_stats(r.h)->interrupts, 1);
	assert_int_equal(vt_host_stats(r.h)->records, 256);
	assert_int_equal(vt_host_finish(r.h, vt_buffer_stats(r.b)->retired, &err), 0);
	assert_int_equal(vt_host_stats(r.h)->records, 300);
	assert_int_equal(vt_host_sites(r.h), 2);
	for (i = 0; i < 2; i++) {
		s = vt_host_site(r.h, i);
		assert_int_equal(s->total, 150);
		assert_int_equal(s->nvalues, 3);
		assert_true(fabs(s->values[1].estimate - 50) < 1e-9);
	}
	close_rig(&r);
}

static void overhead(void **state)
{
	const struct vt_host_costs costs = {100, 2, 20};
	struct vt_error err = VT_ERROR_INIT;
	struct rig r;
	unsigned i;

	(void)state;
	open_rig(&r, "simple-sample", 0);
	/* To load it: 6 words of 6 bytes, 21 starts, 2 constants, 2 base and 2 index registers. */
	assert_int_equal(vt_host_stats(r.h)->stores, (6 * 6 + 21 + 16 + 4 + 4 + 7) / 8);
	for (i = 0; i < 1024 * 256; i++)
		give(&r, VT_CLASS_LOAD, 0x1000, 1);
	assert_int_equal(vt_host_finish(r.h, vt_buffer_stats(r.b)->retired, &err), 0);
	assert_int_equal(vt_host_stats(r.h)->reads, 256);
	assert_int_equal(vt_host_stats(r.h)->stores, 11 + 2 + 2);
	assert_true(fabs(vt_host_overhead(r.h, &costs) - (100 + 2 * (256 + 15) + 20 * 256)) < 1e-9);
	close_rig(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(estimates),	      cmocka_unit_test(estimates_by_shares),
		cmocka_unit_test(another_value),      cmocka_unit_test(hits_are_kept),
		cmocka_unit_test(saturation),	      cmocka_unit_test(interrupt_of_failures),
		cmocka_unit_test(turns_of_exclusion), cmocka_unit_test(weights_of_samples),
		cmocka_unit_test(few_samples),	      cmocka_unit_test(full_table),
		cmocka_unit_test(thrashing),	      cmocka_unit_test(counts),
		cmocka_unit_test(simple_samples),     cmocka_unit_test(overhead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
