/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "flow/state.h"
#include "image/imagedata.h"
#include "image/unwind.h"
#include "machine/insn/insn.h"

/* Finds the targets of indirect jumps from the abstract value that they jump to. */
struct jump_targets {
	struct vti_walk *w;
	struct vti_memory memory; /* the image's constants */
	const struct vt_imagedata *data;
	const struct vt_elf *elf;
	uint64_t line_at; /* address of the line of data read last */
	uint64_t line_known;
	uint8_t line[VT_IMAGEDATA_LINE];
	bool failed; /* memory ran out */
};

/* Limit on entries of a table, above the largest of interpreters and parsers. */
#define MAX_ENTRIES 65536

/* ---- the image's constants ---- */

static bool is_constant_word(void *arg, uint64_t vaddr)
{
	struct jump_targets *t = arg;

	return t->elf && vt_elf_is_constant(t->elf, vaddr);
}

static bool read_image_byte(struct jump_targets *t, uint64_t vaddr, uint8_t *byte)
{
	uint64_t line = vaddr / VT_IMAGEDATA_LINE * VT_IMAGEDATA_LINE;

	if (line != t->line_at) {
		t->line_known = vt_imagedata_line(t->data, 0, line, true, t->line);
		t->line_at = line;
	}
	*byte = t->line[vaddr - line];
	return t->line_known >> (vaddr - line) & 1;
}

static bool read_image_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	struct jump_targets *t = arg;
	uint8_t byte;
	unsigned i;

	*value = 0;
	for (i = 0; i < size; i++) {
		if (!t->data || !read_image_byte(t, vaddr + i, &byte))
			return false;
		*value |= (uint64_t)byte << 8 * i;
	}
	return true;
}

/* ---- tables ---- */

static bool is_in_procedure(const struct jump_targets *t, uint64_t target)
{
	return target - t->w->src->start < t->w->src->size;
}

/* Returns false if a known instruction covers the target without starting there. */
static bool may_be_insn(const struct jump_targets *t, uint64_t target)
{
	uint32_t offset = (uint32_t)(target - t->w->src->start), back;

	if (t->w->at[offset])
		return true;
	for (back = 1; back < VT_MAX_INSN && back <= offset; back++) {
		uint32_t at = t->w->at[offset - back];

		if (at)
			return t->w->nodes[at - 1].length <= back;
	}
	return true;
}

static bool is_jump_limit(const struct jump_targets *t)
{
	return t->w->work >= VTI_MAX_WORK || t->w->njumps >= VTI_MAX_JUMPS;
}

static bool append_jump_target(struct jump_targets *t, uint32_t from, uint64_t target)
{
	struct vti_walk *w = t->w;
	uint32_t to = (uint32_t)(target - w->src->start);

	if (!vt_array_grow(&w->jumps, &w->jumps_cap, w->njumps + 1, sizeof(*w->jumps)))
		return false;
	w->jumps[w->njumps++] = (struct vti_jump){from, to};
	return vti_walk_queue(w, to);
}

static uint64_t entry_target(const struct vti_value *v, uint64_t word)
{
	uint64_t sign = v->size && v->size < 8 ? UINT64_C(1) << (8 * v->size - 1) : 0;

	if (v->is_signed)
		word = (word ^ sign) - sign;
	return word + v->add;
}

/*
 * Adds the targets of a table with `count` entries; if the count is not `known`, up to the first
 * entry that does not lead to an instruction of the procedure.
 */
static bool add_table_entries(struct jump_targets *t, struct vti_node *n, const struct vti_value *v,
			      uint64_t count, bool known)
{
	size_t before = t->w->njumps;
	uint64_t i, word, target = 0;

	for (i = 0; i < count; i++) {
		if (is_jump_limit(t) || !read_image_word(t, v->lo + i * v->stride, v->size, &word))
			break;
		t->w->work++;
		target = entry_target(v, word);
		if (is_in_procedure(t, target) && (known || may_be_insn(t, target))) {
			if (!append_jump_target(t, n->offset, target)) {
				t->failed = true;
				return false;
			}
		} else if (known && vt_elf_is_code(t->elf, target)) {
			n->leaves = true;
		} else {
			break;
		}
	}
	if (known && i == count)
		return true;
	if (!known && i > 1) {
		/* The table may continue with targets in another part of the procedure. */
		n->unknown = i == count || vt_elf_is_code(t->elf, target);
		return true;
	}
	/* The targets added before stay queued: they may be code reached in no other way. */
	t->w->njumps = before;
	n->leaves = false;
	return false;
}

