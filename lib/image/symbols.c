/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/symbols.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/intern.h"
#include "image/demangle.h"

#define NONE UINT32_MAX

/* The name of a symbol that was removed in favour of another. */
struct alias {
	uint64_t start;
	const char *name;
};

struct vt_symbols {
	struct vt_symbol *syms;
	size_t count;
	size_t cap;
	uint64_t *starts; /* copies of the symbols' starts, compact for the search */
	uint32_t *outer;  /* see find_symbol_nesting() */
	uint32_t *shown;  /* demangled names: ids in `names`, 0 if not yet made */
	struct alias *aliases;
	size_t naliases;
	size_t aliases_cap;
	struct vt_intern *names; /* all names that are not borrowed */
};

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
	if (!t)
		return;
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

/* Stable: symbols at an address keep the file's order, which decides the last ties. */
static void merge_sort_symbols(struct vt_symbol *a, struct vt_symbol *tmp, size_t n)
{
	size_t mid = n / 2, i = 0, j = mid, k = 0;

	if (n < 2)
		return;
	merge_sort_symbols(a, tmp, mid);
	merge_sort_symbols(a + mid, tmp, n - mid);
	if (a[mid - 1].start <= a[mid].start)
		return;
	while (i < mid && j < n)
		tmp[k++] = a[j].start < a[i].start ? a[j++] : a[i++];
	while (i < mid)
		tmp[k++] = a[i++];
	memcpy(a, tmp, k * sizeof(*a));
}

/*
 * Applies perf's rule for symbols without a size: they extend to the next symbol, the last one to
 * the end of the page after its own.  PLT entries do not count as next symbols.
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

static size_t count_underscores(const char *s)
{
	return strspn(s, "_");
}

/* Compares demangled names as perf does.  Returns a positive number if `a` is preferred. */
static int compare_names(const struct vt_symbol *a, const struct vt_symbol *b)
{
	struct vt_buf abuf = VT_BUF_INIT, bbuf = VT_BUF_INIT;
	const char *an = vt_demangle(&abuf, a->name, false) ? vt_buf_str(&abuf) : a->name;
	const char *bn = vt_demangle(&bbuf, b->name, false) ? vt_buf_str(&bbuf) : b->name;
	size_t au = count_underscores(an), bu = count_underscores(bn), al = strlen(an),
	       bl = strlen(bn);
	int d = 0;

	if (au != bu)
		d = au < bu ? 1 : -1;
	else if (al != bl)
		d = al > bl ? 1 : -1;
	vt_buf_free(&abuf);
	vt_buf_free(&bbuf);
	return d;
}

/* Returns 1 or -1 if only the first or only the second symbol has the flag, else 0. */
static int compare_flag(const struct vt_symbol *a, const struct vt_symbol *b, uint32_t flag)
{
	return ((a->flags & flag) != 0) - ((b->flags & flag) != 0);
}

/* Returns true if `a`, the earlier of two symbols at an address, is the one to keep. */
static bool is_first_better(const struct vt_symbol *a, const struct vt_symbol *b)
{
	int d = (a->end > a->start) - (b->end > b->start);

	if (!d)
		d = -compare_flag(a, b, VT_SYMBOL_FRAME);
	if (!d)
		d = -compare_flag(a, b, VT_SYMBOL_WEAK);
	if (!d)
		d = compare_flag(a, b, VT_SYMBOL_GLOBAL);
	if (!d)
		d = compare_names(a, b);
	if (d)
		return d > 0;
	/* Kernel system calls have aliases SyS_x, which are not preferred. */
	return strncmp(a->name, "SyS", 3) != 0 && strncmp(a->name, "compat_SyS", 10) != 0;
}

static bool append_alias(struct vt_symbols *t, uint64_t start, const char *name)
{
	if (!vt_array_grow(&t->aliases, &t->aliases_cap, t->naliases + 1, sizeof(*t->aliases)))
		return false;
	t->aliases[t->naliases++] = (struct alias){start, name};
	return true;
}

int vti_symbols_add_alias(struct vt_symbols *t, uint64_t start, const char *name,
			  struct vt_error *err)
{
	uint32_t id = vt_intern_str(t->names, name);

	if (id == UINT32_MAX || !append_alias(t, start, vt_intern_get(t->names, id)))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	return 0;
}

