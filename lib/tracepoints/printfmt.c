/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracepoints/printfmt.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* Of parentheses and of expressions in each other; the kernel's names of flags have some 25 of
 * each. */
#define DEPTH_MAX 200

/* Of operators beside each other, and of the digits of widths and indices. */
#define OPERATORS_MAX 64
#define DIGITS_MAX    3
#define INDEX_MAX     9999

struct parser {
	const char *p;
	const char *end;
	const struct vt_trace_format *format;
	unsigned depth;
	bool bad;
};

struct word {
	const char *p;
	size_t size;
};

static bool parse_expression(struct parser *s);
static bool parse_unary(struct parser *s);

/* ---- tokens ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

static char peek(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n'))
		s->p++;
	return s->p < s->end ? *s->p : '\0';
}

static char second(const struct parser *s)
{
	return s->end - s->p > 1 ? s->p[1] : '\0';
}

static bool take(struct parser *s, char c)
{
	if (!c || peek(s) != c)
		return false;
	s->p++;
	return true;
}

static struct word take_word(struct parser *s)
{
	struct word w = {s->p, 0};

	if (!is_letter(peek(s)))
		return w;
	w.p = s->p;
	while (s->p < s->end && (is_letter(*s->p) || is_digit(*s->p)))
		s->p++;
	w.size = (size_t)(s->p - w.p);
	return w;
}

static bool word_is(struct word w, const char *text)
{
	return w.size == strlen(text) && !memcmp(w.p, text, w.size);
}

/* A string, whose contents are added to `out` unless it is NULL. */
static bool take_string(struct parser *s, struct vt_buf *out)
{
	const char *start;

	if (!take(s, '"'))
		return false;
	for (start = s->p; s->p < s->end && *s->p != '"'; s->p++) {
		if (*s->p == '\\' && ++s->p == s->end)
			return false;
		if (!is_printable(*s->p) && *s->p != '\n' && *s->p != '\t')
			return false;
	}
	if (out)
		vt_buf_put(out, start, (size_t)(s->p - start));
	return take(s, '"');
}

/* 'A' */
static bool take_character(struct parser *s)
{
	if (!take(s, '\'') || s->end - s->p < 2 || !is_printable(*s->p) || *s->p == '\\' ||
	    s->p[1] != '\'')
		return false;
	s->p += 2;
	return true;
}

/* Strings beside each other are one. */
static bool take_strings(struct parser *s, struct vt_buf *out)
{
	if (!take_string(s, out))
		return false;
	while (peek(s) == '"')
		if (!take_string(s, out))
			return false;
	return true;
}

/* A number as in C, which must end where a word would. */
static bool take_number(struct parser *s, uint64_t *value)
{
	char digits[32];
	size_t n = 0;
	char *end;

	*value = 0;
	if (!is_digit(peek(s)))
		return false;
	while (s->p < s->end && (is_digit(*s->p) || is_letter(*s->p))) {
		if (n == sizeof(digits) - 1)
			return false;
		digits[n++] = *s->p++;
	}
	digits[n] = '\0';
	*value = strtoull(digits, &end, 0);
	return end[strspn(end, "uUlL")] == '\0';
}

/* ---- fields ---- */

static const struct vt_trace_field *find_field(const struct parser *s, struct word w)
{
	size_t i;

	for (i = 0; i < s->format->nfields; i++) {
		const struct vt_trace_field *f = &s->format->fields[i];

		if (f->name.size == w.size && !memcmp(f->name.data, w.p, w.size))
			return f;
	}
	return NULL;
}

/* "->NAME" behind REC. */
static bool parse_member(struct parser *s)
{
	if (!take(s, '-') || !take(s, '>'))
		return false;
	return find_field(s, take_word(s)) != NULL;
}

static bool parse_index(struct parser *s)
{
	uint64_t i;

	return !take(s, '[') || (take_number(s, &i) && i <= INDEX_MAX && take(s, ']'));
}

/* "(NAME)" of a dynamic array. */
static bool parse_array_name(struct parser *s)
{
	const struct vt_trace_field *f;

	if (!take(s, '('))
		return false;
	f = find_field(s, take_word(s));
	return f && f->place != VT_FIELD_FIXED && take(s, ')');
}

/* Elsewhere than where elements are printed, it would be an address in this process. */
static bool is_dynamic_array(struct word w)
{
	return word_is(w, "__get_dynamic_array") || word_is(w, "__get_rel_dynamic_array");
}

