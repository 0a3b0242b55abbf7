/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt.h"

static const char *const words[] = {"red", "green", NULL};

/* What one parse gives; `opts` and `page` point into the same fixture. */
struct fixture {
	bool flag;
	uint64_t number;
	int64_t offset;
	double ratio;
	const char *text;
	int choice;
	bool text_given;
	struct vt_opt_list list;
	struct vt_opt opts[8];
	struct vt_opt_page page;
	char *argv[32];
	int first;
	struct vt_buf record;
	struct vt_error err;
};

static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->number = 7;
	f->opts[0] = (struct vt_opt){'f', "flag", VT_OPT_FLAG, &f->flag, .help = "a flag"};
	f->opts[1] = (struct vt_opt){'n',	 "number",	     VT_OPT_U64, &f->number,
				     .arg = "N", .help = "a number", .min = 2,	 .max = 1000};
	f->opts[2] =
		(struct vt_opt){0, "offset", VT_OPT_I64, &f->offset, .arg = "OFF", .help = "o"};
	f->opts[3] = (struct vt_opt){'r', "ratio", VT_OPT_F64, &f->ratio, .arg = "R", .help = "r"};
	f->opts[4] = (struct vt_opt){'o',
				     "output",
				     VT_OPT_STRING,
				     &f->text,
				     .arg = "FILE",
				     .help = "first\nsecond",
				     .given = &f->text_given,
				     .unrecorded = true};
	f->opts[5] = (struct vt_opt){'c',
				     "colour",
				     VT_OPT_CHOICE,
				     &f->choice,
				     .arg = "COLOUR",
				     .help = "a colour",
				     .choices = words};
	f->opts[6] = (struct vt_opt){'k', "keep", VT_OPT_LIST, &f->list, .arg = "K", .help = "k"};
	f->page = (struct vt_opt_page){.program = "prog",
				       .usage = "[options] [FILE]...",
				       .about = "Does things.",
				       .opts = f->opts,
				       .max_operands = UINT_MAX};
}

static void tear_down(struct fixture *f)
{
	vt_opt_list_fini(&f->list);
	vt_buf_free(&f->record);
}

/* Parses a command line given as one string, split at spaces; `line` is changed. */
static int parse(struct fixture *f, char *line)
{
	int argc = 0;
	char *p;

	f->argv[argc++] = "prog";
	for (p = strtok(line, " "); p; p = strtok(NULL, " "))
		f->argv[argc++] = p;
	f->argv[argc] = NULL;
	return vt_opt_parse(&f->page, argc, f->argv, &f->first, &f->record, &f->err);
}

static void test_every_type(void **state)
{
	static const char want[] = "--flag\0--number\0"
				   "0x10\0--offset\0-3\0--ratio\0"

				   "0.5\0--colour\0green\0--keep\0a\0--keep\0b";
	char line[] = "-f -n 0x10 --offset=-3 x -r 0.5 -oout -c green -k a --keep b y";
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(parse(&f, line), VT_OPT_RUN);
	assert_true(f.flag);
	assert_int_equal(f.number, 16);
	assert_int_equal(f.offset, -3);
	assert_true(f.ratio == 0.5);
	assert_string_equal(f.text, "out");
	assert_true(f.text_given);
	assert_int_equal(f.choice, 1);
	assert_int_equal(f.list.count, 2);
	assert_string_equal(f.list.items[1], "b");
	assert_string_equal(f.argv[f.first], "x");
	assert_string_equal(f.argv[f.first + 1], "y");
	assert_null(f.argv[f.first + 2]);

	/* The value is recorded as it was written. */
	assert_int_equal(f.record.size, sizeof(want));
	assert_memory_equal(f.record.data, want, sizeof(want));
	tear_down(&f);
}

/* The last counts, unless the option says that it is given once. */
static void test_given_twice(void **state)
{
	char once[] = "-o a", twice[] = "-o a --output=b", refused[] = "-o a --output=b";
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(parse(&f, twice), VT_OPT_RUN);
	assert_string_equal(f.text, "b");
	tear_down(&f);
	set_up(&f);
	f.opts[4].once = "given twice";
	assert_int_equal(parse(&f, once), VT_OPT_RUN);
	assert_string_equal(f.text, "a");
	tear_down(&f);
	set_up(&f);
	f.opts[4].once = "given twice";
	assert_int_equal(parse(&f, refused), -VT_E_USAGE);
	assert_string_equal(f.err.text, "--output: given twice");
	tear_down(&f);
}

