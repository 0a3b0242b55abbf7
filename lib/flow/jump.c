/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "flow/state.h"
#include "image/imagedata.h"
#include "image/unwind.h"
#include "machine/insn/insn.h"

/* Where indirect jumps go, from what is known of the value that they go by. */
struct targets {
	struct vti_walk *w;
	struct vti_memory memory; /* the image's constants */
	const struct vt_imagedata *data;
	const struct vt_elf *elf;
	uint64_t line_at; /* the line of data read last: */
	uint64_t line_known;
	uint8_t line[VT_IMAGEDATA_LINE];
	bool failed; /* no memory */
};

/* Larger tables than interpreters and parsers have. */
#define MAX_ENTRIES 65536

/* ---- the image's constants ---- */

static bool is_constant(void *arg, uint64_t vaddr)
{
	struct targets *t = arg;

	return t->elf && vt_elf_is_constant(t->elf, vaddr);
}

static bool read_byte(struct targets *t, uint64_t vaddr, uint8_t *byte)
{
	uint64_t line = vaddr / VT_IMAGEDATA_LINE * VT_IMAGEDATA_LINE;

	if (line != t->line_at) {
		t->line_known = vt_imagedata_line(t->data, 0, line, true, t->line);
		t->line_at = line;
	}
	*byte = t->line[vaddr - line];
	return t->line_known >> (vaddr - line) & 1;
}

static bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	struct targets *t = arg;
	uint8_t byte;
	unsigned i;

	*value = 0;
	for (i = 0; i < size; i++) {
		if (!t->data || !read_byte(t, vaddr + i, &byte))
			return false;
		*value |= (uint64_t)byte << 8 * i;
	}
	return true;
}

/* ---- tables ---- */

static bool in_procedure(const struct targets *t, uint64_t target)
{
	return target - t->w->src->start < t->w->src->size;
}

static bool in_code(const struct targets *t, uint64_t target)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(t->elf, &n);

	for (i = 0; i < n; i++)
		if (g[i].exec && target >= g[i].vaddr && target - g[i].vaddr < g[i].filesz)
			return true;
	return false;
}

/* Whether an instruction begins there, as far as is known. */
static bool is_insn(const struct targets *t, uint64_t target)
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

static bool is_full(const struct targets *t)
{
	return t->w->work >= VTI_MAX_WORK || t->w->njumps >= VTI_MAX_JUMPS;
}

static bool add_jump(struct targets *t, uint32_t from, uint64_t target)
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
 * Takes the entries of a table, `count` of them; when that is not known, up to the first that leads
 * to no instruction of the procedure.
 */
static bool take_entries(struct targets *t, struct vti_node *n, const struct vti_value *v,
			 uint64_t count, bool known)
{
	size_t before = t->w->njumps;
	uint64_t i, word, target = 0;

	for (i = 0; i < count; i++) {
		if (is_full(t) || !read_word(t, v->lo + i * v->stride, v->size, &word))
			break;
		t->w->work++;
		target = entry_target(v, word);
		if (in_procedure(t, target) && (known || is_insn(t, target))) {
			if (!add_jump(t, n->offset, target)) {
				t->failed = true;
				return false;
			}
		} else if (known && in_code(t, target)) {
			n->leaves = true;
		} else {
			break;
		}
	}
	if (known && i == count)
		return true;
	if (!known && i > 1) {
		/* It may go on, with what another part of the procedure does. */
		n->unknown = i == count || in_code(t, target);
		return true;
	}
	/* Its first targets stay queued: they may be code that nothing else leads to. */
	t->w->njumps = before;
	n->leaves = false;
	return false;
}

static bool take_table(struct targets *t, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1;
	/* All that fits a byte or two, or counts bits, may be more than the program has in mind. */
	bool natural = count == 64 || count == 256 || count == 65536;

	if (count <= MAX_ENTRIES && take_entries(t, n, v, count, true))
		return true;
	return (count > MAX_ENTRIES || natural) && take_entries(t, n, v, MAX_ENTRIES, false);
}

/* Targets that are computed: a place, or several at equal distances. */
static bool take_places(struct targets *t, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1, i;

	if (count > 256 || v->stride == 1)
		return false;
	for (i = 0; i < count; i++)
		if (!in_procedure(t, v->lo + i * v->stride))
			return false;
	for (i = 0; i < count; i++)
		if (!add_jump(t, n->offset, v->lo + i * v->stride)) {
			t->failed = true;
			return false;
		}
	return true;
}

