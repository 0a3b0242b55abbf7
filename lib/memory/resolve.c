/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "image/images.h"
#include "image/procdata.h"
#include "memory/memory_internal.h"

/* What vti_memory_process.entries remembers: the object of a procedure's frames. */
struct vti_entry_object {
	uint64_t entry;
	uint64_t object;
};

const struct vt_map *vti_memory_map(struct vt_memory *m, const struct vti_memory_process *p,
				    uint64_t address)
{
	return vt_addrspace_find(vt_context_space(m->context), (int32_t)p->pid, address,
				 address >> 63 ? 1 : 2);
}

void vti_memory_key_code(struct vt_memory *m, const struct vti_memory_process *p, uint64_t address,
			 struct vti_object_key *key)
{
	const struct vt_map *map = vti_memory_map(m, p, address);

	if (map)
		vti_object_key_add(key, map->image, vt_map_offset(map, address));
	else
		vti_object_key_add(key, VT_UNMAPPED_IMAGE, address);
}

static bool use_key(struct vt_memory *m, const struct vti_object_key *key,
		    const struct vt_symbol *symbol, struct vti_memory_at *at)
{
	at->object = vti_objects_get(&m->objects, key);
	if (at->object == VTI_NO_OBJECT)
		return false;
	if (symbol)
		m->objects.list[at->object].symbol = symbol;
	return true;
}

/* ---- stacks ---- */

/* The procedure that begins at an address, or holds it. */
static bool make_procedure(struct vt_memory *m, struct vti_memory_process *p, uint64_t entry,
			   struct vti_memory_at *at)
{
	const struct vt_map *map = entry ? vti_memory_map(m, p, entry) : NULL;
	const struct vt_symbol *symbol = NULL;
	struct vti_object_key key;
	struct vt_location loc;
	uint64_t offset;

	vti_object_key_init(&key, VT_OBJECT_STACK);
	if (map) {
		offset = vt_map_offset(map, entry);
		if (m->o.images && vt_images_symbol(m->o.images, map->image, (int32_t)p->pid,
						    offset, &loc) == VT_KNOWN) {
			symbol = loc.symbol;
			offset -= loc.vaddr - symbol->start;
		}
		vti_object_key_add(&key, map->image, offset);
	} else if (entry) {
		vti_object_key_add(&key, VT_UNMAPPED_IMAGE, entry);
	}
	return use_key(m, &key, symbol, at);
}

bool vti_memory_procedure(struct vt_memory *m, struct vti_memory_process *p, uint64_t entry,
			  struct vti_memory_at *at)
{
	uint64_t changes = vt_addrspace_changes(vt_context_space(m->context));
	struct vti_entry_object *e;
	bool added;

	if (p->changes != changes) {
		vt_hash_clear(&p->entries);
		p->changes = changes;
	}
	e = vt_hash_add(&p->entries, &entry, &added);
	if (!e)
		return false;
	if (!added) {
		at->object = (uint32_t)e->object;
		return true;
	}
	if (!make_procedure(m, p, entry, at))
		return false;
	e->object = at->object;
	return true;
}

bool vti_memory_on_stack(struct vt_memory *m, struct vti_memory_process *p,
			 struct vti_memory_thread *t, uint64_t address, struct vti_memory_at *at)
{
	struct vti_frame *f = vti_frames_at(&t->frames, address);

	if (!f) {
		/* Above all frames: one object, with a location for each address. */
		at->stack = false;
		at->base = 0;
		at->low = address & ~UINT64_C(7);
		at->high = at->low + 8;
		return vti_memory_procedure(m, p, 0, at);
	}
	at->stack = true;
	at->low = 0;
	at->high = UINT64_MAX;
	at->base = f->slot + 8;
	if (f->object == VTI_NO_OBJECT || !f->entry) {
		if (!vti_memory_procedure(m, p, f->entry, at))
			return false;
		f->object = at->object;
	}
	at->object = f->object;
	return true;
}

static bool is_near_stack(const struct vti_frames *f, uint64_t address)
{
	return f->high && address + VTI_STACK_REACH >= f->low &&
	       address < f->high + (VTI_STACK_REACH >> 3);
}

/* A stack of the process that holds the address, or reaches to it. */
static struct vti_memory_thread *
find_stack(struct vti_memory_process *p, struct vti_memory_thread *t, uint64_t address, bool near)
{
	size_t i;

	if (near && is_near_stack(&t->frames, address))
		return t;
	for (i = 0; i < p->nthreads; i++) {
		struct vti_frames *f = &p->threads[i]->frames;

		if (near ? is_near_stack(f, address) : vti_frames_hold(f, address))
			return p->threads[i];
	}
	return NULL;
}

/* ---- images ---- */

static bool use_image_key(struct vt_memory *m, const struct vt_map *map, enum vt_object_type type,
			  uint64_t base, struct vti_memory_at *at)
{
	struct vti_object_key key;

	at->base = base;
	vti_object_key_init(&key, type);
	vti_object_key_add(&key, map->image, vt_map_offset(map, base));
	return use_key(m, &key, NULL, at);
}

static bool use_variable(struct vt_memory *m, const struct vt_map *map, const struct vt_symbol *s,
			 uint64_t base, struct vti_memory_at *at)
{
	at->low = base;
	at->high = base + (s->end - s->start);
	if (!use_image_key(m, map, VT_OBJECT_GLOBAL, base, at))
		return false;
	m->objects.list[at->object].symbol = s;
	m->objects.list[at->object].size = s->end - s->start;
	return true;
}

