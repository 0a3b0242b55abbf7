/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions that pick records: values, what is unknown, and errors with their columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stream/profileme.h"
#include "stream/units.h"
#include "stream/where.h"

#define ROWS 600 /* more than are evaluated at a time */

/* A block of one kind, all of whose fields are 0 or empty at first. */
struct table {
	struct vt_schema schema;
	struct vt_block block;
	struct vt_column columns[VT_MAX_FIELDS];
	uint64_t numbers[VT_MAX_FIELDS][ROWS];
	uint32_t off[VT_MAX_FIELDS][2];
	uint8_t bytes[VT_MAX_FIELDS][16];
	uint64_t words[4];
};

static struct table *make_table(uint32_t kind)
{
	struct table *t = test_calloc(1, sizeof(*t));
	struct vt_error err = VT_ERROR_INIT;
	uint32_t f;

	assert_int_equal(vt_schema_init(&t->schema, &err), 0);
	t->block = (struct vt_block){.kind = kind,
				     .nrecords = ROWS,
				     .ncolumns = t->schema.kinds[kind].nfields,
				     .desc = &t->schema.kinds[kind],
				     .columns = t->columns};
	for (f = 0; f < t->block.ncolumns; f++)
		t->columns[f] = (struct vt_column){.v = t->numbers[f],
						   .off = t->off[f],
						   .bytes = t->bytes[f],
						   .words = t->words};
	return t;
}

static void free_table(struct table *t)
{
	vt_schema_fini(&t->schema);
	test_free(t);
}

static void put_text(struct table *t, unsigned field, const char *text)
{
	memcpy(t->bytes[field], text, strlen(text));
	t->off[field][1] = (uint32_t)strlen(text);
}

static struct vt_where_expr *compile(const struct table *t, const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_where_expr *w = vt_where_compile(text, &t->schema, t->block.kind, NULL, &err);

	if (!w)
		print_error("%s: %s\n", text, err.text);
	assert_non_null(w);
	return w;
}

static void expect(const struct table *t, const char *text, enum vt_truth truth)
{
	const struct vt_record rec = {&t->block, t->block.kind, 0};
	struct vt_where_expr *w = compile(t, text);

	if (vt_where_test(w, &rec) != truth)
		print_error("%s is %d\n", text, (int)vt_where_test(w, &rec));
	assert_int_equal(vt_where_test(w, &rec), truth);
	vt_where_free(w);
}

static void expect_error(const struct table *t, const char *text, enum vt_errcode code,
			 const char *message)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_null(vt_where_compile(text, &t->schema, t->block.kind, NULL, &err));
	assert_string_equal(err.text, message);
	assert_int_equal(err.code, code);
}

/* A sample: cpu 3, period 1000, pid -7, addr 2^64-1, and more of it in each test. */
static struct table *make_sample(void)
{
	struct table *t = make_table(VT_SAMPLE);

	t->numbers[VT_SAMPLE_CPU][0] = 3;
	t->numbers[VT_SAMPLE_PERIOD][0] = 1000;
	t->numbers[VT_SAMPLE_PID][0] = (uint64_t)-7;
	t->numbers[VT_SAMPLE_TID][0] = 9;
	t->numbers[VT_SAMPLE_ADDR][0] = UINT64_MAX;
	return t;
}

