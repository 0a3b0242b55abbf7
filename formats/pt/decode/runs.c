/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/runs.h"

#include <stdlib.h>
#include <string.h>

#define MIN_BITS	 8 /* pairs in the smallest table: 2^8 */
#define MAX_BITS	 19
#define PLACES_PER_BLOCK 32
#define POOL_PER_PLACE	 16

struct maker {
	struct vti_pt_runs *r;
	struct vt_pt_blocks *blocks;
	unsigned mode;
	bool no_memory;

	uint32_t ids[VTI_PT_RUN_BLOCKS];
	uint32_t nids;
	uint32_t insns;
	uint64_t pushed[VTI_PT_RUN_PUSHES];
	uint32_t npushed;
	uint32_t depth;
};

struct vti_pt_runs *vti_pt_runs_new(void)
{
	struct vti_pt_runs *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->table = aligned_alloc(64, (sizeof(*r->table) << 1) << MIN_BITS);
	if (!r->table) {
		free(r);
		return NULL;
	}
	memset(r->table, 0, (sizeof(*r->table) << 1) << MIN_BITS);
	r->shift = 64 - MIN_BITS;
	return r;
}

void vti_pt_runs_free(struct vti_pt_runs *r)
{
	if (!r)
		return;
	free(r->table);
	free(r->pool);
	free(r->links);
	free(r);
}

static size_t count_places(const struct vti_pt_runs *r)
{
	return (size_t)2 << (64 - r->shift);
}

static void clear_runs(struct vti_pt_runs *r)
{
	memset(r->table, 0, count_places(r) * sizeof(*r->table));
	r->used = r->displaced = 0;
	r->pool_used = 0;
}

void vti_pt_runs_forget(struct vti_pt_runs *r)
{
	if (!r)
		return;
	clear_runs(r);
	if (r->nlinks)
		memset(r->links, 0xff, r->nlinks * sizeof(*r->links));
}

/* The block at an address, or VT_PT_NO_ID when memory runs out. */
static uint32_t find_run_block(struct maker *m, uint64_t ip)
{
	uint32_t index;

	if (vt_pt_blocks_at(m->blocks, ip, m->mode, &index) < 0) {
		m->no_memory = true;
		return VT_PT_NO_ID;
	}
	return index;
}

static bool grow_links(struct maker *m, uint32_t index)
{
	struct vti_pt_runs *r = m->r;
	size_t n = r->nlinks ? r->nlinks : 1024;
	struct vti_pt_link *links;

	while (n <= index)
		n *= 2;
	links = realloc(r->links, n * sizeof(*links));
	if (!links) {
		m->no_memory = true;
		return false;
	}
	memset(links + r->nlinks, 0xff, (n - r->nlinks) * sizeof(*links));
	r->links = links;
	r->nlinks = (uint32_t)n;
	return true;
}

/* The block that follows another one, on one of its two ways. */
static uint32_t follow_run_link(struct maker *m, uint32_t index, bool taken)
{
	const struct vt_pt_block *b;
	uint32_t *link;
	uint32_t to;

	if (index >= m->r->nlinks && !grow_links(m, index))
		return VT_PT_NO_ID;
	link = taken ? &m->r->links[index].target : &m->r->links[index].next;
	if (*link != VT_PT_NO_ID)
		return *link;
	b = vt_pt_blocks_get(m->blocks, index);
	to = find_run_block(m, taken ? b->target : b->next);
	*link = to;
	return to;
}

static bool push_run_return(struct maker *m, uint64_t ip)
{
	if (m->npushed == VTI_PT_RUN_PUSHES)
		return false;
	m->pushed[m->npushed++] = ip;
	if (m->depth < m->npushed)
		m->depth = m->npushed;
	return true;
}

/*
 * Adds the blocks from *index up to the next one that needs a decision or an address, whose index
 * *index then is.  Returns how that one ends, or VT_PT_END_NO_CODE if the walker has to take it.
 */
static enum vt_pt_end add_straight_code(struct maker *m, uint32_t *index)
{
	while (*index != VT_PT_NO_ID && m->nids < VTI_PT_RUN_BLOCKS) {
		const struct vt_pt_block *b = vt_pt_blocks_get(m->blocks, *index);
		enum vt_pt_end end = (enum vt_pt_end)b->end;

		if (!b->insns)
			break;
		m->ids[m->nids++] = *index;
		m->insns += b->insns;
		switch (end) {
		case VT_PT_END_CALL:
			/* A call of the next instruction only reads the address. */
			if (b->target != b->next && !push_run_return(m, b->next))
				return VT_PT_END_NO_CODE;
			*index = follow_run_link(m, *index, true);
			break;
		case VT_PT_END_FALL:
		case VT_PT_END_JUMP:
			*index = follow_run_link(m, *index, end == VT_PT_END_JUMP);
			break;
		case VT_PT_END_COND:
		case VT_PT_END_RET:
		case VT_PT_END_JUMP_INDIRECT:
		case VT_PT_END_CALL_INDIRECT:
			return end;
		default:
			return VT_PT_END_NO_CODE;
		}
	}
	return VT_PT_END_NO_CODE;
}

