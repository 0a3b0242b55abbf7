/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream/profileme.h"
#include "stream/units.h"
#include "stream/where_internal.h"

/*
 * Registers are numbered from 0; those of constants, which are filled once, from this on until all
 * is compiled, and then follow the others.
 */
#define CONSTANTS 0x8000u

struct compiler {
	struct vt_where_expr *w;
	const struct vt_kind_desc *desc;
	uint32_t kind;
	uint16_t next, most; /* registers */
	uint16_t nconstants;
	uint16_t constants[VT_WHERE_MAX_TERMS]; /* their terms */
	struct vt_error *err;
};

/* A compiled term. */
struct value {
	uint16_t reg;
	enum vti_where_type type;
};

static const struct vti_where_node *node_at(const struct compiler *c, uint32_t i)
{
	return &c->w->tree.nodes[i];
}

static int refuse(const struct compiler *c, const struct vti_where_node *n, const char *what)
{
	return vti_where_error(c->err, VT_E_USAGE, n->column, "%s", what);
}

static struct vti_where_insn *add_insn(struct compiler *c, vti_where_fn *run,
				       const struct vti_where_node *n, uint16_t out)
{
	struct vti_where_insn *in = &c->w->insns[c->w->ninsns++];

	*in = (struct vti_where_insn){.run = run, .op = n->op, .out = out, .other = -1};
	return in;
}

static uint16_t take_register(struct compiler *c)
{
	if (c->next == c->most)
		c->most++;
	return c->next++;
}

/* ---- operands ---- */

/* Of two samples, the first column of the one that a field belongs to; else 0. */
static unsigned sample_of(const struct compiler *c, unsigned field)
{
	return c->w->tree.pair && field >= VT_SAMPLE_NFIELDS ? VT_SAMPLE_NFIELDS : 0;
}

static void set_field(const struct compiler *c, struct vti_where_insn *in, int field)
{
	in->field = (unsigned)field;
	if (c->kind != VT_SAMPLE)
		return;
	in->sample = sample_of(c, in->field);
	if (vt_pm_is_field(in->field - in->sample))
		in->pm_bit = VT_PM_BIT_OF(in->field - in->sample);
	in->has = vt_sample_has_bits(in->field - in->sample);
}

static bool is_events(const struct compiler *c, const struct vti_where_node *n)
{
	return c->kind == VT_SAMPLE && n->op == VTI_WHERE_NAME && n->field >= 0 &&
	       (unsigned)n->field - sample_of(c, (unsigned)n->field) == VT_SAMPLE_EVENTS;
}

/* Whether a term is `events` or `events & mask`. */
static bool is_of_events(const struct compiler *c, const struct vti_where_node *n)
{
	return is_events(c, n) || (n->op == VTI_WHERE_AND && (is_events(c, node_at(c, n->left)) ||
							      is_events(c, node_at(c, n->right))));
}

static int compile_field(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	vti_where_fn *run = vti_where_load;

	switch (c->desc->fields[n->field].type) {
	case VT_TYPE_U:
		v->type = VTI_TYPE_UNSIGNED;
		break;
	case VT_TYPE_I:
		v->type = VTI_TYPE_SIGNED;
		run = vti_where_load_signed;
		break;
	case VT_TYPE_F:
		v->type = VTI_TYPE_REAL;
		run = vti_where_load_real;
		break;
	case VT_TYPE_S:
		return refuse(c, n, "a text is compared by == or != with a text");
	default:
		return refuse(c, n, "bytes and arrays have only .count");
	}
	if (is_events(c, n))
		run = vti_where_load_events;
	set_field(c, add_insn(c, run, n, v->reg), n->field);
	return 0;
}

static void compile_constant(struct compiler *c, uint32_t i, struct value *v)
{
	v->type = node_at(c, i)->op == VTI_WHERE_REAL ? VTI_TYPE_REAL : VTI_TYPE_UNSIGNED;
	v->reg = (uint16_t)(CONSTANTS + c->nconstants);
	c->constants[c->nconstants++] = (uint16_t)i;
}