static void integers(void **state)
{
	static const char *const yes[] = {
		"1",
		"0x10 == 16",
		"0XfF == 255",
		"18446744073709551615 == addr",
		"~0 == addr",
		"cpu == 3",
		"cpu != 4",
		"cpu < 4",
		"cpu <= 3",
		"cpu > 2",
		"cpu >= 3",
		"cpu + 4 == 7",
		"cpu - 4 == -1",
		"4 - cpu == 1",
		"cpu * 5 == 15",
		"period / 7 == 142",
		"period % 7 == 6",
		"-period / 7 == -142",
		"-period % 7 == -6",
		"period % -7 == 6",
		"pid == -7",
		"pid < 0",
		"pid < cpu",
		"cpu > pid",
		"pid != addr",
		"addr > pid",
		"pid + 7 == 0",
		"-pid == 7",
		"- -7 == 7",
		"-(pid + 7) == 0",
		"0 - 0 == -0",
		"-addr < pid",
		"pid - addr == -addr - 7 + 0 || pid > -addr",
		"cpu - addr == -18446744073709551612",
		"pid * pid == 49",
		"pid * cpu == -21",
		"period & 0xf8 == 0xe8",
		"cpu | 4 == 7",
		"cpu ^ 1 == 2",
		"~cpu & 7 == 4",
		"-1 & 0xff == 0xff",
		"pid & 15 == 9",
		"1 << 63 == 0x8000000000000000",
		"1 << 64 == 0",
		"addr >> 63 == 1",
		"addr >> 64 == 0",
		"period >> 3 == 125",
		"-1 >> 60 == 15",
	};
	struct table *t = make_sample();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		expect(t, yes[i], VT_TRUE);
	expect(t, "0", VT_FALSE);
	expect(t, "cpu == 4", VT_FALSE);
	expect(t, "cpu != 3", VT_FALSE);
	expect(t, "cpu < 3", VT_FALSE);
	expect(t, "cpu > 3", VT_FALSE);
	expect(t, "cpu <= 2", VT_FALSE);
	expect(t, "cpu >= 4", VT_FALSE);
	free_table(t);
}

/* Beyond 64 bits and a sign, and divided by 0. */
static void numbers_that_cannot_be(void **state)
{
	static const char *const unknown[] = {
		"addr + 1 > 0",		"addr * 2 > 0",	 "-addr - 1 < 0",
		"addr * -2 < 0",	"cpu / 0 == 0",	 "cpu % 0 == 0",
		"cpu / (pid + 7) == 0", "1.5 / 0 > 0",	 "1.5 % 0 > 0",
		"1 << -1 == 0",		"1 >> pid == 0", "1e308 * 10 - 1e308 * 10 == 0",
	};
	struct table *t = make_sample();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		expect(t, unknown[i], VT_UNKNOWN);
	expect(t, "addr + 0 == addr", VT_TRUE);
	expect(t, "addr * 1 == addr", VT_TRUE);
	expect(t, "-addr + 1 < 0", VT_TRUE);
	expect(t, "1e308 * 10 > 1e308", VT_TRUE);
	free_table(t);
}

static void reals(void **state)
{
	static const char *const yes[] = {
		"1.5",
		"cpu * 0.5 == 1.5",
		"cpu / 2 == 1",
		"cpu / 2.0 == 1.5",
		"period / 1e3 == 1",
		"pid + 0.25 == -6.75",
		"pid < -6.5",
		"7.5 % 2 == 1.5",
		"-7.5 % 2 == -1.5",
		"-1.5 < pid + 6",
		"!0.0",
		"-0.0 == 0",
		"2.5e-1 == 0.25",
		"cpu - 0.5 == 2.5",
	};
	struct table *t = make_sample(), *f = make_table(VT_FREQ);
	double d = 2.5;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		expect(t, yes[i], VT_TRUE);
	expect(t, "0.0", VT_FALSE);
	memcpy(&f->numbers[VT_FREQ_EXECUTIONS][0], &d, sizeof(d));
	expect(f, "executions == 2.5", VT_TRUE);
	expect(f, "executions * 2 == 5 && -executions == -2.5 && executions", VT_TRUE);
	d = 0.0 / 0.0;
	memcpy(&f->numbers[VT_FREQ_EXECUTIONS][0], &d, sizeof(d));
	expect(f, "executions == executions", VT_UNKNOWN);
	free_table(f);
	free_table(t);
}

/* The first is tighter, or the left one. */
static void precedence(void **state)
{
	static const char *const yes[] = {
		"2 + 3 * 4 == 14",   "(2 + 3) * 4 == 20", "20 - 5 - 3 == 12",
		"100 / 10 / 5 == 2", "7 % 4 * 2 == 6",	  "1 << 2 + 1 == 8",
		"6 & 1 << 1 == 2",   "6 ^ 7 & 3 == 5",	  "8 | 6 ^ 2 == 12",
		"1 | 2 == 3",	     "4 & 6 == 4",	  "-2 + 3 == 1",
		"-2 * -3 == 6",	     "~1 & 3 == 2",	  "1 || 1 && 0",
		"!0 && 1",	     "!1 == 2",		  "!!1",
		"! 2 > 3",	     "0 || !0",		  "(1 == 1) + 1 == 2",
		"1 << 3 >> 2 == 2",
	};
	struct table *t = make_sample();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		expect(t, yes[i], VT_TRUE);
	expect(t, "(1 || 1) && 0", VT_FALSE);
	expect(t, "!1 == 1", VT_FALSE);
	free_table(t);
}

