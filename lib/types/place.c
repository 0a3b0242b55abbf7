/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "types/internal.h"

/* Limit on the members of unions that one access fits in and that are told. */
#define MAX_FOUND 8

/* A way down to a member. */
struct found {
	const char *path;
	struct vti_type *type; /* NULL: padding */
	uint64_t offset;
	bool several;
};

struct place_walk {
	struct vt_types *t;
	struct vt_buf path;
	struct found found[MAX_FOUND];
	unsigned n;
	struct vti_type *fork; /* the outermost union with more than one way */
	uint64_t fork_offset;
	bool deep; /* a limit was reached */
};

static void descend(struct place_walk *w, struct vti_type *type, uint64_t offset, uint64_t size,
		    int depth);

static void finish(struct place_walk *w, struct vti_type *type, uint64_t offset, bool several)
{
	if (w->n < MAX_FOUND)
		w->found[w->n] =
			(struct found){vti_types_copy(w->t, &w->path), type, offset, several};
	w->n++;
}

static const char *shown_name(const struct vti_field *f)
{
	return f->name[0] ? f->name : "(anonymous)";
}

/* The bytes that a member touches, from `*first` up to and without `*end`. */
static void get_bytes(const struct vti_field *f, uint64_t *first, uint64_t *end)
{
	*first = f->bit / 8;
	*end = f->tail ? UINT64_MAX : (f->bit + f->bits + 7) / 8;
}

static bool touches(const struct vti_field *f, uint64_t offset, uint64_t size)
{
	uint64_t first, end;

	get_bytes(f, &first, &end);
	return first < offset + size && end > offset && (f->bits || f->tail);
}

static bool contains(const struct vti_field *f, uint64_t offset, uint64_t size)
{
	uint64_t first, end;

	get_bytes(f, &first, &end);
	return first <= offset && end >= offset + size && (f->bits || f->tail);
}

static void enter_field(struct place_walk *w, const struct vti_field *f, uint64_t offset,
			uint64_t size, int depth)
{
	size_t before = w->path.size;

	vti_type_add_name(&w->path, f->name);
	if (f->bitfield)
		finish(w, f->type, 0, false);
	else
		descend(w, f->type, offset - f->bit / 8, size, depth + 1);
	w->path.size = before;
}

/* Several members next to each other, perhaps with padding before or behind them. */
static void finish_several(struct place_walk *w, struct vti_type *type, const struct vti_field *a,
			   const struct vti_field *b, uint64_t offset, uint64_t size)
{
	uint64_t first, end, last, behind;
	size_t before = w->path.size;

	get_bytes(a, &first, &end);
	get_bytes(b, &last, &behind);
	vti_type_add_name(&w->path, first > offset ? vti_type_gap_name(type) : shown_name(a));
	vt_buf_printf(&w->path, "..%s",
		      behind < offset + size ? vti_type_gap_name(type) : shown_name(b));
	finish(w, type, offset, true);
	w->path.size = before;
}

/* Enters all members that hold the access.  Returns their number. */
static size_t enter_all(struct place_walk *w, struct vti_type *type, uint64_t offset, uint64_t size,
			int depth)
{
	size_t i, n = 0;

	for (i = 0; i < type->nfields; i++)
		n += contains(&type->fields[i], offset, size);
	if (n > 1 && !w->fork) {
		w->fork = type;
		w->fork_offset = offset;
	}
	for (i = 0; i < type->nfields && w->n < MAX_FOUND && !w->deep; i++)
		if (contains(&type->fields[i], offset, size))
			enter_field(w, &type->fields[i], offset, size, depth);
	return n;
}

static void enter_members(struct place_walk *w, struct vti_type *type, uint64_t offset,
			  uint64_t size, int depth)
{
	const struct vti_field *first = NULL, *last = NULL;
	size_t i, touched = 0, before = w->path.size;
	bool bits = true;

	for (i = 0; i < type->nfields; i++) {
		if (!touches(&type->fields[i], offset, size))
			continue;
		last = &type->fields[i];
		if (!first)
			first = last;
		bits &= last->bitfield;
		touched++;
	}
	if (!touched) {
		vti_type_add_name(&w->path, vti_type_gap_name(type));
		finish(w, NULL, 0, false);
		w->path.size = before;
	} else if (touched == 1 && last->bitfield) {
		enter_field(w, last, offset, size, depth);
	} else if ((bits && type->pub.kind == VT_CTYPE_STRUCT) ||
		   !enter_all(w, type, offset, size, depth)) {
		if (type->pub.kind == VT_CTYPE_STRUCT)
			finish_several(w, type, first, last, offset, size);
		else
			finish(w, type, offset, true);
	}
}

static void enter_element(struct place_walk *w, struct vti_type *type, uint64_t offset,
			  uint64_t size, int depth)
{
	struct vti_type *element = vti_type_target(w->t, type);
	size_t before = w->path.size;
	uint64_t at;

	if (!element || !element->pub.sized || !element->pub.size) {
		finish(w, type, offset, false);
		return;
	}
	at = offset % element->pub.size;
	vti_type_brackets(type, &w->path);
	if (at + size <= element->pub.size)
		descend(w, element, at, size, depth + 1);
	else
		finish(w, element, at, true);
	w->path.size = before;
}

