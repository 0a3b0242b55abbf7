/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/typed.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"

/* The debug information of an image. */
struct image_types {
	uint64_t image;		/* the key */
	struct vt_types *types; /* NULL: it has none */
};

/* No padding. */
struct row_key {
	uint32_t name; /* in `names` */
	uint32_t type; /* of a member: the number of its type; else 0 */
	uint64_t size; /* of a type */
};

struct row {
	struct row_key key;
	uint64_t index;
};

struct vt_typed {
	struct vt_memory *memory;
	struct vt_images *images;
	struct vt_hash handles; /* struct image_types */
	struct vt_intern *names;
	struct vt_hash type_rows;   /* struct row */
	struct vt_hash member_rows; /* struct row */
	struct vt_typed_type *types;
	size_t ntypes;
	size_t types_cap;
	struct vt_typed_member *members;
	uint32_t *member_types; /* of each member, the number of its type */
	size_t nmembers;
	size_t members_cap;
	size_t member_types_cap;
	struct vt_types_lost lost;
	struct vt_hot hot;
};

/* What a location is part of. */
struct found {
	enum vt_untyped why;
	const struct vt_ctype *type;
	struct vt_typeplace place;
	uint64_t offset;
};

/* ---- debug information ---- */

static enum vt_untyped find_handle(struct vt_typed *t, uint32_t image, struct vt_types **types)
{
	struct vt_error err = VT_ERROR_INIT;
	uint64_t key = image;
	struct image_types *e;
	bool added;

	*types = NULL;
	if (image == VT_UNMAPPED_IMAGE)
		return VT_UNTYPED_NO_DWARF;
	e = vt_hash_add(&t->handles, &key, &added);
	if (!e)
		return VT_UNTYPED_NOMEM;
	if (added)
		e->types = vt_types_new_image(t->images, image, &err);
	if (err.code == VT_E_NOMEM)
		return VT_UNTYPED_NOMEM;
	*types = e->types;
	return e->types ? VT_TYPED : VT_UNTYPED_NO_DWARF;
}

/* The vaddr of an offset in an image. */
static uint64_t vaddr_of(struct vt_typed *t, const struct vt_memory_place *p)
{
	struct vt_location loc;

	vt_images_symbol(t->images, p->image, 0, p->offset, &loc);
	return loc.vaddr;
}

/* ---- objects ---- */

/* What holds for all locations of an object. */
struct object_type {
	enum vt_untyped why;
	struct vt_types *types;
	const struct vt_ctype *type;
	uint64_t offset; /* of the object in a value of the type */
	uint64_t size;	 /* of the object, or 0 */
};

static void type_variable(struct vt_typed *t, const struct vt_memory_object *o,
			  struct object_type *of)
{
	struct vt_variable v;

	of->why = find_handle(t, o->places[0].image, &of->types);
	if (of->why == VT_TYPED && !o->symbol)
		of->why = VT_UNTYPED_NO_VARIABLE;
	if (of->why == VT_TYPED)
		of->why = vt_types_global(of->types, o->symbol->start, &v, &of->offset);
	if (of->why != VT_TYPED)
		return;
	of->type = v.type;
	of->why = v.type ? VT_TYPED : VT_UNTYPED_NO_TYPE;
}

/* The first caller that gives the pointer a type. */
static void type_allocation(struct vt_typed *t, const struct vt_memory_object *o,
			    struct object_type *of)
{
	struct vt_heaptype h;
	uint32_t i;

	/* Objects of several sizes may be arrays of any length. */
	of->size = o->instances && o->bytes == o->instances * o->size ? o->size : 0;
	for (i = 0; i < o->nplaces; i++) {
		of->why = find_handle(t, o->places[i].image, &of->types);
		if (of->why != VT_TYPED)
			return;
		of->why = vt_types_heap(of->types, vaddr_of(t, &o->places[i]), of->size, &h);
		if (of->why != VT_UNTYPED_RETURNED)
			break;
	}
	if (of->why == VT_TYPED)
		of->type = h.type;
}

static struct object_type type_object(struct vt_typed *t, const struct vt_memory_object *o)
{
	struct object_type of = {.why = VT_UNTYPED_NO_VARIABLE};

	switch (o->type) {
	case VT_OBJECT_GLOBAL:
		type_variable(t, o, &of);
		break;
	case VT_OBJECT_HEAP:
		type_allocation(t, o, &of);
		break;
	case VT_OBJECT_STACK:
		if (o->nplaces)
			of.why = find_handle(t, o->places[0].image, &of.types);
		break;
	default:
		break;
	}
	return of;
}

/* ---- locations ---- */

static void find_local(struct vt_typed *t, const struct vt_memory_object *o,
		       const struct object_type *of, const struct vt_memory_location *l,
		       struct found *f)
{
	const struct vt_memory_place code = {l->code, o->places[0].image};
	struct vt_variable v;

