/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A name that is read from left to right. */
struct name {
	const char *s;
	size_t size;
	size_t at;
	bool bare; /* nothing stands for what is left out */
};

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (uint8_t)c >= 0x80;
}

static bool starts_with(const struct name *n, size_t at, const char *text)
{
	size_t size = strlen(text);

	return n->size - at >= size && memcmp(n->s + at, text, size) == 0;
}

/* Length of the operator's name at `at`, as in "operator<<"; 0: there is none. */
static size_t measure_operator(const struct name *n, size_t at)
{
	static const char *const symbols[] = {"()", "[]",    "<=>", "<<=",	">>=",	 "->*",
					      "->", "<<",    ">>",  "<=",	">=",	 "<",
					      ">",  "new[]", "new", "delete[]", "delete"};
	size_t i, end = at + strlen("operator");

	if (n->s[at] != 'o' || (at && is_name_char(n->s[at - 1])) ||
	    !starts_with(n, at, "operator"))
		return 0;
	if (end < n->size && n->s[end] == ' ' &&
	    (starts_with(n, end + 1, "new") || starts_with(n, end + 1, "delete")))
		end++;
	for (i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		if (starts_with(n, end, symbols[i]))
			return end + strlen(symbols[i]) - at;
	while (end < n->size && strchr("+-*/%^&|~!=,", n->s[end]) && n->s[end])
		end++;
	return end - at == strlen("operator") ? 0 : end - at;
}

/* The index after the bracket that closes the one at `at`; 0: none does.  Angles do not count. */
static size_t skip_brackets(const struct name *n, size_t at)
{
	size_t depth = 0;

	for (; at < n->size; at++) {
		if (n->s[at] && strchr("([{", n->s[at]))
			depth++;
		else if (n->s[at] && strchr(")]}", n->s[at]) && --depth == 0)
			return at + 1;
	}
	return 0;
}

/*
 * The index after the list of template arguments that starts at `at`; 0: it has no end.  Inside of
 * other brackets, `<` and `>` may compare.
 */
static size_t skip_arguments(const struct name *n, size_t at)
{
	size_t depth = 0;

	while (at && at < n->size) {
		size_t operator_size = measure_operator(n, at);
		char c = n->s[at];

		if (operator_size) {
			at += operator_size;
		} else if (c == '(' || c == '[' || c == '{') {
			at = skip_brackets(n, at);
		} else {
			at++;
			if (c == '<')
				depth++;
			else if (c == '>' && n->s[at - 2] != '-' && --depth == 0)
				return at;
		}
	}
	return 0;
}

/* Whether the `<` at `at` starts template arguments, rather than a type or part of a name. */
static bool starts_arguments(const struct name *n, size_t at)
{
	char before = at ? n->s[at - 1] : ' ';

	/* Rust's "drop_in_place::<T>" and "num::<impl Display for i32>"; Java's "A::<init>". */
	if (before == ':')
		return !starts_with(n, at, "<impl ") && !starts_with(n, at, "<init>") &&
		       !starts_with(n, at, "<clinit>");
	return is_name_char(before) || before == '>' || before == ']';
}

/* Whether what starts with the `(` at `at` may be the types of parameters. */
static bool may_start_parameters(const struct name *n, size_t at)
{
	return at && (is_name_char(n->s[at - 1]) || strchr(">])", n->s[at - 1]));
}

/* Whether a procedure's name may go on at `at` after its parameters. */
static bool may_end_parameters(const struct name *n, size_t at)
{
	return at == n->size || strchr(" :[+@", n->s[at]);
}

/* Moves to `end` and appends the two brackets there with an ellipsis between them. */
static void elide_until(struct name *n, size_t end, struct vt_buf *out)
{
	if (!n->bare) {
		vt_buf_put(out, n->s + n->at, 1);
		if (end - n->at > 2)
			vt_buf_put(out, VT_ELLIPSIS, strlen(VT_ELLIPSIS));
		vt_buf_put(out, n->s + end - 1, 1);
	}
	n->at = end;
}

static void copy_until(struct name *n, size_t end, struct vt_buf *out)
{
	vt_buf_put(out, n->s + n->at, end - n->at);
	n->at = end;
}

/* Takes template arguments.  False: nothing closes them. */
static bool take_arguments(struct name *n, struct vt_buf *out)
{
	size_t end = skip_arguments(n, n->at);

	if (end)
		elide_until(n, end, out);
	return end != 0;
}

/* Takes the types of parameters, or what was taken for them.  False: nothing closes them. */
static bool take_parameters(struct name *n, struct vt_buf *out)
{
	size_t end = skip_brackets(n, n->at);

	if (end && may_end_parameters(n, end))
		elide_until(n, end, out);
	else if (end)
		copy_until(n, end, out);
	return end != 0;
}

/*
 * Takes an operator's name of `size` bytes and its template arguments, which follow a blank if need
 * be.  False: nothing closes them.
 */
static bool take_operator(struct name *n, size_t size, struct vt_buf *out)
{
	bool apart = starts_with(n, n->at + size, " <");

	copy_until(n, n->at + size + (apart && !n->bare), out);
	n->at += apart && n->bare;
	return !starts_with(n, n->at, "<") || take_arguments(n, out);
}

static bool shorten_name(struct name *n, struct vt_buf *out)
{
	size_t braces = 0;

	while (n->at < n->size) {
		size_t operator_size = measure_operator(n, n->at);
		char c = n->s[n->at];
		bool ok = true;

		if (operator_size) {
			ok = take_operator(n, operator_size, out);
		} else if (c == '<' && starts_arguments(n, n->at)) {
			ok = take_arguments(n, out);
		} else if (c == '(' && !braces && may_start_parameters(n, n->at)) {
			ok = take_parameters(n, out);
		} else if (c == '[' && n->bare && starts_with(n, n->at, "[abi:")) {
			n->at = skip_brackets(n, n->at);
			ok = n->at != 0;
		} else {
			braces += c == '{';
			braces -= c == '}' && braces;
			copy_until(n, n->at + 1, out);
		}
		if (!ok)
			return false;
	}
	return true;
}

static void put_shortened(struct name n, struct vt_buf *out)
{
	size_t start = out->size;

	if (shorten_name(&n, out))
		return;
	out->size = start;
	vt_buf_put(out, n.s, n.size);
}

void vt_name_shorten(struct vt_buf *out, const char *name, size_t size)
{
	put_shortened((struct name){name, size, 0, false}, out);
}

void vt_name_bare(struct vt_buf *out, const char *name, size_t size)
{
	put_shortened((struct name){name, size, 0, true}, out);
}
