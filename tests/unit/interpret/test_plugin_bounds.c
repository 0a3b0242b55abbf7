/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plugins at the bounds of <vtrace/plugin.h>: on either side of each, what is taken
 * and what is refused; and what is said of plugins without values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpret/plugins.h"
#include "stream/reader.h"
#include "stream/writer.h"
#include "tests/unit/common/streams.h"

#define AT 0x1000

/* ---- a plugin, of which a test changes a part ---- */

static struct {
	uint64_t from, to; /* values that process() emits of each tuple */
	uint32_t kind;
	int returns;
	const char *text; /* that format() writes, or NULL */
	size_t length;
	int past; /* the byte behind its buffer that it writes as well, or -1 */
	uint64_t settled;
	int finish;
	size_t reason; /* bytes of what create() says */
	unsigned destroyed;
	unsigned asked; /* for code */
} told;

static int process(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	uint64_t value;

	(void)state;
	for (value = told.from; value < told.to; value++) {
		struct vtrace_value v = {run->tuples[0].pc, value, told.kind, 8};

		if (emit(host, &v) < 0)
			return -1;
	}
	return told.returns;
}

static size_t format(void *state, uint32_t kind, uint64_t value, char *buf, size_t size)
{
	(void)state;
	(void)kind;
	(void)value;
	if (told.text)
		memcpy(buf, told.text, strlen(told.text) + 1);
	if (told.past >= 0)
		buf[size + (size_t)told.past] = 'x';
	return told.length;
}

static uint64_t settle(void *state, uint32_t kind, uint64_t value)
{
	(void)state;
	return kind ? told.settled : value;
}

static int finish(void *state)
{
	(void)state;
	return told.finish;
}

/* It writes as many bytes as it is told, without the zero. */
static void *create_none(const char *options, char *error, size_t size)
{
	(void)options;
	assert_int_equal(size, 256);
	memset(error, 'x', told.reason);
	return NULL;
}

static void *create(const char *options, char *error, size_t size)
{
	(void)options;
	(void)error;
	(void)size;
	return &told;
}

static void destroy(void *state)
{
	assert_ptr_equal(state, &told);
	told.destroyed++;
}

static struct vtrace_kind kinds[VTRACE_MAX_KINDS + 1];
static struct vtrace_rule rules[VTRACE_MAX_RULES + 1];

/* A good one, of one kind of value and one rule. */
static struct vtrace_plugin good(void)
{
	size_t i;

	memset(&told, 0, sizeof(told));
	told.past = -1;
	for (i = 0; i <= VTRACE_MAX_KINDS; i++)
		kinds[i] = (struct vtrace_kind){"kind", VTRACE_HEX};
	for (i = 0; i <= VTRACE_MAX_RULES; i++)
		rules[i] = (struct vtrace_rule){VTRACE_ANY, 0, VTRACE_BIT(VTRACE_INSN), 0};
	return (struct vtrace_plugin){.abi = VTRACE_PLUGIN_ABI,
				      .size = sizeof(struct vtrace_plugin),
				      .name = "name",
				      .description = "description",
				      .kinds = kinds,
				      .nkinds = 1,
				      .rules = rules,
				      .nrules = 1,
				      .process = process};
}

/* ---- what is taken ---- */

static int add(const struct vtrace_plugin *p, struct vt_error *err)
{
	struct vt_plugins *m = vt_plugins_new();
	int rc = vt_plugins_add(m, p, "x.so", "", err);

	vt_plugins_free(m);
	return rc;
}

static void check(const struct vtrace_plugin *p, const char *wrong)
{
	struct vt_error err = VT_ERROR_INIT;
	char want[128];

	if (!wrong) {
		if (add(p, &err) != 0)
			fail_msg("%s", err.text);
		return;
	}
	assert_true(add(p, &err) < 0);
	snprintf(want, sizeof(want), "plugin x.so: %s", wrong);
	assert_string_equal(err.text, want);
}