	f->why = l->code ? vt_types_stack(of->types, vaddr_of(t, &code), l->offset, l->size, &v,
					  &f->offset)
			 : VT_UNTYPED_NO_VARIABLE;
	if (f->why != VT_TYPED)
		return;
	f->type = v.type;
	f->why = v.type ? vt_type_place(of->types, v.type, f->offset, l->size, &f->place)
			: VT_UNTYPED_NO_TYPE;
}

static struct found find_by_address(struct vt_typed *t, const struct vt_memory_object *o,
				    const struct object_type *of,
				    const struct vt_memory_location *l)
{
	struct found f = {.why = of->why, .type = of->type};
	uint64_t size = l->size ? l->size : 1;

	if (f.why != VT_TYPED)
		return f;
	if (o->type == VT_OBJECT_STACK) {
		find_local(t, o, of, l, &f);
		return f;
	}
	f.offset = of->offset + (uint64_t)l->offset;
	if (o->type == VT_OBJECT_HEAP)
		f.why = vt_type_place_in(of->types, of->type, o->size, f.offset, size, &f.place);
	else
		f.why = vt_type_place(of->types, of->type, f.offset, size, &f.place);
	/* Objects that are arrays: the offset in an element. */
	if (f.why == VT_TYPED && o->type == VT_OBJECT_HEAP && f.type->sized && f.type->size)
		f.offset %= f.type->size;
	return f;
}

/* What the operand of the sampled instruction is in. */
static struct found find_by_operand(struct vt_typed *t, const struct vt_memory_object *o,
				    const struct vt_memory_sampled_code *s)
{
	struct found f = {.why = VT_UNTYPED_INEXACT};
	struct vt_types *types;
	struct vt_variable v;
	uint64_t size;
	bool through;

	if (!s->exact)
		return f;
	f.why = find_handle(t, s->place.image, &types);
	if (f.why != VT_TYPED)
		return f;
	f.why = vt_types_access_by(types, vaddr_of(t, &s->place), s->loads, s->stores, &v,
				   &f.offset, &size, &through);
	if (f.why != VT_TYPED)
		return f;
	f.type = v.type;
	/* A variable that is not reached through a pointer is where its address is. */
	if (!through && o->type != VT_OBJECT_STACK)
		f.why = VT_UNTYPED_NO_VARIABLE;
	else if (!f.type)
		f.why = VT_UNTYPED_NO_TYPE;
	else
		f.why = vt_type_place(types, f.type, f.offset, size ? size : 1, &f.place);
	return f;
}

static struct found find_member(struct vt_typed *t, const struct vt_memory_object *o,
				const struct object_type *of, const struct vt_memory_location *l)
{
	struct found f = find_by_address(t, o, of, l), other;

	if (f.why == VT_TYPED || f.why == VT_UNTYPED_NOMEM || !l->sampled)
		return f;
	other = find_by_operand(t, o, l->sampled);
	/* An object that is known to have no type has a better reason than the code. */
	return other.why == VT_TYPED || other.why == VT_UNTYPED_NOMEM ||
			       f.why == VT_UNTYPED_NO_VARIABLE
		       ? other
		       : f;
}

/* ---- rows ---- */

static struct row *find_row(struct vt_typed *t, struct vt_hash *rows, const char *name,
			    uint32_t type, uint64_t size, bool *added)
{
	struct row_key key = {.name = vt_intern_str(t->names, name), .type = type, .size = size};

	return key.name == UINT32_MAX ? NULL : vt_hash_add(rows, &key, added);
}

/* What is declared const or volatile has the type that it would have without. */
static const char *skip_qualifiers(const char *name)
{
	for (;;) {
		if (strncmp(name, "const ", 6) == 0)
			name += 6;
		else if (strncmp(name, "volatile ", 9) == 0)
			name += 9;
		else
			return name;
	}
}

/* The number of a type, which is added; SIZE_MAX without memory. */
static size_t find_type(struct vt_typed *t, const struct found *f, enum vt_object_type of)
{
	const char *name =
		f->why == VT_TYPED ? skip_qualifiers(f->type->name) : vt_untyped_text(f->why);
	uint64_t size = f->why == VT_TYPED && f->type->sized ? f->type->size : 0;
	/* A type may have the name of a reason; a reason is told of each type of objects. */
	uint32_t why = f->why == VT_TYPED ? 0 : 1 + (uint32_t)of;
	bool added;
	struct row *r = find_row(t, &t->type_rows, name, why, size, &added);

	if (!r ||
	    (added && !vt_array_grow(&t->types, &t->types_cap, t->ntypes + 1, sizeof(*t->types))))
		return SIZE_MAX;
	if (added) {
		r->index = t->ntypes;
		t->types[t->ntypes++] =
			(struct vt_typed_type){.name = vt_intern_get(t->names, r->key.name),
					       .size = size,
					       .why = f->why,
					       .of = of};
	}
	return (size_t)r->index;
}