static int refuse_long_text(const char *text, const char *what, struct vt_error *err)
{
	return strlen(text) < 3 ? 0 : vt_error_set(err, VT_E_USAGE, "%s: %s: too long", what, text);
}

static void test_checked_text(void **state)
{
	char good[] = "-o ab", bad[] = "-o abc", last[] = "--output abc -o ab";
	struct fixture f;

	(void)state;
	set_up(&f);
	f.opts[4].check = refuse_long_text;
	assert_int_equal(parse(&f, good), VT_OPT_RUN);
	assert_string_equal(f.text, "ab");
	tear_down(&f);
	set_up(&f);
	f.opts[4].check = refuse_long_text;
	assert_int_equal(parse(&f, bad), -VT_E_USAGE);
	assert_string_equal(f.err.text, "--output: abc: too long");
	tear_down(&f);
	set_up(&f);
	f.opts[4].check = refuse_long_text;
	assert_int_equal(parse(&f, last), -VT_E_USAGE);
	tear_down(&f);
}

static void test_choice_or_not(void **state)
{
	char with[] = "--colour=green blue", without[] = "--colour green", bad[] = "--colour=pink";
	char first[] = "--colour=red", attached[] = "-Cgreen blue", apart[] = "-C green";
	struct fixture f;
	bool given = false;

	(void)state;
	set_up(&f);
	f.opts[5].type = VT_OPT_CHOICE_OR_NOT;
	f.opts[5].letter = 0;
	f.opts[5].given = &given;
	f.choice = 2;
	assert_int_equal(parse(&f, without), VT_OPT_RUN);
	assert_true(given);
	assert_int_equal(f.choice, 2);
	assert_string_equal(f.argv[f.first], "green");
	assert_int_equal(f.record.size, sizeof("--colour"));
	assert_int_equal(parse(&f, with), VT_OPT_RUN);
	assert_int_equal(f.choice, 1);
	assert_string_equal(f.argv[f.first], "blue");
	assert_int_equal(parse(&f, first), VT_OPT_RUN);
	assert_int_equal(f.choice, 0);
	assert_int_equal(parse(&f, bad), -VT_E_USAGE);
	/* After a letter a word is attached; what comes apart is an operand. */
	f.opts[5].letter = 'C';
	assert_int_equal(parse(&f, attached), VT_OPT_RUN);
	assert_int_equal(f.choice, 1);
	assert_string_equal(f.argv[f.first], "blue");
	f.choice = 2;
	assert_int_equal(parse(&f, apart), VT_OPT_RUN);
	assert_int_equal(f.choice, 2);
	assert_string_equal(f.argv[f.first], "green");
	tear_down(&f);
}

/* Alone, with a number in the same or the next argument, and before a file, which is no number. */
static void test_number_or_not(void **state)
{
	static const struct {
		char line[24];
		double ratio;
		int operands;
	} rows[] = {
		{"--ratio", 2, 0},	{"--ratio=5 a", 5, 1}, {"--ratio 7e-1 a b", .7, 2},
		{"--ratio a 3", 2, 2},	{"a 3 --ratio", 2, 2}, {"--ratio -f", 2, 0},
		{"--ratio -- 3", 2, 1},
	};
	char bad[] = "--ratio=file";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fixture f;
		char line[24];

		set_up(&f);
		f.opts[3].type = VT_OPT_F64_OR_NOT;
		f.opts[3].letter = 0;
		f.ratio = 2;
		memcpy(line, rows[i].line, sizeof(line));
		assert_int_equal(parse(&f, line), VT_OPT_RUN);
		assert_true(f.ratio == rows[i].ratio);
		assert_null(f.argv[f.first + rows[i].operands]);
		assert_true(!rows[i].operands || f.argv[f.first + rows[i].operands - 1]);
		if (i == 0)
			assert_int_equal(parse(&f, bad), -VT_E_USAGE);
		tear_down(&f);
	}
}

/* An abbreviation of several options. */
static void test_ambiguous(void **state)
{
	char line[] = "--o";
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(parse(&f, line), -VT_E_USAGE);
	assert_string_equal(f.err.text, "ambiguous option --o: --offset, --output");
	tear_down(&f);
}

