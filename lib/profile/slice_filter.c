/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/pattern.h"
#include "profile/slice_internal.h"

#define NS_PER_SECOND UINT64_C(1000000000)

void vti_slice_filter_fini(struct vti_slice_filter *f)
{
	size_t i;

	for (i = 0; f->patterns && i < f->count; i++)
		free(f->patterns[i]);
	free(f->patterns);
	free(f->ranges);
}

static int add_range(struct vti_slice_filter *f, struct vti_slice_range range, struct vt_error *err)
{
	if (!vt_array_grow(&f->ranges, &f->cap, f->count + 1, sizeof(*f->ranges)))
		return vt_error_nomem(err);
	f->ranges[f->count++] = range;
	return 0;
}

/* Takes a decimal number of at most 18 digits; false: there is none. */
static bool take_number(const char **text, uint64_t *number)
{
	size_t i, digits = strspn(*text, "0123456789");

	*number = 0;
	for (i = 0; i < digits && digits <= 18; i++)
		*number = 10 * *number + (uint64_t)((*text)[i] - '0');
	*text += digits;
	return digits && digits <= 18;
}

/* ---- numbers ---- */

int vti_slice_add_numbers(struct vti_slice_filter *f, const char *text, struct vt_error *err)
{
	const char *at = text;

	for (;;) {
		struct vti_slice_range r = {0};
		bool ok = take_number(&at, &r.first);

		r.last = r.first;
		if (ok && *at == '-') {
			at++;
			ok = take_number(&at, &r.last);
		}
		if (!ok || (*at && *at != ','))
			return vt_error_set(err, VT_E_USAGE,
					    "'%s' is no list of numbers and ranges, as in 1,4-7",
					    text);
		if (r.last < r.first)
			return vt_error_set(err, VT_E_USAGE, "'%s': an empty range", text);
		if (add_range(f, r, err) < 0)
			return -VT_E_NOMEM;
		if (!*at++)
			return 0;
	}
}

bool vti_slice_has_number(const struct vti_slice_filter *f, uint64_t number)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (number >= f->ranges[i].first && number <= f->ranges[i].last)
			return true;
	return false;
}

/* ---- times ---- */

/* Takes seconds with up to nine decimals, as nanoseconds; false: there are none. */
static bool take_seconds(const char **text, uint64_t *ns)
{
	const char *at = *text;
	uint64_t whole, fraction = 0;
	size_t digits = 9;
	bool ok = take_number(&at, &whole) && whole <= UINT64_MAX / NS_PER_SECOND - 1;

	if (ok && *at == '.') {
		digits = strspn(++at, "0123456789");
		ok = digits <= 9 && take_number(&at, &fraction);
	}
	for (; digits < 9; digits++)
		fraction *= 10;
	*ns = ok ? whole * NS_PER_SECOND + fraction : 0;
	*text = at;
	return ok;
}

/* Takes one side of a range: *given, and *plus when it counts from the first sample. */
static bool take_side(const char **text, uint64_t *ns, bool *given, bool *plus)
{
	*given = **text && **text != ',';
	*plus = **text == '+';
	*text += *plus;
	return !*given || take_seconds(text, ns);
}

int vti_slice_add_time(struct vti_slice_filter *f, const char *text, struct vt_error *err)
{
	struct vti_slice_range r = {.last = UINT64_MAX};
	bool from, to = false, from_plus, to_plus = false, ok;
	const char *at = text;

	ok = take_side(&at, &r.first, &from, &from_plus) && *at == ',';
	if (ok) {
		at++;
		ok = take_side(&at, &r.last, &to, &to_plus) && !*at && (from || to);
	}
	if (!ok)
		return vt_error_set(err, VT_E_USAGE,
				    "'%s' is no range of times, A,B or +A,+B in seconds", text);
	if (from && to && from_plus != to_plus)
		return vt_error_set(err, VT_E_USAGE,
				    "'%s': both sides of a range have a '+', or none", text);
	if (r.last < r.first)
		return vt_error_set(err, VT_E_USAGE, "'%s': an empty range", text);
	r.since_first = from_plus || to_plus;
	return add_range(f, r, err);
}

bool vti_slice_has_time(const struct vti_slice_filter *f, uint64_t time, uint64_t zero)
{
	size_t i;

	for (i = 0; i < f->count; i++) {
		const struct vti_slice_range *r = &f->ranges[i];
		/* Streams are in order of time, up to a few samples. */
		uint64_t t = !r->since_first ? time : time > zero ? time - zero : 0;

		if (t >= r->first && t <= r->last)
			return true;
	}
	return false;
}

/* ---- patterns ---- */

/* The length of the first pattern of a list; `nested`: up to a comma that is in no brackets.  A
 * backslash takes a comma into the pattern. */
static size_t pattern_length(const char *list, bool nested)
{
	static const char operator[] = "operator";
	size_t i, depth = 0;

	for (i = 0; list[i] && (list[i] != ',' || depth); i++) {
		if (list[i] == '\\' && list[i + 1])
			i++;
		else if (nested && strncmp(list + i, operator, strlen(operator)) == 0)
			/* Its brackets are none: operator<, operator<<, operator->. */
			i += strlen(operator) - 1 + strspn(list + i + strlen(operator), "<>=-");
		else if (nested && strchr("(<[{", list[i]))
			depth++;
		else if (depth && strchr(")>]}", list[i]))
			depth--;
	}
	return i;
}

static int add_pattern(struct vti_slice_filter *f, const char *text, size_t size,
		       struct vt_error *err)
{
	char *pattern = strndup(text, size);

	if (!pattern || !vt_array_grow(&f->patterns, &f->cap, f->count + 1, sizeof(*f->patterns))) {
		free(pattern);
		return vt_error_nomem(err);
	}
	f->patterns[f->count++] = pattern;
	return 0;
}

int vti_slice_add_patterns(struct vti_slice_filter *f, const char *text, bool nested,
			   struct vt_error *err)
{
	const char *at = text;

	for (;;) {
		size_t size = pattern_length(at, nested);

		if (!size)
			return vt_error_set(err, VT_E_USAGE, "'%s': an empty pattern", text);
		if (add_pattern(f, at, size, err) < 0)
			return -VT_E_NOMEM;
		at += size;
		if (!*at++)
			return 0;
	}
}

bool vti_slice_matches(const struct vti_slice_filter *f, const char *text)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (vt_pattern_matches(f->patterns[i], text))
			return true;
	return false;
}

bool vti_slice_names(const struct vti_slice_filter *f, const char *procedure)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (vt_pattern_names(f->patterns[i], procedure))
			return true;
	return false;
}
