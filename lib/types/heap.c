/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>
#include <string.h>

#include "flow/calls.h"
#include "types/track.h"

/*
 * Follows the pointer that a call returned: through moves between registers and memory of the
 * frame, both ways at conditional jumps, past calls.  Wherever it is in a place that the DWARF or
 * another type gives a pointer type, the object may be of that type.
 */

/* Limits on instructions in all, and on states to follow or followed. */
#define MAX_STEPS  600
#define MAX_STATES 64

#define MAX_CELLS 8
#define WORD	  8

/* How far before the call its size is looked for, in bytes. */
#define MAX_BACK 65536

/* What is known before an instruction. */
struct heap_state {
	uint64_t pc;
	uint32_t regs; /* bit n: register n has the pointer */
	unsigned ncells;
	int64_t cells[MAX_CELLS]; /* words of the frame that have it, from the CFA */
	bool told;		  /* a type was found on this way */
	struct vti_track track;	  /* other pointers */
};

struct heap_walk {
	struct vt_types *t;
	uint64_t ret;
	uint64_t size;	   /* of the allocation; 0: unknown */
	uint64_t constant; /* the first argument of its call, which operator new's size is */
	Dwarf_Die function;
	struct heap_state todo[MAX_STATES];
	unsigned ntodo;
	struct heap_state done[MAX_STATES];
	unsigned ndone;
	unsigned steps;
	struct heap_state now;
	/* What was found. */
	struct vti_type *object;
	struct vt_heaptype result;
	bool ambiguous;
	bool incomplete;
	bool outside;
	bool characters; /* or void */
	bool returned;
};

/* ---- candidates ---- */

static bool is_character(struct vti_type *type)
{
	uint64_t encoding = 0;

	if (type->pub.kind != VT_CTYPE_BASE || type->pub.size != 1)
		return false;
	vti_die_number(&type->bare, DW_AT_encoding, &encoding);
	return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
	       encoding == DW_ATE_UTF;
}

/* Whether an allocation of so many bytes may be of the type. */
static bool fits(struct heap_walk *w, struct vti_type *type, enum vt_heaptype_how how)
{
	uint64_t size = type->pub.size;

	if (!type->pub.sized || !size)
		return false;
	if (how == VT_HEAPTYPE_CONSTRUCTOR)
		return (w->size ? w->size : w->constant) == size;
	if (!w->size || type->pub.array_tail)
		return true;
	return vti_type_is_virtual(w->t, type) ? w->size == size : w->size >= size;
}

/* Takes a candidate, or one that begins with those before, or notes that candidates disagree. */
static void take_candidate(struct heap_walk *w, struct vti_type *type, enum vt_heaptype_how how,
			   const char *name)
{
	w->now.told = true;
	if (!w->object) {
		w->result.how = how;
		w->result.name = name;
	} else if (vti_type_same(w->t, w->object, type) || vti_type_begins(w->t, w->object, type)) {
		return;
	} else if (!vti_type_begins(w->t, type, w->object)) {
		w->ambiguous = true;
		return;
	}
	w->object = type;
}

/* The pointer is assigned to something of a type. */
static void add_candidate(struct heap_walk *w, struct vti_type *pointer, enum vt_heaptype_how how,
			  const char *name)
{
	struct vti_type *to;

	if (!pointer || !pointer->has_bare || dwarf_tag(&pointer->bare) != DW_TAG_pointer_type)
		return;
	to = vti_type_target(w->t, pointer);
	if (!to || !to->has_bare || is_character(to))
		w->characters = true;
	else if (to->incomplete)
		w->incomplete = true;
	else if (to->pub.kind == VT_CTYPE_FUNCTION)
		return;
	else if (fits(w, to, how))
		take_candidate(w, to, how, name);
	else
		w->outside = true;
}

/* Returns the type of a word at an offset of a type, and the path to it; or NULL. */
static struct vti_type *word_at(struct heap_walk *w, const struct vt_ctype *type, uint64_t offset,
				const char **path)
{
	struct vt_typeplace place;

	if (vt_type_place(w->t, type, offset, WORD, &place) != VT_TYPED || !place.type ||
	    place.several || place.offset || place.type->size != WORD)
		return NULL;
	*path = place.path;
	return (struct vti_type *)place.type;
}

/* ---- variables that have the pointer ---- */