static void test_names(void **state)
{
	static const char no_name[] = "no proper name";
	static const char no_description[] = "no proper description";
	static const char no_kind[] = "a kind of value without a proper name";
	struct vtrace_plugin p = good();
	char text[VTRACE_MAX_NAME + 2] = "", line[202] = "";
	unsigned c;

	(void)state;
	memset(text, 'n', VTRACE_MAX_NAME);
	memset(line, 'd', 200);
	p.name = kinds[0].name = text;
	p.description = line;
	check(&p, NULL);
	line[200] = 'd';
	check(&p, no_description);
	line[200] = 0;
	text[VTRACE_MAX_NAME] = 'n';
	check(&p, no_name);
	p.name = "name";
	check(&p, no_kind);
	kinds[0].name = NULL;
	check(&p, no_kind);
	p.name = "";
	check(&p, no_name);
	p.name = NULL;
	check(&p, no_name);
	p = good();
	p.description = "";
	check(&p, no_description);
	/* Printable characters of ASCII, wherever they stand. */
	p = good();
	p.name = text;
	for (c = 1; c < 256; c++) {
		snprintf(text, sizeof(text), "%c", (int)c);
		check(&p, c < 0x20 || c > 0x7e ? no_name : NULL);
		snprintf(text, sizeof(text), "ab%c", (int)c);
		check(&p, c < 0x20 || c > 0x7e ? no_name : NULL);
	}
}

static void test_kinds(void **state)
{
	struct vtrace_plugin p = good();

	(void)state;
	p.nkinds = VTRACE_MAX_KINDS;
	check(&p, NULL);
	p.nkinds++;
	check(&p, "no kinds of values, or too many");
	p.nkinds = 3;
	kinds[2].format = VTRACE_ADDRESS;
	check(&p, NULL);
	kinds[2].format = (enum vtrace_format)(VTRACE_ADDRESS + 1);
	check(&p, "a kind of value with a format that does not exist");
	p.nkinds = 2;
	check(&p, NULL);
	kinds[1].name = "";
	check(&p, "a kind of value without a proper name");
}

static void test_rules(void **state)
{
	static const char nothing[] = "a rule that captures nothing, or what does not exist";
	struct vtrace_plugin p = good();
	uint32_t reg;

	(void)state;
	p.nrules = VTRACE_MAX_RULES;
	check(&p, NULL);
	p.nrules++;
	check(&p, "no rules what to capture, or too many");
	p.nrules = 2;
	rules[1].what = VTRACE_BIT(VTRACE_NWHATS - 1);
	check(&p, NULL);
	rules[1].what |= VTRACE_BIT(VTRACE_NWHATS);
	check(&p, nothing);
	rules[1].what = 0;
	check(&p, nothing);
	rules[1].what = 1;
	rules[1].classes = 0;
	check(&p, nothing);
	rules[1].classes = 1;
	for (reg = 0; reg < 70; reg++) {
		rules[1].reg = reg;
		rules[1].what = VTRACE_BIT(VTRACE_INSN);
		check(&p, NULL);
		rules[1].what |= VTRACE_BIT(VTRACE_REGISTER);
		check(&p, reg <= 7 || (reg >= 16 && reg <= 23)
				  ? NULL
				  : "a rule that names no general register");
	}
}

static void test_versions(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vtrace_plugin p = good();

	(void)state;
	p.size = sizeof(p) + 8;
	check(&p, NULL);
	p.size = offsetof(struct vtrace_plugin, fact); /* from before that was added */
	check(&p, NULL);
	p.size--;
	assert_int_equal(add(&p, &err), -VT_E_VERSION);
	p = good();
	p.abi++;
	assert_int_equal(add(&p, &err), -VT_E_VERSION);
}

/* What a plugin says of its failure, however much that is. */
static void test_creation(void **state)
{
	static const size_t sizes[] = {0, 1, 255, 256, 256 + 191, 256 + 192};
	struct vtrace_plugin p = good();
	size_t i;

	(void)state;
	p.destroy = destroy;
	p.create = create_none;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		/* What lies behind its buffer is looked at, too, but for the last byte. */
		size_t said = sizes[i] < 256 + 191 ? sizes[i] : 256 + 191;

		told.reason = sizes[i];
		assert_int_equal(add(&p, &err), -VT_E_USAGE);
		if (!said)
			assert_string_equal(err.text, "plugin x.so: it does not start");
		else
			assert_int_equal(strlen(err.text), strlen("plugin x.so: ") + said);
	}
	assert_int_equal(told.destroyed, 0);
	p.create = create;
	check(&p, NULL);
	assert_int_equal(told.destroyed, 1);
	p.destroy = NULL;
	check(&p, NULL);
}