static int compile_count(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	enum vt_type type = c->desc->fields[n->field].type;

	if (type != VT_TYPE_S && type != VT_TYPE_B && type != VT_TYPE_A)
		return refuse(c, n, "only texts, bytes and arrays have .count");
	v->type = VTI_TYPE_UNSIGNED;
	set_field(c, add_insn(c, vti_where_count, n, v->reg), n->field);
	return 0;
}

static void compile_has(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct vti_where_insn *in = add_insn(c, vti_where_has, n, v->reg);
	enum vt_type type = c->desc->fields[n->field].type;

	v->type = VTI_TYPE_UNSIGNED;
	set_field(c, in, n->field);
	/* Those that are empty were not recorded. */
	if (type == VT_TYPE_S || type == VT_TYPE_B || type == VT_TYPE_A)
		in->run = vti_where_count;
}

static int compile_place(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	int field = node_at(c, n->left)->field;
	struct vti_where_insn *in;

	if (c->desc->fields[field].type != VT_TYPE_U ||
	    strcmp(c->desc->fields[field].unit, "addr") != 0)
		return refuse(c, node_at(c, n->left), "only addresses lie in places");
	if (!c->w->names.in)
		return refuse(c, n, "procedures and images are not looked up here");
	v->type = VTI_TYPE_UNSIGNED;
	in = add_insn(c, vti_where_in, n, v->reg);
	set_field(c, in, field);
	in->place = (enum vt_where_place)n->place;
	in->text = vti_where_text(&c->w->tree, n);
	return 0;
}

/* ---- operators ---- */

static int compile(struct compiler *c, uint32_t i, struct value *v);

/* The same as 0 or 1; what is enough to know for that may be less than the value. */
static int compile_truth(struct compiler *c, uint32_t i, struct value *v)
{
	uint16_t out = take_register(c);
	uint32_t before = c->w->ninsns;
	struct vti_where_insn *in;
	int code = compile(c, i, v);

	if (code < 0)
		return code;
	in = c->w->ninsns > before ? &c->w->insns[c->w->ninsns - 1] : NULL;
	if (in && in->run == vti_where_events_and)
		in->run = vti_where_events_any;
	else if (in && in->run == vti_where_load_events)
		in->run = vti_where_load_events_any;
	in = add_insn(c, v->type == VTI_TYPE_REAL ? vti_where_truth_of_real : vti_where_truth_of,
		      node_at(c, i), out);
	in->a = v->reg;
	in->a_signed = v->type == VTI_TYPE_SIGNED;
	v->reg = out;
	v->type = VTI_TYPE_UNSIGNED;
	c->next = (uint16_t)(out + 1);
	return 0;
}

static int compile_logic(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct vti_where_insn *in;
	struct value a = {0}, b = {0};
	int code = compile_truth(c, n->left, &a);

	if (code < 0)
		return code;
	b = a;
	if (n->op != VTI_WHERE_NOT)
		code = compile_truth(c, n->right, &b);
	if (code < 0)
		return code;
	v->type = VTI_TYPE_UNSIGNED;
	in = add_insn(c, vti_where_logic, n, v->reg);
	in->a = a.reg;
	in->b = b.reg;
	return 0;
}

/* Appends the conversion to real; the register is another then. */
static void make_real(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct vti_where_insn *in;
	uint16_t out;

	if (v->type == VTI_TYPE_REAL)
		return;
	out = take_register(c);
	in = add_insn(c, vti_where_to_real, n, out);
	in->a = v->reg;
	in->a_signed = v->type == VTI_TYPE_SIGNED;
	*v = (struct value){out, VTI_TYPE_REAL};
}

static int compile_sides(struct compiler *c, const struct vti_where_node *n, struct value *a,
			 struct value *b)
{
	int code = compile(c, n->left, a);