static bool add_table_targets(struct jump_targets *t, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1;
	/* The range of a byte, two bytes or a bit count may exceed the size of the table. */
	bool natural = count == 64 || count == 256 || count == 65536;

	if (count <= MAX_ENTRIES && add_table_entries(t, n, v, count, true))
		return true;
	return (count > MAX_ENTRIES || natural) && add_table_entries(t, n, v, MAX_ENTRIES, false);
}

/* Adds computed targets: one address, or several at equal distances. */
static bool add_computed_targets(struct jump_targets *t, struct vti_node *n,
				 const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1, i;

	if (count > 256 || v->stride == 1)
		return false;
	for (i = 0; i < count; i++)
		if (!is_in_procedure(t, v->lo + i * v->stride))
			return false;
	for (i = 0; i < count; i++)
		if (!append_jump_target(t, n->offset, v->lo + i * v->stride)) {
			t->failed = true;
			return false;
		}
	return true;
}

/*
 * Adds the targets of a jump to a value.  With the stack as at the start of the procedure
 * (`at_start`), a jump to an unchanged pointer is a tail call.
 */
static bool add_targets(struct jump_targets *t, struct vti_node *n, const struct vti_value *v,
			bool at_start)
{
	n->unknown = false;
	n->leaves = false;
	if (v->entry && add_table_targets(t, n, v))
		return !n->unknown;
	if (!v->entry && !is_jump_limit(t) && add_computed_targets(t, n, v))
		return true;
	n->leaves = true;
	n->unknown = v->entry || v->computed || !at_start || is_jump_limit(t);
	if (!v->entry && v->lo == v->hi && t->elf && vt_elf_is_code(t->elf, v->lo))
		n->unknown = false;
	return !n->unknown;
}

/*
 * Handles a jump through a word at a fixed address.  Returns false for other jumps.  Such a jump is
 * a tail call, or a stub of a procedure linkage table, which continues after the jump while the
 * word is not yet set.
 */
