/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "memory/memory_internal.h"

/* Numbers of system calls: asm/unistd_64.h. */
enum { SYS_MMAP = 9, SYS_MUNMAP = 11, SYS_BRK = 12, SYS_MREMAP = 25 };

#define PAGE_SIZE UINT64_C(4096)

#define MAP_ANONYMOUS_BIT 0x20 /* asm-generic/mman-common.h */

/* ---- instances ---- */

static bool add_instance(struct vt_memory *m, const struct vti_instance *n, uint32_t *index)
{
	if (m->nfree_instances) {
		*index = m->free_instances[--m->nfree_instances];
	} else {
		if (!vt_array_grow(&m->instances, &m->instances_cap, m->ninstances + 1,
				   sizeof(*m->instances)))
			return false;
		*index = (uint32_t)m->ninstances++;
	}
	m->instances[*index] = *n;
	return true;
}

static bool forget_instance(struct vt_memory *m, uint32_t index)
{
	m->instances[index].object = VTI_NO_OBJECT;
	if (!vt_array_grow(&m->free_instances, &m->free_instances_cap, m->nfree_instances + 1,
			   sizeof(*m->free_instances)))
		return false;
	m->free_instances[m->nfree_instances++] = index;
	return true;
}

const struct vti_instance *vti_memory_instance(const struct vt_memory *m,
					       const struct vti_memory_process *p, uint64_t address)
{
	const struct vt_map *map = vti_tree_find(p->allocations, address);

	return map ? &m->instances[map->image] : NULL;
}

static int put_range(struct vt_memory *m, struct vti_memory_process *p, uint64_t start,
		     uint64_t size, uint32_t instance, struct vt_error *err)
{
	struct vt_map map = {.start = start, .end = start + size, .base = start, .image = instance};
	int code = vti_tree_put(&m->allocation_nodes, &p->allocations, start, start + size, &map);

	return code < 0 ? vt_error_set(err, (enum vt_errcode) - code, "live allocations") : 0;
}

static int end_instance(struct vt_memory *m, struct vti_memory_process *p, uint32_t index,
			uint64_t now, bool dead, struct vt_error *err)
{
	const struct vti_instance n = m->instances[index];
	struct vt_memory_object *o = &m->objects.list[n.object];

	if (!n.inherited) {
		o->freed++;
		o->lifetime += now - n.born;
		o->live -= n.size;
	}
	vti_memory_new_owner(m, p, n.start, n.size, dead);
	if (vti_tree_put(&m->allocation_nodes, &p->allocations, n.start, n.start + n.size, NULL) <
		    0 ||
	    !forget_instance(m, index))
		return vt_error_nomem(err);
	return 0;
}

/*
 * Ends all allocations that a range touches.  Of a mapping, it may be a part: the rest stays.
 * *ended becomes the number of allocations that were not mappings.
 */
static int end_range(struct vt_memory *m, struct vti_memory_process *p, uint64_t start,
		     uint64_t size, uint64_t now, uint64_t *ended, struct vt_error *err)
{
	const struct vt_map *below, *above;
	uint64_t last = start + size - 1;
	int code = 0;

	for (*ended = 0; code == 0;) {
		const struct vti_instance *n;

		vti_tree_around(p->allocations, last, &below, &above);
		if (!below || below->end <= start)
			break;
		n = &m->instances[below->image];
		*ended += !n->mapping;
		if (n->mapping && (n->start < start || n->start + n->size - 1 > last)) {
			vti_memory_new_owner(m, p, start, size, false);
			code = vti_tree_put(&m->allocation_nodes, &p->allocations, start, last + 1,
					    NULL);
			if (code < 0)
				return vt_error_nomem(err);
		} else {
			code = end_instance(m, p, below->image, now, true, err);
		}
	}
	return code;
}

/* ---- events ---- */