	if (code == 0)
		code = compile(c, n->right, b);
	if (code == 0 && (a->type == VTI_TYPE_REAL || b->type == VTI_TYPE_REAL)) {
		make_real(c, n, a);
		make_real(c, n, b);
	}
	return code;
}

static struct vti_where_insn *add_binary(struct compiler *c, vti_where_fn *run,
					 const struct vti_where_node *n, const struct value *v,
					 const struct value *a, const struct value *b)
{
	struct vti_where_insn *in = add_insn(c, run, n, v->reg);

	in->a = a->reg;
	in->b = b->reg;
	in->a_signed = a->type == VTI_TYPE_SIGNED;
	in->b_signed = b->type == VTI_TYPE_SIGNED;
	return in;
}

static int compile_arithmetic(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct value a = {0}, b = {0};
	int code = compile_sides(c, n, &a, &b);
	bool real = a.type == VTI_TYPE_REAL;

	if (code < 0)
		return code;
	v->type = real ? VTI_TYPE_REAL
		  : n->op == VTI_WHERE_SUB || a.type != b.type || a.type != VTI_TYPE_UNSIGNED
			  ? VTI_TYPE_SIGNED
			  : VTI_TYPE_UNSIGNED;
	add_binary(c, real ? vti_where_reals : vti_where_integers, n, v, &a, &b);
	return 0;
}

static int compile_negation(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct value a = {0};
	int code = compile(c, n->left, &a);
	bool real = a.type == VTI_TYPE_REAL;

	if (code < 0)
		return code;
	v->type = real ? VTI_TYPE_REAL : VTI_TYPE_SIGNED;
	add_binary(c, real ? vti_where_reals : vti_where_integers, n, v, &a, &a);
	return 0;
}

/* Bits of `events` are known one by one. */
static int compile_events(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	bool left = is_events(c, node_at(c, n->left));
	struct value mask = {0};
	int code = compile(c, left ? n->right : n->left, &mask);

	if (code < 0)
		return code;
	if (mask.type == VTI_TYPE_REAL)
		return refuse(c, n, "operators of bits take integers");
	v->type = VTI_TYPE_UNSIGNED;
	set_field(c, add_binary(c, vti_where_events_and, n, v, &mask, &mask),
		  node_at(c, left ? n->left : n->right)->field);
	return 0;
}

static int compile_bits(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	struct value a = {0}, b = {0};
	int code;

	if (is_of_events(c, n))
		return compile_events(c, n, v);
	code = compile(c, n->left, &a);
	if (code < 0)
		return code;
	b = a;
	if (n->op != VTI_WHERE_INVERT)
		code = compile(c, n->right, &b);
	if (code < 0)
		return code;
	if (a.type == VTI_TYPE_REAL || b.type == VTI_TYPE_REAL)
		return refuse(c, n, "operators of bits take integers");
	v->type = VTI_TYPE_UNSIGNED;
	add_binary(c, vti_where_bits, n, v, &a, &b);
	return 0;
}

/* ---- comparisons ---- */

/* What the sides' order can be, as bits. */
enum { LESS = 1, EQUAL = 2, MORE = 4, ANY_ORDER = 7 };

/* A side that is so much or more may be beyond the other one wherever it is not yet. */
static unsigned possible_orders(enum vti_where_state a, enum vti_where_state b, unsigned order)
{
	static const unsigned orders[VTI_ORDERS] = {LESS, EQUAL, MORE};
	static const unsigned a_grows[VTI_ORDERS] = {ANY_ORDER, EQUAL | MORE, MORE};
	static const unsigned b_grows[VTI_ORDERS] = {LESS, LESS | EQUAL, ANY_ORDER};
	unsigned possible = orders[order];

	if (a == VTI_UNKNOWN || b == VTI_UNKNOWN)
		return ANY_ORDER;
	if (a == VTI_LEAST || b == VTI_MOST)
		possible |= a_grows[order];
	if (a == VTI_MOST || b == VTI_LEAST)
		possible |= b_grows[order];
	return possible;
}