static void test_defaults_stay(void **state)
{
	char line[] = "-- -f";
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(parse(&f, line), VT_OPT_RUN);
	assert_false(f.flag);
	assert_int_equal(f.number, 7);
	assert_false(f.text_given);
	assert_string_equal(f.argv[f.first], "-f");
	assert_int_equal(f.record.size, 0);
	tear_down(&f);
}

static void test_refusals(void **state)
{
	static const char *const lines[] = {
		"-n",
		"-n x",
		"-n 1",
		"-n 1001",
		"-n -5",
		"-n 5k",
		"-n +5",
		"-n 0x",
		"--offset 1e3",
		"-r nan",
		"-r 0x1p3",
		"-r 1.2.3",
		"-r 1e999",
		"-c blue",
		"-c gre",
		"-q",
		"--no-such",
		"--flag=x",
		"--number",
		"-n 18446744073709551616",
		"--offset 9223372036854775808",
		"--offset -9223372036854775809",
		"-n 0xg",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct fixture f;
		char line[64];

		set_up(&f);
		strcpy(line, lines[i]);
		assert_int_equal(parse(&f, line), -VT_E_USAGE);
		assert_true(strlen(f.err.text) > 0);
		assert_null(strchr(f.err.text, '\n'));
		assert_int_equal(f.number, 7);
		tear_down(&f);
	}
}

