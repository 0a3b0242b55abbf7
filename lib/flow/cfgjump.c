/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/cfg_internal.h"
#include "flow/cfgstate.h"
#include "image/imagedata.h"
#include "machine/insn.h"

/* Larger tables than interpreters and parsers have. */
#define MAX_ENTRIES 65536

/* Compilers align procedures so, and hardly anything else that is not a loop. */
#define ALIGNED 16

/* A place is visited so often before what differs there is given up, and at the very most. */
#define WIDEN_AT   6
#define MAX_VISITS 24

/* The search for the targets of a procedure's indirect jumps. */
struct search {
	struct vti_walk *w;
	struct vti_memory memory;
	const struct vt_imagedata *data;
	const struct vt_elf *elf;
	uint64_t line_at; /* the line of data read last: */
	uint64_t line_known;
	uint8_t line[VT_IMAGEDATA_LINE];
	uint32_t *place; /* by offset: number of the state there, from 1 */
	struct vti_state *states;
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

/* ---- the image's constants ---- */

static bool is_constant(void *arg, uint64_t vaddr)
{
	struct search *s = arg;

	return s->elf && vt_elf_is_constant(s->elf, vaddr);
}

static bool read_byte(struct search *s, uint64_t vaddr, uint8_t *byte)
{
	uint64_t line = vaddr / VT_IMAGEDATA_LINE * VT_IMAGEDATA_LINE;

	if (line != s->line_at) {
		s->line_known = vt_imagedata_line(s->data, 0, line, true, s->line);
		s->line_at = line;
	}
	*byte = s->line[vaddr - line];
	return s->line_known >> (vaddr - line) & 1;
}

static bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	struct search *s = arg;
	uint8_t byte;
	unsigned i;

	*value = 0;
	for (i = 0; i < size; i++) {
		if (!s->data || !read_byte(s, vaddr + i, &byte))
			return false;
		*value |= (uint64_t)byte << 8 * i;
	}
	return true;
}

/* ---- tables ---- */

static bool in_procedure(const struct search *s, uint64_t target)
{
	return target - s->w->src->start < s->w->src->size;
}

static bool in_code(const struct search *s, uint64_t target)
{
	size_t n, i;
	const struct vt_elf_segment *g = vt_elf_segments(s->elf, &n);

	for (i = 0; i < n; i++)
		if (g[i].exec && target >= g[i].vaddr && target - g[i].vaddr < g[i].filesz)
			return true;
	return false;
}

/* Whether an instruction begins there, as far as is known. */
static bool is_insn(const struct search *s, uint64_t target)
{
	uint32_t offset = (uint32_t)(target - s->w->src->start), back;

	if (s->w->at[offset])
		return true;
	for (back = 1; back < VT_MAX_INSN && back <= offset; back++) {
		uint32_t at = s->w->at[offset - back];

		if (at)
			return s->w->nodes[at - 1].length <= back;
	}
	return true;
}

static bool add_jump(struct search *s, uint32_t from, uint64_t target)
{
	struct vti_walk *w = s->w;
	uint32_t to = (uint32_t)(target - w->src->start);

	if (!vt_array_grow(&w->jumps, &w->jumps_cap, w->njumps + 1, sizeof(*w->jumps)))
		return false;
	w->jumps[w->njumps++] = (struct vti_jump){from, to};
	return vti_walk_queue(w, to);
}

static uint64_t entry_target(const struct vti_value *v, uint64_t word)
{
	uint64_t sign = v->size < 8 ? UINT64_C(1) << (8 * v->size - 1) : 0;

	if (v->is_signed)
		word = (word ^ sign) - sign;
	return word + v->add;
}

/*
 * Takes the entries of a table, `count` of them; when that is not known, up to the first that leads
 * to no instruction of the procedure.
 */
static bool take_entries(struct search *s, struct vti_node *n, const struct vti_value *v,
			 uint64_t count, bool known)
{
	size_t before = s->w->njumps;
	uint64_t i, word, target = 0;

	for (i = 0; i < count; i++) {
		if (!read_word(s, v->lo + i * v->stride, v->size, &word))
			break;
		target = entry_target(v, word);
		if (in_procedure(s, target) && (known || is_insn(s, target))) {
			if (!add_jump(s, n->offset, target)) {
				s->failed = true;
				return false;
			}
		} else if (known && in_code(s, target)) {
			n->leaves = true;
		} else {
			break;
		}
	}
	if (known && i == count)
		return true;
	if (!known && i > 1) {
		/* It may go on, with what another part of the procedure does. */
		n->unknown = i < count && in_code(s, target);
		return true;
	}
	s->w->njumps = before;
	n->leaves = false;
	return false;
}

