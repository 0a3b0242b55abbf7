/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "types/internal.h"

/* Limit on the members of a type, those of its members included. */
#define MAX_MEMBERS 4096

struct member_walk {
	struct vt_types *t;
	struct vt_buf path;
	struct vt_typemember *v;
	size_t n;
	size_t cap;
	bool full;
};

static void list_type(struct member_walk *w, struct vti_type *type, uint64_t offset, uint64_t count,
		      int depth);

static void add_member(struct member_walk *w, const struct vt_typemember *m)
{
	if (w->n == MAX_MEMBERS) {
		w->full = true;
	} else if (vt_array_grow(&w->v, &w->cap, w->n + 1, sizeof(*w->v))) {
		w->v[w->n] = *m;
		w->v[w->n++].path = vti_types_copy(w->t, &w->path);
	} else {
		w->t->nomem = true;
		w->full = true;
	}
}

/* Adds a member without members. */
static void add_plain(struct member_walk *w, const struct vti_type *type, uint64_t offset,
		      uint64_t count)
{
	const struct vt_typemember m = {
		.type = &type->pub, .offset = offset, .size = type->pub.size, .count = count};

	add_member(w, &m);
}

/* Adds the bytes [from, to) of a structure at `offset` that belong to no member. */
static void add_gap(struct member_walk *w, const struct vti_type *type, uint64_t offset,
		    uint64_t from, uint64_t to, uint64_t count)
{
	const struct vt_typemember m = {
		.offset = offset + from, .size = to - from, .count = count, .padding = true};
	size_t before = w->path.size;

	if (from >= to)
		return;
	vti_type_add_name(&w->path, vti_type_gap_name(type));
	add_member(w, &m);
	w->path.size = before;
}

static void list_field(struct member_walk *w, const struct vti_field *f, uint64_t offset,
		       uint64_t count, int depth)
{
	size_t before = w->path.size;
	uint64_t first = f->bit / 8, end = (f->bit + f->bits + 7) / 8;

	vti_type_add_name(&w->path, f->name);
	if (f->bitfield) {
		const struct vt_typemember m = {.type = &f->type->pub,
						.offset = offset + first,
						.size = end - first,
						.count = count,
						.bits = (unsigned)f->bits,
						.bit = (unsigned)(f->bit % 8)};
		add_member(w, &m);
	} else {
		list_type(w, f->type, offset + first, count, depth + 1);
	}
	w->path.size = before;
}

static void list_fields(struct member_walk *w, struct vti_type *type, uint64_t offset,
			uint64_t count, int depth)
{
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < type->nfields && !w->full; i++) {
		const struct vti_field *f = &type->fields[i];
		uint64_t end = (f->bit + f->bits + 7) / 8;

		if (!f->bits && !f->tail)
			continue;
		add_gap(w, type, offset, at, f->bit / 8, count);
		list_field(w, f, offset, count, depth);
		if (f->tail && type->pub.size > end)
			end = type->pub.size;
		if (end > at)
			at = end;
	}
	if (type->pub.sized && !w->full)
		add_gap(w, type, offset, at, type->pub.size, count);
}

static void list_elements(struct member_walk *w, struct vti_type *type, uint64_t offset,
			  uint64_t count, int depth)
{
	struct vti_type *element = vti_type_target(w->t, type);
	size_t before = w->path.size;
	uint64_t n = 0;

	if (!element || !element->pub.sized || !element->pub.size) {
		add_plain(w, type, offset, count);
		return;
	}
	if (type->pub.sized)
		n = type->pub.size / element->pub.size;
	vti_type_brackets(type, &w->path);
	list_type(w, element, offset, count > UINT64_MAX / (n ? n : 1) ? 0 : count * n, depth + 1);
	w->path.size = before;
}

static void list_type(struct member_walk *w, struct vti_type *type, uint64_t offset, uint64_t count,
		      int depth)
{
	if (depth > VTI_DEPTH || w->full) {
		w->full = true;
		return;
	}
	vti_type_fields(w->t, type);
	if (type->pub.kind == VT_CTYPE_ARRAY) {
		list_elements(w, type, offset, count, depth);
	} else if ((type->pub.kind == VT_CTYPE_STRUCT || type->pub.kind == VT_CTYPE_UNION) &&
		   (type->nfields || type->opaque)) {
		list_fields(w, type, offset, count, depth);
	} else {
		add_plain(w, type, offset, count);
	}
}

static void list_members(struct vt_types *t, struct vti_type *type)
{
	struct member_walk w = {.t = t, .path = VT_BUF_INIT};

	if (!type->has_bare) {
		type->members_why = VT_UNTYPED_NO_TYPE;
	} else if (type->incomplete) {
		type->members_why = VT_UNTYPED_INCOMPLETE;
	} else {
		list_type(&w, type, 0, 1, 0);
		type->members_why = t->nomem ? VT_UNTYPED_NOMEM
				    : w.full ? VT_UNTYPED_LIMIT
					     : VT_TYPED;
	}
	t->lost.limits += w.full;
	vt_buf_free(&w.path);
	type->members = w.v;
	type->nmembers = w.n;
}

enum vt_untyped vt_type_members(struct vt_types *t, const struct vt_ctype *type,
				const struct vt_typemember **members, size_t *n)
{
	struct vti_type *v = (struct vti_type *)type;

	if (!v->members && v->members_why == VT_TYPED)
		list_members(t, v);
	*members = v->members;
	*n = v->nmembers;
	return v->members_why;
}
