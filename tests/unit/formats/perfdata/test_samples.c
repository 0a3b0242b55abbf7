/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of every set of fields, and the counters that are read with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "formats/perfdata/session.h"
#include "tests/unit/formats/perfdata/pdfile.h"
#include "tests/unit/formats/perfdata/pdsession.h"

/* Fields of one word in their order, and how each is shown: here of the value 21, 22, ... */
static const struct {
	uint32_t bit;
	const char *name;
	unsigned shown; /* its place among the others */
} fixed[] = {
	{PD_SAMPLE_IDENTIFIER, " id=", 6},
	{PD_SAMPLE_IP, " ip=", 3},
	{PD_SAMPLE_TID, " pid=", 1},
	{PD_SAMPLE_TIME, " time=", 0},
	{PD_SAMPLE_ADDR, " addr=", 5},
	{PD_SAMPLE_ID, " id=", 6},
	{PD_SAMPLE_STREAM_ID, " stream_id=", 7},
	{PD_SAMPLE_CPU, " cpu=", 2},
	{PD_SAMPLE_PERIOD, " period=", 4},
};

#define NFIXED (sizeof(fixed) / sizeof(fixed[0]))

static void deliver(struct pdsession *p, uint16_t misc, const struct vt_buf *b)
{
	const struct pd_rec r = {.type = PD_SAMPLE,
				 .misc = misc,
				 .size = (uint16_t)(PD_HEADER_SIZE + b->size),
				 .payload = b->data,
				 .left = b->size,
				 .offset = 9};

	assert_int_equal(vti_pd_deliver_sample(&p->s, &r, 0), 0);
}

/* The line of a sample of a set of fields; the weight is 0 if it has none. */
static void put_line(struct vt_buf *out, unsigned set, unsigned weight)
{
	uint64_t bits = weight ? PD_SAMPLE_WEIGHT : 0;
	unsigned place, i;

	for (i = 0; i < NFIXED; i++)
		bits |= set >> i & 1 ? fixed[i].bit : 0;
	vt_buf_printf(out, "SAMPLE");
	for (place = 0; place < 8; place++) {
		int value = -1;

		for (i = 0; i < NFIXED; i++) {
			if (fixed[i].shown == place && set >> i & 1)
				value = (int)i;
		}
		if (value >= 0) {
			vt_buf_printf(out, "%s%d", fixed[value].name, 21 + value);
			if (fixed[value].bit == PD_SAMPLE_TID)
				vt_buf_printf(out, " tid=-5");
		} else if (place == 4) {
			vt_buf_printf(out, " period=1000");
		}
		if (place == 4) {
			vt_buf_printf(out, " misc=2");
			if (bits)
				vt_buf_printf(out, " has=%u", (unsigned)bits);
		}
		if (place == 5 && weight)
			vt_buf_printf(out, " weight=%u", weight);
	}
	vt_buf_put_u8(out, '\n');
}

static void reads_all_sets_of_fields(void **state)
{
	struct vt_buf lines = VT_BUF_INIT, b = VT_BUF_INIT;
	struct pdsession p;
	unsigned form, set, i;

	(void)state;
	for (form = 0; form < 4; form++) {
		const struct pdfile order = {.big = form & 1};
		const unsigned weight = form & 2 ? 55 : 0;

		pdsession_init(&p, 0);
		p.s.big = order.big;
		lines.size = 0;
		for (set = 0; set < 1u << NFIXED; set++) {
			struct pd_attr *a = &p.s.events[0].attr;

			b.size = 0;
			a->period = 1000;
			a->sample_type = weight ? PD_SAMPLE_WEIGHT : 0;
			for (i = 0; i < NFIXED; i++) {
				if (!(set >> i & 1))
					continue;
				a->sample_type |= fixed[i].bit;
				if (fixed[i].bit == PD_SAMPLE_TID) {
					pdfile_u32(&order, &b, 21 + i);
					pdfile_u32(&order, &b, (uint32_t)-5);
				} else if (fixed[i].bit == PD_SAMPLE_CPU) {
					pdfile_u32(&order, &b, 21 + i);
					pdfile_u32(&order, &b, 0);
				} else {
					pdfile_u64(&order, &b, 21 + i);
				}
			}
			if (weight)
				pdfile_u64(&order, &b, weight);
			vti_pd_layout(&p.s);
			deliver(&p, 2, &b);
			put_line(&lines, set, weight);
		}
		assert_int_equal(p.sum.samples, 1u << NFIXED);
		pdsession_expect(&p, vt_buf_str(&lines));
		pdsession_fini(&p);
	}
	vt_buf_free(&lines);
	vt_buf_free(&b);
}