static bool is_array_function(struct word w)
{
	static const char *const names[] = {
		"__get_str",
		"__get_rel_str",
		"__get_bitmask",
		"__get_cpumask",
		"__get_dynamic_array_len",
		"__get_rel_bitmask",
		"__get_rel_cpumask",
		"__get_rel_dynamic_array_len",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (word_is(w, names[i]))
			return true;
	return false;
}

/* ---- functions ---- */

/* A null pointer, which ends a list of names: 0 or ((void *)0) */
static bool take_null(struct parser *s)
{
	uint64_t number;
	bool cast = take(s, '(');

	if (cast &&
	    !(take(s, '(') && word_is(take_word(s), "void") && take(s, '*') && take(s, ')')))
		return false;
	return take_number(s, &number) && number == 0 && (!cast || take(s, ')'));
}

/* {VALUE, "NAME"}, ... up to the closing parenthesis. */
static bool parse_names(struct parser *s)
{
	while (take(s, ',')) {
		if (!take(s, '{') || !parse_expression(s) || !take(s, ','))
			return false;
		if (peek(s) == '"' ? !take_strings(s, NULL) : !take_null(s))
			return false;
		if (!take(s, '}'))
			return false;
	}
	return take(s, ')');
}

/* What is printed element by element is a field or a dynamic array, nothing else. */
static bool parse_elements(struct parser *s, unsigned sizes)
{
	struct word w = take_word(s);

	if (word_is(w, "REC") ? !parse_member(s) : !is_dynamic_array(w) || !parse_array_name(s))
		return false;
	for (; sizes; sizes--)
		if (!take(s, ',') || !parse_expression(s))
			return false;
	return take(s, ')');
}

/* sizeof(TYPE) */
static bool parse_sizeof(struct parser *s)
{
	if (!take(s, '(') || !take_word(s).size)
		return false;
	while (take_word(s).size)
		;
	return take(s, ')');
}

static bool parse_function(struct parser *s, struct word w)
{
	if (is_array_function(w))
		return parse_array_name(s);
	if (word_is(w, "sizeof"))
		return parse_sizeof(s);
	if (!take(s, '('))
		return false;
	if (word_is(w, "__print_flags"))
		return parse_expression(s) && take(s, ',') && take_strings(s, NULL) &&
		       parse_names(s);
	if (word_is(w, "__print_symbolic"))
		return parse_expression(s) && parse_names(s);
	if (word_is(w, "__print_hex") || word_is(w, "__print_hex_str"))
		return parse_elements(s, 1);
	return word_is(w, "__print_array") && parse_elements(s, 2);
}

/* ---- expressions ---- */

/* Takes "TYPE)" if it is a cast: an operand follows. */
static bool take_cast(struct parser *s)
{
	const char *start = s->p;
	bool any = false;
	char c;

	while (take_word(s).size)
		any = true;
	while (any && take(s, '*'))
		;
	if (any && take(s, ')')) {
		c = peek(s);
		if (is_letter(c) || is_digit(c) || c == '(')
			return true;
	}
	s->p = start;
	return false;
}

static bool parse_parenthesis(struct parser *s)
{
	bool good;

	if (++s->depth > DEPTH_MAX)
		return false;
	good = take_cast(s) ? parse_unary(s) : parse_expression(s) && take(s, ')');
	s->depth--;
	return good;
}

static bool parse_primary(struct parser *s)
{
	char c = peek(s);
	uint64_t number;
	struct word w;

	if (take(s, '('))
		return parse_parenthesis(s);
	if (c == '"')
		return take_strings(s, NULL);
	if (c == '\'')
		return take_character(s);
	if (is_digit(c))
		return take_number(s, &number);
	w = take_word(s);
	if (!w.size)
		return false;
	if (word_is(w, "REC"))
		return parse_member(s) && parse_index(s);
	return peek(s) != '(' || parse_function(s, w);
}

static bool parse_unary(struct parser *s)
{
	/* One, lest -- be another operator; but !! is a common way to 0 or 1. */
	if (!take(s, '-') && !take(s, '~') && take(s, '!'))
		take(s, '!');
	return parse_primary(s);
}

/* The length of the operator of two operands here; 0: there is none. */
static unsigned operator_size(struct parser *s)
{
	char c = peek(s), next = second(s);

	if (!c || !strchr("+-*/%<>=!&|^", c))
		return 0;
	if ((c == '<' || c == '>' || c == '&' || c == '|') && next == c)
		return 2;
	if ((c == '<' || c == '>' || c == '=' || c == '!') && next == '=')
		return 2;
	return c == '=' || c == '!' ? 0 : 1;
}

/* The size of a type that libtraceevent knows. */
static bool take_known_size(struct parser *s)
{
	struct word w;

	if (!word_is(take_word(s), "sizeof") || !take(s, '('))
		return false;
	w = take_word(s);
	return (word_is(w, "u8") || word_is(w, "u16") || word_is(w, "u32") || word_is(w, "u64")) &&
	       take(s, ')');
}

/* The operand behind / or %: a number other than 0, behind which no operator is. */
static bool parse_divisor(struct parser *s)
{
	uint64_t number;

	if (is_letter(peek(s)))
		return take_known_size(s) && !operator_size(s);
	return take_number(s, &number) && number && number <= INT32_MAX && !operator_size(s);
}

static bool parse_operands(struct parser *s)
{
	unsigned n, size;

	if (!parse_unary(s))
		return false;
	for (n = 0; (size = operator_size(s)) > 0; n++) {
		bool divides = *s->p == '/' || *s->p == '%';

		s->p += size;
		if (n == OPERATORS_MAX || !(divides ? parse_divisor(s) : parse_unary(s)))
			return false;
	}
	return true;
}

static bool parse_expression(struct parser *s)
{
	bool good;

	if (++s->depth > DEPTH_MAX)
		return false;
	good = parse_operands(s);
	if (good && take(s, '?'))
		good = parse_expression(s) && take(s, ':') && parse_expression(s);
	s->depth--;
	return good;
}

/* ---- the format ---- */

/* Skips the digits of a width or a precision. */
static bool skip_digits(const char **p)
{
	const char *start = *p;

	while (is_digit(**p))
		(*p)++;
	return *p - start <= DIGITS_MAX;
}

/*
 * A conversion that libtraceevent 1.7 knows; `p` is behind the %.  Of those with an argument for a
 * length, "%.*s" only: others would have a width that nothing bounds.
 */
static bool skip_conversion(const char **p, unsigned *nargs)
{
	bool wide = false;

	if (strncmp(*p, ".*s", 3) == 0) {
		*p += 3;
		return (*nargs)-- > 0;
	}
	*p += strspn(*p, "#-");
	if (!skip_digits(p))
		return false;
	if (**p == '.') {
		(*p)++;
		if (!skip_digits(p))
			return false;
	}
	if (**p == 'h' || **p == 'l' || **p == 'L' || **p == 'z') {
		char c = *(*p)++;

		wide = true;
		*p += (c == 'h' || c == 'l') && **p == c;
	}
	if (!**p || !strchr(wide ? "duixX" : "duixXsp", **p))
		return false;
	(*p)++;
	return true;
}

static bool check_conversions(const char *p, unsigned nargs)
{
	while (*p) {
		if (*p == '\\' && p[1]) {
			p += 2;
		} else if (*p != '%') {
			p++;
		} else if (p[1] == '%') {
			p += 2;
		} else {
			p++;
			if (!nargs-- || !skip_conversion(&p, &nargs))
				return false;
		}
	}
	return true;
}

bool vt_printfmt_is_safe(struct vt_bytes printfmt, const struct vt_trace_format *f)
{
	const char *text = (const char *)printfmt.data;
	struct parser s = {.format = f};
	struct vt_buf format = VT_BUF_INIT;
	unsigned nargs = 0;
	bool good;

	if (!printfmt.size || printfmt.size > VT_PRINTFMT_MAX)
		return false;
	s.p = text;
	s.end = text + printfmt.size;
	good = take_strings(&s, &format);
	for (; good && take(&s, ','); nargs++)
		good = parse_expression(&s);
	good = good && !peek(&s) && s.p == s.end && check_conversions(vt_buf_str(&format), nargs) &&
	       !format.failed;
	vt_buf_free(&format);
	return good;
}

struct vt_bytes vt_printfmt_of(struct vt_bytes text)
{
	static const char key[] = "\nprint fmt:";
	const uint8_t *p = text.data, *end = p + text.size;
	struct vt_bytes found = {NULL, 0};
	size_t n = sizeof(key) - 1;

	for (; (size_t)(end - p) >= n; p++) {
		p = memchr(p, '\n', (size_t)(end - p));
		if (!p || (size_t)(end - p) < n)
			break;
		if (memcmp(p, key, n) == 0) {
			found.data = p + n;
			found.size = (size_t)(end - p) - n;
			break;
		}
	}
	/* The file ends with a line end, and perhaps a zero. */
	while (found.size && found.data[found.size - 1] <= ' ')
		found.size--;
	return found;
}