static uint32_t find_site(struct vt_memory *m, struct vti_memory_process *p,
			  const struct vti_heap_event *e, bool mapping)
{
	const struct vti_memory_thread *t = vti_memory_thread(p, e->tid);
	struct vti_object_key key;
	size_t i;

	if (!t)
		return VTI_NO_OBJECT;
	vti_object_key_init(&key, mapping ? VT_OBJECT_MAPPED : VT_OBJECT_HEAP);
	vti_memory_key_code(m, p, e->caller, &key);
	for (i = t->frames.count; i && key.nplaces < m->o.depth && t->frames.list[i - 1].back; i--)
		vti_memory_key_code(m, p, t->frames.list[i - 1].back, &key);
	return vti_objects_get(&m->objects, &key);
}

static int allocate(struct vt_memory *m, struct vti_memory_process *p,
		    const struct vti_heap_event *e, bool mapping, struct vt_error *err)
{
	/* An allocation of no bytes has an address of its own, too. */
	uint64_t size = e->size ? e->size : 1;
	struct vti_instance n = {e->addr, size, e->first, find_site(m, p, e, mapping),
				 mapping, false};
	struct vt_memory_object *o;
	uint64_t ended;
	uint32_t index;
	int code;

	if (n.object == VTI_NO_OBJECT)
		return vt_error_nomem(err);
	if (e->addr + size < e->addr) {
		m->totals.overlaps++;
		return 0;
	}
	code = end_range(m, p, e->addr, size, e->first, &ended, err);
	m->totals.overlaps += ended;
	if (code < 0)
		return code;
	if (!add_instance(m, &n, &index))
		return vt_error_nomem(err);
	vti_memory_new_owner(m, p, e->addr, size, false);
	o = &m->objects.list[n.object];
	o->instances++;
	o->bytes += e->size;
	o->live += size;
	if (o->live > o->peak)
		o->peak = o->live;
	if (size > o->size)
		o->size = size;
	return put_range(m, p, e->addr, size, index, err);
}

static int release(struct vt_memory *m, struct vti_memory_process *p,
		   const struct vti_heap_event *e, struct vt_error *err)
{
	const struct vt_map *map = vti_tree_find(p->allocations, e->old);

	if (!map || m->instances[map->image].start != e->old) {
		m->totals.unknown_frees++;
		return 0;
	}
	/* What realloc() takes on is not lost. */
	return end_instance(m, p, map->image, e->first, !e->addr, err);
}

static int apply_event(struct vt_memory *m, struct vti_memory_process *p,
		       const struct vti_heap_event *e, struct vt_error *err)
{
	bool mapping = e->op == VT_HEAP_MMAP || e->op == VT_HEAP_MREMAP;
	uint64_t ended;
	int code = 0;

	if (e->op == VT_HEAP_MUNMAP)
		return e->size && e->old + e->size > e->old
			       ? end_range(m, p, e->old, e->size, e->first, &ended, err)
			       : 0;
	/* A realloc() that fails leaves what there was. */
	if (e->old && (e->addr || e->op == VT_HEAP_FREE || e->op == VT_HEAP_DELETE || !e->size))
		code = release(m, p, e, err);
	if (code < 0 || !e->addr || e->op == VT_HEAP_FREE || e->op == VT_HEAP_DELETE)
		return code;
	return allocate(m, p, e, mapping, err);
}

int vti_memory_heap_until(struct vt_memory *m, struct vti_memory_process *p, uint64_t position,
			  struct vt_error *err)
{
	size_t i, n = 0;
	int code = 0;

	while (n < p->nwaiting && p->waiting[n].first <= position && code == 0)
		code = apply_event(m, p, &p->waiting[n++], err);
	for (i = n; i < p->nwaiting; i++)
		p->waiting[i - n] = p->waiting[i];
	p->nwaiting -= n;
	return code;
}

