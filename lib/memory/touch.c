/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "memory/memory_internal.h"

/* The part of an access that lies in one location and one cell. */
struct piece {
	struct vti_memory_cell *cell;
	uint32_t *stored; /* by which locations its cell's bytes were; or NULL */
	uint32_t location;
	uint32_t size;
	uint32_t whole; /* bytes of the access, where it has one location */
	uint8_t mask;	/* of its bytes in the cell */
};

/* Where locations are told apart by the size of accesses, it is part of their index. */
#define SIZE_BITS 7

/* Distinguishes the spaces of frames' procedures from those of processes. */
#define FRAME_SPACE (UINT32_C(1) << 31)

static uint8_t byte_mask(unsigned from, unsigned size)
{
	return (uint8_t)((0xffu >> (8 - size)) << from);
}

static unsigned count_bytes(uint8_t mask)
{
	return (unsigned)__builtin_popcount(mask);
}

/* ---- the limits ---- */

static void renumber_cells(struct vti_memory_process *p, const uint32_t *now)
{
	size_t i;
	unsigned k;

	for (i = 0; i < vti_cells_count(&p->cells); i++) {
		struct vti_memory_chunk *chunk = vti_cells_chunk(&p->cells, i);

		for (k = 0; k < VTI_CHUNK_CELLS; k++) {
			struct vti_memory_cell *c = &chunk->cells[k];

			if (c->location != VTI_NO_LOCATION)
				c->location = now[c->location];
			if (c->location == VTI_NO_LOCATION)
				c->owned = 0;
		}
		for (k = 0; chunk->stored && k < 8 * VTI_CHUNK_CELLS; k++)
			if (chunk->stored[k] != VTI_NO_LOCATION)
				chunk->stored[k] = now[chunk->stored[k]];
	}
}

bool vti_memory_drop(struct vt_memory *m)
{
	size_t had = m->objects.nlocations, i;
	uint32_t *now = vti_objects_drop(&m->objects);

	if (!now)
		return false;
	for (i = 0; i < m->nprocesses; i++)
		renumber_cells(m->processes[i], now);
	m->totals.left_out += had - m->objects.nlocations;
	free(now);
	return true;
}

/* The cell of an address; beyond the limit of chunks, all is forgotten first. */
static struct vti_memory_cell *find_cell(struct vt_memory *m, struct vti_memory_process *p,
					 uint64_t address, uint32_t **stored)
{
	if (vti_cells_count(&p->cells) >= VT_MEMORY_CHUNKS) {
		vti_cells_clear(&p->cells);
		m->totals.forgotten++;
	}
	return vti_cells_at(&p->cells, address, stored);
}

/* ---- what is lost ---- */

static void count_dead_of(struct vt_memory *m, uint32_t location, unsigned n)
{
	struct vt_memory_location *l;
	uint64_t stored;

	if (!n || location == VTI_NO_LOCATION)
		return;
	l = &m->objects.locations[location];
	/* A location that was dropped and added again has only its new stores. */
	stored = l->counts.stored - l->counts.dead;
	l->counts.dead += n < stored ? n : stored;
	m->objects.list[l->object].counts.dead += n;
	m->totals.counts.dead += n;
}

/* These bytes of a cell were never loaded, and now are gone. */
static void count_dead(struct vt_memory *m, const struct vti_memory_cell *c, const uint32_t *stored,
		       uint8_t bytes)
{
	unsigned i;

	if (!stored)
		count_dead_of(m, c->location, count_bytes(bytes));
	for (i = 0; stored && i < 8; i++)
		count_dead_of(m, stored[i], bytes >> i & 1);
}

struct change {
	struct vt_memory *m;
	bool dead;
};

static void change_owner(void *arg, struct vti_memory_cell *c, uint32_t *stored, uint8_t mask)
{
	const struct change *change = arg;

	if (change->dead)
		count_dead(change->m, c, stored, c->unread & mask);
	c->unread &= (uint8_t)~mask;
	c->was_loaded &= (uint8_t)~mask;
	if (c->owned & mask) {
		c->location = VTI_NO_LOCATION;
		c->owned = 0;
	}
}