/* ---- what is run ---- */

static size_t code_at(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size)
{
	(void)arg;
	(void)pid;
	(void)size;
	assert_int_equal(ip, AT);
	told.asked++;
	bytes[0] = 0x90;
	return 1;
}

struct trial {
	struct vt_plugins *m;
	struct vt_writer *w;
	int fd;
	struct vt_error err;
};

static void start(struct trial *t, const struct vtrace_plugin *p, unsigned n)
{
	*t = (struct trial){.m = vt_plugins_new(), .fd = scratch_file(), .err = VT_ERROR_INIT};
	t->w = start_stream(t->fd);
	while (n--)
		assert_int_equal(vt_plugins_add(t->m, p, "x.so", "", &t->err), 0);
}

static int run(struct trial *t, uint32_t insns)
{
	const struct vt_capture c = {.ip = AT, .known = true};
	const struct vt_run r = {.captures = &c,
				 .ncaptures = 1,
				 .insns = insns,
				 .pid = 7,
				 .tid = 8,
				 .time = 9,
				 .weight = 3,
				 .caller = 0x55};

	return vt_plugins_run(t->m, &r, code_at, NULL, t->w, &t->err);
}

static void stop(struct trial *t)
{
	vt_plugins_free(t->m);
	assert_int_equal(vt_writer_close(t->w, VT_STATUS_COMPLETE, &t->err), 0);
	close(t->fd);
}

static void test_totals(void **state)
{
	struct vtrace_plugin p = good();
	struct trial t;

	(void)state;
	start(&t, &p, 2);
	told.to = 3;
	assert_int_equal(run(&t, 1), 0);
	told.to = 0;
	told.returns = 1; /* not negative */
	assert_int_equal(run(&t, 1), 0);
	assert_int_equal(vt_plugins_totals(t.m)->runs, 2);
	assert_int_equal(vt_plugins_totals(t.m)->tuples, 4);
	assert_int_equal(vt_plugins_totals(t.m)->values, 6);
	assert_int_equal(vt_plugins_totals(t.m)->unlabeled, 0);
	/* Instructions are remembered until code may have changed. */
	assert_int_equal(told.asked, 1);
	vt_plugins_forget_code(t.m);
	assert_int_equal(run(&t, 1), 0);
	assert_int_equal(told.asked, 2);
	/* It gives up. */
	told.returns = -1;
	assert_int_equal(run(&t, 1), -VT_E_SYSTEM);
	assert_string_equal(t.err.text, "plugin x.so: gives up (process returned -1)");
	told.finish = 1;
	assert_int_equal(vt_plugins_finish(t.m, &t.err), 0);
	told.finish = 0;
	assert_int_equal(vt_plugins_finish(t.m, &t.err), 0);
	p.finish = finish;
	assert_int_equal(vt_plugins_finish(t.m, &t.err), 0);
	told.finish = -2;
	assert_int_equal(vt_plugins_finish(t.m, &t.err), -VT_E_SYSTEM);
	assert_string_equal(t.err.text, "plugin x.so: gives up (finish returned -2)");
	stop(&t);
}

/* 64 values for each instruction of a run. */
static void test_most_values(void **state)
{
	struct vtrace_plugin p = good();
	struct trial t;

	(void)state;
	start(&t, &p, 1);
	told.to = 64;
	assert_int_equal(run(&t, 1), 0);
	told.to = 3 * 64;
	assert_int_equal(run(&t, 3), 0);
	told.to++;
	assert_int_equal(run(&t, 3), -VT_E_SYSTEM);
	stop(&t);
}