static void fill_truth(struct vti_where_insn *in)
{
	static const unsigned wanted[] = {
		[VTI_WHERE_EQ] = EQUAL, [VTI_WHERE_NE] = LESS | MORE,
		[VTI_WHERE_LT] = LESS,	[VTI_WHERE_LE] = LESS | EQUAL,
		[VTI_WHERE_GT] = MORE,	[VTI_WHERE_GE] = MORE | EQUAL,
	};
	unsigned a, b, order, want = wanted[in->op];

	for (a = 0; a < VTI_NSTATES; a++)
		for (b = 0; b < VTI_NSTATES; b++)
			for (order = 0; order < VTI_ORDERS; order++) {
				unsigned possible = possible_orders((enum vti_where_state)a,
								    (enum vti_where_state)b, order);

				in->truth[a][b][order] = !(possible & ~want)  ? VT_TRUE
							 : !(possible & want) ? VT_FALSE
									      : VT_UNKNOWN;
			}
}

static bool is_text(const struct compiler *c, const struct vti_where_node *n)
{
	return n->op == VTI_WHERE_STRING ||
	       (n->op == VTI_WHERE_NAME && c->desc->fields[n->field].type == VT_TYPE_S);
}

/* Whether a term is a field with the id of an EVENT, which has a name. */
static bool is_event_id(const struct compiler *c, const struct vti_where_node *n)
{
	return n->op == VTI_WHERE_NAME && c->desc->fields[n->field].type == VT_TYPE_U &&
	       strcmp(c->desc->fields[n->field].unit, "id:EVENT") == 0;
}

/* Compares the name of the event whose id is in field `a` with the string `b`. */
static int compile_event_name(struct compiler *c, const struct vti_where_node *n,
			      const struct vti_where_node *a, const struct vti_where_node *b,
			      struct value *v)
{
	struct vti_where_insn *in;

	if (!c->w->names.is_event)
		return refuse(c, n, "names of events are not looked up here");
	v->type = VTI_TYPE_UNSIGNED;
	in = add_insn(c, vti_where_event_name, n, v->reg);
	set_field(c, in, a->field);
	in->text = vti_where_text(&c->w->tree, b);
	return 0;
}

static int compile_texts(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	const struct vti_where_node *a = node_at(c, n->left), *b = node_at(c, n->right), *swap = a;
	struct vti_where_insn *in;
	bool name;

	if (a->op == VTI_WHERE_STRING) {
		a = b;
		b = swap;
	}
	name = is_event_id(c, a) && b->op == VTI_WHERE_STRING;
	if (!name && (!is_text(c, a) || !is_text(c, b)))
		return refuse(c, n, "a text is compared with a number");
	if (n->op != VTI_WHERE_EQ && n->op != VTI_WHERE_NE)
		return refuse(c, n, "texts are compared by == or !=");
	if (name)
		return compile_event_name(c, n, a, b, v);
	if (a->op == VTI_WHERE_STRING)
		return refuse(c, n, "neither side is a field");
	v->type = VTI_TYPE_UNSIGNED;
	in = add_insn(c, vti_where_same_text, n, v->reg);
	in->field = (unsigned)a->field;
	if (b->op == VTI_WHERE_STRING)
		in->text = vti_where_text(&c->w->tree, b);
	else
		in->other = b->field;
	return 0;
}

static void add_comparison(struct compiler *c, const struct vti_where_node *n,
			   const struct value *v, const struct value *a, const struct value *b)
{
	vti_where_fn *run = a->type == VTI_TYPE_REAL ? vti_where_compare_real
			    : a->type == VTI_TYPE_SIGNED || b->type == VTI_TYPE_SIGNED
				    ? vti_where_compare_signed
				    : vti_where_compare;

	fill_truth(add_binary(c, run, n, v, a, b));
}

