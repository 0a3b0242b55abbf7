/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "image/symtab.h"

/* One line of a text, without its end; false when there is none left. */
static bool next_line(const char **p, const char *end, const char **line, size_t *size)
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

/* A hexadecimal number and the blank after it; returns how many bytes they take, 0 if malformed. */
static size_t hex(const char *s, size_t size, uint64_t *value)
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

/* A zero-terminated copy that lives as long as the table; NULL when memory runs out. */
static const char *copy_name(struct vt_symbols *t, const char *name, size_t size)
{
	const size_t usual = 65536;
	struct vti_names *n = t->copied;
	char *copy;

	if (!n || n->size - n->used <= size) {
		size_t room = size < usual ? usual : size + 1;

		n = malloc(sizeof(*n) + room);
		if (!n)
			return NULL;
		n->next = t->copied;
		n->used = 0;
		n->size = room;
		t->copied = n;
	}
	copy = n->text + n->used;
	memcpy(copy, name, size);
	copy[size] = '\0';
	n->used += size + 1;
	return copy;
}

static int add(struct vt_symbols *t, uint64_t start, uint64_t size, uint32_t flags,
	       const char *name, size_t name_size, struct vt_error *err)
{
	const char *copy = copy_name(t, name, name_size);

	if (!copy)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for symbols");
	return vti_symbols_push(t, start, size, flags, copy, err);
}

/* The letters of nm(1) that perf takes: text, weak, data and BSS, local in lower case. */
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

	while (next_line(&text, end, &line, &n)) {
		const char *name, *tab;
		size_t name_size;

		at = hex(line, n, &start);
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
		rc = add(t, start, 0, flags, name, name_size, err);
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

	while (next_line(&text, end, &line, &n)) {
		at = hex(line, n, &start);
		more = at ? hex(line + at, n - at, &length) : 0;
		if (!more || at + more >= n)
			continue;
		rc = add(t, start, length, VT_SYMBOL_GLOBAL, line + at + more, n - at - more, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