static bool take_table(struct search *s, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1;
	/* All that fits a byte or two may be more than the program has in mind. */
	bool natural = count == 256 || count == 65536;

	if (count <= MAX_ENTRIES && take_entries(s, n, v, count, true))
		return true;
	return (count > MAX_ENTRIES || natural) && take_entries(s, n, v, MAX_ENTRIES, false);
}

/* Targets that are computed: a place, or several at equal distances. */
static bool take_places(struct search *s, struct vti_node *n, const struct vti_value *v)
{
	uint64_t count = v->stride ? (v->hi - v->lo) / v->stride + 1 : 1, i;

	if (count > 256 || v->stride == 1)
		return false;
	for (i = 0; i < count; i++)
		if (!in_procedure(s, v->lo + i * v->stride))
			return false;
	for (i = 0; i < count; i++)
		if (!add_jump(s, n->offset, v->lo + i * v->stride)) {
			s->failed = true;
			return false;
		}
	return true;
}

static void take_target(struct search *s, struct vti_node *n, const struct vti_value *v,
			bool at_start)
{
	n->unknown = false;
	n->leaves = false;
	if (v->entry && take_table(s, n, v))
		return;
	if (!v->entry && take_places(s, n, v))
		return;
	/* With the stack as it was, what a pointer leads to is another procedure. */
	n->leaves = true;
	n->unknown = v->entry || v->computed || !at_start;
	if (!v->entry && v->lo == v->hi && s->elf && in_code(s, v->lo))
		n->unknown = false;
}

/*
 * Through one fixed word: a stub of a procedure linkage table, which goes on behind the jump while
 * the word has not been set yet; or a call of what it calls.
 */
static void take_fixed(struct search *s, struct vti_node *n, const struct vt_facts *f)
{
	uint64_t next = s->w->src->start + n->offset + n->length, word = 0;
	const uint8_t *bytes = NULL;
	size_t avail, i;

	n->leaves = true;
	if (s->elf)
		bytes = vt_elf_bytes(s->elf, next + (uint64_t)f->memories[0].displacement, &avail);
	for (i = 0; bytes && avail >= 8 && i < 8; i++)
		word |= (uint64_t)bytes[i] << 8 * i;
	if (word == next && in_procedure(s, next) && !add_jump(s, n->offset, next))
		s->failed = true;
}

static bool is_fixed(const struct vt_facts *f)
{
	return f->nmemories && f->memories[0].base == VT_REG_IP;
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

static bool new_place(struct search *s, uint32_t offset, const struct vti_state *state)
{
	size_t n = s->nstates;

	if (!vt_array_grow(&s->states, &s->states_cap, n + 1, sizeof(*s->states)) ||
	    !vt_array_grow(&s->visits, &s->visits_cap, n + 1, sizeof(*s->visits)) ||
	    !vt_array_grow(&s->queued, &s->queued_cap, n + 1, sizeof(*s->queued)))
		return false;
	s->states[n] = *state;
	vti_state_settle(&s->states[n]);
	s->visits[n] = 0;
	s->queued[n] = false;
	s->place[offset] = (uint32_t)++s->nstates;
	return queue(s, (uint32_t)n, offset);
}

/* Control gets to an offset with this state. */
static void arrive(struct search *s, int64_t offset, const struct vti_state *state)
{
	uint32_t number;

	if (offset < 0 || (uint64_t)offset >= s->w->src->size || s->failed)
		return;
	if (!s->place[offset]) {
		s->failed = !new_place(s, (uint32_t)offset, state);
		return;
	}
	number = s->place[offset] - 1;
	if (vti_state_join(&s->states[number], state, (uint32_t)offset,
			   s->visits[number] >= WIDEN_AT) &&
	    s->visits[number] < MAX_VISITS)
		s->failed = !queue(s, number, (uint32_t)offset);
}

/* The table that a jump is known to have so far. */
static void arrive_jumps(struct search *s, uint32_t from, const struct vti_state *state)
{
	size_t i;

	for (i = vti_jumps_at(s->w, s->njumps, from); i < s->njumps && s->w->jumps[i].from == from;
	     i++)
		arrive(s, s->w->jumps[i].to, state);
}

static void leave_node(struct search *s, const struct vti_node *n, const struct vt_facts *f,
		       const struct vti_state *state)
{
	struct vti_state other = *state;

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_CONDITIONAL:
		vti_state_branch(&other, f, true);
		arrive(s, n->target, &other);
		other = *state;
		vti_state_branch(&other, f, false);
		arrive(s, (int64_t)n->offset + n->length, &other);
		break;
	case VTI_NEXT_JUMP:
		arrive(s, n->target, state);
		break;
	case VTI_NEXT_INDIRECT:
		arrive_jumps(s, n->offset, state);
		break;
	default:
		break;
	}
}