static void look_at_cells(struct heap_walk *w, const struct vt_local *v)
{
	unsigned i;

	for (i = 0; i < w->now.ncells; i++) {
		uint64_t offset = (uint64_t)w->now.cells[i] - (uint64_t)v->offset;
		struct vti_type *type;
		const char *path;

		if (w->now.cells[i] < v->offset || !v->variable.type->sized)
			continue;
		if (offset >= v->variable.type->size)
			continue;
		type = word_at(w, v->variable.type, offset, &path);
		if (type)
			add_candidate(w, type, path[0] ? VT_HEAPTYPE_MEMBER : VT_HEAPTYPE_VARIABLE,
				      path[0] ? path : v->variable.name);
	}
}

/* Looks for variables whose location, before this instruction, has the pointer. */
static void look_at_variables(struct heap_walk *w)
{
	struct vt_local v[VTI_MAX_LOCALS];
	size_t n, i;

	if (vt_types_locals(w->t, w->now.pc, v, VTI_MAX_LOCALS, &n) != VT_TYPED)
		return;
	for (i = 0; i < n; i++) {
		if (v[i].base == VT_LOCAL_CFA)
			look_at_cells(w, &v[i]);
		else if (v[i].base == VT_LOCAL_REGISTER && w->now.regs >> v[i].reg & 1)
			add_candidate(w, (struct vti_type *)v[i].variable.type,
				      VT_HEAPTYPE_VARIABLE, v[i].variable.name);
	}
}

/* ---- memory operands ---- */

/* A word of memory that has a type. */
struct typed_word {
	struct vti_type *type;
	const char *name; /* of a variable, or the path of a member */
	bool member;
};

static bool name_word(struct heap_walk *w, const struct vt_variable *v, uint64_t offset,
		      bool through, struct typed_word *word)
{
	const char *path;

	word->type = word_at(w, v->type, offset, &path);
	if (!word->type)
		return false;
	word->member = through || path[0];
	word->name = path[0] ? path : v->name;
	return true;
}

/* Finds the type of an operand of eight bytes. */
static bool find_word(struct heap_walk *w, const struct vt_facts *f, struct typed_word *word)
{
	struct vt_variable v;
	uint64_t offset;
	bool through;

	return f->memories[0].size == WORD &&
	       vti_track_operand(w->t, &w->now.track, w->now.pc, f, &v, &offset, &through) ==
		       VT_TYPED &&
	       name_word(w, &v, offset, through, word);
}

/* Finds the offset of an operand from the CFA, if call frame information relates them. */
static bool find_cell(struct heap_walk *w, const struct vt_facts *f, int64_t *cell)
{
	const struct vt_memory *m = &f->memories[0];
	unsigned reg;
	int64_t cfa;

	if (m->implied || m->segment != VT_REG_NONE || m->index != VT_REG_NONE || !w->t->unwind ||
	    !vt_unwind_cfa(w->t->unwind, w->now.pc, &reg, &cfa) || reg != m->base)
		return false;
	*cell = (int64_t)((uint64_t)m->displacement - (uint64_t)cfa);
	return true;
}

/* ---- instructions ---- */

static bool has_cell(const struct heap_state *s, int64_t cell)
{
	unsigned i;

	for (i = 0; i < s->ncells; i++)
		if (s->cells[i] == cell)
			return true;
	return false;
}

static void clear_cells(struct heap_state *s, int64_t from, uint64_t size)
{
	unsigned i, n = 0;

	for (i = 0; i < s->ncells; i++)
		if (s->cells[i] >= from + (int64_t)size || s->cells[i] + WORD <= from)
			s->cells[n++] = s->cells[i];
	s->ncells = n;
}

static bool has_reg(const struct heap_state *s, unsigned reg)
{
	return reg < VTI_TRACK_REGS && s->regs >> reg & 1;
}

static void store(struct heap_walk *w, const struct vt_facts *f)
{
	const struct vt_operand *from = &f->sources[0];
	bool pointer = vti_is_plain_move(f) && f->nsources && from->where == VT_WHERE_REGISTER &&
		       from->size == WORD && has_reg(&w->now, from->reg);
	struct typed_word word;
	int64_t cell;

	if (find_cell(w, f, &cell)) {
		if (f->memories[0].size <= 4096)
			clear_cells(&w->now, cell, f->memories[0].size);
		if (pointer && w->now.ncells < MAX_CELLS)
			w->now.cells[w->now.ncells++] = cell;
	} else if (pointer && find_word(w, f, &word)) {
		add_candidate(w, word.type, word.member ? VT_HEAPTYPE_MEMBER : VT_HEAPTYPE_VARIABLE,
			      word.name);
	}
}