int vti_memory_heap(struct vt_memory *m, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_memory_process *p = vti_memory_process(m, vt_record_i64(rec, VT_HEAP_PID));

	if (!p ||
	    !vt_array_grow(&p->waiting, &p->waiting_cap, p->nwaiting + 1, sizeof(*p->waiting)))
		return vt_error_nomem(err);
	p->waiting[p->nwaiting++] = (struct vti_heap_event){
		.first = vt_record_u64(rec, VT_HEAP_FIRST),
		.addr = vt_record_u64(rec, VT_HEAP_ADDR),
		.size = vt_record_u64(rec, VT_HEAP_SIZE),
		.old = vt_record_u64(rec, VT_HEAP_OLD),
		.caller = vt_record_u64(rec, VT_HEAP_CALLER),
		.tid = vt_record_i64(rec, VT_HEAP_TID),
		.op = (uint32_t)vt_record_u64(rec, VT_HEAP_OP),
	};
	m->totals.heap_events++;
	return 0;
}

/* ---- other processes ---- */

static bool forget_each(struct vt_memory *m, const struct vti_node *node)
{
	if (!node)
		return true;
	return forget_each(m, node->left) && forget_instance(m, node->map.image) &&
	       forget_each(m, node->right);
}

void vti_memory_forget_allocations(struct vt_memory *m, struct vti_memory_process *p)
{
	/* Without memory for the list of those that are free, they are just not used again. */
	forget_each(m, p->allocations);
	vti_tree_free(&m->allocation_nodes, p->allocations);
	vti_tree_free(&m->region_nodes, p->regions);
	p->allocations = p->regions = NULL;
}

static bool inherit_each(struct vt_memory *m, struct vti_node *node)
{
	struct vti_instance n;

	if (!node)
		return true;
	n = m->instances[node->map.image];
	n.inherited = true;
	return inherit_each(m, node->left) && add_instance(m, &n, &node->map.image) &&
	       inherit_each(m, node->right);
}

int vti_memory_inherit(struct vt_memory *m, const struct vti_memory_process *from,
		       struct vti_memory_process *to, struct vt_error *err)
{
	int code;

	if (from == to)
		return 0;
	vti_memory_forget_allocations(m, to);
	to->brk = from->brk;
	to->brk_end = from->brk_end;
	code = vti_tree_copy(&m->allocation_nodes, from->allocations, &to->allocations);
	if (code == 0)
		code = vti_tree_copy(&m->region_nodes, from->regions, &to->regions);
	if (code == 0 && !inherit_each(m, to->allocations))
		code = -VT_E_NOMEM;
	return code < 0 ? vt_error_set(err, (enum vt_errcode) - code, "live allocations") : 0;
}

/* ---- mappings ---- */

/* Pages are mapped from `start` on; `there`: without a file, or else not as memory of the program.
 */
static int change_region(struct vt_memory *m, struct vti_memory_process *p, uint64_t start,
			 uint64_t size, bool there, struct vt_error *err)
{
	uint64_t end = (start + size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
	struct vt_map map = {.start = start, .end = end, .base = start};
	int code;

	/* Beyond the end of the address space: nothing that a kernel would have done. */
	if (end <= start)
		return 0;
	vti_memory_new_owner(m, p, start, end - start, false);
	code = vti_tree_put(&m->region_nodes, &p->regions, start, end, there ? &map : NULL);
	return code < 0 ? vt_error_set(err, (enum vt_errcode) - code, "mappings") : 0;
}

int vti_memory_mappings(struct vt_memory *m, struct vti_memory_process *p, uint64_t number,
			const uint64_t *args, int64_t result, struct vt_error *err)
{
	uint64_t at = (uint64_t)result;
	int code;

	if (result < 0 && result >= -4095)
		return 0;
	switch (number) {
	case SYS_MMAP:
		return change_region(m, p, at, args[1], args[3] & MAP_ANONYMOUS_BIT, err);
	case SYS_MUNMAP:
		return change_region(m, p, args[0], args[1], false, err);
	case SYS_MREMAP:
		code = change_region(m, p, args[0], args[1], false, err);
		return code < 0 ? code : change_region(m, p, at, args[2], true, err);
	case SYS_BRK:
		if (!p->brk)
			p->brk = p->brk_end = at;
		if (at < p->brk_end)
			code = change_region(m, p, at, p->brk_end - at, false, err);
		else
			code = change_region(m, p, p->brk, at - p->brk, true, err);
		p->brk_end = at;
		return code;
	default:
		return 0;
	}
}