/* With the stack as it was, what a pointer leads to is another procedure. */
static bool take_targets(struct targets *t, struct vti_node *n, const struct vti_value *v,
			 bool at_start)
{
	n->unknown = false;
	n->leaves = false;
	if (v->entry && take_table(t, n, v))
		return !n->unknown;
	if (!v->entry && !is_full(t) && take_places(t, n, v))
		return true;
	n->leaves = true;
	n->unknown = v->entry || v->computed || !at_start || is_full(t);
	if (!v->entry && v->lo == v->hi && t->elf && in_code(t, v->lo))
		n->unknown = false;
	return !n->unknown;
}

/*
 * Takes those of a jump through one fixed word, and says whether it is one: a stub of a procedure
 * linkage table, which goes on behind the jump while the word has not been set yet; or a call of
 * what it calls.
 */
static bool take_fixed_target(struct targets *t, struct vti_node *n, const struct vt_facts *f)
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
	if (word == next && in_procedure(t, next) && !add_jump(t, n->offset, next))
		t->failed = true;
	return true;
}

/* ---- the stack ---- */

#define STACK 0x10000 /* as good as any */

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

/* Whether the stack is as at the start, by the image's call frame information. */
static bool is_stack_at_start(struct targets *t, const struct vti_node *n)
{
	const struct vt_cfg_source *src = t->w->src;
	const struct vt_unwind_state state = {NULL, stack_only, any_word};
	struct vt_unwind *u = src->images ? vt_images_unwind(src->images, src->image) : NULL;
	struct vt_return ret;

	return u && vt_unwind_find(u, src->start + n->offset, 0, &state, &ret) && ret.slot == STACK;
}

/* ---- all of it ---- */

/* `t` must stay where it is. */
static void open_targets(struct targets *t, struct vti_walk *w)
{
	enum vt_unknown why;

	memset(t, 0, sizeof(*t));
	t->w = w;
	t->line_at = UINT64_MAX;
	t->memory = (struct vti_memory){t, is_constant, read_word};
	if (!w->src->images)
		return;
	t->elf = vt_images_elf(w->src->images, w->src->image, &why);
	t->data = vt_images_data(w->src->images, w->src->image);
}

/* ---- jump ---- */

/* Compilers align procedures so, and hardly anything else that is not a loop. */
#define ALIGNED 16

/* A place is visited so often before what differs there is given up, and at the very most. */
#define WIDEN_AT   3
#define MAX_VISITS 24

/* Searches of one procedure.  Data that looks like code full of jumps could want any number. */
#define MAX_SEARCHES 64

/* Places whose states are known at a time: at 3 KB each. */
#define MAX_PLACES 32768

/* Joining states is as much work as so many instructions. */
#define JOINING 4

/* The instructions before a jump that are looked at first. */
#define PATH 96

/* The search for the targets of a procedure's indirect jumps. */
struct search {
	struct vti_walk *w;
	struct targets t;
	uint32_t *before; /* by offset: the node from which alone control comes, from 1; or 0 */
	uint32_t *place;  /* by offset: number of the state there, from 1 */
	struct vti_flowstate *states;
	uint16_t *visits;
	bool *queued;
	size_t nstates;
	size_t states_cap;
	size_t visits_cap;
	size_t queued_cap;
	uint32_t *todo; /* offsets; a queue */
	size_t ntodo;
	size_t done;
	size_t todo_cap;
	size_t first;  /* node whose targets are wanted, and all after it */
	size_t njumps; /* what of w->jumps was there before */
	bool failed;   /* no memory */
};

/* Whether there was more to do than ever will be. */
static bool is_spent(const struct search *s)
{
	return s->w->work >= VTI_MAX_WORK || s->nstates >= MAX_PLACES;
}

/* ---- the states of places ---- */

static bool queue(struct search *s, uint32_t number, uint32_t offset)
{
	if (s->queued[number])
		return true;
	if (!vt_array_grow(&s->todo, &s->todo_cap, s->ntodo + 1, sizeof(*s->todo)))
		return false;
	s->queued[number] = true;
	s->todo[s->ntodo++] = offset;
	return true;
}

static bool new_place(struct search *s, uint32_t offset, const struct vti_flowstate *state)
{
	size_t n = s->nstates;

	if (!vt_array_grow(&s->states, &s->states_cap, n + 1, sizeof(*s->states)) ||
	    !vt_array_grow(&s->visits, &s->visits_cap, n + 1, sizeof(*s->visits)) ||
	    !vt_array_grow(&s->queued, &s->queued_cap, n + 1, sizeof(*s->queued)))
		return false;
	s->states[n] = *state;
	vti_flowstate_settle(&s->states[n]);
	s->visits[n] = 0;
	s->queued[n] = false;
	s->place[offset] = (uint32_t)++s->nstates;
	return queue(s, (uint32_t)n, offset);
}