/* Whether the instruction copies the pointer to a register. */
static bool moves_pointer(struct heap_walk *w, const struct vt_facts *f)
{
	const struct heap_state *s = &w->now;
	const struct vt_operand *from = &f->sources[0];
	int64_t cell;

	if (!vti_is_plain_move(f) || !f->nresults || f->results[0].where != VT_WHERE_REGISTER ||
	    f->results[0].size != WORD || !vt_reg_is_general(f->results[0].reg))
		return false;
	if (f->flags & VT_FACT_LOAD)
		return find_cell(w, f, &cell) && has_cell(s, cell);
	return f->nsources && from->where == VT_WHERE_REGISTER && from->size == WORD &&
	       has_reg(s, from->reg);
}

static void apply(struct heap_walk *w, const struct vt_facts *f)
{
	bool pointer = moves_pointer(w, f);

	if (f->flags & VT_FACT_STORE && f->nmemories)
		store(w, f);
	vti_track_step(w->t, &w->now.track, w->now.pc, f);
	w->now.regs &= ~(uint32_t)f->writes;
	if (pointer)
		w->now.regs |= 1u << f->results[0].reg;
}

/* ---- calls ---- */

/* Whether a procedure's name is its class's: "list" of "list<int>". */
static bool is_constructor(Dwarf_Die *function, struct vti_type *of)
{
	Dwarf_Die bare = of->bare;
	const char *name = vti_die_name(function), *owner = vti_die_name(&bare);
	size_t n = strlen(name);

	return n && strncmp(name, owner, n) == 0 && (!owner[n] || owner[n] == '<');
}

/* A constructor's object has the type of its `this`. */
static void look_at_constructor(struct heap_walk *w, uint64_t target)
{
	Dwarf_Die function, object;
	struct vti_type *pointer, *of;
	Dwarf_Addr entry;

	if (!(w->now.regs >> VT_REG_DI & 1) || vti_function_at(w->t, target, &function) ||
	    dwarf_entrypc(&function, &entry) != 0 || entry != target ||
	    !vti_die_follow(&function, DW_AT_object_pointer, &object))
		return;
	pointer = vti_type_at(w->t, &object);
	of = pointer ? vti_type_target(w->t, pointer) : NULL;
	if (of && of->has_bare && is_constructor(&function, of))
		add_candidate(w, pointer, VT_HEAPTYPE_CONSTRUCTOR, vti_die_name(&function));
}

static void call(struct heap_walk *w, const struct vt_facts *f)
{
	if (f->has_target)
		look_at_constructor(w, w->now.pc + (uint64_t)f->target);
	vti_track_step(w->t, &w->now.track, w->now.pc, f);
	w->now.regs &= ~(uint32_t)VTI_CALL_CLOBBERS;
}

static bool ends(struct heap_walk *w, const struct vt_facts *f)
{
	return f->has_target && w->t->images &&
	       vt_calls_end(w->t->images, w->t->image, w->now.pc + (uint64_t)f->target);
}

static void returns(struct heap_walk *w)
{
	struct vti_type *type;

	if (!(w->now.regs & 1u << VT_REG_AX))
		return;
	type = vti_type_at(w->t, &w->function);
	if (!type)
		return;
	w->returned = true;
	add_candidate(w, type, VT_HEAPTYPE_RETURN, vti_die_name(&w->function));
}

/* The called procedure may tell what it returns, as one that jumps to an allocator does. */
static void look_at_callee(struct heap_walk *w)
{
	const uint64_t length = 5; /* e8 and a distance of four bytes */
	uint64_t at = w->ret - length;
	const uint8_t *code;
	const char *name;
	struct vt_facts f;
	struct vti_type *type;
	size_t avail;

	code = w->ret > length ? vt_elf_bytes(w->t->elf, at, &avail) : NULL;
	if (!code || !vt_facts_decode(code, avail, &f) || f.length != length ||
	    !(f.flags & VT_FACT_CALL) || !f.has_target)
		return;
	type = vti_type_returned(w->t, at + (uint64_t)f.target, &name);
	if (type)
		add_candidate(w, type, VT_HEAPTYPE_RETURN, name);
	w->characters = false; /* of an allocator: that says nothing of its caller */
}

/* ---- the walk ---- */

static bool is_same_state(const struct heap_state *a, const struct heap_state *b)
{
	return a->pc == b->pc && a->regs == b->regs && a->ncells == b->ncells &&
	       memcmp(a->cells, b->cells, a->ncells * sizeof(a->cells[0])) == 0;
}