static bool add_fixed_target(struct jump_targets *t, struct vti_node *n, const struct vt_facts *f)
{
	uint64_t next = t->w->src->start + n->offset + n->length, word = 0;
	const uint8_t *bytes = NULL;
	size_t avail, i;

	if (!f->nmemories || f->memories[0].base != VT_REG_IP)
		return false;
	n->leaves = true;
	n->unknown = false;
	if (t->elf)
		bytes = vt_elf_bytes(t->elf, next + (uint64_t)f->memories[0].displacement, &avail);
	for (i = 0; bytes && avail >= 8 && i < 8; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	if (word == next && is_in_procedure(t, next) && !append_jump_target(t, n->offset, next))
		t->failed = true;
	return true;
}

/* ---- the stack ---- */

#define STACK 0x10000 /* any address */

static bool stack_only(void *arg, unsigned reg, uint64_t *value)
{
	(void)arg;
	*value = STACK;
	return reg == VT_REG_SP;
}

static bool any_word(void *arg, uint64_t address, unsigned size, uint64_t *value)
{
	(void)arg;
	(void)address;
	(void)size;
	*value = 0;
	return true;
}

/* Returns true if, by call frame information, the stack pointer is as at the start. */
static bool is_stack_at_start(struct jump_targets *t, const struct vti_node *n)
{
	const struct vt_cfg_source *src = t->w->src;
	const struct vt_unwind_state state = {NULL, stack_only, any_word};
	struct vt_unwind *u = src->images ? vt_images_unwind(src->images, src->image) : NULL;
	struct vt_return ret;

	return u && vt_unwind_find(u, src->start + n->offset, 0, &state, &ret) && ret.slot == STACK;
}

/* `t` must not be moved afterwards. */
static void open_targets(struct jump_targets *t, struct vti_walk *w)
{
	enum vt_unknown why;

	memset(t, 0, sizeof(*t));
	t->w = w;
	t->line_at = UINT64_MAX;
	t->memory = (struct vti_memory){t, is_constant_word, read_image_word};
	if (!w->src->images)
		return;
	t->elf = vt_images_elf(w->src->images, w->src->image, &why);
	t->data = vt_images_data(w->src->images, w->src->image);
}

/* ---- jump ---- */

/* Compilers align procedures to this, and apart from loops hardly anything else. */
#define ALIGNED 16

/* Visits of a place after which differing values become unknown, and the limit on visits. */
#define WIDEN_AT   3
#define MAX_VISITS 24

/* Limit on searches of a procedure: data that looks like code may need any number. */
#define MAX_SEARCHES 64

/* Limit on places with a state, of 3 KB each. */
#define MAX_PLACES 32768

/* The work of joining states, in instructions. */
#define JOINING 4

/* Number of instructions before a jump that are searched first. */
#define PATH 96

/* What is known at a place on all ways to it found so far. */
struct place_state {
	struct vti_flowstate state;
	uint16_t visits;
	bool queued;
};

/* An instruction that was decoded, of those that share a place in the cache. */
struct known_insn {
	uint32_t node; /* from 1 */
	struct vt_facts facts;
};

/* The most of them, of 400 bytes each. */
#define MAX_KNOWN 4096

/* The search for the targets of a procedure's indirect jumps. */
struct jump_search {
	struct vti_walk *w;
	struct jump_targets t;
	struct known_insn *known; /* loops are followed several times */
	uint32_t nknown;
	uint32_t *before; /* by offset: the only predecessor node, from 1; 0: none; or MANY */
	uint32_t *place;  /* by offset: number of the state there, from 1 */
	bool *leads;	  /* by node: to a jump whose targets are sought */
	struct place_state *states;
	size_t nstates;
	size_t states_cap;
	uint32_t *todo; /* a queue of offsets */
	size_t ntodo;
	size_t done;
	size_t todo_cap;
	size_t first;  /* targets are wanted for nodes from this one on */
	size_t njumps; /* number of w->jumps before the search */
	bool failed;   /* memory ran out */
};

/* Returns true if a limit of the search is reached. */
static bool is_search_limit(const struct jump_search *s)
{
	return s->w->work >= VTI_MAX_WORK || s->nstates >= MAX_PLACES;
}

/* ---- the way to the jumps ---- */

/* Whether it is a jump whose targets are sought. */
static bool is_sought(const struct jump_search *s, const struct vti_node *n)
{
	return n->next == VTI_NEXT_INDIRECT && n->unknown && (size_t)(n - s->w->nodes) >= s->first;
}

static bool leads_to_sought(const struct jump_search *s, int64_t offset)
{
	uint32_t node;

	if (offset < 0 || (uint64_t)offset >= s->w->src->size)
		return false;
	node = s->w->at[offset];
	return node && s->leads[node - 1];
}

static bool leads_on(const struct jump_search *s, const struct vti_node *n)
{
	size_t i;

	if ((n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL) &&
	    leads_to_sought(s, (int64_t)n->offset + n->length))
		return true;
	if (n->next == VTI_NEXT_CONDITIONAL || n->next == VTI_NEXT_JUMP)
		return leads_to_sought(s, n->target);
	if (n->next != VTI_NEXT_INDIRECT)
		return false;
	for (i = vti_jumps_at(s->w, s->njumps, n->offset);
	     i < s->njumps && s->w->jumps[i].from == n->offset; i++)
		if (leads_to_sought(s, s->w->jumps[i].to))
			return true;
	return false;
}

/* More rounds than loops are nested; after them, everything may lead there. */
#define MAX_MARKING 16

/* Marks what leads to the jumps: what else is known of the procedure does not matter to them. */
static void mark_leading(struct jump_search *s)
{
	const struct vti_walk *w = s->w;
	unsigned rounds;
	bool changed = true;
	size_t i;

	for (rounds = 0; changed && rounds < MAX_MARKING; rounds++) {
		changed = false;
		for (i = w->nnodes; i-- > 0;) {
			if (s->leads[i] ||
			    !(is_sought(s, &w->nodes[i]) || leads_on(s, &w->nodes[i])))
				continue;
			s->leads[i] = changed = true;
		}
	}
	if (changed)
		memset(s->leads, true, w->nnodes);
}

/* ---- the states of places ---- */

static bool queue_place(struct jump_search *s, uint32_t number, uint32_t offset)
{
	if (s->states[number].queued)
		return true;
	if (!vt_array_grow(&s->todo, &s->todo_cap, s->ntodo + 1, sizeof(*s->todo)))
		return false;
	s->states[number].queued = true;
	s->todo[s->ntodo++] = offset;
	return true;
}

static bool add_jump_place(struct jump_search *s, uint32_t offset,
			   const struct vti_flowstate *state)
{
	size_t n = s->nstates;

	if (!vt_array_grow(&s->states, &s->states_cap, n + 1, sizeof(*s->states)))
		return false;
	s->states[n] = (struct place_state){.state = *state};
	vti_flowstate_settle(&s->states[n].state);
	s->place[offset] = (uint32_t)++s->nstates;
	return queue_place(s, (uint32_t)n, offset);
}

/* Joins a state to that of an offset that control reaches; `widen` as vti_flowstate_join(). */
static void reach_offset(struct jump_search *s, int64_t offset, const struct vti_flowstate *state,
			 bool widen)
{
	struct place_state *place;
	uint32_t number;

	if (offset < 0 || (uint64_t)offset >= s->w->src->size || s->failed || is_search_limit(s) ||
	    !leads_to_sought(s, offset))
		return;
	s->w->work += JOINING;
	if (!s->place[offset]) {
		s->failed = !add_jump_place(s, (uint32_t)offset, state);
		return;
	}
	number = s->place[offset] - 1;
	place = &s->states[number];
	if (vti_flowstate_join(&place->state, state, (uint32_t)offset,
			       widen || place->visits >= WIDEN_AT) &&
	    place->visits < MAX_VISITS)
		s->failed = !queue_place(s, number, (uint32_t)offset);
}

/* Passes a state to the known targets of a jump.  Widens it: interpreters have many large tables.
 */
static void reach_jump_targets(struct jump_search *s, uint32_t from,
			       const struct vti_flowstate *state)
{
	size_t i;

	for (i = vti_jumps_at(s->w, s->njumps, from); i < s->njumps && s->w->jumps[i].from == from;
	     i++)
		reach_offset(s, s->w->jumps[i].to, state, true);
}

static void leave_node(struct jump_search *s, const struct vti_node *n, const struct vt_facts *f,
		       const struct vti_flowstate *state)
{
	struct vti_flowstate other = *state;

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_CONDITIONAL:
		vti_flowstate_branch(&other, f, true);
		reach_offset(s, n->target, &other, false);
		other = *state;
		vti_flowstate_branch(&other, f, false);
		reach_offset(s, (int64_t)n->offset + n->length, &other, false);
		break;
	case VTI_NEXT_JUMP:
		reach_offset(s, n->target, state, false);
		break;
	case VTI_NEXT_INDIRECT:
		reach_jump_targets(s, n->offset, state);
		break;
	default:
		break;
	}
}

