/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/spelling.h"
#include "stream/profileme.h"
#include "stream/units.h"
#include "stream/where_internal.h"

struct resolver {
	struct vti_where_tree *tree;
	const struct vt_kind_desc *desc;
	uint32_t kind;
	struct vt_error *err;
};

/* ---- the words of a unit ---- */

/* Values of an enumeration, or bits of flags, are below this. */
#define MAX_WORDS 64

/* The name of the value or bit `i`, and the number that it stands for; NULL: there is none. */
static const char *word_at(const struct resolver *r, const char *unit, unsigned i, uint64_t *number)
{
	vt_word_fn *values = vt_unit_words(unit);
	const char *word;

	*number = values ? i : UINT64_C(1) << i;
	if (values)
		word = values(i);
	else if (strcmp(unit, "flags:event") == 0)
		word = vt_pm_event_name(i);
	else
		word = r->kind == VT_SAMPLE && i < VT_PM_NBITS
			       ? r->desc->fields[VT_SAMPLE_EVENTS + i].name + 2 * r->tree->pair
			       : "?";
	return strcmp(word, "?") == 0 ? NULL : word;
}

static bool has_words(const char *unit)
{
	return vt_unit_words(unit) || strcmp(unit, "flags:event") == 0 ||
	       strcmp(unit, "flags:pm") == 0;
}

/* A name cannot have the hyphen of a word: an underscore stands for it. */
static bool is_word(const char *word, const char *text)
{
	for (; *word && *text; word++, text++)
		if (*word != *text && (*word != '-' || *text != '_'))
			return false;
	return *word == *text;
}

static bool find_word(const struct resolver *r, const char *unit, const char *text,
		      uint64_t *number)
{
	unsigned i;

	for (i = 0; unit && i < MAX_WORDS; i++) {
		const char *word = word_at(r, unit, i, number);

		if (word && is_word(word, text))
			return true;
	}
	return false;
}

/* ---- names ---- */

static struct vti_where_node *node_at(const struct resolver *r, uint32_t i)
{
	return &r->tree->nodes[i];
}

static bool is_binary(enum vti_where_op op)
{
	return op >= VTI_WHERE_MUL;
}

static bool is_sign(enum vti_where_op op)
{
	return op >= VTI_WHERE_NEG && op <= VTI_WHERE_NOT;
}

/* Finds a unit with words among the fields of a term, if there is one. */
static const char *set_units(const struct resolver *r, uint32_t i)
{
	struct vti_where_node *n = node_at(r, i);
	const char *left, *right;
	int field;

	if (n->op == VTI_WHERE_NAME) {
		field = vt_schema_find_field(r->desc, vti_where_text(r->tree, n));
		if (field >= 0 && has_words(r->desc->fields[field].unit))
			n->unit = r->desc->fields[field].unit;
	} else if (is_sign(n->op)) {
		left = set_units(r, n->left);
		n->unit = n->op == VTI_WHERE_NOT ? NULL : left;
	} else if (is_binary(n->op)) {
		left = set_units(r, n->left);
		right = set_units(r, n->right);
		if (n->op < VTI_WHERE_EQ)
			n->unit = left ? left : right;
	}
	return n->unit;
}

/* The unit of a term that is combined with `unit`: a name that is a word of that is no field. */
static const char *unit_beside(const struct resolver *r, uint32_t i, const char *unit)
{
	const struct vti_where_node *n = node_at(r, i);
	const char *left;
	uint64_t number;

	if (!n->unit || !unit)
		return n->unit;
	if (n->op == VTI_WHERE_NAME)
		return find_word(r, unit, vti_where_text(r->tree, n), &number) ? NULL : n->unit;
	left = unit_beside(r, n->left, unit);
	return left || is_sign(n->op) ? left : unit_beside(r, n->right, unit);
}

