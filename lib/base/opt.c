/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/opt.h"

#include <assert.h>
#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/spelling.h"

/* The column of the help text in which descriptions start. */
#define HELP_COLUMN 26

/* getopt_long() returns FIRST_CODE + i for option i of the table, above any letter. */
#define FIRST_CODE 256

/* Sets a message that quotes the user's text. */
static int reject_value(struct vt_error *err, const char *what, const char *problem,
			const char *text)
{
	return vt_error_set(err, VT_E_USAGE, "%s: %s: '%s'", what, problem, text);
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

int vt_parse_u64(const char *text, const char *what, uint64_t *value, struct vt_error *err)
{
	const char *p = text;
	unsigned base = 10;
	uint64_t v = 0;

	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	}
	if (!*p)
		return reject_value(err, what, "not a number", text);
	for (; *p; p++) {
		unsigned d = (unsigned)digit_value(*p);

		if (d >= base)
			return reject_value(err, what, "not a number", text);
		if (v > (UINT64_MAX - d) / base)
			return reject_value(err, what, "does not fit 64 bits", text);
		v = v * base + d;
	}
	*value = v;
	return 0;
}

int vt_parse_i64(const char *text, const char *what, int64_t *value, struct vt_error *err)
{
	bool minus = text[0] == '-';
	uint64_t v = 0;

	if (vt_parse_u64(text + minus, what, &v, err) < 0)
		return reject_value(err, what, "not a number", text);
	if (v > (uint64_t)INT64_MAX + minus)
		return reject_value(err, what, "does not fit 64 bits", text);
	*value = minus ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int vt_parse_f64(const char *text, const char *what, double *value, struct vt_error *err)
{
	char *end;
	double v;

	/* strtod() also takes white space, hexadecimal, "inf" and "nan". */
	if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
		return reject_value(err, what, "not a number", text);
	v = strtod(text, &end);
	if (*end || end == text)
		return reject_value(err, what, "not a number", text);
	if (!isfinite(v))
		return reject_value(err, what, "too large", text);
	*value = v;
	return 0;
}

static int set_opt_u64(const struct vt_opt *o, const char *what, const char *text,
		       struct vt_error *err)
{
	uint64_t max = o->max ? o->max : UINT64_MAX;
	uint64_t v = 0;
	int rc = vt_parse_u64(text, what, &v, err);

	if (rc < 0)
		return rc;
	if (v < o->min)
		return vt_error_set(err, VT_E_USAGE, "%s: %s is less than %llu", what, text,
				    (unsigned long long)o->min);
	if (v > max)
		return vt_error_set(err, VT_E_USAGE, "%s: %s is more than %llu", what, text,
				    (unsigned long long)max);
	*(uint64_t *)o->value = v;
	return 0;
}

static int set_choice(const struct vt_opt *o, const char *what, const char *text,
		      struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	int i;

	assert(o->choices && o->choices[0]);
	for (i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], text) == 0) {
			*(int *)o->value = i;
			return 0;
		}
	}
	for (i = 0; o->choices[i]; i++)
		vt_buf_printf(&b, "%s%s", i ? ", " : "not one of ", o->choices[i]);
	if (o->other_choice)
		vt_buf_printf(&b, " (%s)", o->other_choice);
	i = reject_value(err, what, vt_buf_str(&b), text);
	vt_buf_free(&b);
	return i;
}

static int append_opt_list(const struct vt_opt *o, const char *what, const char *text,
			   struct vt_error *err)
{
	struct vt_opt_list *l = o->value;

	if (!vt_array_grow(&l->items, &l->cap, l->count + 1, sizeof(*l->items)))
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", what);
	l->items[l->count++] = text;
	return 0;
}

static int set_value(const struct vt_opt *o, const char *text, struct vt_error *err)
{
	char what[80];

	what[0] = what[1] = '-';
	what[2] = '\0';
	strncat(what, o->name, sizeof(what) - 3);
	if (o->given)
		*o->given = true;
	switch (o->type) {
	case VT_OPT_FLAG:
		*(bool *)o->value = true;
		return 0;
	case VT_OPT_U64:
		return set_opt_u64(o, what, text, err);
	case VT_OPT_I64:
		return vt_parse_i64(text, what, o->value, err);
	case VT_OPT_F64:
		return vt_parse_f64(text, what, o->value, err);
	case VT_OPT_F64_OR_NOT:
		return text ? vt_parse_f64(text, what, o->value, err) : 0;
	case VT_OPT_STRING:
		if (o->once && *(const char **)o->value)
			return vt_error_set(err, VT_E_USAGE, "%s: %s", what, o->once);
		*(const char **)o->value = text;
		return o->check ? o->check(text, what, err) : 0;
	case VT_OPT_CHOICE:
		return set_choice(o, what, text, err);
	case VT_OPT_CHOICE_OR_NOT:
		return text ? set_choice(o, what, text, err) : 0;
	case VT_OPT_LIST:
		return append_opt_list(o, what, text, err);
	}
	return 0;
}

static size_t count_options(const struct vt_opt *opts)
{
	size_t n = 0;

	while (opts[n].name)
		n++;
	return n;
}