void vti_memory_new_owner(struct vt_memory *m, struct vti_memory_process *p, uint64_t start,
			  uint64_t size, bool dead)
{
	struct change change = {m, dead};

	vti_cells_each(&p->cells, start, size, change_owner, &change);
}

/* ---- the kernel's accesses ---- */

static void set_content(struct vti_memory_cell *c, unsigned from, unsigned size, uint64_t value)
{
	uint8_t mask = byte_mask(from, size);
	uint64_t bits = vti_mask_bytes(mask);

	c->content = (c->content & ~bits) | (value << 8 * from & bits);
	c->known |= mask;
}

static uint64_t read_bytes(const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	if (size == 8)
		return vt_le64(p);
	if (size == 4)
		return vt_le32(p);
	while (size--)
		v = v << 8 | p[size];
	return v;
}

int vti_memory_kernel_wrote(struct vt_memory *m, struct vti_memory_process *p, uint64_t addr,
			    const uint8_t *data, size_t size, struct vt_error *err)
{
	while (size) {
		unsigned from = addr & 7, n = size < 8 - from ? (unsigned)size : 8 - from;
		uint32_t *stored;
		struct vti_memory_cell *c = find_cell(m, p, addr, &stored);

		if (!c)
			return vt_error_nomem(err);
		set_content(c, from, n, read_bytes(data, n));
		c->unread &= (uint8_t)~byte_mask(from, n);
		addr += n;
		data += n;
		size -= n;
	}
	return 0;
}

static void mark_read(void *arg, struct vti_memory_cell *c, uint32_t *stored, uint8_t mask)
{
	struct vt_memory *m = arg;
	unsigned i;

	for (i = 0; i < 8; i++) {
		uint32_t location = stored ? stored[i] : c->location;

		if (c->unread & mask & 1u << i && location != VTI_NO_LOCATION)
			m->objects.locations[location].read |= (uint8_t)(1u << i);
	}
	c->unread &= (uint8_t)~mask;
}

void vti_memory_kernel_read(struct vt_memory *m, struct vti_memory_process *p, uint64_t addr,
			    uint64_t size)
{
	vti_cells_each(&p->cells, addr, size, mark_read, m);
}

/* ---- pieces ---- */

/* Sets the piece's location and the cell's, from the object at its address. */
static bool place_piece(struct vt_memory *m, const struct vti_memory_at *at, uint64_t addr,
			struct piece *piece)
{
	struct vti_memory_cell *c = piece->cell;
	uint64_t cell = addr & ~UINT64_C(7);
	uint64_t grain = m->o.grain ? m->o.grain : 1, index, start, end;
	int64_t offset;

	if (at->stack) {
		/* Offsets count from the top of the frame down. */
		index = (at->base - addr + grain - 1) / grain;
		start = at->base - grain * index;
		end = start + grain;
		offset = -(int64_t)(grain * index);
	} else {
		index = (addr - at->base) / grain;
		start = at->base + grain * index;
		end = at->high - start < grain ? at->high : start + grain;
		offset = (int64_t)(grain * index);
	}
	if (m->o.grain && end - addr < piece->size)
		piece->size = (uint32_t)(end - addr);
	/* Accesses of different sizes are of different members, or of more than one. */
	if (!m->o.grain)
		index = index << SIZE_BITS | (piece->whole & ((1u << SIZE_BITS) - 1));
	piece->location = vti_objects_location(&m->objects, at->object, index, offset);
	c->owned = vti_mask_within(cell, start > at->low ? start : at->low, end - 1);
	c->location = piece->location;
	return piece->location != VTI_NO_LOCATION;
}

static bool place_new_piece(struct vt_memory *m, struct vti_memory_process *p,
			    struct vti_memory_thread *t, uint64_t addr, struct piece *piece)
{
	struct vti_memory_at at;

	if (m->objects.nlocations >= m->o.limit && !vti_memory_drop(m))
		return false;
	return vti_memory_resolve(m, p, t, addr, &at) && place_piece(m, &at, addr, piece);
}

/* Whether two locations of a cell are not of one frame: that has them side by side. */
static bool is_other_frame(const struct vt_memory *m, uint32_t a, uint32_t b)
{
	const struct vt_memory_location *x = &m->objects.locations[a];
	const struct vt_memory_location *y = &m->objects.locations[b];

	return x->object != y->object || x->offset - y->offset >= 8 || y->offset - x->offset >= 8;
}

