/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "machine/insn/insn.h"

/* Longer code is no procedure but a broken symbol; real ones have at most some 100 kB. */
#define MAX_SIZE ((size_t)16 << 20)

static int no_memory(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
}

static bool inside(const struct vti_walk *w, int64_t offset)
{
	return offset >= 0 && (uint64_t)offset < w->src->size;
}

static bool mark(struct vti_walk *w, uint32_t offset, uint8_t what)
{
	bool known = w->mark[offset] & VTI_LEADER;

	w->mark[offset] |= what | VTI_LEADER;
	if (known || w->at[offset])
		return true;
	if (!vt_array_grow(&w->todo, &w->todo_cap, w->ntodo + 1, sizeof(*w->todo)))
		return false;
	w->todo[w->ntodo++] = offset;
	return true;
}

bool vti_walk_queue(struct vti_walk *w, uint32_t offset)
{
	return mark(w, offset, 0);
}

/* ---- single instructions ---- */

static enum vti_next next_of(struct vti_walk *w, const struct vt_flow *f, const struct vti_node *n)
{
	if (f->flags & VT_FACT_RETURN)
		return VTI_NEXT_LEAVE;
	if (f->flags & VT_FACT_CONDITIONAL)
		return VTI_NEXT_CONDITIONAL;
	if (f->flags & VT_FACT_JUMP)
		return f->has_target ? VTI_NEXT_JUMP : VTI_NEXT_INDIRECT;
	if (f->flags & VT_FACT_CALL)
		return f->has_target && !inside(w, n->target) &&
				       vti_call_ends(w->src, w->src->start + (uint64_t)n->target)
			       ? VTI_NEXT_LEAVE
			       : VTI_NEXT_FALL;
	return f->stops ? VTI_NEXT_LEAVE : VTI_NEXT_FALL;
}

static void decode(struct vti_walk *w, uint32_t offset, struct vti_node *n)
{
	struct vt_flow f;

	memset(n, 0, sizeof(*n));
	n->offset = offset;
	n->length = 1;
	n->next = VTI_NEXT_BAD;
	if (!vt_flow_decode(w->src->code + offset, w->src->size - offset, &f) || !f.length)
		return;
	n->length = f.length;
	n->flags = f.flags;
	if (f.has_target)
		n->target = offset + f.target;
	n->next = next_of(w, &f, n);
}

/* ---- what control reaches ---- */

/* Targets in the procedure.  False: no memory. */
static bool follow(struct vti_walk *w, const struct vti_node *n)
{
	if (!(n->flags & VT_FACT_BRANCH) || !inside(w, n->target))
		return true;
	if (n->next == VTI_NEXT_CONDITIONAL || n->next == VTI_NEXT_JUMP)
		return mark(w, (uint32_t)n->target, 0);
	/* A part of the procedure that is called. */
	if ((n->flags & VT_FACT_CALL) && !(n->flags & VT_FACT_INDIRECT))
		return mark(w, (uint32_t)n->target, VTI_ENTRY);
	return true;
}

static bool add(struct vti_walk *w, const struct vti_node *n)
{
	if (!vt_array_grow(&w->nodes, &w->nodes_cap, w->nnodes + 1, sizeof(*n)))
		return false;
	w->nodes[w->nnodes++] = *n;
	w->at[n->offset] = (uint32_t)w->nnodes;
	return true;
}

static bool goes_on(const struct vti_node *n)
{
	return n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL;
}

static int walk(struct vti_walk *w, struct vt_error *err)
{
	struct vti_node n;
	uint32_t at;

	while (w->ntodo) {
		at = w->todo[--w->ntodo];
		while (at < w->src->size && !w->at[at]) {
			decode(w, at, &n);
			w->bad |= n.next == VTI_NEXT_BAD;
			if (!add(w, &n) || !follow(w, &n))
				return no_memory(err);
			if (!goes_on(&n))
				break;
			at += n.length;
		}
	}
	return 0;
}

/* Follows indirect jumps, too, those of nodes from number `first` on, and what is found behind. */
static int walk_jumps(struct vti_walk *w, size_t first, struct vt_error *err)
{
	size_t before = SIZE_MAX;
	int rc = walk(w, err);

	while (rc == 0 && w->nnodes != before) {
		before = w->nnodes;
		rc = vti_jumps_find(w, first, err);
		if (rc == 0)
			rc = walk(w, err);
	}
	return rc;
}

/* ---- code that nothing was seen to reach ---- */