/* getopt_long()'s two tables, made from a struct vt_opt_page. */
struct getopt_tables {
	struct option *longs;
	char *shorts;
};

/* Whether the option may stand without its argument. */
static bool is_optional(const struct vt_opt *o)
{
	return o->type == VT_OPT_CHOICE_OR_NOT || o->type == VT_OPT_F64_OR_NOT;
}

static int make_getopt_tables(struct getopt_tables *t, const struct vt_opt_page *page,
			      struct vt_error *err)
{
	size_t n = count_options(page->opts);
	char *s;
	size_t i;

	t->longs = calloc(n + 3, sizeof(*t->longs));
	t->shorts = malloc(3 * n + 8);
	if (!t->longs || !t->shorts)
		return vt_error_set(err, VT_E_NOMEM, "options: out of memory");
	s = t->shorts;
	if (page->stop_at_operand)
		*s++ = '+';
	*s++ = ':';
	*s++ = 'h';
	*s++ = 'V';
	for (i = 0; i < n; i++) {
		const struct vt_opt *o = &page->opts[i];
		int has = o->type == VT_OPT_FLAG ? no_argument
			  : is_optional(o)	 ? optional_argument
						 : required_argument;

		t->longs[i] = (struct option){o->name, has, NULL, FIRST_CODE + (int)i};
		if (o->letter)
			*s++ = o->letter;
		if (o->letter && has != no_argument)
			*s++ = ':';
		if (o->letter && has == optional_argument)
			*s++ = ':';
	}
	*s = '\0';
	t->longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	t->longs[n + 1] = (struct option){"version", no_argument, NULL, 'V'};
	return 0;
}

static const struct vt_opt *find_option(const struct vt_opt_page *page, int code)
{
	size_t i;

	assert(code < FIRST_CODE + (int)count_options(page->opts));
	if (code >= FIRST_CODE)
		return &page->opts[code - FIRST_CODE];
	for (i = 0; page->opts[i].name; i++)
		if (page->opts[i].letter == (char)code)
			return &page->opts[i];
	return NULL;
}

/* Sets a message that names the options that an abbreviation may stand for, if there are several.
 */
static bool reject_ambiguous(const struct vt_opt_page *page, const char *name, struct vt_error *err)
{
	struct vt_buf b = VT_BUF_INIT;
	size_t i, n = 0;

	for (i = 0; *name && page->opts[i].name; i++)
		if (strncmp(page->opts[i].name, name, strlen(name)) == 0)
			vt_buf_printf(&b, "%s--%s", n++ ? ", " : "", page->opts[i].name);
	if (n > 1)
		vt_error_set(err, VT_E_USAGE, "ambiguous option --%s: %s", name, vt_buf_str(&b));
	vt_buf_free(&b);
	return n > 1;
}

/* What is said of an option that another program has, by its letter, or 0 and its name; or NULL. */
static const char *find_hint(const struct vt_opt_page *page, int letter, const char *name)
{
	const struct vt_opt_hint *h;

	for (h = page->hints; h && (h->letter || h->name); h++)
		if (letter ? h->letter == letter : h->name && !strcmp(h->name, name))
			return h->text;
	return NULL;
}

/* A long option that is none: `word` is the argument, perhaps with a value. */
static int reject_word(const struct vt_opt_page *page, const char *word, struct vt_error *err)
{
	struct vt_spelling near;
	char name[80] = "";
	const char *hint;
	size_t i;

	word += strspn(word, "-");
	strncat(name, word, strcspn(word, "=") < sizeof(name) ? strcspn(word, "=") : 0);
	if (reject_ambiguous(page, name, err))
		return -VT_E_USAGE;
	hint = find_hint(page, 0, name);
	if (hint)
		return vt_error_set(err, VT_E_USAGE, "--%s: %s", name, hint);
	near = vt_spelling_start(name);
	for (i = 0; page->opts[i].name; i++)
		vt_spelling_try(&near, page->opts[i].name);
	if (near.best)
		return vt_error_set(err, VT_E_USAGE, "unknown option --%s; did you mean --%s?",
				    word, near.best);
	return vt_error_set(err, VT_E_USAGE, "unknown option --%s; see --help", word);
}

/* Sets the message for an option that getopt_long() rejected; `word` is the argument it was at. */
static int reject_option(const struct vt_opt_page *page, int code, const char *word,
			 struct vt_error *err)
{
	const struct vt_opt *o = optopt ? find_option(page, optopt) : NULL;
	const char *hint = optopt ? find_hint(page, optopt, "") : NULL;

	if (hint && !o)
		return vt_error_set(err, VT_E_USAGE, "-%c: %s", optopt, hint);
	if (code == ':' && o)
		return vt_error_set(err, VT_E_USAGE, "--%s: needs an argument: %s", o->name,
				    o->arg);
	if (o)
		return vt_error_set(err, VT_E_USAGE, "--%s: takes no argument", o->name);
	if (optopt && isgraph(optopt))
		return vt_error_set(err, VT_E_USAGE, "unknown option -%c; see --help", optopt);
	return reject_word(page, word, err);
}

