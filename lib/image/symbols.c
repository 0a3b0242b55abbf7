/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/symbols.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "image/demangle.h"
#include "image/symtab.h"

#define NONE UINT32_MAX

struct vt_symbols *vt_symbols_new(void)
{
	struct vt_symbols *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->names = vt_intern_new();
	if (!t->names) {
		free(t);
		return NULL;
	}
	return t;
}

void vt_symbols_free(struct vt_symbols *t)
{
	struct vti_names *n;

	if (!t)
		return;
	while ((n = t->copied) != NULL) {
		t->copied = n->next;
		free(n);
	}
	vt_intern_free(t->names);
	free(t->syms);
	free(t->outer);
	free(t->starts);
	free(t->shown);
	free(t->aliases);
	free(t);
}

int vti_symbols_push(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		     const char *name, struct vt_error *err)
{
	if (t->count >= VT_MAX_SYMBOLS)
		return vt_error_set(err, VT_E_LIMIT, "more than %d symbols", VT_MAX_SYMBOLS);
	if (!vt_array_grow(&t->syms, &t->cap, t->count + 1, sizeof(*t->syms)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	if (size > UINT64_MAX - start)
		size = UINT64_MAX - start;
	t->syms[t->count++] = (struct vt_symbol){start, start + size, name, flags};
	return 0;
}

int vt_symbols_add(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
		   const char *name, struct vt_error *err)
{
	uint32_t id = vt_intern_str(t->names, name);

	if (id == UINT32_MAX)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	return vti_symbols_push(t, start, size, flags, vt_intern_get(t->names, id), err);
}

/* Stable, so that equal addresses keep the file's order, which decides the last ties. */
static void merge_sort(struct vt_symbol *a, struct vt_symbol *tmp, size_t n)
{
	size_t mid = n / 2, i = 0, j = mid, k = 0;

	if (n < 2)
		return;
	merge_sort(a, tmp, mid);
	merge_sort(a + mid, tmp, n - mid);
	if (a[mid - 1].start <= a[mid].start)
		return;
	while (i < mid && j < n)
		tmp[k++] = a[j].start < a[i].start ? a[j++] : a[i++];
	while (i < mid)
		tmp[k++] = a[i++];
	memcpy(a, tmp, k * sizeof(*a));
}

/*
 * perf's rule for symbols without a size: they reach to the next symbol, the last one to the end
 * of the page after its own; in kallsyms, where a module begins or ends, to the end of the page
 * after.  PLT entries are unknown to that rule.
 */
static void infer_ends(struct vt_symbols *t)
{
	const uint64_t page = 4096;
	size_t i, next;

	for (i = 0; i < t->count; i++) {
		struct vt_symbol *s = &t->syms[i];

		if (s->end != s->start || (s->flags & VT_SYMBOL_PLT))
			continue;
		for (next = i + 1; next < t->count; next++)
			if (!(t->syms[next].flags & VT_SYMBOL_PLT))
				break;
		s->flags |= VT_SYMBOL_UNSIZED;
		if (next < t->count)
			s->end = t->syms[next].start;
		else if (s->start <= UINT64_MAX - 2 * page)
			s->end = ((s->start + page - 1) & ~(page - 1)) + page;
		else
			s->end = UINT64_MAX;
	}
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/* Compares as perf does, by the names that people see: > 0 if `a` is the better. */
static int compare_names(const struct vt_symbol *a, const struct vt_symbol *b)
{
	struct vt_buf abuf = VT_BUF_INIT, bbuf = VT_BUF_INIT;
	const char *an = vt_demangle(&abuf, a->name, false) ? vt_buf_str(&abuf) : a->name;
	const char *bn = vt_demangle(&bbuf, b->name, false) ? vt_buf_str(&bbuf) : b->name;
	size_t au = underscores(an), bu = underscores(bn), al = strlen(an), bl = strlen(bn);
	int d = 0;

	if (au != bu)
		d = au < bu ? 1 : -1;
	else if (al != bl)
		d = al > bl ? 1 : -1;
	vt_buf_free(&abuf);
	vt_buf_free(&bbuf);
	return d;
}

/* True if `a`, which comes first, is to be kept rather than `b`. */
static bool first_is_better(const struct vt_symbol *a, const struct vt_symbol *b)
{
	bool x = a->end > a->start, y = b->end > b->start;
	int d;

	if (x != y)
		return x;
	x = (a->flags & VT_SYMBOL_FRAME) != 0;
	y = (b->flags & VT_SYMBOL_FRAME) != 0;
	if (x != y)
		return y;
	x = (a->flags & VT_SYMBOL_WEAK) != 0;
	y = (b->flags & VT_SYMBOL_WEAK) != 0;
	if (x != y)
		return y;
	x = (a->flags & VT_SYMBOL_GLOBAL) != 0;
	y = (b->flags & VT_SYMBOL_GLOBAL) != 0;
	if (x != y)
		return x;
	d = compare_names(a, b);
	if (d)
		return d > 0;
	/* The kernel's system calls have aliases SyS_x, and those are not meant. */
	return strncmp(a->name, "SyS", 3) != 0 && strncmp(a->name, "compat_SyS", 10) != 0;
}

/* The loser stays known by name, unless it has the same. */
static bool keep_alias(struct vt_symbols *t, const struct vt_symbol *loser, const char *winner)
{
	if (!strcmp(loser->name, winner))
		return true;
	if (!vt_array_grow(&t->aliases, &t->aliases_cap, t->naliases + 1, sizeof(*t->aliases)))
		return false;
	t->aliases[t->naliases++] = (struct vti_alias){loser->start, loser->name};
	return true;
}

/*
 * Compilers and authors of assembly code leave labels inside functions, as targets of jumps and
 * for other files to refer to.  Neither perf annotate nor a debugger ends the function there.
 */
static bool drop_inner_labels(struct vt_symbols *t)
{
	const uint32_t no_function =
		VT_SYMBOL_OBJECT | VT_SYMBOL_PLT | VT_SYMBOL_FRAME | VT_SYMBOL_LABEL;
	struct vt_symbol function = {0}; /* the one that reaches furthest so far */
	size_t i, ahead = 0, n = 0;

	for (i = 0; i < t->count; i++) {
		struct vt_symbol s = t->syms[i];

		/* A function may stand behind labels of its first address. */
		for (; ahead < t->count && t->syms[ahead].start == s.start; ahead++)
			if (!(t->syms[ahead].flags & no_function) &&
			    t->syms[ahead].end > function.end)
				function = t->syms[ahead];
		if (!(s.flags & VT_SYMBOL_LABEL) || s.end > s.start || s.start >= function.end)
			t->syms[n++] = s;
		else if (!keep_alias(t, &s, function.name))
			return false;
	}
	t->count = n;
	return true;
}

static bool drop_duplicates(struct vt_symbols *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->count; i++) {
		struct vt_symbol *last = n ? &t->syms[n - 1] : NULL;
		struct vt_symbol s = t->syms[i];

		assert(!last || last->start <= s.start);
		if (!last || last->start != s.start) {
			t->syms[n++] = s;
			continue;
		}
		if (!first_is_better(last, &s)) {
			struct vt_symbol old = *last;

			*last = s;
			s = old;
		}
		if (!keep_alias(t, &s, last->name))
			return false;
	}
	t->count = n;
	return true;
}

/* outer[i]: the nearest earlier symbol that reaches beyond the start of the i-th. */
static void find_nesting(struct vt_symbols *t)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		uint32_t o = i ? (uint32_t)i - 1 : NONE;

		while (o != NONE && t->syms[o].end <= t->syms[i].start)
			o = t->outer[o];
		assert(o == NONE || o < i);
		t->outer[i] = o;
		t->starts[i] = t->syms[i].start;
	}
}