/* Kleene's tables.  A number that cannot be is unknown. */
static void three_values(void **state)
{
	static const char *const terms[] = {"cpu == 4", "cpu == 3", "1 / 0 == 1"};
	struct table *t = make_sample();
	char text[80];
	unsigned a, b;

	(void)state;
	for (a = 0; a < 3; a++) {
		static const enum vt_truth inverse[] = {VT_TRUE, VT_FALSE, VT_UNKNOWN};

		snprintf(text, sizeof(text), "!(%s)", terms[a]);
		expect(t, text, inverse[a]);
		for (b = 0; b < 3; b++) {
			static const enum vt_truth all[3][3] = {{VT_FALSE, VT_FALSE, VT_FALSE},
								{VT_FALSE, VT_TRUE, VT_UNKNOWN},
								{VT_FALSE, VT_UNKNOWN, VT_UNKNOWN}};
			static const enum vt_truth any[3][3] = {{VT_FALSE, VT_TRUE, VT_UNKNOWN},
								{VT_TRUE, VT_TRUE, VT_TRUE},
								{VT_UNKNOWN, VT_TRUE, VT_UNKNOWN}};

			snprintf(text, sizeof(text), "%s && %s", terms[a], terms[b]);
			expect(t, text, all[a][b]);
			snprintf(text, sizeof(text), "%s || %s", terms[a], terms[b]);
			expect(t, text, any[a][b]);
		}
	}
	free_table(t);
}

static void what_was_not_recorded(void **state)
{
	struct table *t = make_sample();

	(void)state;
	expect(t, "weight == 0", VT_UNKNOWN);
	expect(t, "weight + 1 > 0", VT_UNKNOWN);
	expect(t, "has(weight)", VT_FALSE);
	expect(t, "has(cpu) && has(addr) && has(tid)", VT_TRUE);
	expect(t, "has == 0", VT_TRUE);
	t->numbers[VT_SAMPLE_HAS][0] = 1u << 24;
	expect(t, "weight == 0", VT_TRUE);
	expect(t, "has(weight) && has & 0x1000000", VT_TRUE);
	expect(t, "lat_load < 5", VT_UNKNOWN);
	expect(t, "!has(lat_load)", VT_TRUE);
	t->numbers[VT_SAMPLE_PM_HAS][0] = VT_PM_BIT(LAT_LOAD);
	expect(t, "lat_load < 5", VT_TRUE);
	expect(t, "lat_load == 0 && has(lat_load)", VT_TRUE);
	expect(t, "lat_load > 5 || lat_exec > 5", VT_UNKNOWN);
	expect(t, "lat_load > 5 && lat_exec > 5", VT_FALSE);
	expect(t, "source == l2", VT_UNKNOWN);
	free_table(t);
}