static void find_node_targets(struct jump_search *s, struct vti_node *n, const struct vt_facts *f,
			      struct vti_flowstate *state)
{
	uint64_t vaddr = s->w->src->start + n->offset;
	struct vti_value v;

	if (!is_sought(s, n))
		return;
	v = vti_flowstate_target(state, f, vaddr, n->offset, &s->t.memory);
	add_targets(&s->t, n, &v, vti_flowstate_at_start(state) || is_stack_at_start(&s->t, n));
}

/* Until the next call; NULL: it cannot be decoded. */
static const struct vt_facts *decode_node(struct jump_search *s, uint32_t at)
{
	uint32_t node = s->w->at[at];
	struct known_insn *k = &s->known[node % s->nknown];

	if (k->node == node)
		return &k->facts;
	k->node = 0;
	if (!vt_facts_decode(s->w->src->code + at, s->w->src->size - at, &k->facts))
		return NULL;
	k->node = node;
	return &k->facts;
}

/*
 * Applies instructions from a place to the end of the block, and passes the state on.  With
 * `taking`, adds the targets of an indirect jump at the end instead.
 */
static void follow_jump_path(struct jump_search *s, uint32_t at, bool taking)
{
	struct vti_flowstate state = s->states[s->place[at] - 1].state;
	const struct vt_cfg_source *src = s->w->src;
	const struct vt_facts *f;
	struct vti_node *n;
	uint32_t first = at;

	for (; at < src->size && s->w->at[at]; at += n->length) {
		s->w->work++;
		n = &s->w->nodes[s->w->at[at] - 1];
		if (at != first && (s->w->mark[at] & VTI_LEADER)) {
			if (!taking)
				reach_offset(s, at, &state, false);
			return;
		}
		f = n->next == VTI_NEXT_BAD ? NULL : decode_node(s, at);
		if (!f)
			return;
		if (n->next != VTI_NEXT_FALL) {
			if (taking)
				find_node_targets(s, n, f, &state);
			else
				leave_node(s, n, f, &state);
			return;
		}
		vti_flowstate_step(&state, f, src->start + at, at, &s->t.memory);
	}
}