int vt_symbols_finish(struct vt_symbols *t, struct vt_error *err)
{
	struct vt_symbol *tmp = malloc((t->count + 1) * sizeof(*tmp));

	if (!tmp)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	merge_sort(t->syms, tmp, t->count);
	free(tmp);
	if (!drop_inner_labels(t))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	infer_ends(t);
	if (!drop_duplicates(t))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	t->outer = malloc((t->count + 1) * sizeof(*t->outer));
	t->starts = malloc((t->count + 1) * sizeof(*t->starts));
	t->shown = calloc(t->count + 1, sizeof(*t->shown));
	if (!t->outer || !t->starts || !t->shown)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	find_nesting(t);
	return 0;
}

size_t vt_symbols_count(const struct vt_symbols *t)
{
	return t->count;
}

const struct vt_symbol *vt_symbols_at(const struct vt_symbols *t, size_t i)
{
	return &t->syms[i];
}

const struct vt_symbol *vt_symbols_find(const struct vt_symbols *t, uint64_t addr)
{
	const uint64_t *first = t->starts;
	size_t n = t->count;
	uint32_t i;

	if (!n || addr < *first)
		return NULL;
	/* Halves without a branch to mispredict: `first` is the last start known to fit. */
	while (n > 1) {
		size_t half = n / 2;

		first += first[half] <= addr ? half : 0;
		n -= half;
	}
	assert(*first <= addr);
	for (i = (uint32_t)(first - t->starts); i != NONE; i = t->outer[i])
		if (addr < t->syms[i].end)
			return &t->syms[i];
	return NULL;
}

/* Deeper nesting is not followed: files can be made in which it has no end to speak of. */
#define MAX_NESTING 64

const struct vt_symbol *vt_symbols_outermost(const struct vt_symbols *t,
					     const struct vt_symbol *sym)
{
	uint32_t o = t->outer[sym - t->syms];
	int depth;

	assert(sym >= t->syms && sym < t->syms + t->count);
	for (depth = 0; o != NONE && depth < MAX_NESTING; depth++, o = t->outer[o])
		if (t->syms[o].end >= sym->end &&
		    !(t->syms[o].flags & (VT_SYMBOL_UNSIZED | VT_SYMBOL_FRAME | VT_SYMBOL_OBJECT)))
			sym = &t->syms[o];
	return sym;
}