/* Compares `events` or `events & mask` with `value` by == or !=, bit by bit. */
static int compile_same_events(struct compiler *c, const struct vti_where_node *n, uint32_t term,
			       uint32_t value, struct value *v)
{
	const struct vti_where_node *t = node_at(c, term);
	struct value a = {0}, b = {0};
	struct vti_where_insn *in;
	int code = compile(c, value, &b);

	if (code == 0)
		code = compile(c, term, &a);
	if (code < 0)
		return code;
	if (b.type == VTI_TYPE_REAL) {
		make_real(c, n, &a);
		add_comparison(c, n, v, &a, &b);
		return 0;
	}
	/* The last instruction is that of the term: the comparison takes its place. */
	in = &c->w->insns[c->w->ninsns - 1];
	in->run = vti_where_events_same;
	in->op = n->op;
	in->masked = t->op == VTI_WHERE_AND;
	in->out = v->reg;
	in->b = b.reg;
	in->b_signed = b.type == VTI_TYPE_SIGNED;
	return 0;
}

static int compile_comparison(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	const struct vti_where_node *left = node_at(c, n->left), *right = node_at(c, n->right);
	bool same = n->op == VTI_WHERE_EQ || n->op == VTI_WHERE_NE;
	struct value a = {0}, b = {0};
	int code;

	if (is_text(c, left) || is_text(c, right))
		return compile_texts(c, n, v);
	v->type = VTI_TYPE_UNSIGNED;
	if (same && is_of_events(c, left))
		return compile_same_events(c, n, n->left, n->right, v);
	if (same && is_of_events(c, right))
		return compile_same_events(c, n, n->right, n->left, v);
	code = compile_sides(c, n, &a, &b);
	if (code == 0)
		add_comparison(c, n, v, &a, &b);
	return code;
}

/* ---- all ---- */

static int compile_into(struct compiler *c, const struct vti_where_node *n, struct value *v)
{
	switch (n->op) {
	case VTI_WHERE_STRING:
		return refuse(c, n, "a text is compared by == or != with a field");
	case VTI_WHERE_NAME:
		return compile_field(c, n, v);
	case VTI_WHERE_COUNT:
		return compile_count(c, n, v);
	case VTI_WHERE_HAS:
		compile_has(c, n, v);
		return 0;
	case VTI_WHERE_IN:
		return compile_place(c, n, v);
	case VTI_WHERE_NEG:
		return compile_negation(c, n, v);
	case VTI_WHERE_NOT:
	case VTI_WHERE_ALL:
	case VTI_WHERE_ANY:
		return compile_logic(c, n, v);
	case VTI_WHERE_MUL:
	case VTI_WHERE_DIV:
	case VTI_WHERE_MOD:
	case VTI_WHERE_ADD:
	case VTI_WHERE_SUB:
		return compile_arithmetic(c, n, v);
	case VTI_WHERE_EQ:
	case VTI_WHERE_NE:
	case VTI_WHERE_LT:
	case VTI_WHERE_LE:
	case VTI_WHERE_GT:
	case VTI_WHERE_GE:
		return compile_comparison(c, n, v);
	default:
		return compile_bits(c, n, v);
	}
}

/* Compiles a term to the next register; those of its operands are free again then. */
static int compile(struct compiler *c, uint32_t i, struct value *v)
{
	const struct vti_where_node *n = node_at(c, i);
	int code;

	*v = (struct value){0};
	if (n->op == VTI_WHERE_NUMBER || n->op == VTI_WHERE_REAL) {
		compile_constant(c, i, v);
		return 0;
	}
	v->reg = take_register(c);
	code = compile_into(c, n, v);
	c->next = (uint16_t)(v->reg + 1);
	return code;
}

static void fill_constant(struct vti_where_register *r, uint64_t number)
{
	unsigned i;

	for (i = 0; i < VTI_WHERE_ROWS; i++) {
		r->v[i] = number;
		r->state[i] = VTI_KNOWN;
	}
}

