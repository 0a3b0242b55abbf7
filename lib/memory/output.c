/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "memory/memory_internal.h"
#include "memory/records_internal.h"

/* What of a profile is written. */
struct kept {
	bool *objects; /* by rank */
	bool *locations;
};

static uint64_t count_accesses(const struct vt_memory_counts *c)
{
	return c->loads + c->stores;
}

/* The first `top` objects that are wanted, with all their locations. */
static void keep_objects(const struct vt_memory *m, const struct vt_memory_written *o,
			 struct kept *k)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < m->objects.count && (!o->top || n < o->top); i++) {
		const struct vt_memory_object *of = vt_memory_object(m, i);

		k->objects[i] =
			count_accesses(&of->counts) && (!o->wanted || o->wanted(o->arg, of));
		n += k->objects[i];
	}
	for (i = 0; i < m->objects.nlocations; i++)
		k->locations[i] = k->objects[m->objects.locations[i].object];
}

/* Of the locations that `k` has, the `top` with most accesses, with their objects. */
static int keep_locations(const struct vt_memory *m, uint64_t top, struct kept *k,
			  struct vt_error *err)
{
	const struct vt_memory_location **list =
		malloc((m->objects.nlocations + 1) * sizeof(struct vt_memory_location *));
	size_t i, n = 0;

	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < m->objects.nlocations; i++)
		if (k->locations[i])
			list[n++] = &m->objects.locations[i];
	vt_memory_sort_locations(list, n);
	memset(k->locations, 0, m->objects.nlocations * sizeof(*k->locations));
	memset(k->objects, 0, m->objects.count * sizeof(*k->objects));
	for (i = 0; i < n && (!top || i < top); i++) {
		k->locations[list[i] - m->objects.locations] = true;
		k->objects[list[i]->object] = true;
	}
	free(list);
	return 0;
}

int vt_memory_write(struct vt_memory *m, const struct vt_memory_written *o, struct vt_writer *w,
		    struct vt_error *err)
{
	struct kept k = {calloc(m->objects.count + 1, sizeof(bool)),
			 calloc(m->objects.nlocations + 1, sizeof(bool))};
	struct vt_memory_written every = *o;
	int code = k.objects && k.locations ? 0 : vt_error_nomem(err);

	if (o->locations)
		every.top = 0;
	if (code == 0)
		keep_objects(m, &every, &k);
	if (code == 0 && o->locations)
		code = keep_locations(m, o->top, &k, err);
	if (code == 0)
		code = vti_memory_put(&(struct vti_memory_output){.objects = &m->objects,
								  .totals = &m->totals,
								  .grain = m->o.grain,
								  .depth = m->o.depth,
								  .objects_kept = k.objects,
								  .kept = k.locations},
				      w, err);
	free(k.objects);
	free(k.locations);
	return code;
}