static void take(struct search *s, struct vti_node *n, const struct vt_facts *f,
		 struct vti_state *state)
{
	uint64_t vaddr = s->w->src->start + n->offset;
	struct vti_value v;

	if (n->next != VTI_NEXT_INDIRECT || is_fixed(f) || (size_t)(n - s->w->nodes) < s->first)
		return;
	v = vti_state_target(state, f, vaddr, n->offset, &s->memory);
	take_target(s, n, &v, vti_state_at_start(state));
}

/*
 * Goes from a place to where ways part, or meet others.  With `taking`, the targets of a jump are
 * taken and nothing is passed on.
 */
static void follow(struct search *s, uint32_t at, bool taking)
{
	struct vti_state state = s->states[s->place[at] - 1];
	const struct vt_cfg_source *src = s->w->src;
	struct vt_facts f;
	struct vti_node *n;
	uint32_t first = at;

	for (; at < src->size && s->w->at[at]; at += n->length) {
		n = &s->w->nodes[s->w->at[at] - 1];
		if (at != first && (s->w->mark[at] & VTI_LEADER)) {
			if (!taking)
				arrive(s, at, &state);
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
		vti_state_step(&state, &f, src->start + at, at, &s->memory);
	}
}

/* ---- procedures ---- */

static void start_places(struct search *s)
{
	struct vti_state state;
	size_t i;

	for (i = 0; i < s->w->src->size && !s->failed; i++)
		if (s->w->mark[i] & VTI_ENTRY) {
			vti_state_start(&state);
			/* Elsewhere than where procedures start, control comes with any stack. */
			if ((s->w->src->start + i) % ALIGNED)
				state.regs[VT_REG_SP] = vti_value_unknown(0);
			arrive(s, (int64_t)i, &state);
		}
}

static void find_states(struct search *s)
{
	start_places(s);
	while (s->done < s->ntodo && !s->failed) {
		uint32_t at = s->todo[s->done++], number = s->place[at] - 1;

		s->queued[number] = false;
		s->visits[number]++;
		follow(s, at, false);
	}
}

/* Whether any jump needs a search, rather than a look at it alone. */
static bool take_simple(struct search *s)
{
	const struct vt_cfg_source *src = s->w->src;
	bool more = false;
	struct vt_facts f;
	size_t i;

	for (i = s->first; i < s->w->nnodes && !s->failed; i++) {
		struct vti_node *n = &s->w->nodes[i];

		if (n->next != VTI_NEXT_INDIRECT ||
		    !vt_facts_decode(src->code + n->offset, src->size - n->offset, &f))
			continue;
		n->unknown = !is_fixed(&f);
		more |= n->unknown;
		if (!n->unknown)
			take_fixed(s, n, &f);
	}
	return more;
}

static void search_all(struct search *s)
{
	size_t i;

	s->njumps = s->w->njumps;
	find_states(s);
	for (i = 0; i < s->w->src->size && !s->failed; i++)
		if (s->place[i])
			follow(s, (uint32_t)i, true);
}

static void search_free(struct search *s)
{
	free(s->place);
	free(s->states);
	free(s->visits);
	free(s->queued);
	free(s->todo);
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
	struct search s = {.w = w, .line_at = UINT64_MAX, .first = first};
	enum vt_unknown why;

	s.memory = (struct vti_memory){&s, is_constant, read_word};
	if (w->src->images)
		s.elf = vt_images_elf(w->src->images, w->src->image, &why);
	if (take_simple(&s)) {
		if (w->src->images)
			s.data = vt_images_data(w->src->images, w->src->image);
		s.place = calloc(w->src->size, sizeof(*s.place));
		if (s.place)
			search_all(&s);
		else
			s.failed = true;
	}
	search_free(&s);
	if (s.failed)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
	sort_jumps(w);
	return 0;
}