/* Keeps the name of a removed symbol as an alias, unless it equals the other's. */
static bool add_alias(struct vt_symbols *t, const struct vt_symbol *loser, const char *winner)
{
	return !strcmp(loser->name, winner) || append_alias(t, loser->start, loser->name);
}

/*
 * Removes labels inside functions.  Compilers and assembly code have them as targets of jumps and
 * for references from other files.  Neither perf annotate nor a debugger ends the function there.
 */
static bool remove_inner_labels(struct vt_symbols *t)
{
	const uint32_t no_function =
		VT_SYMBOL_OBJECT | VT_SYMBOL_PLT | VT_SYMBOL_FRAME | VT_SYMBOL_LABEL;
	struct vt_symbol function = {0}; /* with the highest end so far */
	size_t i, ahead = 0, n = 0;

	for (i = 0; i < t->count; i++) {
		struct vt_symbol s = t->syms[i];

		/* A function may come after labels at its start. */
		for (; ahead < t->count && t->syms[ahead].start == s.start; ahead++)
			if (!(t->syms[ahead].flags & no_function) &&
			    t->syms[ahead].end > function.end)
				function = t->syms[ahead];
		if (!(s.flags & VT_SYMBOL_LABEL) || s.end > s.start || s.start >= function.end)
			t->syms[n++] = s;
		else if (!add_alias(t, &s, function.name))
			return false;
	}
	t->count = n;
	return true;
}

static bool remove_duplicates(struct vt_symbols *t)
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
		if (!is_first_better(last, &s)) {
			struct vt_symbol old = *last;

			*last = s;
			s = old;
		}
		if (!add_alias(t, &s, last->name))
			return false;
	}
	t->count = n;
	return true;
}

/* Sets outer[i] to the nearest earlier symbol that extends beyond the start of the i-th. */
static void find_symbol_nesting(struct vt_symbols *t)
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
	merge_sort_symbols(t->syms, tmp, t->count);
	free(tmp);
	if (!remove_inner_labels(t))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	infer_ends(t);
	if (!remove_duplicates(t))
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	t->outer = malloc((t->count + 1) * sizeof(*t->outer));
	t->starts = malloc((t->count + 1) * sizeof(*t->starts));
	t->shown = calloc(t->count + 1, sizeof(*t->shown));
	if (!t->outer || !t->starts || !t->shown)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	find_symbol_nesting(t);
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

const struct vt_symbol *vt_symbols_find_until(const struct vt_symbols *t, uint64_t addr,
					      uint64_t *end)
{
	const uint64_t *first = t->starts;
	size_t n = t->count;
	uint32_t i;

	*end = n && addr < *first ? *first : UINT64_MAX;
	if (!n || addr < *first)
		return NULL;
	/* Binary search without unpredictable branches; `first` is the last start known to fit. */
	while (n > 1) {
		size_t half = n / 2;

		first += first[half] <= addr ? half : 0;
		n -= half;
	}
	assert(*first <= addr);
	if (first + 1 < t->starts + t->count)
		*end = first[1];
	for (i = (uint32_t)(first - t->starts); i != NONE; i = t->outer[i])
		if (addr < t->syms[i].end) {
			*end = t->syms[i].end < *end ? t->syms[i].end : *end;
			return &t->syms[i];
		}
	return NULL;
}

const struct vt_symbol *vt_symbols_find(const struct vt_symbols *t, uint64_t addr)
{
	uint64_t end;

	return vt_symbols_find_until(t, addr, &end);
}

/* Maximum nesting that is followed; hostile files may nest very deeply. */
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

/* ---- symbols from text: kallsyms and perf maps ---- */

/* Gets the next line of a text, without its end.  Returns false if there is none. */
static bool get_text_line(const char **p, const char *end, const char **line, size_t *size)
{
	const char *nl;

	if (*p >= end)
		return false;
	nl = memchr(*p, '\n', (size_t)(end - *p));
	*line = *p;
	*size = (size_t)((nl ? nl : end) - *p);
	*p = nl ? nl + 1 : end;
	return true;
}