/* A latency whose counter stopped at 200: so long or longer. */
static void at_least(void **state)
{
	static const struct {
		const char *text;
		enum vt_truth truth;
	} rows[] = {
		{"lat_load > 199", VT_TRUE},
		{"lat_load > 200", VT_UNKNOWN},
		{"lat_load >= 200", VT_TRUE},
		{"lat_load >= 201", VT_UNKNOWN},
		{"lat_load < 200", VT_FALSE},
		{"lat_load < 201", VT_UNKNOWN},
		{"lat_load <= 199", VT_FALSE},
		{"lat_load <= 200", VT_UNKNOWN},
		{"lat_load == 199", VT_FALSE},
		{"lat_load == 200", VT_UNKNOWN},
		{"lat_load != 199", VT_TRUE},
		{"lat_load != 300", VT_UNKNOWN},
		{"199 < lat_load", VT_TRUE},
		{"200 < lat_load", VT_UNKNOWN},
		{"200 > lat_load", VT_FALSE},
		{"201 > lat_load", VT_UNKNOWN},
		{"lat_load + 10 >= 210", VT_TRUE},
		{"lat_load - 10 > 189", VT_TRUE},
		{"300 - lat_load < 200", VT_TRUE},
		{"lat_load * 2 > 3", VT_UNKNOWN},
		{"lat_load & 1 == 0", VT_UNKNOWN},
		{"lat_load", VT_TRUE},
		{"lat_load - 200", VT_UNKNOWN},
		{"lat_load - 201", VT_UNKNOWN},
		{"300 - lat_load <= 100", VT_TRUE},
		{"300 - lat_load < 101", VT_TRUE},
		{"300 - lat_load > 100", VT_FALSE},
		{"300 - lat_load >= 101", VT_FALSE},
		{"300 - lat_load == 101", VT_FALSE},
		{"300 - lat_load != 101", VT_TRUE},
		{"300 - lat_load == 100", VT_UNKNOWN},
		{"300 - lat_load > 99", VT_UNKNOWN},
		{"100 >= 300 - lat_load", VT_TRUE},
		{"101 < 300 - lat_load", VT_FALSE},
		{"-lat_load < -199", VT_TRUE},
		{"-lat_load <= -200", VT_TRUE},
		{"-lat_load < -200", VT_UNKNOWN},
		{"-lat_load > -200", VT_FALSE},
		{"-lat_load", VT_TRUE},
		{"100 - lat_load", VT_TRUE},
		{"200 - lat_load", VT_UNKNOWN},
		{"300 - lat_load", VT_UNKNOWN},
		{"-(300 - lat_load) >= -100", VT_TRUE},
		{"1000 - (300 - lat_load) >= 900", VT_TRUE},
		{"0 - lat_load + 50 <= -150", VT_TRUE},
		{"-lat_load - lat_load <= -400", VT_TRUE},
		{"lat_load - lat_load < 500", VT_UNKNOWN},
		{"lat_load + -lat_load < 500", VT_UNKNOWN},
		{"-lat_load < lat_load", VT_TRUE},
		{"-lat_load == lat_load", VT_FALSE},
		{"lat_load > 300 - lat_load", VT_TRUE},
		{"300.5 - lat_load <= 100.5", VT_TRUE},
		{"-(lat_load + 0.5) < -200", VT_TRUE},
		{"-(lat_load + 0.5)", VT_TRUE},
		{"200.5 - lat_load", VT_UNKNOWN},
		{"lat_load == lat_load", VT_UNKNOWN},
		{"lat_load > 199.5", VT_TRUE},
		{"has(lat_load)", VT_TRUE},
		{"lat_load + lat_load > 399", VT_TRUE},
	};
	struct table *t = make_sample();
	size_t i;

	(void)state;
	t->numbers[VT_SAMPLE_PM_HAS][0] = VT_PM_BIT(LAT_LOAD);
	t->numbers[VT_SAMPLE_PM_LEAST][0] = VT_PM_BIT(LAT_LOAD);
	t->numbers[VT_SAMPLE_LAT_LOAD][0] = 200;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(t, rows[i].text, rows[i].truth);
	free_table(t);
}