/* Adds the code up to a decision, and takes that.  False: it cannot be taken here. */
static bool add_decision(struct maker *m, struct vti_pt_run *e, uint32_t *index, bool taken)
{
	switch (add_straight_code(m, index)) {
	case VT_PT_END_COND:
		*index = follow_run_link(m, *index, taken);
		return *index != VT_PT_NO_ID;
	case VT_PT_END_RET:
		if (!taken)
			return false;
		if (!m->npushed) {
			e->flags |= VTI_PT_RUN_RETURN;
			return true;
		}
		*index = find_run_block(m, m->pushed[--m->npushed]);
		return *index != VT_PT_NO_ID;
	default:
		return false;
	}
}

/* Makes the head; *index is the block after it. */
static void make_head(struct maker *m, struct vti_pt_run *e, struct vti_pt_run_rest *rest,
		      uint32_t bits, uint32_t *index)
{
	unsigned count = 31 - (unsigned)__builtin_clz(bits);

	while (e->bits < count && !(e->flags & VTI_PT_RUN_RETURN)) {
		uint32_t npushed = m->npushed;
		uint32_t depth = m->depth;
		uint32_t at = *index;

		if (!add_decision(m, e, &at, bits >> (count - 1 - e->bits) & 1)) {
			m->nids = e->blocks;
			m->insns = e->insns;
			m->npushed = npushed;
			m->depth = depth;
			break;
		}
		*index = at;
		e->blocks = (uint8_t)m->nids;
		e->insns = (uint16_t)m->insns;
		if (!e->bits++)
			rest->first = e->blocks;
	}
	rest->pushes = (uint8_t)m->npushed;
	rest->depth = (uint8_t)m->depth;
	if (m->depth)
		e->flags |= VTI_PT_RUN_PUSHES_HEAD;
	if (e->bits < count && !e->bits)
		e->flags |= VTI_PT_RUN_STOP;
}

static void make_tail(struct maker *m, struct vti_pt_run *e, struct vti_pt_run_rest *rest,
		      uint32_t index)
{
	enum vt_pt_end end = add_straight_code(m, &index);

	if (end == VT_PT_END_CALL_INDIRECT &&
	    !push_run_return(m, vt_pt_blocks_get(m->blocks, index)->next))
		end = VT_PT_END_NO_CODE;
	if (end != VT_PT_END_RET && end != VT_PT_END_JUMP_INDIRECT &&
	    end != VT_PT_END_CALL_INDIRECT) {
		m->npushed = rest->pushes;
		m->nids = e->blocks;
		return;
	}
	e->tail = (uint8_t)(m->nids - e->blocks);
	e->tail_insns = (uint16_t)(m->insns - e->insns);
	e->flags |= VTI_PT_RUN_TAIL;
	rest->tail_pushes = (uint8_t)(m->npushed - rest->pushes);
	if (rest->tail_pushes)
		e->flags |= VTI_PT_RUN_PUSHES_TAIL;
}

/* Frees a pair's first place: its run moves to the second. */
static struct vti_pt_run *place_run(struct vti_pt_runs *r, uint64_t ip, uint32_t key)
{
	struct vti_pt_run *e = vti_pt_runs_pair(r, ip, key);

	if (e[0].key && e[1].key)
		r->displaced++;
	else
		r->used++;
	e[1] = e[0];
	return e;
}

/* Makes the table larger, if it is full and the amount of code allows it. */
static bool grow_table(struct vti_pt_runs *r, uint32_t nblocks)
{
	struct vti_pt_run *old = r->table;
	size_t n = count_places(r);
	size_t size = 4 * n * sizeof(*old);
	size_t i;

	if (r->used + (uint64_t)r->displaced * 16 < n / 2 || 64 - r->shift + 2 > MAX_BITS ||
	    n > (size_t)nblocks * PLACES_PER_BLOCK)
		return true;
	r->table = aligned_alloc(64, size);
	if (!r->table) {
		r->table = old;
		return false;
	}
	memset(r->table, 0, size);
	r->shift -= 2;
	r->used = r->displaced = 0;
	for (i = n; i-- > 0;)
		if (old[i].key)
			*place_run(r, old[i].ip, old[i].key) = old[i];
	free(old);
	return true;
}