static size_t find_member_row(struct vt_typed *t, size_t type, const struct found *f)
{
	bool added;
	struct row *r = find_row(t, &t->member_rows, f->place.path, (uint32_t)type, 0, &added);

	if (!r || (added && (!vt_array_grow(&t->members, &t->members_cap, t->nmembers + 1,
					    sizeof(*t->members)) ||
			     !vt_array_grow(&t->member_types, &t->member_types_cap, t->nmembers + 1,
					    sizeof(*t->member_types)))))
		return SIZE_MAX;
	if (added) {
		r->index = t->nmembers;
		t->member_types[t->nmembers] = (uint32_t)type;
		t->members[t->nmembers++] =
			(struct vt_typed_member){.path = vt_intern_get(t->names, r->key.name),
						 .type = f->place.type ? f->place.type->name : NULL,
						 .offset = f->offset};
	}
	return (size_t)r->index;
}

static void add_sampled(struct vt_memory_sampled *to, const struct vt_memory_sampled *s)
{
	size_t i;

	to->samples += s->samples;
	to->latency += s->latency;
	to->latencies += s->latencies;
	to->tlb_misses += s->tlb_misses;
	to->tlb_told += s->tlb_told;
	for (i = 0; i < VT_NSOURCES; i++)
		to->sources[i] += s->sources[i];
}

static void add_sums(struct vt_typed_sums *s, const struct vt_memory_location *l, uint64_t top,
		     uint64_t valued)
{
	s->counts.loads += l->counts.loads;
	s->counts.stores += l->counts.stores;
	s->counts.loaded += l->counts.loaded;
	s->counts.stored += l->counts.stored;
	s->counts.zero += l->counts.zero;
	s->counts.redundant += l->counts.redundant;
	s->counts.silent += l->counts.silent;
	s->counts.dead += l->counts.dead;
	s->counts.misses += l->counts.misses;
	s->counts.waits += l->counts.waits;
	if (l->sampled) {
		add_sampled(&s->sampled, &l->sampled->of);
	} else {
		s->sampled.latency += l->latency;
		s->sampled.latencies += l->latencies;
	}
	s->top_loads += top;
	s->valued_loads += valued;
}

static int add_location(struct vt_typed *t, const struct vt_memory_location *l,
			const struct found *f, uint64_t object, struct vt_error *err)
{
	uint64_t top = 0, valued = 0;
	size_t type = find_type(t, f, vt_memory_object(t->memory, object)->type), member;

	if (type == SIZE_MAX)
		return vt_error_nomem(err);
	if (l->values) {
		if (vt_memory_values(t->memory, l, &t->hot, err) < 0)
			return -(int)err->code;
		valued = t->hot.profiled;
		top = vt_memory_top_loads(l, &t->hot, 1);
	}
	add_sums(&t->types[type].sums, l, top, valued);
	/* Until its members are sorted, `first` is the object seen last, plus 1. */
	if (t->types[type].first != object + 1) {
		t->types[type].first = object + 1;
		t->types[type].sums.objects++;
	}
	if (f->why != VT_TYPED)
		return 0;
	member = find_member_row(t, type, f);
	if (member == SIZE_MAX)
		return vt_error_nomem(err);
	add_sums(&t->members[member].sums, l, top, valued);
	if (f->offset < t->members[member].offset)
		t->members[member].offset = f->offset;
	if (l->size > t->members[member].size)
		t->members[member].size = l->size;
	return 0;
}

/* ---- order ---- */

/* A type or member with its number, to sort by. */
struct ranked {
	uint64_t misses;
	uint64_t accesses;
	uint64_t offset;
	const char *name;
	size_t type;
	size_t index;
};

static int compare_types(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int names;

	if (x->misses != y->misses)
		return x->misses > y->misses ? -1 : 1;
	if (x->accesses != y->accesses)
		return x->accesses > y->accesses ? -1 : 1;
	names = strcmp(x->name, y->name);
	return names ? names : (x->index > y->index) - (x->index < y->index);
}