/* Told: retired, which is set, dcache_miss, which is not, and l2_miss, which is. */
static void events(void **state)
{
	static const struct {
		const char *text;
		enum vt_truth truth;
	} rows[] = {
		{"events & retired", VT_TRUE},
		{"events & dcache_miss", VT_FALSE},
		{"events & taken", VT_UNKNOWN},
		{"events & (taken | retired)", VT_TRUE},
		{"(taken | dcache_miss) & events", VT_UNKNOWN},
		{"!(events & dcache_miss)", VT_TRUE},
		{"events & retired && events & l2_miss", VT_TRUE},
		{"events & (taken | retired) != 0", VT_TRUE},
		{"events & (taken | retired) == 0", VT_FALSE},
		{"0 == events & (taken | dcache_miss)", VT_UNKNOWN},
		{"events & (retired | dcache_miss) == retired", VT_TRUE},
		{"events & (retired | l2_miss) == (retired | l2_miss)", VT_TRUE},
		{"events & (retired | taken) == retired", VT_UNKNOWN},
		{"events & \"trap\"", VT_UNKNOWN},
		{"events & (trap | retired)", VT_TRUE},
		{"events == 1", VT_FALSE},
		{"events == load", VT_FALSE},
		{"events != load", VT_TRUE},
		{"load == events", VT_FALSE},
		{"events == (retired | l2_miss)", VT_UNKNOWN},
		{"events != (retired | l2_miss | taken)", VT_UNKNOWN},
		{"events == -1", VT_FALSE},
		{"events == 0", VT_FALSE},
		{"events != 0", VT_TRUE},
		{"!!events", VT_TRUE},
		{"!events", VT_FALSE},
		{"events", VT_TRUE},
		{"events && 1", VT_TRUE},
		{"events == 5.0", VT_UNKNOWN},
		{"events < 3", VT_UNKNOWN},
		{"events & (retired | taken) == taken", VT_FALSE},
		{"events & (retired | taken) != taken", VT_TRUE},
		{"taken == (taken | dcache_miss) & events", VT_UNKNOWN},
		{"events & (retired | l2_miss) == 17", VT_TRUE},
		{"events & (retired | l2_miss) == 17.0", VT_TRUE},
		{"events & taken == 8", VT_FALSE},
		{"events & retired == events & l2_miss", VT_FALSE},
		{"events & retired == -1", VT_FALSE},
		{"events == 1 / 0", VT_UNKNOWN},
		{"events & (1 / 0) == 4", VT_UNKNOWN},
	};
	struct table *t = make_sample();
	size_t i;

	(void)state;
	expect(t, "events & retired", VT_UNKNOWN);
	t->numbers[VT_SAMPLE_PM_HAS][0] = VT_PM_BIT(EVENTS);
	t->numbers[VT_SAMPLE_EVENTS_TOLD][0] =
		VT_PM_EVENT(RETIRED) | VT_PM_EVENT(DCACHE_MISS) | VT_PM_EVENT(L2_MISS);
	/* What is set and not told does not count. */
	t->numbers[VT_SAMPLE_EVENTS][0] =
		VT_PM_EVENT(RETIRED) | VT_PM_EVENT(L2_MISS) | VT_PM_EVENT(TAKEN);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect(t, rows[i].text, rows[i].truth);
	t->numbers[VT_SAMPLE_EVENTS_TOLD][0] = (1u << VT_PM_NEVENTS) - 1;
	expect(t, "events == (retired | l2_miss | taken)", VT_TRUE);
	expect(t, "events == 529.0 && events != 529.5 && events < 530", VT_TRUE);
	t->numbers[VT_SAMPLE_EVENTS][0] = 0;
	expect(t, "!events && events == 0", VT_TRUE);
	t->numbers[VT_SAMPLE_EVENTS_TOLD][0] = 1;
	expect(t, "!events", VT_UNKNOWN);
	expect(t, "events == 0", VT_UNKNOWN);
	free_table(t);
}

static void words_and_texts(void **state)
{
	struct table *t = make_sample(), *e = make_table(VT_EVENT), *m = make_table(VT_META);

	(void)state;
	t->numbers[VT_SAMPLE_PM_HAS][0] = VT_PM_BIT(SOURCE) | VT_PM_BIT(TRAP);
	t->numbers[VT_SAMPLE_SOURCE][0] = VT_SOURCE_DRAM_FAR;
	expect(t, "source == dram_far && source == \"dram-far\" && source != l2", VT_TRUE);
	expect(t, "dram <= source && source == 10", VT_TRUE);
	expect(t, "trap == none && \"order\" != trap", VT_TRUE);
	expect(t, "pm_has & source && !(pm_has & \"lat_load\")", VT_TRUE);
	expect(t, "source & pm_has && !(lat_load & pm_has)", VT_TRUE);
	expect(t, "!(source == l1) && (source == l1 || source == dram_far)", VT_TRUE);
	t->off[VT_SAMPLE_CALLCHAIN][1] = 3;
	expect(t, "callchain.count == 3 && stack.count == 0", VT_TRUE);
	expect(t, "has(callchain) && !has(stack)", VT_TRUE);
	e->numbers[VT_EVENT_POLICY][0] = VT_POLICY_PRECISE;
	put_text(e, VT_EVENT_NAME, "cycles");
	put_text(e, VT_EVENT_UNIT, "cycles");
	expect(e, "policy == precise && name == \"cycles\"", VT_TRUE);
	expect(e, "name == unit && \"x\" != name && name.count == 6", VT_TRUE);
	put_text(e, VT_EVENT_UNIT, "Cycles");
	expect(e, "name == unit", VT_FALSE);
	expect(e, "name != unit", VT_TRUE);
	put_text(m, VT_META_KEY, "a\"b\\");
	expect(m, "key == \"a\\\"b\\\\\"", VT_TRUE);
	free_table(m);
	free_table(e);
	free_table(t);
}