static void note_option(struct vt_buf *record, const struct vt_opt *o, const char *value)
{
	if (!record || o->unrecorded)
		return;
	vt_buf_printf(record, "--%s", o->name);
	vt_buf_put_u8(record, 0);
	if (value)
		vt_buf_put(record, value, strlen(value) + 1);
}

/* The next argument, taken, if the option before it may have a number and this is one. */
static const char *find_number(const struct vt_opt *o, int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	double number;

	if (o->type != VT_OPT_F64_OR_NOT || optind >= argc ||
	    vt_parse_f64(argv[optind], o->name, &number, &err) < 0)
		return NULL;
	return argv[optind++];
}

static int parse_all_options(const struct vt_opt_page *page, const struct getopt_tables *t,
			     int argc, char **argv, struct vt_buf *record, struct vt_error *err)
{
	/* Setting optind to 0 resets glibc's parser, as its manual says. */
	optind = 0;
	opterr = 0;
	for (;;) {
		const struct vt_opt *o;
		const char *value;
		int code = getopt_long(argc, argv, t->shorts, t->longs, NULL);
		int rc;

		if (code == -1)
			return VT_OPT_RUN;
		if (code == '?' || code == ':')
			return reject_option(page, code, argv[optind > 1 ? optind - 1 : 1], err);
		o = find_option(page, code);
		if (!o)
			return code == 'h' ? VT_OPT_HELP : VT_OPT_VERSION;
		value = optarg ? optarg : find_number(o, argc, argv);
		rc = set_value(o, value, err);
		if (rc < 0)
			return rc;
		note_option(record, o, value);
	}
}

int vt_opt_parse(const struct vt_opt_page *page, int argc, char **argv, int *first,
		 struct vt_buf *record, struct vt_error *err)
{
	struct getopt_tables t = {NULL, NULL};
	int rc = make_getopt_tables(&t, page, err);

	if (rc == 0)
		rc = parse_all_options(page, &t, argc, argv, record, err);
	free(t.longs);
	free(t.shorts);
	if (rc != VT_OPT_RUN)
		return rc;
	*first = optind;
	if ((unsigned)(argc - optind) < page->min_operands)
		return vt_error_set(err, VT_E_USAGE, "%s",
				    page->missing_operand ? page->missing_operand
							  : "an operand is missing");
	if ((unsigned)(argc - optind) > page->max_operands)
		return vt_error_set(err, VT_E_USAGE, "one operand too many: '%s'; see --help",
				    argv[optind + (int)page->max_operands]);
	return VT_OPT_RUN;
}

/* Appends the lines of `text`, all but the first indented by `indent`. */
static void put_help_lines(struct vt_buf *out, const char *text, size_t indent)
{
	const char *end;

	while ((end = strchr(text, '\n'))) {
		vt_buf_put(out, text, (size_t)(end - text) + 1);
		vt_buf_printf(out, "%*s", (int)indent, "");
		text = end + 1;
	}
	vt_buf_printf(out, "%s\n", text);
}

static void put_option_help(struct vt_buf *out, const struct vt_opt *o)
{
	size_t start = out->size;
	size_t width;

	if (o->letter)
		vt_buf_printf(out, "  -%c, --%s", o->letter, o->name);
	else
		vt_buf_printf(out, "      --%s", o->name);
	if (is_optional(o))
		vt_buf_printf(out, "[=%s]", o->arg);
	else if (o->type != VT_OPT_FLAG)
		vt_buf_printf(out, " %s", o->arg);
	width = out->size - start;
	if (width + 2 > HELP_COLUMN)
		vt_buf_printf(out, "\n%*s", HELP_COLUMN, "");
	else
		vt_buf_printf(out, "%*s", (int)(HELP_COLUMN - width), "");
	put_help_lines(out, o->help, HELP_COLUMN);
}

void vt_opt_help(struct vt_buf *out, const struct vt_opt_page *page)
{
	static const struct vt_opt always[] = {
		{.letter = 'h', .name = "help", .help = "print this text"},
		{.letter = 'V', .name = "version", .help = "print the version"},
	};
	const char *usage = page->usage;
	const char *end;
	size_t i;

	vt_buf_printf(out, "usage: ");
	while ((end = strchr(usage, '\n'))) {
		vt_buf_printf(out, "%s %.*s\n       ", page->program, (int)(end - usage), usage);
		usage = end + 1;
	}
	vt_buf_printf(out, "%s %s\n\n%s\n\n", page->program, usage, page->about);
	for (i = 0; page->opts[i].name; i++)
		put_option_help(out, &page->opts[i]);
	for (i = 0; i < 2; i++)
		put_option_help(out, &always[i]);
	if (page->notes)
		vt_buf_printf(out, "\n%s\n", page->notes);
	vt_buf_printf(
		out, "\nexit status: 0 done; 1 done, but some input was lost or damaged; 2 usage;\n"
		     "3 the input could not be read; 4 the output could not be written\n");
}

void vt_opt_list_fini(struct vt_opt_list *l)
{
	free(l->items);
	*l = (struct vt_opt_list){NULL, 0, 0};
}