static int unknown_name(const struct resolver *r, const struct vti_where_node *n, const char *unit)
{
	const char *text = vti_where_text(r->tree, n), *word;
	struct vt_spelling near = vt_spelling_start(text);
	enum vt_errcode code = unit ? VT_E_USAGE : VT_E_ABSENT;
	uint64_t number;
	unsigned i;

	for (i = 0; unit && i < MAX_WORDS; i++) {
		word = word_at(r, unit, i, &number);
		if (word)
			vt_spelling_try(&near, word);
	}
	for (i = 0; i < r->desc->nfields && n->op != VTI_WHERE_STRING; i++)
		vt_spelling_try(&near, r->desc->fields[i].name);
	if (n->op == VTI_WHERE_STRING && unit)
		return vti_where_error(r->err, code, n->column, "'%s' is no word for %s%s%s%s",
				       text, unit, near.best ? "; did you mean '" : "",
				       near.best ? near.best : "", near.best ? "'?" : "");
	return vti_where_error(r->err, code, n->column, "%s has no field '%s'%s%s%s", r->desc->name,
			       text, near.best ? "; did you mean '" : "",
			       near.best ? near.best : "", near.best ? "'?" : "");
}

static int resolve_field(const struct resolver *r, struct vti_where_node *n)
{
	n->field = vt_schema_find_field(r->desc, vti_where_text(r->tree, n));
	return n->field < 0 ? unknown_name(r, n, NULL) : 0;
}

/* `unit` is what the term is combined with; NULL: nothing with words. */
static int resolve_name(const struct resolver *r, struct vti_where_node *n, const char *unit)
{
	const char *text = vti_where_text(r->tree, n);
	int field = n->op == VTI_WHERE_NAME ? vt_schema_find_field(r->desc, text) : -1;
	bool word = find_word(r, unit, text, &n->number);

	/* As `precise` is both for events: nobody compares a field of words with another one. */
	if (word)
		n->op = VTI_WHERE_NUMBER;
	else if (field >= 0)
		n->field = field;
	else if (n->op == VTI_WHERE_NAME || unit)
		return unknown_name(r, n, unit);
	return 0;
}

static bool is_enumeration(const char *unit)
{
	return unit && vt_unit_words(unit);
}

/*
 * Whether a term computes with values of an enumeration, of which the numbers mean nothing.  Beside
 * flags, the name of a field that has such values is the word for its bit.
 */
static bool computes_with_values(const struct resolver *r, const struct vti_where_node *n,
				 const char *unit)
{
	const char *right = is_binary(n->op) ? node_at(r, n->right)->unit : NULL;
	bool computes = n->op >= VTI_WHERE_NEG && n->op < VTI_WHERE_EQ && n->op != VTI_WHERE_NOT;

	return computes && is_enumeration(unit ? unit : n->unit) &&
	       (!right || is_enumeration(right));
}

static int resolve(const struct resolver *r, uint32_t i, const char *unit)
{
	struct vti_where_node *n = node_at(r, i);
	const char *left, *right;
	int code;

	if (n->op == VTI_WHERE_NAME || n->op == VTI_WHERE_STRING)
		return resolve_name(r, n, unit);
	if (n->op == VTI_WHERE_COUNT || n->op == VTI_WHERE_HAS)
		return resolve_field(r, n);
	if (n->op == VTI_WHERE_IN)
		return resolve_field(r, node_at(r, n->left));
	if (computes_with_values(r, n, unit))
		return vti_where_error(r->err, VT_E_USAGE, n->column,
				       "values of an enumeration are compared, each by itself");
	if (is_sign(n->op))
		return resolve(r, n->left, n->op == VTI_WHERE_NOT ? NULL : unit);
	if (!is_binary(n->op))
		return 0;
	if (n->op >= VTI_WHERE_EQ)
		unit = NULL;
	left = n->op < VTI_WHERE_ALL ? unit_beside(r, n->left, unit) : NULL;
	right = n->op < VTI_WHERE_ALL ? unit_beside(r, n->right, unit) : NULL;
	code = resolve(r, n->left, right ? right : unit);
	return code < 0 ? code : resolve(r, n->right, left ? left : unit);
}

int vti_where_resolve(struct vti_where_tree *t, const struct vt_kind_desc *desc, uint32_t kind,
		      struct vt_error *err)
{
	const struct resolver r = {t, desc, kind, err};

	set_units(&r, t->root);
	return resolve(&r, t->root, NULL);
}