static enum vt_truth is_event(void *arg, uint64_t id, const char *name)
{
	static const char *const names[] = {"cycles", "ibs_op//", "cycles"};

	++*(unsigned *)arg;
	return id < 3 ? (enum vt_truth)(strcmp(names[id], name) == 0) : VT_UNKNOWN;
}

static void names_of_events(void **state)
{
	static const struct {
		const char *text;
		enum vt_truth truth[4]; /* of the events 0, 1, 2 and one that is not declared */
	} rows[] = {
		{"event == \"cycles\"", {VT_TRUE, VT_FALSE, VT_TRUE, VT_UNKNOWN}},
		{"\"cycles\" != event", {VT_FALSE, VT_TRUE, VT_FALSE, VT_UNKNOWN}},
		{"event == \"ibs_op//\" && event == 1", {VT_FALSE, VT_TRUE, VT_FALSE, VT_FALSE}},
		{"event == \"\"", {VT_FALSE, VT_FALSE, VT_FALSE, VT_UNKNOWN}},
	};
	unsigned calls = 0;
	const struct vt_where_names names = {.is_event = is_event, .event_arg = &calls};
	struct vt_error err = VT_ERROR_INIT;
	struct table *t = make_sample();
	struct vt_where_expr *w;
	uint8_t truth[8];
	size_t i;

	(void)state;
	t->columns[VT_SAMPLE_EVENT].mask = SIZE_MAX;
	for (i = 0; i < 8; i++)
		t->numbers[VT_SAMPLE_EVENT][i] = i / 2;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		w = vt_where_compile(rows[i].text, &t->schema, VT_SAMPLE, &names, &err);
		assert_non_null(w);
		calls = 0;
		vt_where_select(w, &t->block, 0, 8, truth);
		/* Once for each run of one event. */
		assert_int_equal(calls, 4);
		for (calls = 0; calls < 8; calls++)
			assert_int_equal(truth[calls], rows[i].truth[calls / 2]);
		vt_where_free(w);
	}
	free_table(t);
}