static int compare_members(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorts the types, and sets *now: the new number of each. */
static bool sort_types(struct vt_typed *t, struct ranked *r, size_t *now)
{
	struct vt_typed_type *sorted = calloc(t->ntypes + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < t->ntypes; i++) {
		const struct vt_memory_counts *c = &t->types[i].sums.counts;

		r[i] = (struct ranked){.misses = c->misses,
				       .accesses = c->loads + c->stores,
				       .name = t->types[i].name,
				       .index = i};
	}
	qsort(r, t->ntypes, sizeof(*r), compare_types);
	for (i = 0; i < t->ntypes; i++) {
		now[r[i].index] = i;
		sorted[i] = t->types[r[i].index];
		sorted[i].first = 0;
	}
	free(t->types);
	t->types = sorted;
	t->types_cap = t->ntypes + 1;
	return true;
}

static bool sort_members(struct vt_typed *t, struct ranked *r, const size_t *now)
{
	struct vt_typed_member *sorted = calloc(t->nmembers + 1, sizeof(*sorted));
	size_t i;

	if (!sorted)
		return false;
	for (i = 0; i < t->nmembers; i++)
		r[i] = (struct ranked){.offset = t->members[i].offset,
				       .name = t->members[i].path,
				       .type = now[t->member_types[i]],
				       .index = i};
	qsort(r, t->nmembers, sizeof(*r), compare_members);
	for (i = 0; i < t->nmembers; i++) {
		struct vt_typed_type *of = &t->types[r[i].type];

		sorted[i] = t->members[r[i].index];
		if (!of->nmembers++)
			of->first = i;
	}
	free(t->members);
	t->members = sorted;
	return true;
}

static int sort_all(struct vt_typed *t, struct vt_error *err)
{
	size_t most = t->ntypes > t->nmembers ? t->ntypes : t->nmembers;
	struct ranked *r = calloc(most + 1, sizeof(*r));
	size_t *now = calloc(t->ntypes + 1, sizeof(*now));
	bool ok = r && now && sort_types(t, r, now) && sort_members(t, r, now);

	free(r);
	free(now);
	return ok ? 0 : vt_error_nomem(err);
}

/* ---- life ---- */

static int add_all(struct vt_typed *t, struct vt_error *err)
{
	size_t i, object = SIZE_MAX;
	struct object_type of = {.why = VT_UNTYPED_NO_VARIABLE};
	int code = 0;

	for (i = 0; i < vt_memory_nlocations(t->memory) && code == 0; i++) {
		const struct vt_memory_location *l = vt_memory_location(t->memory, i);
		const struct vt_memory_object *o = vt_memory_object(t->memory, l->object);
		struct found f;

		if (l->object != object)
			of = type_object(t, o);
		object = l->object;
		f = find_member(t, o, &of, l);
		if (f.why == VT_UNTYPED_NOMEM)
			return vt_error_nomem(err);
		code = add_location(t, l, &f, object, err);
	}
	return code;
}

static void sum_lost(struct vt_typed *t)
{
	size_t i;

	for (i = 0; i < t->handles.count; i++) {
		const struct image_types *e = vt_hash_at(&t->handles, i);
		struct vt_types_lost lost;

		if (!e->types)
			continue;
		vt_types_lost(e->types, &lost);
		t->lost.split += lost.split;
		t->lost.alternate = t->lost.alternate || lost.alternate;
		t->lost.limits += lost.limits;
	}
}

struct vt_typed *vt_typed_new(struct vt_memory *m, struct vt_images *images, struct vt_error *err)
{
	struct vt_typed *t = calloc(1, sizeof(*t));

	if (!t) {
		vt_error_nomem(err);
		return NULL;
	}
	t->memory = m;
	t->images = images;
	t->names = vt_intern_new();
	vt_hash_init(&t->handles, sizeof(struct image_types), sizeof(uint64_t));
	vt_hash_init(&t->type_rows, sizeof(struct row), sizeof(struct row_key));
	vt_hash_init(&t->member_rows, sizeof(struct row), sizeof(struct row_key));
	if (!t->names)
		vt_error_nomem(err);
	if (t->names && add_all(t, err) == 0 && sort_all(t, err) == 0) {
		sum_lost(t);
		return t;
	}
	vt_typed_free(t);
	return NULL;
}

void vt_typed_free(struct vt_typed *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->handles.count; i++)
		vt_types_free(((struct image_types *)vt_hash_at(&t->handles, i))->types);
	vt_hash_fini(&t->handles);
	vt_hash_fini(&t->type_rows);
	vt_hash_fini(&t->member_rows);
	vt_intern_free(t->names);
	vt_hot_fini(&t->hot);
	free(t->types);
	free(t->members);
	free(t->member_types);
	free(t);
}

size_t vt_typed_count(const struct vt_typed *t)
{
	return t->ntypes;
}

const struct vt_typed_type *vt_typed_at(const struct vt_typed *t, size_t i)
{
	return &t->types[i];
}

const struct vt_typed_member *vt_typed_member(const struct vt_typed *t, size_t i)
{
	return &t->members[i];
}

const struct vt_types_lost *vt_typed_lost(const struct vt_typed *t)
{
	return &t->lost;
}