/* Control gets to an offset with this state; `widen`: what differs there is given up at once. */
static void arrive(struct search *s, int64_t offset, const struct vti_flowstate *state, bool widen)
{
	uint32_t number;

	if (offset < 0 || (uint64_t)offset >= s->w->src->size || s->failed || is_spent(s))
		return;
	s->w->work += JOINING;
	if (!s->place[offset]) {
		s->failed = !new_place(s, (uint32_t)offset, state);
		return;
	}
	number = s->place[offset] - 1;
	if (vti_flowstate_join(&s->states[number], state, (uint32_t)offset,
			       widen || s->visits[number] >= WIDEN_AT) &&
	    s->visits[number] < MAX_VISITS)
		s->failed = !queue(s, number, (uint32_t)offset);
}

/* The table that a jump is known to have so far; interpreters have many and large ones. */
static void arrive_jumps(struct search *s, uint32_t from, const struct vti_flowstate *state)
{
	size_t i;

	for (i = vti_jumps_at(s->w, s->njumps, from); i < s->njumps && s->w->jumps[i].from == from;
	     i++)
		arrive(s, s->w->jumps[i].to, state, true);
}

static void leave_node(struct search *s, const struct vti_node *n, const struct vt_facts *f,
		       const struct vti_flowstate *state)
{
	struct vti_flowstate other = *state;

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_CONDITIONAL:
		vti_flowstate_branch(&other, f, true);
		arrive(s, n->target, &other, false);
		other = *state;
		vti_flowstate_branch(&other, f, false);
		arrive(s, (int64_t)n->offset + n->length, &other, false);
		break;
	case VTI_NEXT_JUMP:
		arrive(s, n->target, state, false);
		break;
	case VTI_NEXT_INDIRECT:
		arrive_jumps(s, n->offset, state);
		break;
	default:
		break;
	}
}

static void take(struct search *s, struct vti_node *n, const struct vt_facts *f,
		 struct vti_flowstate *state)
{
	uint64_t vaddr = s->w->src->start + n->offset;
	struct vti_value v;

	if (n->next != VTI_NEXT_INDIRECT || !n->unknown || (size_t)(n - s->w->nodes) < s->first)
		return;
	v = vti_flowstate_target(state, f, vaddr, n->offset, &s->t.memory);
	take_targets(&s->t, n, &v, vti_flowstate_at_start(state) || is_stack_at_start(&s->t, n));
}

/*
 * Goes from a place to where ways part, or meet others.  With `taking`, the targets of a jump are
 * taken and nothing is passed on.
 */
static void follow(struct search *s, uint32_t at, bool taking)
{
	struct vti_flowstate state = s->states[s->place[at] - 1];
	const struct vt_cfg_source *src = s->w->src;
	struct vt_facts f;
	struct vti_node *n;
	uint32_t first = at;

	for (; at < src->size && s->w->at[at]; at += n->length) {
		s->w->work++;
		n = &s->w->nodes[s->w->at[at] - 1];
		if (at != first && (s->w->mark[at] & VTI_LEADER)) {
			if (!taking)
				arrive(s, at, &state, false);
			return;
		}
		if (n->next == VTI_NEXT_BAD || !vt_facts_decode(src->code + at, src->size - at, &f))
			return;
		if (n->next != VTI_NEXT_FALL) {
			if (taking)
				take(s, n, &f, &state);
			else
				leave_node(s, n, &f, &state);
			return;
		}
		vti_flowstate_step(&state, &f, src->start + at, at, &s->t.memory);
	}
}

/* ---- procedures ---- */

static void start_places(struct search *s)
{
	struct vti_flowstate state;
	size_t i;

	for (i = 0; i < s->w->src->size && !s->failed; i++)
		if (s->w->mark[i] & VTI_ENTRY) {
			vti_flowstate_start(&state);
			/* Elsewhere than where procedures start, control comes with any stack. */
			if ((s->w->src->start + i) % ALIGNED)
				state.regs[VT_REG_SP] = vti_value_unknown(0);
			arrive(s, (int64_t)i, &state, false);
		}
}