/* Bytes that linkers and assemblers fill gaps with: no-operations, int3, zeroes. */
static uint32_t padding(const struct vti_walk *w, uint32_t offset)
{
	const uint8_t *p = w->src->code + offset;
	struct vt_facts f;

	if (*p == 0xcc || *p == 0)
		return 1;
	if (vt_facts_decode(p, w->src->size - offset, &f) && (f.flags & VT_FACT_NOP) &&
	    (strcmp(f.mnemonic, "nop") == 0 || strcmp(f.mnemonic, "xchg") == 0))
		return f.length;
	return 0;
}

/* Whether the bytes of a gap are code: whole instructions, up to what is known or goes no further.
 */
static bool is_code(struct vti_walk *w, uint32_t at, uint32_t end)
{
	struct vti_node n;

	while (at < end) {
		decode(w, at, &n);
		if (n.next == VTI_NEXT_BAD)
			return false;
		at += n.length;
		if (!goes_on(&n))
			return at <= end;
	}
	return at == end;
}

/* The first place of a gap where code is, past padding; `end` when there is none. */
static uint32_t code_in(struct vti_walk *w, uint32_t at, uint32_t end)
{
	uint32_t fill;

	while (at < end) {
		fill = padding(w, at);
		if (!fill)
			return is_code(w, at, end) ? at : end;
		at += fill;
	}
	return end;
}

/* Notes the bytes that are of the instructions found since node `from`. */
static void cover(const struct vti_walk *w, uint8_t *covered, size_t from)
{
	size_t i;

	for (i = from; i < w->nnodes; i++)
		memset(covered + w->nodes[i].offset, 1, w->nodes[i].length);
}

/* Where the gap from `at` on ends, which would go on up to `end` but for nodes from `from` on. */
static uint32_t gap_end(const struct vti_walk *w, size_t from, uint32_t at, uint32_t end)
{
	size_t i;

	for (i = from; i < w->nnodes; i++)
		if (w->nodes[i].offset > at && w->nodes[i].offset < end)
			end = w->nodes[i].offset;
	return end;
}

static int walk_gaps(struct vti_walk *w, uint8_t *covered, struct vt_error *err)
{
	uint32_t at = 0, end = 0, size = (uint32_t)w->src->size;
	size_t from = 0;
	int rc = 0;

	while (rc == 0 && at < size) {
		cover(w, covered, from);
		for (; at < size && covered[at]; at++)
			;
		/* A gap is looked through only once, not again for each piece of code in it. */
		if (at < end)
			end = gap_end(w, from, at, end);
		else
			for (end = at; end < size && !covered[end]; end++)
				;
		from = w->nnodes;
		at = code_in(w, at, end);
		if (at == end)
			continue;
		if (!mark(w, at, VTI_ENTRY))
			return no_memory(err);
		rc = walk_jumps(w, from, err);
	}
	return rc;
}

static bool mark_entry(void *arg, uint64_t vaddr)
{
	struct vti_walk *w = arg;

	return mark(w, (uint32_t)(vaddr - w->src->start), VTI_ENTRY);
}

static int start(struct vti_walk *w, struct vt_error *err)
{
	const struct vt_cfg_source *src = w->src;
	size_t i;

	if (src->size > MAX_SIZE)
		return vt_error_set(err, VT_E_LIMIT, "a procedure of more than %zu MB",
				    MAX_SIZE >> 20);
	w->at = calloc(src->size + 1, sizeof(*w->at));
	w->mark = calloc(src->size + 1, 1);
	if (!w->at || !w->mark || (src->size && !mark(w, 0, VTI_ENTRY)))
		return no_memory(err);
	if (!vti_calls_into(src, mark_entry, w))
		return no_memory(err);
	for (i = 0; i < src->nentries; i++)
		if (inside(w, (int64_t)(src->entries[i] - src->start)) &&
		    !mark(w, (uint32_t)(src->entries[i] - src->start), VTI_ENTRY))
			return no_memory(err);
	return 0;
}

int vti_walk_all(struct vti_walk *w, struct vt_error *err)
{
	uint8_t *covered = NULL;
	int rc = start(w, err);

	if (rc == 0)
		rc = walk_jumps(w, 0, err);
	if (rc == 0) {
		covered = calloc(1, w->src->size + VT_MAX_INSN);
		rc = covered ? walk_gaps(w, covered, err) : no_memory(err);
	}
	free(covered);
	return rc;
}

void vti_walk_free(struct vti_walk *w)
{
	free(w->at);
	free(w->mark);
	free(w->nodes);
	free(w->todo);
	free(w->jumps);
}
