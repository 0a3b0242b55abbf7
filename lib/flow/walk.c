/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/calls.h"
#include "flow/internal.h"
#include "machine/insn/insn.h"

/* Limit on the size of a procedure.  Real ones have at most some 100 kB. */
#define MAX_SIZE ((size_t)16 << 20)

static bool is_inside(const struct vti_walk *w, int64_t offset)
{
	return offset >= 0 && (uint64_t)offset < w->src->size;
}

static bool mark_offset(struct vti_walk *w, uint32_t offset, uint8_t what)
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
	return mark_offset(w, offset, 0);
}

/* ---- single instructions ---- */

static enum vti_next classify_next(struct vti_walk *w, const struct vt_flow *f,
				   const struct vti_node *n)
{
	if (f->flags & VT_FACT_RETURN)
		return VTI_NEXT_LEAVE;
	if (f->flags & VT_FACT_CONDITIONAL)
		return VTI_NEXT_CONDITIONAL;
	if (f->flags & VT_FACT_JUMP)
		return f->has_target ? VTI_NEXT_JUMP : VTI_NEXT_INDIRECT;
	if (f->flags & VT_FACT_CALL)
		return f->has_target && !is_inside(w, n->target) &&
				       vt_calls_end(w->src->images, w->src->image,
						    w->src->start + (uint64_t)n->target)
			       ? VTI_NEXT_LEAVE
			       : VTI_NEXT_FALL;
	return f->stops ? VTI_NEXT_LEAVE : VTI_NEXT_FALL;
}

static void decode_node(struct vti_walk *w, uint32_t offset, struct vti_node *n)
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
	n->next = classify_next(w, &f, n);
}

/* ---- reachable code ---- */

/* Marks the targets of an instruction in the procedure.  Returns false when memory runs out. */
static bool mark_targets(struct vti_walk *w, const struct vti_node *n)
{
	if (!(n->flags & VT_FACT_BRANCH) || !is_inside(w, n->target))
		return true;
	if (n->next == VTI_NEXT_CONDITIONAL || n->next == VTI_NEXT_JUMP)
		return mark_offset(w, (uint32_t)n->target, 0);
	/* A part of the procedure is called. */
	if ((n->flags & VT_FACT_CALL) && !(n->flags & VT_FACT_INDIRECT))
		return mark_offset(w, (uint32_t)n->target, VTI_ENTRY);
	return true;
}

static bool append_walk_node(struct vti_walk *w, const struct vti_node *n)
{
	if (!vt_array_grow(&w->nodes, &w->nodes_cap, w->nnodes + 1, sizeof(*n)))
		return false;
	w->nodes[w->nnodes++] = *n;
	w->at[n->offset] = (uint32_t)w->nnodes;
	return true;
}

static bool continues_after(const struct vti_node *n)
{
	return n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL;
}

static int walk_queued(struct vti_walk *w, struct vt_error *err)
{
	struct vti_node n;
	uint32_t at;

	while (w->ntodo) {
		at = w->todo[--w->ntodo];
		while (at < w->src->size && !w->at[at]) {
			decode_node(w, at, &n);
			w->bad |= n.next == VTI_NEXT_BAD;
			if (!append_walk_node(w, &n) || !mark_targets(w, &n))
				return vti_cfg_nomem(err);
			if (!continues_after(&n))
				break;
			at += n.length;
		}
	}
	return 0;
}

/* Decodes queued code, and targets of indirect jumps among nodes from number `first` on. */
static int walk_jumps(struct vti_walk *w, size_t first, struct vt_error *err)
{
	size_t before = SIZE_MAX;
	int rc = walk_queued(w, err);

	while (rc == 0 && w->nnodes != before) {
		before = w->nnodes;
		rc = vti_jumps_find(w, first, err);
		if (rc == 0)
			rc = walk_queued(w, err);
	}
	return rc;
}

/* ---- code that seems unreachable ---- */

/* Returns the size of padding by linkers and assemblers: a no-operation, int3 or a zero.  0: none.
 */
static uint32_t get_padding(const struct vti_walk *w, uint32_t offset)
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

/* Returns true if the bytes of a gap are whole instructions, up to its end or a jump. */
static bool is_gap_code(struct vti_walk *w, uint32_t at, uint32_t end)
{
	struct vti_node n;

	while (at < end) {
		decode_node(w, at, &n);
		if (n.next == VTI_NEXT_BAD)
			return false;
		at += n.length;
		if (!continues_after(&n))
			return at <= end;
	}
	return at == end;
}

/* Returns the first offset of code in a gap, after padding, or `end` if there is none. */
static uint32_t find_gap_code(struct vti_walk *w, uint32_t at, uint32_t end)
{
	uint32_t fill;

	while (at < end) {
		fill = get_padding(w, at);
		if (!fill)
			return is_gap_code(w, at, end) ? at : end;
		at += fill;
	}
	return end;
}

/* Marks the bytes of the instructions found since node `from`. */
static void mark_covered(const struct vti_walk *w, uint8_t *covered, size_t from)
{
	size_t i;

	for (i = from; i < w->nnodes; i++)
		memset(covered + w->nodes[i].offset, 1, w->nodes[i].length);
}

/* Returns the end of the gap [at, end), which nodes from number `from` on may shorten. */
static uint32_t find_gap_end(const struct vti_walk *w, size_t from, uint32_t at, uint32_t end)
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
		mark_covered(w, covered, from);
		for (; at < size && covered[at]; at++)
			;
		/* Scan a gap only once, not again after each piece of code in it. */
		if (at < end)
			end = find_gap_end(w, from, at, end);
		else
			for (end = at; end < size && !covered[end]; end++)
				;
		from = w->nnodes;
		at = find_gap_code(w, at, end);
		if (at == end)
			continue;
		if (!mark_offset(w, at, VTI_ENTRY))
			return vti_cfg_nomem(err);
		rc = walk_jumps(w, from, err);
	}
	return rc;
}

static bool mark_entry(void *arg, uint64_t vaddr)
{
	struct vti_walk *w = arg;

	return mark_offset(w, (uint32_t)(vaddr - w->src->start), VTI_ENTRY);
}

static int start_walk(struct vti_walk *w, struct vt_error *err)
{
	const struct vt_cfg_source *src = w->src;
	size_t i;

	if (src->size > MAX_SIZE)
		return vt_error_set(err, VT_E_LIMIT, "a procedure of more than %zu MB",
				    MAX_SIZE >> 20);
	w->at = calloc(src->size + 1, sizeof(*w->at));
	w->mark = calloc(src->size + 1, 1);
	if (!w->at || !w->mark || (src->size && !mark_offset(w, 0, VTI_ENTRY)))
		return vti_cfg_nomem(err);
	if (!vt_calls_into(src->images, src->image, src->start, src->size, mark_entry, w))
		return vti_cfg_nomem(err);
	for (i = 0; i < src->nentries; i++)
		if (is_inside(w, (int64_t)(src->entries[i] - src->start)) &&
		    !mark_offset(w, (uint32_t)(src->entries[i] - src->start), VTI_ENTRY))
			return vti_cfg_nomem(err);
	return 0;
}

int vti_walk_all(struct vti_walk *w, struct vt_error *err)
{
	uint8_t *covered = NULL;
	int rc = start_walk(w, err);

	if (rc == 0)
		rc = walk_jumps(w, 0, err);
	if (rc == 0) {
		covered = calloc(1, w->src->size + VT_MAX_INSN);
		rc = covered ? walk_gaps(w, covered, err) : vti_cfg_nomem(err);
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
