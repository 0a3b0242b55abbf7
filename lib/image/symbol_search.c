/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/symbol_search.h"

#include <string.h>

#include "base/name.h"
#include "image/demangle.h"

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/*
 * Returns the start of a demangled name's parameters, or its end if it has none: the last top-level
 * '(', but not that of `operator()` or `(anonymous namespace)`.
 */
static size_t find_params(const char *s)
{
	size_t i, at = 0, depth = 0;

	for (i = 0; s[i]; i++) {
		if (s[i] == '<' || s[i] == '(' || s[i] == '[') {
			bool call = i >= 8 && !strncmp(s + i - 8, "operator()", 10);

			if (s[i] == '(' && !depth && i && !call &&
			    (is_word_char(s[i - 1]) || at == 0) &&
			    strncmp(s + i, "(anonymous", 10) != 0)
				at = i;
			depth++;
		} else if ((s[i] == '>' || s[i] == ')' || s[i] == ']') && depth) {
			depth--;
		}
	}
	return at ? at : i;
}

/* Mangling abbreviates these names of namespace std. */
static bool is_abbreviated(const char *word)
{
	static const char *const words[] = {
		"std",	   "allocator", "basic_string",	 "string",	  "istream",
		"ostream", "iostream",	"basic_istream", "basic_ostream", "basic_iostream"};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return false;
}

/*
 * Finds a word that the mangled form of a name must contain, so that most symbols need not be
 * demangled: mangling keeps identifiers.  Empty if there is none, as for operators.
 */
static void find_key_word(const char *name, char *word, size_t room)
{
	size_t end = find_params(name), n, i;
	const char *angle = memchr(name, '<', end);

	word[0] = 0;
	if (angle)
		end = (size_t)(angle - name);
	for (i = end; i && is_word_char(name[i - 1]);)
		i--;
	n = end - i;
	if (n == 0 || n >= room || strstr(name, "operator"))
		return;
	memcpy(word, name + i, n);
	word[n] = 0;
	if (is_abbreviated(word))
		word[0] = 0;
}

void vt_name_query_init(struct vt_name_query *q, const char *name)
{
	*q = (struct vt_name_query){
		.name = name, .size = strlen(name), .shown = VT_BUF_INIT, .form = VT_BUF_INIT};
	find_key_word(name, q->word, sizeof(q->word));
}

void vt_name_query_fini(struct vt_name_query *q)
{
	vt_buf_free(&q->shown);
	vt_buf_free(&q->form);
}

/* ---- whether a name matches ---- */

static bool is_clone_name(const struct vt_name_query *q, const char *raw)
{
	static const char *const suffixes[] = {".constprop.", ".isra.", ".part.", ".lto_priv."};
	size_t i;

	if (strncmp(raw, q->name, q->size) != 0 || raw[q->size] != '.')
		return false;
	for (i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strncmp(raw + q->size, suffixes[i], strlen(suffixes[i])) == 0)
			return !strstr(raw + q->size, ".cold");
	return false;
}

/* Demangles the name as it is shown; one that is not mangled is shown as it is. */
static void show_name(struct vt_name_query *q, const char *raw, bool params)
{
	q->shown.size = 0;
	if (!vt_demangle(&q->shown, raw, params))
		vt_buf_put(&q->shown, raw, strlen(raw));
}

static void make_form(struct vt_name_query *q,
		      void (*form)(struct vt_buf *out, const char *name, size_t size))
{
	q->form.size = 0;
	form(&q->form, vt_buf_str(&q->shown), q->shown.size);
}

static bool is_whole(const struct vt_name_query *q, const struct vt_buf *shown)
{
	return shown->size == q->size && memcmp(shown->data, q->name, q->size) == 0;
}

/* Whether the name is the end of another, from a name of a scope on. */
static bool is_part(const struct vt_name_query *q, const struct vt_buf *shown)
{
	size_t at = shown->size - q->size;
	const char *s = (const char *)shown->data;

	if (shown->size < q->size || memcmp(s + at, q->name, q->size) != 0)
		return false;
	return at == 0 || s[at - 1] == ' ' || (at >= 2 && s[at - 1] == ':' && s[at - 2] == ':');
}

static bool is_full_name(struct vt_name_query *q, const char *raw)
{
	show_name(q, raw, false);
	make_form(q, vt_name_shorten);
	if (is_whole(q, &q->shown) || is_whole(q, &q->form))
		return true;
	show_name(q, raw, true);
	return is_whole(q, &q->shown);
}

static bool is_bare_name(struct vt_name_query *q, const char *raw)
{
	show_name(q, raw, false);
	make_form(q, vt_name_bare);
	return is_whole(q, &q->form);
}

static bool is_part_of_name(struct vt_name_query *q, const char *raw)
{
	show_name(q, raw, false);
	make_form(q, vt_name_bare);
	if (is_part(q, &q->shown) || is_part(q, &q->form))
		return true;
	make_form(q, vt_name_shorten);
	if (is_part(q, &q->form))
		return true;
	show_name(q, raw, true);
	return is_part(q, &q->shown);
}

bool vt_name_matches(struct vt_name_query *q, enum vt_match how, const char *raw)
{
	if (!q->size)
		return false;
	if (how == VT_MATCH_RAW)
		return strcmp(raw, q->name) == 0;
	if (how == VT_MATCH_CLONE)
		return is_clone_name(q, raw);
	if (!strstr(raw, q->word))
		return false;
	return how == VT_MATCH_FULL   ? is_full_name(q, raw)
	       : how == VT_MATCH_BARE ? is_bare_name(q, raw)
				      : is_part_of_name(q, raw);
}

/* ---- the symbols of a table ---- */

/* Calls `fn` for the symbols that have the name as an alias.  Returns the number of calls. */
static int match_aliases(struct vt_symbols *t, const char *name,
			 bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	const struct vt_symbol *sym;
	const char *alias;
	uint64_t start;
	int calls = 0;
	size_t i;

	for (i = 0; vti_symbols_alias(t, i, &alias, &start); i++) {
		sym = strcmp(alias, name) == 0 ? vt_symbols_find(t, start) : NULL;
		calls += sym != NULL;
		if (sym && !fn(arg, sym))
			break;
	}
	return calls;
}

int vt_symbols_match(struct vt_symbols *t, enum vt_match how, const char *name,
		     bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	struct vt_name_query q;
	size_t i, n = vt_symbols_count(t);
	bool on = true;
	int calls = 0;

	vt_name_query_init(&q, name);
	for (i = 0; i < n && on; i++) {
		if (!vt_name_matches(&q, how, vt_symbols_at(t, i)->name))
			continue;
		calls++;
		on = fn(arg, vt_symbols_at(t, i));
	}
	if (how == VT_MATCH_RAW && on)
		calls += match_aliases(t, name, fn, arg);
	if (q.shown.failed || q.form.failed)
		calls = -VT_E_NOMEM;
	vt_name_query_fini(&q);
	return calls;
}

int vt_symbols_search(struct vt_symbols *t, const char *name,
		      bool (*fn)(void *arg, const struct vt_symbol *sym), void *arg)
{
	int how, calls = 0;

	for (how = 0; how < VT_NMATCHES && !calls; how++)
		calls = vt_symbols_match(t, (enum vt_match)how, name, fn, arg);
	return calls;
}