static void errors(void **state)
{
	static const struct {
		const char *text;
		enum vt_errcode code;
		const char *message;
	} rows[] = {
		{"", VT_E_USAGE, "column 1: an operand is missing at the end"},
		{"cpu ==", VT_E_USAGE, "column 7: an operand is missing at the end"},
		{"cpu == )", VT_E_USAGE, "column 8: an operand is missing here"},
		{"(cpu == 3", VT_E_USAGE, "column 10: ')' is missing here"},
		{"cpu 3", VT_E_USAGE, "column 5: an operator is missing before this"},
		{"cpu = 3", VT_E_USAGE, "column 5: equality is '=='"},
		{"cpu == 3 $", VT_E_USAGE, "column 10: no part of an expression"},
		{"1 < cpu < 3", VT_E_USAGE, "column 9: comparisons do not chain: a < b && b < c"},
		{"cpu + !cpu", VT_E_USAGE, "column 7: here, '!' and its operand need parentheses"},
		{"cpu == 0x", VT_E_USAGE, "column 8: not a number"},
		{"cpu == 12k", VT_E_USAGE, "column 8: not a number"},
		{"cpu == 18446744073709551616", VT_E_USAGE,
		 "column 8: a number of more than 64 bits"},
		{"cpu == \"a", VT_E_USAGE, "column 8: the string does not end"},
		{"cpu == \"a\\n\"", VT_E_USAGE,
		 "column 8: in a string, a backslash stands before \" or another"},
		{"lat_laod > 3", VT_E_ABSENT,
		 "column 1: SAMPLE has no field 'lat_laod'; did you mean 'lat_load'?"},
		{"cpu > zzzzzz", VT_E_ABSENT, "column 7: SAMPLE has no field 'zzzzzz'"},
		{"has(nothing_there)", VT_E_ABSENT,
		 "column 5: SAMPLE has no field 'nothing_there'"},
		{"source == drma", VT_E_USAGE,
		 "column 11: SAMPLE has no field 'drma'; did you mean 'dram'?"},
		{"source == \"drma\"", VT_E_USAGE,
		 "column 11: 'drma' is no word for enum:source; did you mean 'dram'?"},
		{"source & dram", VT_E_USAGE,
		 "column 8: values of an enumeration are compared, each by itself"},
		{"source == l1 | dram_far", VT_E_USAGE,
		 "column 14: values of an enumeration are compared, each by itself"},
		{"3 < source + 1", VT_E_USAGE,
		 "column 12: values of an enumeration are compared, each by itself"},
		{"-source == l1", VT_E_USAGE,
		 "column 1: values of an enumeration are compared, each by itself"},
		{"dram == 3", VT_E_ABSENT, "column 1: SAMPLE has no field 'dram'"},
		{"stack == 3", VT_E_USAGE, "column 1: bytes and arrays have only .count"},
		{"cpu.count", VT_E_USAGE, "column 1: only texts, bytes and arrays have .count"},
		{"stack.size", VT_E_USAGE, "column 7: only 'count' follows a point"},
		{"has(3)", VT_E_USAGE, "column 5: has() takes the name of a field"},
		{"cpu == \"3\"", VT_E_USAGE, "column 5: a text is compared with a number"},
		{"\"a\" == \"b\"", VT_E_USAGE, "column 5: neither side is a field"},
		{"\"a\"", VT_E_USAGE, "column 1: a text is compared by == or != with a field"},
		{"1.5 & 1", VT_E_USAGE, "column 5: operators of bits take integers"},
		{"events & 1.5", VT_E_USAGE, "column 8: operators of bits take integers"},
		{"~1.5", VT_E_USAGE, "column 1: operators of bits take integers"},
		{"ip in file \"a\"", VT_E_USAGE, "column 7: 'procedure' or 'image' follows 'in'"},
		{"ip in image a", VT_E_USAGE, "column 13: a name in double quotes is missing here"},
		{"3 in image \"a\"", VT_E_USAGE, "column 3: 'in' goes with the name of a field"},
		{"pid in image \"a\"", VT_E_USAGE, "column 1: only addresses lie in places"},
		{"cpu in image \"a\"", VT_E_USAGE, "column 1: only addresses lie in places"},
		{"cpu == 010", VT_E_USAGE,
		 "column 8: a decimal number does not begin with 0: write 8 or 0x8"},
		{"cpu == 00", VT_E_USAGE,
		 "column 8: a decimal number does not begin with 0: write 8 or 0x8"},
		{"cpu > .5", VT_E_USAGE,
		 "column 7: digits are missing before the point: write 0.5"},
		{"cpu < 1e400", VT_E_USAGE, "column 7: too large for a floating number"},
		{"event == \"x\"", VT_E_USAGE, "column 7: names of events are not looked up here"},
		{"event < \"x\"", VT_E_USAGE, "column 7: texts are compared by == or !="},
		{"ip in image \"a\"", VT_E_USAGE,
		 "column 13: procedures and images are not looked up here"},
	};
	struct table *t = make_sample(), *e = make_table(VT_EVENT);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_error(t, rows[i].text, rows[i].code, rows[i].message);
	expect_error(e, "name < \"a\"", VT_E_USAGE, "column 6: texts are compared by == or !=");
	expect_error(e, "name + 1 == 2", VT_E_USAGE,
		     "column 1: a text is compared by == or != with a text");
	free_table(e);
	free_table(t);
}

static void fields_of_pairs(void **state)
{
	struct table *t = make_sample();

	(void)state;
	expect_error(t, "cpu == 2 || 1.cpu < 3", VT_E_USAGE,
		     "column 13: '1.cpu' is of a pair of samples, which vpair --metric has: of one "
		     "record, write 'cpu'");
	free_table(t);
}

/* `count` copies of `part`, and `end`. */
static char *repeat(const char *part, size_t count, const char *end)
{
	char *text = test_malloc(count * strlen(part) + strlen(end) + 1);
	size_t i;

	for (i = 0; i < count; i++)
		strcpy(text + i * strlen(part), part);
	strcpy(text + count * strlen(part), end);
	return text;
}