/* What the rules want together. */
static void test_wants(void **state)
{
	struct vtrace_plugin p = good();
	struct trial t;

	(void)state;
	rules[1].what = VTRACE_BIT(VTRACE_LOAD_VALUE);
	rules[2].what = VTRACE_BIT(VTRACE_REGISTER);
	for (p.nrules = 1; p.nrules <= 3; p.nrules++) {
		start(&t, &p, 1);
		assert_int_equal(vt_plugins_capture(t.m) >> VT_WHAT_LOAD & 1, p.nrules > 1);
		assert_int_equal(vt_plugins_want_registers(t.m), p.nrules > 2);
		stop(&t);
	}
}

/* So many values have a text, of each plugin. */
static void test_most_labels(void **state)
{
	struct vtrace_plugin p = good();
	struct trial t;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		p.format = i ? format : NULL;
		start(&t, &p, 1);
		told.from = 0;
		told.to = 65536;
		assert_int_equal(run(&t, 1024), 0);
		assert_int_equal(vt_plugins_totals(t.m)->unlabeled, 0);
		told.to++;
		assert_int_equal(run(&t, 1025), 0);
		told.from = told.to - 1;
		assert_int_equal(run(&t, 1), 0);
		assert_int_equal(vt_plugins_totals(t.m)->unlabeled, i ? 2 : 0);
		stop(&t);
	}
}

/* ---- why there are no values ---- */

static void test_silent(void **state)
{
	static const char latency[] = "no sample has a latency";
	static const char lacks[] = "some of what it wants is known nowhere";
	static const char makes[] = "it makes nothing of what there is";
	static const struct {
		uint32_t what;
		const char *why;
	} rows[] = {
		{VTRACE_BIT(VTRACE_INSN), makes},
		{VTRACE_BIT(VTRACE_INSN) | VTRACE_BIT(VTRACE_LATENCY), latency},
		{VTRACE_BIT(VTRACE_LATENCY), latency},
		{VTRACE_BIT(VTRACE_INSN) | VTRACE_BIT(VTRACE_RESULT), lacks},
		{VTRACE_BIT(VTRACE_REGISTER) | VTRACE_BIT(VTRACE_INSN), lacks},
	};
	struct vtrace_plugin p = good();
	const char *why;
	struct trial t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rules[0].what = rows[i].what;
		start(&t, &p, 1);
		assert_int_equal(vt_plugins_want_registers(t.m),
				 rows[i].what >> VTRACE_REGISTER & 1);
		told.to = 0;
		assert_int_equal(run(&t, 1), 0);
		assert_string_equal(vt_plugins_silent(t.m, 0, &why), "name");
		if (strncmp(why, rows[i].why, strlen(rows[i].why)) != 0)
			fail_msg("row %zu: %s", i, why);
		told.to = 1;
		if (rows[i].what & VTRACE_BIT(VTRACE_INSN)) {
			assert_int_equal(run(&t, 1), 0);
			assert_null(vt_plugins_silent(t.m, 0, &why));
		}
		stop(&t);
	}
	/* Of all that a rule without the instruction itself wants, there is what it got. */
	rules[0].what = VTRACE_BIT(VTRACE_RETURN_ADDRESS);
	start(&t, &p, 1);
	told.to = 0;
	{
		const struct vt_capture c = {.ip = AT, .known = true};
		const struct vt_run r = {
			.captures = &c, .ncaptures = 1, .insns = 1, .begins = true, .caller = 0x55};

		assert_int_equal(vt_plugins_run(t.m, &r, code_at, NULL, t.w, &t.err), 0);
	}
	assert_string_equal(vt_plugins_silent(t.m, 0, &why), "name");
	assert_string_equal(why, makes);
	stop(&t);
}

/* ---- texts ---- */

static int label(const struct vtrace_plugin *p, struct vt_error *err)
{
	struct trial t;
	int rc;

	start(&t, p, 1);
	assert_int_equal(run(&t, 1), 0);
	rc = vt_plugins_label(t.m, t.w, &t.err);
	*err = t.err;
	stop(&t);
	return rc;
}