static void descend(struct place_walk *w, struct vti_type *type, uint64_t offset, uint64_t size,
		    int depth)
{
	if (depth > VTI_DEPTH) {
		w->deep = true;
		return;
	}
	vti_type_fields(w->t, type);
	if (type->pub.kind == VT_CTYPE_ARRAY)
		enter_element(w, type, offset, size, depth);
	else if ((type->pub.kind == VT_CTYPE_STRUCT || type->pub.kind == VT_CTYPE_UNION) &&
		 (type->nfields || type->opaque))
		enter_members(w, type, offset, size, depth);
	else
		finish(w, type, offset, false);
}

/* Whether all ways end in values of one type at one offset. */
static bool agree(struct place_walk *w)
{
	unsigned i;

	for (i = 1; i < w->n && i < MAX_FOUND; i++)
		if (!w->found[0].type || !w->found[i].type ||
		    w->found[i].offset != w->found[0].offset ||
		    !vti_type_same(w->t, w->found[i].type, w->found[0].type))
			return false;
	return w->n <= MAX_FOUND;
}

/*
 * Forgets ways into padding if there are others: members of a derived class may lie in the padding
 * at the end of its base class (Itanium C++ ABI, 2.4).
 */
static void drop_padding(struct place_walk *w)
{
	unsigned i, n = 0;

	if (w->n > MAX_FOUND)
		return;
	for (i = 0; i < w->n; i++)
		if (w->found[i].type)
			w->found[n++] = w->found[i];
	if (n)
		w->n = n;
}

static enum vt_untyped tell(struct place_walk *w, struct vt_typeplace *place)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vti_type *type;
	unsigned i;

	if (w->deep || !w->n) {
		w->t->lost.limits++;
		return VT_UNTYPED_LIMIT;
	}
	drop_padding(w);
	*place = (struct vt_typeplace){.members = w->n};
	for (i = 0; i < w->n && i < MAX_FOUND; i++) {
		vt_buf_printf(&b, "%s%s", i ? "|" : "", w->found[i].path);
		place->several |= w->found[i].several;
	}
	if (w->n > MAX_FOUND)
		vt_buf_printf(&b, "|...");
	type = w->found[0].type;
	place->offset = w->found[0].offset;
	if (!agree(w)) {
		type = w->fork;
		place->offset = w->fork_offset;
	}
	place->type = type ? &type->pub : NULL;
	place->padding = !type;
	place->path = vti_types_copy(w->t, &b);
	vt_buf_free(&b);
	return w->t->nomem ? VT_UNTYPED_NOMEM : VT_TYPED;
}

/* As vt_type_place(), with `prefix` before the path; beyond the end, there is only an array. */
static enum vt_untyped find_place(struct vt_types *t, struct vti_type *type, const char *prefix,
				  uint64_t offset, uint64_t size, struct vt_typeplace *place)
{
	struct place_walk w = {.t = t, .path = VT_BUF_INIT};
	enum vt_untyped why;

	vt_buf_printf(&w.path, "%s", prefix);
	descend(&w, type, offset, size, 0);
	why = tell(&w, place);
	vt_buf_free(&w.path);
	return why;
}

/* Whether an access is inside a type, and may be looked for. */
static enum vt_untyped check_access(const struct vti_type *type, uint64_t offset, uint64_t size)
{
	if (!type->has_bare)
		return VT_UNTYPED_NO_TYPE;
	if (type->incomplete)
		return VT_UNTYPED_INCOMPLETE;
	if (!size || size > UINT32_MAX || offset > UINT64_MAX / 16)
		return VT_UNTYPED_OUTSIDE;
	if (type->pub.sized && offset + size > type->pub.size && !type->pub.array_tail)
		return VT_UNTYPED_OUTSIDE;
	if (!type->pub.sized && type->pub.kind != VT_CTYPE_ARRAY)
		return VT_UNTYPED_NO_TYPE;
	return VT_TYPED;
}

enum vt_untyped vt_type_place(struct vt_types *t, const struct vt_ctype *type, uint64_t offset,
			      uint64_t size, struct vt_typeplace *place)
{
	struct vti_type *v = (struct vti_type *)type;
	enum vt_untyped why = check_access(v, offset, size);

	return why ? why : find_place(t, v, "", offset, size, place);
}

enum vt_untyped vt_type_place_in(struct vt_types *t, const struct vt_ctype *type, uint64_t object,
				 uint64_t offset, uint64_t size, struct vt_typeplace *place)
{
	struct vti_type *v = (struct vti_type *)type;
	uint64_t each = type->sized ? type->size : 0, at;

	if (!each || object <= each || object % each || type->array_tail)
		return vt_type_place(t, type, offset, size, place);
	if (offset >= object || !size || size > object - offset)
		return VT_UNTYPED_OUTSIDE;
	at = offset % each;
	if (size <= each - at)
		return find_place(t, v, "[]", at, size, place);
	*place = (struct vt_typeplace){"[]", type, at, 1, false, true};
	return VT_TYPED;
}