/* Parses a hexadecimal number and the blank after it.  Returns their size, 0 if malformed. */
static size_t parse_hex_field(const char *s, size_t size, uint64_t *value)
{
	uint64_t v = 0;
	size_t first = 0, i;

	if (size > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		first = 2;
	for (i = first; i < size && s[i] != ' '; i++) {
		unsigned d = s[i] >= '0' && s[i] <= '9'	  ? (unsigned)(s[i] - '0')
			     : s[i] >= 'a' && s[i] <= 'f' ? (unsigned)(s[i] - 'a') + 10
			     : s[i] >= 'A' && s[i] <= 'F' ? (unsigned)(s[i] - 'A') + 10
							  : 16;

		if (d > 15 || v >> 60)
			return 0;
		v = v << 4 | d;
	}
	if (i == first || i == size)
		return 0;
	*value = v;
	return i + 1;
}

static int add_copied_symbol(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
			     const char *name, size_t name_size, struct vt_error *err)
{
	const char *copy = vt_intern_copy(t->names, name, name_size);

	if (!copy)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	return vti_symbols_push(t, start, size, flags, copy, err);
}

/* Converts the types of nm(1) that perf accepts: text, weak, data and BSS; local in lower case. */
static bool kallsyms_flags(char type, uint32_t *flags)
{
	switch (type) {
	case 'T':
		*flags = VT_SYMBOL_GLOBAL;
		return true;
	case 't':
		*flags = 0;
		return true;
	case 'W':
	case 'w':
		*flags = VT_SYMBOL_WEAK;
		return true;
	case 'D':
	case 'B':
		*flags = VT_SYMBOL_GLOBAL | VT_SYMBOL_OBJECT;
		return true;
	case 'd':
	case 'b':
		*flags = VT_SYMBOL_OBJECT;
		return true;
	default:
		return false;
	}
}

int vt_symbols_add_kallsyms(struct vt_symbols *t, const char *text, size_t size, const char *module,
			    struct vt_error *err)
{
	size_t want = module ? strlen(module) : 0;
	const char *end = text + size, *line;
	uint64_t start;
	uint32_t flags;
	size_t n, at;
	int rc;

	while (get_text_line(&text, end, &line, &n)) {
		const char *name, *tab;
		size_t name_size;

		at = parse_hex_field(line, n, &start);
		if (!at || at + 3 > n || line[at + 1] != ' ' || !kallsyms_flags(line[at], &flags))
			continue;
		name = line + at + 2;
		name_size = n - at - 2;
		tab = memchr(name, '\t', name_size);
		if (!tab != !module)
			continue;
		if (tab) {
			size_t left = name_size - (size_t)(tab - name);

			/* "\t[module]" */
			if (left != want + 3 || memcmp(tab + 2, module, want) != 0)
				continue;
			name_size = (size_t)(tab - name);
		}
		if (!name_size || name[0] == '$')
			continue;
		rc = add_copied_symbol(t, start, 0, flags, name, name_size, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int vt_symbols_add_perf_map(struct vt_symbols *t, const char *text, size_t size,
			    struct vt_error *err)
{
	const char *end = text + size, *line;
	uint64_t start, length;
	size_t n, at, more;
	int rc;

	while (get_text_line(&text, end, &line, &n)) {
		at = parse_hex_field(line, n, &start);
		more = at ? parse_hex_field(line + at, n - at, &length) : 0;
		if (!more || at + more >= n)
			continue;
		rc = add_copied_symbol(t, start, length, VT_SYMBOL_GLOBAL, line + at + more,
				       n - at - more, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- names ---- */

bool vt_symbols_address_of(const struct vt_symbols *t, const char *name, uint64_t *addr)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (!strcmp(t->syms[i].name, name)) {
			*addr = t->syms[i].start;
			return true;
		}
	}
	for (i = 0; i < t->naliases; i++) {
		if (!strcmp(t->aliases[i].name, name)) {
			*addr = t->aliases[i].start;
			return true;
		}
	}
	return false;
}

const char *vt_symbols_display(struct vt_symbols *t, const struct vt_symbol *sym)
{
	size_t i = (size_t)(sym - t->syms);
	struct vt_buf b = VT_BUF_INIT;
	uint32_t id = t->shown[i];

	if (!id) {
		const char *name = vt_demangle(&b, sym->name, false) ? vt_buf_str(&b) : sym->name;

		id = vt_intern_str(t->names, name);
		vt_buf_free(&b);
		if (id == UINT32_MAX)
			return sym->name;
		t->shown[i] = id;
	}
	return vt_intern_get(t->names, id);
}

bool vti_symbols_alias(const struct vt_symbols *t, size_t i, const char **name, uint64_t *start)
{
	if (i >= t->naliases)
		return false;
	*name = t->aliases[i].name;
	*start = t->aliases[i].start;
	return true;
}