static bool place_stack_piece(struct vt_memory *m, struct vti_memory_process *p,
			      struct vti_memory_thread *t, uint64_t addr, struct piece *piece)
{
	struct vti_memory_cell *c = piece->cell;
	struct vti_memory_cell before = *c;
	struct vti_memory_at at;

	if (m->objects.nlocations >= m->o.limit) {
		if (!vti_memory_drop(m))
			return false;
		before = *c;
	}
	if (!vti_memory_on_stack(m, p, t, addr, &at) || !place_piece(m, &at, addr, piece))
		return false;
	/* Another frame was there: it is gone, and what it stored is, too. */
	if (before.location != c->location && before.location != VTI_NO_LOCATION &&
	    is_other_frame(m, before.location, c->location)) {
		count_dead(m, &before, piece->stored, before.unread);
		c->unread = c->was_loaded = 0;
	}
	return true;
}

/* In a frame, types are found by the code of its procedure: notes an instruction of it. */
static void note_code(struct vt_memory *m, const struct vti_memory_process *p,
		      const struct vti_memory_thread *t, const struct vti_touch *a,
		      struct vt_memory_location *l)
{
	const struct vti_frames *f = &t->frames;
	const struct vt_map *map;

	if (l->code || !f->count || a->addr > f->list[f->count - 1].slot)
		return;
	map = vti_memory_map(m, p, a->ip);
	if (map && map->image == m->objects.list[l->object].places[0].image)
		l->code = vt_map_offset(map, a->ip);
}

/* The first piece of an access, whose location is where it begins. */
static bool place_start(struct vt_memory *m, struct vti_memory_process *p,
			struct vti_memory_thread *t, const struct vti_touch *a, struct piece *piece)
{
	struct vti_memory_cell *c = piece->cell;
	bool on_stack = vti_frames_hold(&t->frames, a->addr);

	/* One of the same bytes is of the same object. */
	if (!on_stack && piece->size == a->size && piece->mask == c->owned)
		return true;
	if (on_stack ? !place_stack_piece(m, p, t, a->addr, piece)
		     : !place_new_piece(m, p, t, a->addr, piece))
		return false;
	if (on_stack && m->objects.list[m->objects.locations[piece->location].object].nplaces)
		note_code(m, p, t, a, &m->objects.locations[piece->location]);
	c->owned = piece->size == a->size ? piece->mask : 0;
	return true;
}

/*
 * Finds the cell and the location of the bytes of an access from `done` on.  `first` is the
 * location of those before, or VTI_NO_LOCATION.
 */
static bool find_piece(struct vt_memory *m, struct vti_memory_process *p,
		       struct vti_memory_thread *t, const struct vti_touch *a, uint32_t done,
		       uint32_t first, struct piece *piece)
{
	uint64_t addr = a->addr + done;
	unsigned from = addr & 7;
	uint32_t size = a->size - done;
	struct vti_memory_cell *c = find_cell(m, p, addr, &piece->stored);
	bool ok = true;

	if (!c)
		return false;
	piece->cell = c;
	piece->whole = a->size;
	piece->size = size < 8 - from ? size : 8 - from;
	piece->mask = byte_mask(from, piece->size);
	piece->location = c->location;
	if (!m->o.grain && first != VTI_NO_LOCATION) {
		/* None that begins here: only what is lost is this location's. */
		piece->location = c->location = first;
		c->owned = 0;
	} else if (!m->o.grain) {
		ok = place_start(m, p, t, a, piece);
	} else if (vti_frames_hold(&t->frames, addr)) {
		ok = place_stack_piece(m, p, t, addr, piece);
	} else if (piece->mask & ~c->owned) {
		ok = place_new_piece(m, p, t, addr, piece);
	}
	piece->mask = byte_mask(from, piece->size);
	return ok;
}

/* What an access is, if all its pieces are. */
enum { ZERO = 1, REDUNDANT = 2, SILENT = 4 };