/*
 * Whether the block at a place ends in a jump whose targets are sought.  If it does not, its
 * instructions are all the work that it takes.
 */
static bool has_sought_end(const struct jump_search *s, uint32_t at)
{
	uint32_t first = at;
	uint64_t work = 0;

	for (; at < s->w->src->size && s->w->at[at]; at += s->w->nodes[s->w->at[at] - 1].length) {
		const struct vti_node *n = &s->w->nodes[s->w->at[at] - 1];

		work++;
		if (at != first && (s->w->mark[at] & VTI_LEADER))
			break;
		if (is_sought(s, n))
			return true;
		if (n->next != VTI_NEXT_FALL)
			break;
	}
	s->w->work += work;
	return false;
}

/* ---- procedures ---- */

static void start_places(struct jump_search *s)
{
	struct vti_flowstate state;
	size_t i;

	for (i = 0; i < s->w->src->size && !s->failed; i++)
		if (s->w->mark[i] & VTI_ENTRY) {
			vti_flowstate_start(&state);
			/* Other entries than starts of procedures have an unknown stack. */
			if ((s->w->src->start + i) % ALIGNED)
				state.regs[VT_REG_SP] = vti_value_unknown(0);
			reach_offset(s, (int64_t)i, &state, false);
		}
}

static void find_states(struct jump_search *s)
{
	start_places(s);
	while (s->done < s->ntodo && !s->failed && !is_search_limit(s)) {
		uint32_t at = s->todo[s->done++];
		struct place_state *place = &s->states[s->place[at] - 1];

		place->queued = false;
		place->visits++;
		follow_jump_path(s, at, false);
	}
}