/* Makes room for a run's rest, of `words`, and for what copy_blocks() reads after it. */
static bool grow_pool(struct vti_pt_runs *r, uint32_t words)
{
	size_t need = (size_t)r->pool_used + words + VTI_PT_RUN_SLACK;
	size_t limit = count_places(r) * POOL_PER_PLACE;
	size_t size = r->pool_size ? r->pool_size : limit / 16;
	uint32_t *pool;

	if (need <= r->pool_size)
		return true;
	while (size < need)
		size *= 2;
	if (size > limit) {
		clear_runs(r);
		return true;
	}
	pool = realloc(r->pool, size * sizeof(*pool));
	if (!pool)
		return false;
	r->pool = pool;
	r->pool_size = (uint32_t)size;
	return true;
}

/* Adds a run to the cache. */
static const struct vti_pt_run *add_cached_run(struct maker *m, struct vti_pt_run *e,
					       const struct vti_pt_run_rest *rest)
{
	struct vti_pt_runs *r = m->r;
	uint32_t words = 1 + m->nids + 2 * m->npushed;
	struct vti_pt_run *at;

	if (m->no_memory || !grow_table(r, vt_pt_blocks_count(m->blocks)) || !grow_pool(r, words))
		return NULL;
	e->pool = r->pool_used;
	memcpy(&r->pool[e->pool], rest, sizeof(*rest));
	memcpy(&r->pool[e->pool + 1], m->ids, m->nids * sizeof(*m->ids));
	memcpy(&r->pool[e->pool + 1 + m->nids], m->pushed, m->npushed * sizeof(*m->pushed));
	r->pool_used += words;
	/* copy_blocks() reads more than is used. */
	memset(&r->pool[r->pool_used], 0, VTI_PT_RUN_SLACK * sizeof(*r->pool));
	at = place_run(r, e->ip, e->key);
	*at = *e;
	return at;
}

const struct vti_pt_run *vti_pt_runs_make(struct vti_pt_runs *r, struct vt_pt_blocks *blocks,
					  uint64_t ip, unsigned mode, uint32_t bits)
{
	struct maker m = {.r = r, .blocks = blocks, .mode = mode};
	struct vti_pt_run e = {.ip = ip, .key = vti_pt_run_key(mode, bits)};
	struct vti_pt_run_rest rest = {.first = 0};
	uint32_t index = find_run_block(&m, ip);

	make_head(&m, &e, &rest, bits, &index);
	if (m.no_memory)
		return NULL;
	if (!(e.flags & VTI_PT_RUN_RETURN))
		e.next = vt_pt_blocks_get(blocks, index)->addr;
	if (!(e.flags & VTI_PT_RUN_RETURN) && bits >> e.bits == 1)
		make_tail(&m, &e, &rest, index);
	return add_cached_run(&m, &e, &rest);
}

/*
 * Adds the blocks up to where tracing ends: at an address, or before a branch that needs a decision
 * or an address.  False if that is not at the end of a block, or not certain.
 */
static bool add_code_to_end(struct maker *m, uint32_t index, uint32_t bits, uint64_t to)
{
	while (index != VT_PT_NO_ID && m->nids < VTI_PT_RUN_BLOCKS) {
		const struct vt_pt_block *b = vt_pt_blocks_get(m->blocks, index);

		if (bits == VTI_PT_RUN_TO_ADDRESS && b->addr == to)
			return true;
		if (!b->insns || b->marks ||
		    (bits == VTI_PT_RUN_TO_ADDRESS && to - b->addr < b->size))
			return false;
		m->ids[m->nids++] = index;
		m->insns += b->insns;
		switch (b->end) {
		case VT_PT_END_CALL:
			if (b->target != b->next && !push_run_return(m, b->next))
				return false;
			index = follow_run_link(m, index, true);
			break;
		case VT_PT_END_FALL:
		case VT_PT_END_JUMP:
			index = follow_run_link(m, index, b->end == VT_PT_END_JUMP);
			break;
		case VT_PT_END_CALL_INDIRECT:
			return push_run_return(m, b->next);
		case VT_PT_END_NO_CODE:
		case VT_PT_END_BAD_CODE:
			return false;
		default:
			return true;
		}
	}
	return false;
}

const struct vti_pt_run *vti_pt_runs_make_end(struct vti_pt_runs *r, struct vt_pt_blocks *blocks,
					      uint64_t ip, unsigned mode, uint32_t bits,
					      uint64_t to)
{
	struct maker m = {.r = r, .blocks = blocks, .mode = mode};
	struct vti_pt_run e = {.ip = ip, .next = to, .key = vti_pt_run_key(mode, bits)};
	struct vti_pt_run_rest rest = {.first = 0};

	if (add_code_to_end(&m, find_run_block(&m, ip), bits, to)) {
		e.tail = (uint8_t)m.nids;
		e.tail_insns = (uint16_t)m.insns;
		e.flags = VTI_PT_RUN_TAIL | (m.npushed ? VTI_PT_RUN_PUSHES_TAIL : 0);
		rest.tail_pushes = (uint8_t)m.npushed;
	} else {
		m.nids = m.npushed = 0;
		e.flags = VTI_PT_RUN_STOP;
	}
	return add_cached_run(&m, &e, &rest);
}