static unsigned load_piece(struct vti_memory_cell *c, uint8_t mask, unsigned from, uint64_t value)
{
	uint64_t bits = vti_mask_bytes(mask);
	uint64_t v = value << 8 * from;
	unsigned is = value ? 0 : ZERO;

	if ((c->was_loaded & mask) == mask && ((c->loaded ^ v) & bits) == 0)
		is |= REDUNDANT;
	c->loaded = (c->loaded & ~bits) | v;
	c->content = (c->content & ~bits) | v;
	c->was_loaded |= mask;
	c->known |= mask;
	return is;
}

static unsigned store_piece(struct vti_memory_cell *c, uint8_t mask, unsigned from, uint64_t value)
{
	uint64_t bits = vti_mask_bytes(mask);
	uint64_t v = value << 8 * from;
	unsigned is = (c->known & mask) == mask && ((c->content ^ v) & bits) == 0 ? SILENT : 0;

	c->content = (c->content & ~bits) | v;
	c->known |= mask;
	return is;
}

static void add_counts(struct vt_memory_counts *n, bool store, uint32_t size, unsigned is)
{
	n->loads += !store;
	n->stores += store;
	n->loaded += store ? 0 : size;
	n->stored += store ? size : 0;
	n->zero += !!(is & ZERO);
	n->redundant += !!(is & REDUNDANT);
	n->silent += !!(is & SILENT);
}

/* Applies a piece to its cell, and tells what it is. */
static unsigned apply_piece(struct vt_memory *m, const struct piece *p, unsigned from, uint64_t v,
			    bool store)
{
	struct vt_memory_location *l = &m->objects.locations[p->location];
	struct vti_memory_cell *c = p->cell;
	unsigned i;

	if (store) {
		count_dead(m, c, p->stored, c->unread & p->mask);
		c->unread |= p->mask;
		for (i = 0; p->stored && i < 8; i++)
			if (p->mask >> i & 1)
				p->stored[i] = p->location;
		l->written |= p->mask;
		return store_piece(c, p->mask, from, v);
	}
	c->unread &= (uint8_t)~p->mask;
	l->read |= p->mask;
	return load_piece(c, p->mask, from, v);
}

/* Counts an access, or a piece of it, at a location. */
static bool count_at(struct vt_memory *m, uint32_t location, bool store, uint32_t size,
		     uint64_t value, unsigned is)
{
	struct vt_memory_location *l = &m->objects.locations[location];

	if (size > l->size)
		l->size = size < UINT8_MAX ? (uint8_t)size : UINT8_MAX;
	add_counts(&l->counts, store, size, is);
	return store || vti_location_value(&m->objects, l, value);
}

/* A piece lies in 8 bytes, and so in one line. */
static bool share_piece(struct vt_memory *m, const struct vti_memory_process *p,
			const struct vti_memory_thread *t, uint64_t addr, const struct piece *piece,
			bool store)
{
	const struct vt_memory_location *l = &m->objects.locations[piece->location];
	const struct vti_line_access a = {.pid = p->pid,
					  .tid = t->tid,
					  .addr = addr,
					  .size = piece->size,
					  .object = l->object,
					  .offset = l->offset,
					  .store = store};

	return vti_sharing_access(&m->sharing, &a);
}

/* The number of the static load at an address. */
static bool find_load(struct vt_memory *m, const struct vti_memory_process *p, uint64_t ip,
		      uint32_t *load)
{
	uint64_t changes = vt_addrspace_changes(vt_context_space(m->context));
	struct vti_recent_load *r = vti_loads_recent(&m->loads, ip);
	const struct vt_map *map;

	*load = r->load;
	if (r->ip == ip && r->process == p->number && r->changes == changes)
		return true;
	map = vti_memory_map(m, p, ip);
	if (!vti_loads_find(&m->loads, map ? map->image : VT_UNMAPPED_IMAGE,
			    map ? vt_map_offset(map, ip) : ip, load))
		return false;
	*r = (struct vti_recent_load){ip, changes, p->number, *load};
	return true;
}

/* Of a frame, which is at any address, the place below its top counts. */
static void set_load_address(const struct vt_memory *m, const struct vti_memory_process *p,
			     const struct vti_touch *a, struct vti_load *load)
{
	const struct vt_memory_object *o = &m->objects.list[load->object];

	load->address = a->addr;
	load->space = p->number;
	if (o->type != VT_OBJECT_STACK || !o->nplaces)
		return;
	load->address = load->location + (a->addr & (m->o.grain - 1));
	load->space = load->object | FRAME_SPACE;
}