/* Where the period is not recorded and the event was sampled by frequency it is not known. */
static void takes_1_for_unknown_periods(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned weight;

	(void)state;
	for (weight = 0; weight < 2; weight++) {
		pdsession_init(&p, PD_SAMPLE_IP | weight * PD_SAMPLE_WEIGHT);
		p.s.events[0].attr.period = 4000;
		p.s.events[0].attr.flags = PD_ATTR_FREQ;
		b.size = 0;
		vt_buf_put_le64(&b, 600);
		if (weight)
			vt_buf_put_le64(&b, 7);
		deliver(&p, 1, &b);
		pdsession_expect(&p, weight ? "SAMPLE ip=600 period=1 misc=1 has=16385 weight=7\n"
					    : "SAMPLE ip=600 period=1 misc=1 has=1\n");
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* Three branches: three columns, with the flags of one in the order of the other byte order. */
static void splits_branches(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned big, i;

	(void)state;
	for (big = 0; big < 2; big++) {
		const struct pdfile order = {.big = big};

		pdsession_init(&p, PD_SAMPLE_BRANCH_STACK);
		p.s.big = big;
		b.size = 0;
		pdfile_u64(&order, &b, 3);
		for (i = 0; i < 3; i++) {
			pdfile_u64(&order, &b, 10 + i);
			pdfile_u64(&order, &b, 20 + i);
			/* cycles: 16 bits wide, behind 4 */
			pdfile_u64(&order, &b, (uint64_t)(1 + i) << (big ? 44 : 4));
		}
		deliver(&p, 0, &b);
		pdsession_expect(&p, "SAMPLE has=2048 br_from=10,11,12 br_to=20,21,22 "
				     "br_flags=16,32,48\n");
		pdsession_fini(&p);
	}
	vt_buf_free(&b);
}

/* Puts words, and what they look like. */
static void put_read(const struct pdfile *order, struct vt_buf *b, struct vt_buf *shown, uint64_t v)
{
	pdfile_u64(order, b, v);
	vt_buf_printf(shown, "%s%u", shown->size ? "," : "", (unsigned)v);
}

/*
 * What linux/perf_event.h has of a value that is read: itself, times, its id, what was lost; of a
 * group how many there are, times, and each with its id and what was lost.
 */
static void put_counters(const struct pdfile *order, struct vt_buf *b, struct vt_buf *shown,
			 uint64_t format, unsigned moved)
{
	const bool group = format & PD_FORMAT_GROUP;
	unsigned i;

	put_read(order, b, shown, group ? 2 : 100 + moved);
	if (format & PD_FORMAT_TOTAL_TIME_ENABLED)
		put_read(order, b, shown, 7);
	if (format & PD_FORMAT_TOTAL_TIME_RUNNING)
		put_read(order, b, shown, 8);
	for (i = 0; i < 1u + group; i++) {
		if (group)
			put_read(order, b, shown, 100 * (1 + i) + moved);
		put_read(order, b, shown, 31 + i);
		if (format & PD_FORMAT_LOST)
			put_read(order, b, shown, 5);
	}
}

/* Read three times: the second time all have moved by 1, the third time by nothing. */
static void counts_what_counters_moved(void **state)
{
	struct vt_buf b = VT_BUF_INIT, lines = VT_BUF_INIT, shown = VT_BUF_INIT;
	struct pdsession p;
	unsigned form, i, k;

	(void)state;
	for (form = 0; form < 64; form++) {
		const struct pdfile order = {.big = form & 32};
		const uint64_t format = (form & 31) | PD_FORMAT_ID;

		pdsession_init(&p, PD_SAMPLE_READ);
		p.s.events[0].attr.read_format = format;
		pdsession_event(&p, &p.s.events[0].attr);
		p.s.big = order.big;
		vti_pd_id_add(&p.s, 31, 0);
		vti_pd_id_add(&p.s, 32, 1);
		lines.size = 0;
		for (k = 0; k < 3; k++) {
			b.size = shown.size = 0;
			put_counters(&order, &b, &shown, format, k > 0);
			deliver(&p, 0, &b);
			for (i = 0; i < (format & PD_FORMAT_GROUP ? 2 : 1) && k < 2; i++)
				vt_buf_printf(&lines, "SAMPLE%s period=%u has=16 id=%u read=%s\n",
					      i ? " event=1" : "", k ? 1 : 100 * (1 + i), 31 + i,
					      vt_buf_str(&shown));
		}
		pdsession_expect(&p, vt_buf_str(&lines));
		pdsession_fini(&p);
	}
	vt_buf_free(&shown);
	vt_buf_free(&lines);
	vt_buf_free(&b);
}

/* Without ids the counts are the sample's own affair. */
static void keeps_counts_without_ids(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_READ);
	p.s.events[0].attr.period = 1000;
	vt_buf_put_le64(&b, 100);
	deliver(&p, 0, &b);
	pdsession_expect(&p, "SAMPLE period=1000 has=16 read=100\n");
	/* An id that no event has, and one that has. */
	p.s.events[0].attr.read_format = PD_FORMAT_ID;
	vt_buf_put_le64(&b, 12);
	deliver(&p, 0, &b);
	pdsession_expect(&p, "");
	vti_pd_id_add(&p.s, 12, 0);
	deliver(&p, 0, &b);
	pdsession_expect(&p, "SAMPLE period=100 has=16 id=12 read=100,12\n");
	pdsession_fini(&p);
	vt_buf_free(&b);
}

/* What is shorter than its fields, or longer, is none; unless a kernel adds to them. */
static void wants_all_of_a_sample(void **state)
{
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;

	(void)state;
	pdsession_init(&p, PD_SAMPLE_IP | PD_SAMPLE_WEIGHT);
	vt_buf_put_le64(&b, 600);
	deliver(&p, 0, &b);
	pdsession_expect(&p, "GAP reason=record of type 9: the sample is shorter than its fields "
			     "input=test offset=9 bytes=16 records=1\n");
	vt_buf_put_le64(&b, 7);
	vt_buf_put_u8(&b, 0);
	deliver(&p, 0, &b);
	pdsession_expect(&p, "GAP reason=record of type 9: the sample is longer than its fields "
			     "input=test offset=9 bytes=25 records=1\n");
	p.s.events[0].attr.sample_type |= UINT64_C(1) << 25;
	deliver(&p, 0, &b);
	pdsession_expect(&p, "SAMPLE ip=600 has=16385 weight=7\n");
	pdsession_fini(&p);
	vt_buf_free(&b);
}

/* Either all registers that perf asks for, or one that is the program counter: EM_* of elf.h. */
static void tells_machines_by_registers(void **state)
{
	static const struct {
		uint64_t mask;
		unsigned n, pc; /* registers, and the one that is the address */
		uint32_t machine;
	} cases[] = {
		{0xff0fff, 20, 99, 62},
		{0x102, 2, 1, 62},
		{0x102, 2, 0, 0},
		{0x101, 2, 1, 62},
		{0x1ffffffff, 33, 99, 183},
		{0x0ffffffff, 32, 99, 0},
		{UINT64_C(1) << 32, 1, 0, 183},
		{UINT64_C(1) << 33, 1, 0, 0},
		{0xffff00ff0fff, 36, 99, 62},
	};
	struct vt_buf b = VT_BUF_INIT;
	struct pdsession p;
	unsigned i, k, form;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* In the user's registers, in those at the interrupt, of the other byte order. */
		for (form = 0; form < 4; form++) {
			const struct pdfile order = {.big = form & 2};
			struct pd_attr *a;

			pdsession_init(&p, PD_SAMPLE_IP | (form & 1 ? PD_SAMPLE_REGS_INTR
								    : PD_SAMPLE_REGS_USER));
			p.s.big = order.big;
			a = &p.s.events[0].attr;
			*(form & 1 ? &a->regs_intr : &a->regs_user) = cases[i].mask;
			b.size = 0;
			pdfile_u64(&order, &b, 600);
			pdfile_u64(&order, &b, 2);
			for (k = 0; k < cases[i].n; k++)
				pdfile_u64(&order, &b, k == cases[i].pc ? 600 : 7);
			deliver(&p, 0, &b);
			assert_int_equal(p.sum.samples, 1);
			assert_int_equal(p.s.machine, form & 2 ? 0 : cases[i].machine);
			pdsession_fini(&p);
		}
	}
	vt_buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_all_sets_of_fields),
		cmocka_unit_test(takes_1_for_unknown_periods),
		cmocka_unit_test(splits_branches),
		cmocka_unit_test(counts_what_counters_moved),
		cmocka_unit_test(keeps_counts_without_ids),
		cmocka_unit_test(wants_all_of_a_sample),
		cmocka_unit_test(tells_machines_by_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