static void test_limits_of_numbers(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	uint64_t u;
	int64_t i;

	(void)state;
	assert_int_equal(vt_parse_u64("18446744073709551615", "x", &u, &err), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(vt_parse_u64("0xffffffffffffffff", "x", &u, &err), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(vt_parse_u64("", "x", &u, &err), -VT_E_USAGE);
	assert_int_equal(vt_parse_i64("-9223372036854775808", "x", &i, &err), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(vt_parse_i64("--1", "x", &i, &err), -VT_E_USAGE);
	assert_int_equal(vt_parse_i64("", "x", &i, &err), -VT_E_USAGE);
}

static void test_operands(void **state)
{
	char none[] = "-f", one[] = "a", three[] = "a b c", command[] = "-f ls -n 1";
	struct fixture f;

	(void)state;
	set_up(&f);
	f.page.min_operands = 1;
	f.page.max_operands = 2;
	f.page.missing_operand = "no file";
	assert_int_equal(parse(&f, none), -VT_E_USAGE);
	assert_string_equal(f.err.text, "no file");
	assert_int_equal(parse(&f, one), VT_OPT_RUN);
	assert_int_equal(parse(&f, three), -VT_E_USAGE);
	f.page.max_operands = UINT_MAX;
	f.page.stop_at_operand = true;
	assert_int_equal(parse(&f, command), VT_OPT_RUN);
	assert_string_equal(f.argv[f.first], "ls");
	assert_string_equal(f.argv[f.first + 1], "-n");
	tear_down(&f);
}

static void check_u64(const char *text, int rc, uint64_t value)
{
	struct vt_error err = VT_ERROR_INIT;
	uint64_t u = 77;

	assert_int_equal(vt_parse_u64(text, "x", &u, &err), rc);
	assert_int_equal(u, rc ? 77 : value);
}

/* Every digit of each base, and the characters next to them in ASCII. */
static void test_digits(void **state)
{
	(void)state;
	check_u64("0123456789", 0, 123456789);
	check_u64("0x0123456789abcdef", 0, 0x0123456789abcdef);
	check_u64("0Xfedcba9876543210", 0, 0xfedcba9876543210);
	check_u64("0xABCDEF", 0, 0xabcdef);
	check_u64("0XaF", 0, 0xaf);
	check_u64("0", 0, 0);
	check_u64("18446744073709551610", 0, UINT64_MAX - 5);
	check_u64("18446744073709551616", -VT_E_USAGE, 0);
	check_u64("0x10000000000000000", -VT_E_USAGE, 0);
	check_u64("/", -VT_E_USAGE, 0);
	check_u64("1:", -VT_E_USAGE, 0);
	check_u64("1a", -VT_E_USAGE, 0);
	check_u64("1xX", -VT_E_USAGE, 0);
	check_u64("0zX", -VT_E_USAGE, 0);
	check_u64("1x5", -VT_E_USAGE, 0);
	check_u64("0x`", -VT_E_USAGE, 0);
	check_u64("0xg", -VT_E_USAGE, 0);
	check_u64("0x@", -VT_E_USAGE, 0);
	check_u64("0xG", -VT_E_USAGE, 0);
}

/* The bounds themselves are allowed, and the message names what was broken. */
static void test_bounds(void **state)
{
	static const struct {
		const char *line, *message;
		uint64_t number;
	} cases[] = {
		{"-n 2", NULL, 2},
		{"-n 1000", NULL, 1000},
		{"-n 1", "--number: 1 is less than 2", 7},
		{"-n 1001", "--number: 1001 is more than 1000", 7},
		{"-n 9x", "--number: not a number: '9x'", 7},
		{"-n", "--number: needs an argument: N", 7},
		{"--flag=x", "--flag: takes no argument", 7},
		{"-f --flux", "unknown option --flux; see --help", 7},
		{"--flga", "unknown option --flga; did you mean --flag?", 7},
		{"--nmber=3", "unknown option --nmber=3; did you mean --number?", 7},
		{"-f --flux b", "unknown option --flux; see --help", 7},
		{"-q", "unknown option -q; see --help", 7},
		{"-c blue", "--colour: not one of red, green: 'blue'", 7},
		{"-r 1e999", "--ratio: too large: '1e999'", 7},
		{"-r -2.5e1", NULL, 7},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fixture f;
		char line[64];

		set_up(&f);
		strcpy(line, cases[i].line);
		assert_int_equal(parse(&f, line), cases[i].message ? -VT_E_USAGE : VT_OPT_RUN);
		if (cases[i].message)
			assert_string_equal(f.err.text, cases[i].message);
		assert_int_equal(f.number, cases[i].number);
		tear_down(&f);
	}
}

/* An option that fills its column up to the last but two is followed by its text, one longer not.
 */
static void test_help(void **state)
{
	static const char want[] =
		"usage: prog [options] [FILE]...\n"
		"       prog --list\n"
		"\n"
		"Does things.\n"
		"\n"
		"  -f, --flag              a flag\n"
		"  -n, --number N          a number\n"
		"      --offset OFFSET78   o\n"
		"  -r, --ratio RATIO678901\n"
		"                          r\n"
		"  -o, --output FILE       first\n"
		"                          second\n"
		"      --colour[=COLOUR]   a colour\n"
		"  -h, --help              print this text\n"
		"  -V, --version           print the version\n"
		"\n"
		"A note.\n"
		"\n"
		"exit status: 0 done; 1 done, but some input was lost or damaged; 2 usage;\n"
		"3 the input could not be read; 4 the output could not be written\n";
	char help[] = "--help", version[] = "-V";
	struct vt_buf b = VT_BUF_INIT;
	struct fixture f;

	(void)state;
	set_up(&f);
	assert_int_equal(parse(&f, help), VT_OPT_HELP);
	assert_int_equal(parse(&f, version), VT_OPT_VERSION);
	f.page.usage = "[options] [FILE]...\n--list";
	f.page.notes = "A note.";
	f.opts[2].arg = "OFFSET78";
	f.opts[3].arg = "RATIO678901";
	f.opts[5].type = VT_OPT_CHOICE_OR_NOT;
	f.opts[5].letter = 0;
	f.opts[6].name = NULL;
	vt_opt_help(&b, &f.page);
	assert_string_equal(vt_buf_str(&b), want);
	vt_buf_free(&b);
	tear_down(&f);
}

/* A program without options has --help and --version, and no others. */
static void test_no_options(void **state)
{
	static const struct vt_opt none[] = {{0}, {'x', "xx", VT_OPT_FLAG, NULL, .help = "x"}, {0}};
	static const struct {
		char line[16];
		int code;
	} rows[] = {{"--help", VT_OPT_HELP},
		    {"--version", VT_OPT_VERSION},
		    {"-h", VT_OPT_HELP},
		    {"-V", VT_OPT_VERSION},
		    {"--xx", -VT_E_USAGE},
		    {"-x", -VT_E_USAGE},
		    {"a b", 0}};
	struct fixture f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char line[16];

		set_up(&f);
		f.page.opts = none;
		memcpy(line, rows[i].line, sizeof(line));
		assert_int_equal(parse(&f, line), rows[i].code);
		tear_down(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_given_twice),
		cmocka_unit_test(test_checked_text),
		cmocka_unit_test(test_choice_or_not),
		cmocka_unit_test(test_number_or_not),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_defaults_stay),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_limits_of_numbers),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_digits),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_no_options),
		cmocka_unit_test(test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