static uint64_t load_value(const struct vti_touch *a, bool zero)
{
	if (a->size <= 8)
		return read_bytes(a->value, a->size);
	return zero ? 0 : vt_hash_bytes(a->value, a->size);
}

static bool count_load(struct vt_memory *m, const struct vti_memory_process *p,
		       const struct vti_touch *a, uint32_t object, int64_t offset, unsigned is)
{
	struct vti_load load = {.value = load_value(a, is & ZERO),
				.location = (uint64_t)offset,
				.object = object,
				.size = a->size,
				.type = m->objects.list[object].type,
				.zero = is & ZERO,
				.redundant = is & REDUNDANT};
	uint32_t number;

	set_load_address(m, p, a, &load);
	return find_load(m, p, a->ip, &number) && vti_loads_add(&m->loads, number, &load);
}

static void add_miss(struct vt_memory_counts *c, bool brought)
{
	c->misses += brought;
	c->waits += !brought;
}

static void add_miss_facts(struct vt_memory_sampled *s, const struct vt_miss *miss)
{
	s->samples++;
	s->latency += miss->latency;
	s->latencies += !!miss->latency;
	s->tlb_told += miss->told >> VT_PM_DTLB_MISS & 1;
	s->tlb_misses += miss->events >> VT_PM_DTLB_MISS & 1;
	if (miss->source < VT_NSOURCES)
		s->sources[miss->source]++;
}

/* Counts the misses of the bytes of an access that lie in a location. */
static void count_misses(struct vt_memory *m, const struct vti_memory_process *p,
			 const struct vti_touch *a, uint64_t addr, uint32_t size, uint32_t object,
			 uint32_t location)
{
	struct vt_memory_location *l = &m->objects.locations[location];
	struct vt_memory_object *o = &m->objects.list[object];
	const struct vt_miss *miss;

	while ((miss = vt_misses_take(&m->misses, p->pid, a->position, addr, size, a->store))) {
		add_miss(&l->counts, miss->brought);
		add_miss(&o->counts, miss->brought);
		add_miss(&m->totals.counts, miss->brought);
		add_miss_facts(&o->sampled, miss);
		add_miss_facts(&m->totals.sampled, miss);
		l->latency += miss->latency;
		l->latencies += !!miss->latency;
	}
}

int vti_memory_touch(struct vt_memory *m, struct vti_memory_process *p, struct vti_memory_thread *t,
		     const struct vti_touch *a, struct vt_error *err)
{
	uint32_t first = VTI_NO_LOCATION, object = VTI_NO_OBJECT, done = 0;
	unsigned all = ~0u;
	struct piece piece;
	int64_t offset = 0;
	bool ok = true;

	for (; done < a->size && ok; done += piece.size) {
		uint64_t addr = a->addr + done, v;
		unsigned is;

		if (!find_piece(m, p, t, a, done, first, &piece))
			return vt_error_nomem(err);
		v = read_bytes(a->value + done, piece.size);
		is = apply_piece(m, &piece, addr & 7, v, a->store);
		all &= is;
		if (m->o.grain)
			ok = count_at(m, piece.location, a->store, piece.size, v, is);
		if (ok && m->o.sharing)
			ok = share_piece(m, p, t, addr, &piece, a->store);
		if (!done) {
			first = piece.location;
			object = m->objects.locations[first].object;
			offset = m->objects.locations[first].offset;
		}
		if (m->misses.count)
			count_misses(m, p, a, addr, piece.size, object,
				     m->o.grain ? piece.location : first);
	}
	if (ok && !m->o.grain && a->size)
		ok = count_at(m, first, a->store, a->size,
			      read_bytes(a->value, a->size < 8 ? a->size : 8), all);
	if (!ok)
		return vt_error_nomem(err);
	if (object != VTI_NO_OBJECT) {
		add_counts(&m->objects.list[object].counts, a->store, a->size, all);
		add_counts(&m->totals.counts, a->store, a->size, all);
		if (m->o.loads && !a->store && !count_load(m, p, a, object, offset, all))
			return vt_error_nomem(err);
	}
	return 0;
}