static int compare_jumps(const void *x, const void *y)
{
	const struct vti_jump *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void sort_jumps(struct vti_walk *w)
{
	size_t i, n = 0;

	if (w->njumps)
		qsort(w->jumps, w->njumps, sizeof(*w->jumps), compare_jumps);
	for (i = 0; i < w->njumps; i++)
		if (!n || compare_jumps(&w->jumps[n - 1], &w->jumps[i]) != 0)
			w->jumps[n++] = w->jumps[i];
	w->njumps = n;
}

static void search_states(struct jump_search *s)
{
	size_t i;

	sort_jumps(s->w);
	s->njumps = s->w->njumps;
	s->place = calloc(s->w->src->size, sizeof(*s->place));
	s->leads = calloc(s->w->nnodes, sizeof(*s->leads));
	s->nknown = s->w->nnodes < MAX_KNOWN ? (uint32_t)s->w->nnodes : MAX_KNOWN;
	s->known = calloc(s->nknown, sizeof(*s->known));
	if (!s->place || !s->leads || !s->known) {
		s->failed = true;
		return;
	}
	mark_leading(s);
	find_states(s);
	/* The states of an unfinished search are not valid for all paths. */
	if (is_search_limit(s))
		return;
	for (i = 0; i < s->w->src->size && !s->failed && !s->t.failed; i++)
		if (s->place[i] && has_sought_end(s, (uint32_t)i))
			follow_jump_path(s, (uint32_t)i, true);
}

/* ---- the instructions right before a jump ---- */

#define MANY UINT32_MAX /* several predecessors, or an entry */

static void note_predecessor(struct jump_search *s, int64_t to, size_t node)
{
	if (to >= 0 && (uint64_t)to < s->w->src->size)
		s->before[to] = s->before[to] ? MANY : (uint32_t)node + 1;
}

static void find_predecessors(struct jump_search *s)
{
	const struct vti_walk *w = s->w;
	size_t i;

	for (i = 0; i < w->nnodes; i++) {
		const struct vti_node *n = &w->nodes[i];

		if (n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL)
			note_predecessor(s, (int64_t)n->offset + n->length, i);
		if (n->next == VTI_NEXT_JUMP || n->next == VTI_NEXT_CONDITIONAL)
			note_predecessor(s, n->target, i);
	}
	for (i = 0; i < w->njumps; i++)
		s->before[w->jumps[i].to] = MANY;
	for (i = 0; i < w->src->size; i++)
		if (w->mark[i] & VTI_ENTRY)
			s->before[i] = MANY;
}

/* Applies the nodes of a path, from path[n - 1] to path[1], and decodes path[0]. */
static bool execute_path(struct jump_search *s, const uint32_t *path, unsigned n,
			 struct vti_flowstate *state, struct vt_facts *f)
{
	const struct vt_cfg_source *src = s->w->src;

	vti_flowstate_start(state);
	state->regs[VT_REG_SP] = vti_value_unknown(0);
	while (n--) {
		const struct vti_node *node = &s->w->nodes[path[n]];

		if (!vt_facts_decode(src->code + node->offset, src->size - node->offset, f))
			return false;
		if (n && node->next == VTI_NEXT_CONDITIONAL)
			vti_flowstate_branch(state, f,
					     s->w->nodes[path[n - 1]].offset == node->target);
		else if (n && node->next == VTI_NEXT_FALL)
			vti_flowstate_step(state, f, src->start + node->offset, node->offset,
					   &s->t.memory);
	}
	return true;
}

/* Tries the instructions right before a jump: usually all it depends on, and much less work. */
static void search_path(struct jump_search *s, size_t node)
{
	struct vti_node *n = &s->w->nodes[node];
	uint32_t path[PATH], length = 0, at = (uint32_t)node;
	struct vti_flowstate state;
	struct vti_value v;
	struct vt_facts f;

	s->w->work += PATH;
	path[length++] = at;
	while (length < PATH) {
		uint32_t before = s->before[s->w->nodes[at].offset];

		if (!before || before == MANY)
			break;
		at = before - 1;
		path[length++] = at;
	}
	n->unknown = true;
	if (!execute_path(s, path, length, &state, &f))
		return;
	v = vti_flowstate_target(&state, &f, s->w->src->start + n->offset, n->offset, &s->t.memory);
	if (v.entry || v.lo == v.hi || vti_flowstate_is_loaded(&v))
		add_targets(&s->t, n, &v, is_stack_at_start(&s->t, n));
}

/* Handles jumps that need no search of the states.  Returns true if others are left. */
static bool search_paths(struct jump_search *s)
{
	const struct vt_cfg_source *src = s->w->src;
	bool more = false;
	struct vt_facts f;
	size_t i;

	for (i = s->first; i < s->w->nnodes && !s->failed && !s->t.failed; i++) {
		struct vti_node *n = &s->w->nodes[i];

		if (n->next != VTI_NEXT_INDIRECT ||
		    !vt_facts_decode(src->code + n->offset, src->size - n->offset, &f) ||
		    add_fixed_target(&s->t, n, &f))
			continue;
		n->unknown = true;
		if (s->w->work >= VTI_MAX_WORK || (!s->before && s->w->searches++ >= MAX_SEARCHES))
			continue;
		if (!s->before) {
			s->before = calloc(src->size, sizeof(*s->before));
			s->failed = !s->before;
			if (s->before)
				find_predecessors(s);
		}
		if (s->before)
			search_path(s, i);
		more |= n->unknown;
	}
	return more && s->before;
}

static void free_search(struct jump_search *s)
{
	free(s->before);
	free(s->place);
	free(s->leads);
	free(s->states);
	free(s->todo);
	free(s->known);
}

size_t vti_jumps_at(const struct vti_walk *w, size_t n, uint32_t offset)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->jumps[middle].from < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int vti_jumps_find(struct vti_walk *w, size_t first, struct vt_error *err)
{
	struct jump_search s = {.w = w, .first = first};
	size_t i, had = w->njumps;

	for (i = first; i < w->nnodes && w->nodes[i].next != VTI_NEXT_INDIRECT; i++)
		;
	if (i == w->nnodes)
		return 0;
	open_targets(&s.t, w);
	if (search_paths(&s))
		search_states(&s);
	free_search(&s);
	if (s.failed || s.t.failed)
		return vti_cfg_nomem(err);
	if (w->njumps != had)
		sort_jumps(w);
	return 0;
}
