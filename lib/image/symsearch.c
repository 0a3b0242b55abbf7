/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "image/demangle.h"
#include "image/symtab.h"

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

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * Where the parameters of a demangled name begin: its last top-level '(', but not that of
 * `operator()` or `(anonymous namespace)`; the end if there are none.
 */
static size_t params_at(const char *s)
{
	size_t i, at = 0, depth = 0;

	for (i = 0; s[i]; i++) {
		if (s[i] == '<' || s[i] == '(' || s[i] == '[') {
			bool call = i >= 8 && !strncmp(s + i - 8, "operator()", 10);

			if (s[i] == '(' && !depth && i && !call && (is_word(s[i - 1]) || at == 0) &&
			    strncmp(s + i, "(anonymous", 10) != 0)
				at = i;
			depth++;
		} else if ((s[i] == '>' || s[i] == ')' || s[i] == ']') && depth) {
			depth--;
		}
	}
	return at ? at : i;
}

/* Does the user's name fit the demangled one? */
static bool fits(const char *shown, const char *name, size_t size)
{
	size_t n;

	if (!strcmp(shown, name))
		return true;
	n = params_at(shown);
	if (n < size || memcmp(shown + n - size, name, size) != 0)
		return false;
	return n == size || (n - size >= 2 && shown[n - size - 1] == ':') ||
	       shown[n - size - 1] == ' ';
}

/*
 * A word that the mangled form of the name must contain: mangling keeps identifiers, so most
 * symbols need not be demangled.  Empty where there is none to rely on (operators; `std::` names
 * that mangling abbreviates).
 */
static void key_word(const char *name, char *word, size_t room)
{
	size_t end = params_at(name), n, i;
	const char *angle = memchr(name, '<', end);

	word[0] = 0;
	if (angle)
		end = (size_t)(angle - name);
	for (i = end; i && is_word(name[i - 1]);)
		i--;
	n = end - i;
	if (n == 0 || n >= room || !strncmp(name, "std::", 5) || strstr(name, "operator"))
		return;
	memcpy(word, name + i, n);
	word[n] = 0;
}

static int search_raw(struct vt_symbols *t, const char *name,
		      bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	const struct vt_symbol *s;
	int calls = 0;
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (strcmp(t->syms[i].name, name) != 0)
			continue;
		calls++;
		if (!fn(arg, &t->syms[i]))
			return calls;
	}
	for (i = 0; i < t->naliases; i++) {
		if (strcmp(t->aliases[i].name, name) != 0)
			continue;
		s = vt_symbols_find(t, t->aliases[i].start);
		calls += s != NULL;
		if (s && !fn(arg, s))
			return calls;
	}
	return calls;
}

/* What GCC makes of a procedure for some of its callers keeps the name, with a reason behind. */
static bool is_clone(const char *raw, const char *name, size_t size)
{
	static const char *const reasons[] = {".constprop.", ".isra.", ".part.", ".lto_priv."};
	size_t i;

	if (strncmp(raw, name, size) != 0 || raw[size] != '.')
		return false;
	for (i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (strncmp(raw + size, reasons[i], strlen(reasons[i])) == 0)
			return !strstr(raw + size, ".cold");
	return false;
}

static int search_clones(struct vt_symbols *t, const char *name, size_t size,
			 bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	int calls = 0;
	size_t i;

	for (i = 0; i < t->count; i++) {
		if (!is_clone(t->syms[i].name, name, size))
			continue;
		calls++;
		if (!fn(arg, &t->syms[i]))
			break;
	}
	return calls;
}

int vt_symbols_search(struct vt_symbols *t, const char *name,
		      bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	size_t i, size = strlen(name);
	struct vt_buf b = VT_BUF_INIT;
	int calls = search_raw(t, name, fn, arg);
	char word[128];

	if (!calls && size)
		calls = search_clones(t, name, size, fn, arg);

	if (calls || !size)
		return calls;
	key_word(name, word, sizeof(word));
	for (i = 0; i < t->count; i++) {
		const struct vt_symbol *s = &t->syms[i];

		if (s->name[0] != '_' || !strstr(s->name, word))
			continue;
		b.size = 0;
		if (!vt_demangle(&b, s->name, true) || !fits(vt_buf_str(&b), name, size))
			continue;
		calls++;
		if (!fn(arg, s))
			break;
	}
	if (b.failed)
		calls = -VT_E_NOMEM;
	vt_buf_free(&b);
	return calls;
}