static void find_states(struct search *s)
{
	start_places(s);
	while (s->done < s->ntodo && !s->failed && !is_spent(s)) {
		uint32_t at = s->todo[s->done++], number = s->place[at] - 1;

		s->queued[number] = false;
		s->visits[number]++;
		follow(s, at, false);
	}
}

static int by_jump(const void *x, const void *y)
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
		qsort(w->jumps, w->njumps, sizeof(*w->jumps), by_jump);
	for (i = 0; i < w->njumps; i++)
		if (!n || by_jump(&w->jumps[n - 1], &w->jumps[i]) != 0)
			w->jumps[n++] = w->jumps[i];
	w->njumps = n;
}

static void search_all(struct search *s)
{
	size_t i;

	sort_jumps(s->w);
	s->njumps = s->w->njumps;
	s->place = calloc(s->w->src->size, sizeof(*s->place));
	if (!s->place) {
		s->failed = true;
		return;
	}
	find_states(s);
	/* What is known of some places only is not true of all ways. */
	if (is_spent(s))
		return;
	for (i = 0; i < s->w->src->size && !s->failed && !s->t.failed; i++)
		if (s->place[i])
			follow(s, (uint32_t)i, true);
}

/* ---- jumps by what comes right before ---- */

#define MANY UINT32_MAX

static void comes_from(struct search *s, int64_t to, size_t node)
{
	if (to >= 0 && (uint64_t)to < s->w->src->size)
		s->before[to] = s->before[to] ? MANY : (uint32_t)node + 1;
}

static void find_before(struct search *s)
{
	const struct vti_walk *w = s->w;
	size_t i;

	for (i = 0; i < w->nnodes; i++) {
		const struct vti_node *n = &w->nodes[i];

		if (n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL)
			comes_from(s, (int64_t)n->offset + n->length, i);
		if (n->next == VTI_NEXT_JUMP || n->next == VTI_NEXT_CONDITIONAL)
			comes_from(s, n->target, i);
	}
	for (i = 0; i < w->njumps; i++)
		s->before[w->jumps[i].to] = MANY;
	for (i = 0; i < w->src->size; i++)
		if (w->mark[i] & VTI_ENTRY)
			s->before[i] = MANY;
}

/* Does what the nodes do, path[n - 1] first, up to path[0], which it does not do. */
static bool go_along(struct search *s, const uint32_t *path, unsigned n,
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

/* Most compilers put all that a jump depends on right before it: much less work than a search. */
static void take_by_path(struct search *s, size_t node)
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
	if (!go_along(s, path, length, &state, &f))
		return;
	v = vti_flowstate_target(&state, &f, s->w->src->start + n->offset, n->offset, &s->t.memory);
	if (v.entry || v.lo == v.hi || vti_flowstate_is_loaded(&v))
		take_targets(&s->t, n, &v, is_stack_at_start(&s->t, n));
}

/* Whether any jump needs a search. */
static bool take_easy(struct search *s)
{
	const struct vt_cfg_source *src = s->w->src;
	bool more = false;
	struct vt_facts f;
	size_t i;

	for (i = s->first; i < s->w->nnodes && !s->failed && !s->t.failed; i++) {
		struct vti_node *n = &s->w->nodes[i];

		if (n->next != VTI_NEXT_INDIRECT ||
		    !vt_facts_decode(src->code + n->offset, src->size - n->offset, &f) ||
		    take_fixed_target(&s->t, n, &f))
			continue;
		n->unknown = true;
		if (s->w->work >= VTI_MAX_WORK || (!s->before && s->w->searches++ >= MAX_SEARCHES))
			continue;
		if (!s->before) {
			s->before = calloc(src->size, sizeof(*s->before));
			s->failed = !s->before;
			if (s->before)
				find_before(s);
		}
		if (s->before)
			take_by_path(s, i);
		more |= n->unknown;
	}
	return more && s->before;
}

static void search_free(struct search *s)
{
	free(s->before);
	free(s->place);
	free(s->states);
	free(s->visits);
	free(s->queued);
	free(s->todo);
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
	struct search s = {.w = w, .first = first};
	size_t i, had = w->njumps;

	for (i = first; i < w->nnodes && w->nodes[i].next != VTI_NEXT_INDIRECT; i++)
		;
	if (i == w->nnodes)
		return 0;
	open_targets(&s.t, w);
	if (take_easy(&s))
		search_all(&s);
	search_free(&s);
	if (s.failed || s.t.failed)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
	if (w->njumps != had)
		sort_jumps(w);
	return 0;
}