static void test_texts(void **state)
{
	static const char beyond[] = "writes a text beyond its buffer";
	static const char too_long[] = "writes a text that is too long, or does not end";
	static const char other[] = "writes a text of another length than it says";
	static const char longest[] =
		"123456789 123456789 123456789 123456789 123456789 123456789 123";
	static const struct {
		const char *text;
		size_t length;
		int past;
		const char *wrong;
	} rows[] = {
		{longest, VTRACE_MAX_TEXT, -1, NULL},
		{longest, VTRACE_MAX_TEXT + 1, -1, too_long},
		{longest, VTRACE_MAX_TEXT - 1, -1, other},
		{"a", 1, -1, NULL},
		{"a", 2, -1, other},
		{"a", 1, 0, beyond},
		{"a", 1, 1, beyond},
		{"a", 1, 191, beyond},
		{NULL, 3, -1, other},
		{"a\x7f", 2, -1, "writes a text that cannot be printed"},
		{"\xc3\xa4", 2, -1, NULL},
		{NULL, 0, 0, NULL},
		{"a", 0, -1, NULL},
	};
	struct vtrace_plugin p = good();
	size_t i;

	(void)state;
	p.format = format;
	told.to = 1;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;
		char want[128];
		int rc;

		told.text = rows[i].text;
		told.length = rows[i].length;
		told.past = rows[i].past;
		rc = label(&p, &err);
		if (rc != (rows[i].wrong ? -VT_E_SYSTEM : 0))
			fail_msg("row %zu", i);
		snprintf(want, sizeof(want), "plugin x.so: %s (for value 0x0)",
			 rows[i].wrong ? rows[i].wrong : "");
		if (rows[i].wrong)
			assert_string_equal(err.text, want);
	}
}

/* ---- what is copied ---- */

/* What no plugin settles is copied as it is. */
static void test_copies(void **state)
{
	static const struct {
		unsigned what, reg;
		uint64_t copied;
	} rows[] = {
		{VT_WHAT_MODULE, 0, 5}, {VT_WHAT_MODULE, 1, 77}, {VT_WHAT_MODULE, 2, 5},
		{VT_WHAT_MODULE, 3, 5}, {VT_WHAT_MODULE, 4, 5},	 {VT_WHAT_LOAD, 1, 5},
	};
	struct vtrace_plugin settles = good(), other;
	int in = scratch_file();
	struct vt_writer *w = start_stream(in);
	struct vt_reader *r;
	struct vt_record rec;
	struct trial t;
	size_t i;
	unsigned f;

	(void)state;
	settles.nkinds = 2;
	other = settles;
	settles.settle = settle;
	told.settled = 77;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t *row = vt_writer_row(w, VT_VALUE);

		for (f = 0; f < VT_VALUE_NFIELDS; f++)
			row[f] = 100 + f;
		row[VT_VALUE_WHAT] = rows[i].what;
		row[VT_VALUE_REG] = rows[i].reg;
		row[VT_VALUE_SIZE] = 8;
		row[VT_VALUE_VALUE] = 5;
	}
	r = reread_stream(in, w);
	start(&t, &settles, 1);
	assert_int_equal(vt_plugins_add(t.m, &other, "y.so", "", &t.err), 0);
	while (vt_reader_next(r, &rec, &t.err) > 0)
		assert_int_equal(vt_plugins_copy(t.m, &rec, t.w, &t.err), 0);
	vt_reader_close(r);
	r = reread_stream(t.fd, t.w);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(vt_reader_next(r, &rec, &t.err), 1);
		for (f = 0; f < VT_VALUE_NFIELDS; f++) {
			uint64_t want = f == VT_VALUE_WHAT    ? rows[i].what
					: f == VT_VALUE_REG   ? rows[i].reg
					: f == VT_VALUE_SIZE  ? 8
					: f == VT_VALUE_VALUE ? rows[i].copied
							      : 100 + f;

			assert_int_equal(vt_record_u64(&rec, f), want);
		}
	}
	vt_reader_close(r);
	vt_plugins_free(t.m);
	close(t.fd);
	close(in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_rules),	    cmocka_unit_test(test_versions),
		cmocka_unit_test(test_creation),    cmocka_unit_test(test_totals),
		cmocka_unit_test(test_most_values), cmocka_unit_test(test_wants),
		cmocka_unit_test(test_most_labels), cmocka_unit_test(test_silent),
		cmocka_unit_test(test_texts),	    cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