static void renumber(const struct compiler *c, uint16_t *reg)
{
	if (*reg >= CONSTANTS)
		*reg = (uint16_t)(*reg - CONSTANTS + c->most);
}

static int allocate_registers(struct compiler *c)
{
	struct vt_where_expr *w = c->w;
	uint32_t i;

	w->registers = calloc((size_t)c->most + c->nconstants, sizeof(*w->registers));
	if (!w->registers)
		return vt_error_nomem(c->err);
	for (i = 0; i < w->ninsns; i++) {
		renumber(c, &w->insns[i].a);
		renumber(c, &w->insns[i].b);
	}
	for (i = 0; i < c->nconstants; i++)
		fill_constant(&w->registers[c->most + i], node_at(c, c->constants[i])->number);
	return 0;
}

static int compile_all(struct vt_where_expr *w, const char *text, const struct vt_kind_desc *desc,
		       uint32_t kind, struct vt_error *err)
{
	struct compiler c = {.w = w, .desc = desc, .kind = kind, .err = err};
	struct value v = {0};
	int code = vti_where_parse(&w->tree, text, err);

	if (code == 0)
		code = vti_where_resolve(&w->tree, desc, kind, err);
	if (code == 0)
		code = compile_truth(&c, w->tree.root, &v);
	if (code == 0)
		code = allocate_registers(&c);
	w->result = v.reg;
	return code;
}

static struct vt_where_expr *compile_new(const char *text, const struct vt_kind_desc *desc,
					 uint32_t kind, const struct vt_where_names *names,
					 bool pair, struct vt_error *err)
{
	struct vt_where_expr *w = calloc(1, sizeof(*w));

	if (!w) {
		vt_error_nomem(err);
		return NULL;
	}
	if (names)
		w->names = *names;
	w->tree.pair = pair;
	if (compile_all(w, text, desc, kind, err) == 0)
		return w;
	vt_where_free(w);
	return NULL;
}

struct vt_where_expr *vt_where_compile(const char *text, const struct vt_schema *s, uint32_t kind,
				       const struct vt_where_names *names, struct vt_error *err)
{
	return compile_new(text, &s->kinds[kind], kind, names, false, err);
}

/* The fields of a pair, from those of SAMPLE; what is no number has no name. */
static void describe_pair(struct vt_field_desc *fields, const struct vt_kind_desc *sample,
			  char (*names)[VT_MAX_NAME + 3])
{
	uint32_t i, n = VT_SAMPLE_NFIELDS;

	for (i = 0; i < 2 * n; i++) {
		fields[i] = sample->fields[i % n];
		snprintf(names[i], sizeof(*names), "%d.%s", i < n ? 1 : 2, fields[i].name);
		if (fields[i].type != VT_TYPE_U && fields[i].type != VT_TYPE_I &&
		    fields[i].type != VT_TYPE_F)
			names[i][0] = '\0';
		fields[i].name = names[i];
	}
}

struct vt_where_expr *vt_where_compile_pair(const char *text, struct vt_error *err)
{
	struct vt_field_desc fields[VT_WHERE_PAIR_COLUMNS];
	char names[VT_WHERE_PAIR_COLUMNS][VT_MAX_NAME + 3], name[] = "a pair";
	const struct vt_kind_desc desc = {
		.name = name, .nfields = VT_WHERE_PAIR_COLUMNS, .fields = fields};
	struct vt_where_expr *w;
	struct vt_schema s;

	if (vt_schema_init(&s, err) < 0)
		return NULL;
	describe_pair(fields, &s.kinds[VT_SAMPLE], names);
	w = compile_new(text, &desc, VT_SAMPLE, NULL, true, err);
	vt_schema_fini(&s);
	return w;
}

void vt_where_free(struct vt_where_expr *w)
{
	if (!w)
		return;
	vti_where_tree_fini(&w->tree);
	free(w->registers);
	free(w);
}