/* Adds the state at another address, unless it was there before. */
static void go_to(struct heap_walk *w, uint64_t pc)
{
	struct heap_state s = w->now;
	unsigned i;

	s.pc = pc;
	if (s.told || (!s.regs && !s.ncells) || !vti_die_has_pc(&w->function, pc))
		return;
	for (i = 0; i < w->ndone; i++)
		if (is_same_state(&w->done[i], &s))
			return;
	if (w->ndone == MAX_STATES || w->ntodo == MAX_STATES) {
		w->steps = MAX_STEPS;
		return;
	}
	w->done[w->ndone++] = s;
	w->todo[w->ntodo++] = s;
}

/* Executes the instruction.  Returns false if control does not go on behind it. */
static bool step(struct heap_walk *w)
{
	size_t avail;
	const uint8_t *code = vt_elf_bytes(w->t->elf, w->now.pc, &avail);
	struct vt_facts f;

	if (!code || !vt_facts_decode(code, avail, &f))
		return false;
	if (f.flags & VT_FACT_RETURN) {
		returns(w);
		return false;
	}
	if (f.flags & VT_FACT_CALL) {
		bool over = ends(w, &f);

		call(w, &f);
		if (!over)
			go_to(w, w->now.pc + f.length);
		return false;
	}
	if (f.flags & (VT_FACT_JUMP | VT_FACT_CONDITIONAL)) {
		if (f.has_target)
			go_to(w, w->now.pc + (uint64_t)f.target);
		if (f.flags & VT_FACT_CONDITIONAL)
			go_to(w, w->now.pc + f.length);
		return false;
	}
	if (f.flags & VT_FACT_SYSCALL || strcmp(f.mnemonic, "hlt") == 0 ||
	    strncmp(f.mnemonic, "ud", 2) == 0)
		return false;
	apply(w, &f);
	w->now.pc += f.length;
	return w->now.regs || w->now.ncells;
}

static void follow(struct heap_walk *w)
{
	w->now.pc = w->ret;
	w->now.regs = 1u << VT_REG_AX;
	go_to(w, w->ret);
	look_at_callee(w);
	while (w->ntodo && w->steps < MAX_STEPS) {
		w->now = w->todo[--w->ntodo];
		do
			look_at_variables(w);
		while (w->steps++ < MAX_STEPS && step(w));
	}
}

/* Returns the constant that the code sets the first argument of the call to; 0: none. */
static uint64_t find_constant(struct heap_walk *w)
{
	uint64_t at, size = 0;
	struct vt_facts f;
	Dwarf_Addr entry;

	if (dwarf_entrypc(&w->function, &entry) != 0 || entry >= w->ret ||
	    w->ret - entry > MAX_BACK)
		return 0;
	for (at = entry; at < w->ret; at += f.length) {
		size_t avail;
		const uint8_t *code = vt_elf_bytes(w->t->elf, at, &avail);

		if (!code || !vt_facts_decode(code, avail, &f))
			return 0;
		if (f.flags & VT_FACT_CALL && at + f.length == w->ret)
			return size;
		if (f.flags & VT_FACT_BRANCH)
			size = 0;
		else if (f.writes >> VT_REG_DI & 1)
			size = vti_is_plain_move(&f) && f.has_immediate && f.immediate > 0
				       ? (uint64_t)f.immediate
				       : 0;
	}
	return 0;
}

static enum vt_untyped conclude(struct heap_walk *w, struct vt_heaptype *h)
{
	if (w->t->nomem)
		return VT_UNTYPED_NOMEM;
	if (w->ambiguous)
		return VT_UNTYPED_AMBIGUOUS;
	if (w->object) {
		*h = w->result;
		h->type = &w->object->pub;
		return VT_TYPED;
	}
	if (w->outside)
		return VT_UNTYPED_OUTSIDE;
	if (w->incomplete)
		return VT_UNTYPED_INCOMPLETE;
	if (w->returned)
		return VT_UNTYPED_RETURNED;
	if (w->characters)
		return VT_UNTYPED_VOID;
	return w->steps >= MAX_STEPS ? VT_UNTYPED_LIMIT : VT_UNTYPED_NO_VARIABLE;
}

enum vt_untyped vt_types_heap(struct vt_types *t, uint64_t ret, uint64_t size,
			      struct vt_heaptype *h)
{
	struct heap_walk w = {.t = t, .ret = ret, .size = size};
	enum vt_untyped why;

	why = ret ? vti_function_at(t, ret - 1, &w.function) : VT_UNTYPED_NO_CODE;
	if (why)
		return why;
	if (!size)
		w.constant = find_constant(&w);
	follow(&w);
	return conclude(&w, h);
}