/* A section, or what is in none.  A variable may begin in it, at `until`. */
static bool resolve_section(struct vt_memory *m, const struct vt_map *map, const struct vt_elf *elf,
			    uint64_t address, uint64_t vaddr, uint64_t until,
			    struct vti_memory_at *at, bool *found)
{
	uint64_t start, end;
	const char *section = vt_elf_section_at(elf, vaddr, &start, &end);

	*found = section || address < map->end;
	if (!*found)
		return true;
	at->low = address;
	at->high = address + ((until < end ? until : end) - vaddr);
	if (!section && map->end < at->high)
		at->high = map->end;
	if (!use_image_key(m, map, VT_OBJECT_IMAGE, section ? address - (vaddr - start) : map->base,
			   at))
		return false;
	m->objects.list[at->object].section = section;
	if (section)
		m->objects.list[at->object].size = end - start;
	return true;
}

static bool resolve_image(struct vt_memory *m, const struct vti_memory_process *p,
			  const struct vt_map *map, uint64_t address, struct vti_memory_at *at,
			  bool *found)
{
	enum vt_unknown why;
	const struct vt_elf *elf =
		m->o.images ? vt_images_elf(m->o.images, map->image, &why) : NULL;
	uint64_t bias, vaddr, until = UINT64_MAX;
	const struct vt_symbol *s = NULL;
	struct vt_symbols *symbols;

	if (!elf ||
	    !vt_procdata_bias(elf, vt_context_space(m->context), (int32_t)p->pid, map, &bias)) {
		*found = address < map->end;
		at->low = address & ~UINT64_C(7);
		at->high = at->low + 8;
		return !*found || use_image_key(m, map, VT_OBJECT_IMAGE, map->base, at);
	}
	/* The .bss has no offset of the file, but lies behind the segment's bytes. */
	vaddr = address - bias;
	symbols = vt_images_symbols(m->o.images, map->image, (int32_t)p->pid, &why);
	if (symbols)
		s = vt_symbols_find_until(symbols, vaddr, &until);
	if (!s || !(s->flags & VT_SYMBOL_OBJECT) || s->flags & VT_SYMBOL_UNSIZED || vaddr >= s->end)
		return resolve_section(m, map, elf, address, vaddr, until, at, found);
	*found = true;
	return use_variable(m, map, s, address - (vaddr - s->start), at);
}

/* ---- all ---- */

/*
 * Whether an address of a mapping, which begins at `start`, is on the thread's own stack, deeper
 * than any call so far.
 */
static bool is_deeper(const struct vti_frames *f, uint64_t start, uint64_t address)
{
	return f->count && start <= address && address < f->low &&
	       f->low - address <= VTI_STACK_REACH;
}

static bool use_instance(const struct vti_instance *n, struct vti_memory_at *at)
{
	at->object = n->object;
	at->base = at->low = n->start;
	at->high = n->start + n->size;
	return true;
}

static bool resolve_rest(struct vt_memory *m, const struct vti_memory_process *p, uint64_t address,
			 struct vti_memory_at *at)
{
	const struct vt_map *region = vti_tree_find(p->regions, address);
	struct vti_object_key key;

	vti_object_key_init(&key, region ? VT_OBJECT_FREE : VT_OBJECT_UNKNOWN);
	/* One object: its locations are pages apart, so that each is 8 bytes of one address. */
	at->base = 0;
	at->low = region ? region->start : address & ~UINT64_C(7);
	at->high = region ? region->end : at->low + 8;
	return use_key(m, &key, NULL, at);
}

/*
 * The mapping whose image may have a variable at an address: the one there, or below it, where
 * .bss lies behind the file's bytes.  The kernel maps what of .bss fills pages of its own without a
 * file, right behind the file's mapping.
 */
static const struct vt_map *find_image_map(struct vt_memory *m, const struct vti_memory_process *p,
					   uint64_t address)
{
	const struct vt_map *map = vti_memory_map(m, p, address), *below, *above;

	if (map && (map->type != VT_IMAGE_ANON || !map->start))
		return map;
	if (map)
		address = map->start - 1;
	vt_addrspace_around(vt_context_space(m->context), (int32_t)p->pid, address, &below, &above);
	return below;
}

bool vti_memory_resolve(struct vt_memory *m, struct vti_memory_process *p,
			struct vti_memory_thread *t, uint64_t address, struct vti_memory_at *at)
{
	const struct vti_instance *n = vti_memory_instance(m, p, address);
	struct vti_memory_thread *other;
	const struct vt_map *map, *region;
	bool found;

	*at = (struct vti_memory_at){.object = VTI_NO_OBJECT};
	if (n && !n->mapping)
		return use_instance(n, at);
	other = find_stack(p, t, address, false);
	if (other)
		return vti_memory_on_stack(m, p, other, address, at);
	map = find_image_map(m, p, address);
	if (map && map->type == VT_IMAGE_FILE &&
	    (!resolve_image(m, p, map, address, at, &found) || found))
		return at->object != VTI_NO_OBJECT;
	region = vti_tree_find(p->regions, address);
	if ((n && is_deeper(&t->frames, n->start, address) && t->frames.low < n->start + n->size) ||
	    (!n && region && is_deeper(&t->frames, region->start, address) &&
	     t->frames.low < region->end)) {
		vti_frames_see(&t->frames, address);
		return vti_memory_on_stack(m, p, t, address, at);
	}
	if (n)
		return use_instance(n, at);
	other = region ? NULL : find_stack(p, t, address, true);
	if (other) {
		vti_frames_see(&other->frames, address);
		return vti_memory_on_stack(m, p, other, address, at);
	}
	return resolve_rest(m, p, address, at);
}