static void limits(void **state)
{
	struct table *t = make_sample();
	char *text = repeat("!", VT_WHERE_MAX_DEPTH, "1");

	(void)state;
	expect(t, text, VT_TRUE);
	test_free(text);
	text = repeat("(", VT_WHERE_MAX_DEPTH + 1, "1");
	expect_error(t, text, VT_E_LIMIT,
		     "column 66: more than 64 parentheses and signs in each other");
	test_free(text);
	text = repeat("1+", VT_WHERE_MAX_TERMS / 2 - 1, "1");
	expect(t, text, VT_TRUE);
	test_free(text);
	text = repeat("1+", VT_WHERE_MAX_TERMS / 2, "1");
	expect_error(t, text, VT_E_LIMIT, "column 1001: more than 1000 terms");
	test_free(text);
	text = repeat(" ", VT_WHERE_MAX_TEXT, "1");
	expect_error(t, text, VT_E_LIMIT, "column 4097: more than 4096 characters");
	test_free(text);
	free_table(t);
}

/* Rows in runs, from any on, and columns of one value. */
static void many_rows(void **state)
{
	struct table *t = make_sample();
	struct vt_where_expr *w = compile(t, "period % 3 == 0 && cpu == 3 || period == 598");
	uint8_t truth[ROWS];
	uint32_t i, first;

	(void)state;
	for (i = 0; i < ROWS; i++)
		t->numbers[VT_SAMPLE_PERIOD][i] = i;
	t->numbers[VT_SAMPLE_HAS][0] = VT_HAS_PERIOD;
	t->columns[VT_SAMPLE_PERIOD].mask = SIZE_MAX;
	for (first = 0; first < ROWS; first += 97) {
		vt_where_select(w, &t->block, first, ROWS - first, truth);
		for (i = first; i < ROWS; i++)
			assert_int_equal(truth[i - first],
					 i % 3 == 0 || i == 598 ? VT_TRUE : VT_FALSE);
	}
	vt_where_free(w);
	free_table(t);
}

/* ip 0x10 lies in f of /bin/a, addr in no place that is known. */
static enum vt_truth lies_in(void *arg, const struct vt_record *rec, unsigned field,
			     enum vt_where_place place, const char *name)
{
	++*(int *)arg;
	if (vt_record_u64(rec, field) != 0x10)
		return VT_UNKNOWN;
	return strcmp(name, place == VT_WHERE_PROCEDURE ? "f" : "/bin/a") == 0;
}

static void places(void **state)
{
	static const struct {
		const char *text;
		enum vt_truth truth;
	} rows[] = {
		{"ip in procedure \"f\"", VT_TRUE},	{"ip in procedure \"g\"", VT_FALSE},
		{"ip in image \"/bin/a\"", VT_TRUE},	{"addr in procedure \"f\"", VT_UNKNOWN},
		{"!ip in image \"f\" && cpu", VT_TRUE}, {"target in image \"f\"", VT_UNKNOWN},
	};
	struct vt_error err = VT_ERROR_INIT;
	struct table *t = make_sample();
	const struct vt_record rec = {&t->block, VT_SAMPLE, 0};
	int calls = 0;
	const struct vt_where_names names = {.in = lies_in, .arg = &calls};
	size_t i;

	(void)state;
	t->numbers[VT_SAMPLE_IP][0] = 0x10;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_where_expr *w =
			vt_where_compile(rows[i].text, &t->schema, VT_SAMPLE, &names, &err);

		assert_non_null(w);
		assert_true(vt_where_asks_places(rows[i].text));
		assert_int_equal(vt_where_test(w, &rec), rows[i].truth);
		vt_where_free(w);
	}
	assert_int_equal(calls, 5);
	assert_false(vt_where_asks_places("index == 3 || name == \"in\""));
	free_table(t);
}

static void units(void **state)
{
	(void)state;
	assert_ptr_equal(vt_unit_words("enum:source"), vt_pm_source_name);
	assert_null(vt_unit_words("cycles"));
	assert_int_equal(vt_sample_has_bits(VT_SAMPLE_ADDR), 8);
	assert_int_equal(vt_sample_has_bits(VT_SAMPLE_IP), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers),	   cmocka_unit_test(numbers_that_cannot_be),
		cmocka_unit_test(reals),	   cmocka_unit_test(precedence),
		cmocka_unit_test(three_values),	   cmocka_unit_test(what_was_not_recorded),
		cmocka_unit_test(at_least),	   cmocka_unit_test(events),
		cmocka_unit_test(words_and_texts), cmocka_unit_test(names_of_events),
		cmocka_unit_test(errors),	   cmocka_unit_test(fields_of_pairs),
		cmocka_unit_test(limits),	   cmocka_unit_test(many_rows),
		cmocka_unit_test(places),	   cmocka_unit_test(units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
