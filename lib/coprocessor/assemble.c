/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "coprocessor/assemble.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "coprocessor/assemble_internal.h"

/* ---- operands ---- */

/* The operand at hand, and the index register where it is one; -1 after an error. */
static int take_operand(struct assembler *as, uint8_t *x)
{
	const struct vt_ucode *u = as->u;
	int op = vti_asm_word(as, vt_ucode_operands, VT_NOPERANDS);
	unsigned i;

	for (i = 0; op < 0 && i < u->nconstants; i++)
		if (vti_asm_is(as, u->constants[i].name))
			op = (int)(VT_OP_C0 + i);
	for (i = 0; op < 0 && i < u->nindexes; i++)
		if (vti_asm_is(as, u->indexes[i].name)) {
			op = VT_OP_X;
			*x = (uint8_t)i;
		}
	if (op < 0)
		vti_asm_unexpected(as, "operand");
	else
		vti_asm_advance(as);
	return op;
}

static bool use_x(struct assembler *as, const struct token *at, uint8_t x)
{
	struct taken *t = &as->taken;

	if (t->x && as->word.x != x)
		return FAIL(as, *at,
			    "field x is taken by %s: a word reads and writes one index register",
			    as->u->indexes[as->word.x].name);
	t->x = true;
	as->word.x = x;
	return true;
}

static bool take_a(struct assembler *as)
{
	struct token at = as->token;
	uint8_t x = 0;
	int op = take_operand(as, &x);

	if (op < 0)
		return false;
	if (as->taken.a && as->word.a != op)
		return FAIL(as, at, "field a is taken by %s: a word has one operand a",
			    vt_ucode_operands[as->word.a]);
	as->taken.a = true;
	as->word.a = (uint8_t)op;
	return op != VT_OP_X || use_x(as, &at, x);
}

static bool take_b(struct assembler *as)
{
	struct token at = as->token;
	uint8_t x = 0;
	int op = take_operand(as, &x);

	if (op < 0)
		return false;
	if (op > VT_OP_RAND)
		return FAIL(as, at, "field b cannot encode %s: fields of samples are operand a",
			    vt_ucode_operands[op]);
	as->taken.b = true;
	as->word.b = (uint8_t)op;
	return op != VT_OP_X || use_x(as, &at, x);
}

static bool take_x(struct assembler *as)
{
	struct token at = as->token;
	unsigned i;

	for (i = 0; i < as->u->nindexes; i++)
		if (vti_asm_accept(as, as->u->indexes[i].name))
			return use_x(as, &at, (uint8_t)i);
	return vti_asm_unexpected(as, "index register");
}

/* ---- operations ---- */

static bool claim(struct assembler *as, const struct token *at, bool *taken, const char *field)
{
	if (*taken)
		return FAIL(as, *at, "field %s is taken: a word has one such operation", field);
	*taken = true;
	return true;
}

static bool take_dest(struct assembler *as)
{
	int i;

	if (vti_asm_accept(as, "-"))
		return true;
	for (i = 0; i < 4; i++)
		if (vti_asm_accept(as, vt_ucode_operands[VT_OP_V0 + i])) {
			as->word.dest = (uint8_t)(i + 1);
			return true;
		}
	return vti_asm_unexpected(as, "value register");
}

static bool take_alu(struct assembler *as, const struct token *at, int alu)
{
	bool two = alu == VT_ALU_NONE || (alu >= VT_ALU_ADD && alu <= VT_ALU_XOR);

	if (!claim(as, at, &as->taken.alu, "alu"))
		return false;
	as->word.alu = (uint8_t)alu;
	if (alu != VT_ALU_NONE && (!take_dest(as) || !vti_asm_expect(as, ",")))
		return false;
	return take_a(as) && (!two || (vti_asm_expect(as, ",") && take_b(as)));
}

static bool take_memory(struct assembler *as, const struct token *at, int memory)
{
	const struct vt_ucode *u = as->u;
	bool of_result = memory == VT_MEM_WRITE || memory == VT_MEM_ADD || memory == VT_MEM_OR;
	unsigned i;

	if (!claim(as, at, &as->taken.memory, "memory"))
		return false;
	as->word.memory = (uint8_t)memory;
	for (i = 0; i < u->nbases; i++)
		if (vti_asm_accept(as, u->bases[i].name))
			break;
	if (i == u->nbases)
		return vti_asm_unexpected(as, "array");
	as->word.base = (uint8_t)i;
	if (vti_asm_accept(as, "[")) {
		if (vti_asm_accept(as, "m"))
			as->word.index = VT_INDEX_M;
		else if (take_x(as))
			as->word.index = VT_INDEX_X;
		else
			return false;
		if (!vti_asm_expect(as, "]"))
			return false;
	}
	if (!of_result || !vti_asm_is(as, ","))
		return true;
	/* What is written without an operation of its own. */
	if (!claim(as, &as->token, &as->taken.alu, "alu"))
		return false;
	as->word.alu = VT_ALU_MOV;
	vti_asm_advance(as);
	return take_a(as);
}

static bool take_cam(struct assembler *as, const struct token *at, int cam)
{
	if (!claim(as, at, &as->taken.cam, "cam"))
		return false;
	as->word.cam = (uint8_t)cam;
	if (cam == VT_CAM_MATCH)
		return take_a(as);
	if (vti_asm_accept(as, "m"))
		as->word.cam_m = 1;
	else if (!take_x(as))
		return false;
	return cam == VT_CAM_INVALIDATE || (vti_asm_expect(as, ",") && take_a(as));
}

static bool take_branch(struct assembler *as, const struct token *at, bool conditional)
{
	int cond = VT_COND_ALWAYS;

	if (!claim(as, at, &as->taken.branch, "cond"))
		return false;
	if (conditional) {
		cond = vti_asm_word(as, vt_ucode_conds, VT_NCONDS);
		if (cond < 0)
			return vti_asm_unexpected(as, "condition");
		vti_asm_advance(as);
	}
	as->word.cond = (uint8_t)cond;
	return vti_asm_reference(as, &as->branches[as->u->nwords]);
}

static bool take_operation(struct assembler *as)
{
	struct token at = as->token;
	int op;

	as->taken.any = true;
	if (vti_asm_accept(as, "if"))
		return take_branch(as, &at, true);
	if (vti_asm_accept(as, "go"))
		return take_branch(as, &at, false);
	op = vti_asm_word(as, vt_ucode_alus, VT_NALUS);
	if (op >= 0) {
		vti_asm_advance(as);
		return take_alu(as, &at, op);
	}
	op = vti_asm_word(as, vt_ucode_steps, VT_NSTEPS);
	if (op >= 0) {
		vti_asm_advance(as);
		as->word.step = (uint8_t)op;
		return claim(as, &at, &as->taken.step, "step") && take_x(as);
	}
	op = vti_asm_word(as, vt_ucode_memories, VT_NMEMORIES);
	if (op >= 0) {
		vti_asm_advance(as);
		return take_memory(as, &at, op);
	}
	op = vti_asm_word(as, vt_ucode_cams, VT_NCAMS);
	if (op >= 0) {
		vti_asm_advance(as);
		return take_cam(as, &at, op);
	}
	return vti_asm_accept(as, "nop") || vti_asm_unexpected(as, "operation");
}

static bool take_word(struct assembler *as)
{
	struct token at = as->token;

	if (as->u->nwords == VT_UCODE_WORDS)
		return FAIL(as, at, "a program has at most %d words", VT_UCODE_WORDS);
	memset(&as->word, 0, sizeof(as->word));
	memset(&as->taken, 0, sizeof(as->taken));
	do {
		if (!take_operation(as))
			return false;
	} while (vti_asm_accept(as, "|"));
	as->lines[as->u->nwords] = as->line;
	as->u->fields[as->u->nwords++] = as->word;
	return true;
}

/* ---- lines ---- */

/* A name and a colon: a label. */
static bool take_label(struct assembler *as, bool *was)
{
	const char *p = as->p;
	struct token at = as->token;
	struct label *l = &as->labels[as->nlabels];
	unsigned i;

	*was = false;
	if (!at.size || !isalpha((unsigned char)*at.at) || p == as->end || *p != ':')
		return true;
	*was = true;
	if (as->nlabels == MAX_LABELS)
		return FAIL(as, at, "there are more than %d labels", MAX_LABELS);
	if (!vti_asm_name(as, "a label", l->name))
		return false;
	if (strcmp(l->name, "done") == 0 || strcmp(l->name, "interrupt") == 0)
		return FAIL(as, at, "%s is a target of its own", l->name);
	for (i = 0; i < as->nlabels; i++)
		if (strcmp(as->labels[i].name, l->name) == 0)
			return FAIL(as, at, "label %s is there already", l->name);
	l->word = (uint8_t)as->u->nwords;
	as->nlabels++;
	return vti_asm_expect(as, ":");
}

static bool take_line(struct assembler *as)
{
	bool label;

	vti_asm_advance(as);
	do {
		if (!take_label(as, &label))
			return false;
	} while (label);
	if (!as->token.size)
		return true;
	if (*as->token.at == '.' ? !vti_asm_directive(as) : !take_word(as))
		return false;
	return !as->token.size || vti_asm_unexpected(as, "part of this line");
}

/* ---- references ---- */

/* The word of a label; -1 after an error. */
static int find_label(struct assembler *as, const struct reference *r)
{
	unsigned i;

	for (i = 0; i < as->nlabels; i++)
		if (strcmp(as->labels[i].name, r->name) != 0)
			continue;
		else if (as->labels[i].word < as->u->nwords)
			return as->labels[i].word;
	vti_asm_fail_at(as, r->line, r->column, "label %s is at no word", r->name);
	return -1;
}

static bool resolve_branch(struct assembler *as, unsigned at)
{
	const struct reference *r = &as->branches[at];
	struct vt_uword *w = &as->u->fields[at];
	unsigned i;
	int to;

	if (!r->name[0])
		return true;
	for (i = 0; i < as->u->ntargets; i++)
		if (strcmp(as->u->targets[i].name, r->name) == 0) {
			w->target = (uint8_t)(VT_TARGET_REGISTER + i);
			return true;
		}
	if (strcmp(r->name, "done") == 0 || strcmp(r->name, "interrupt") == 0) {
		w->target = r->name[0] == 'd' ? VT_TARGET_DONE : VT_TARGET_INTERRUPT;
		return true;
	}
	to = find_label(as, r);
	if (to < 0)
		return false;
	to -= (int)at;
	if (to > VT_TARGET_FORWARD || to < -VT_TARGET_BACKWARD || to == 0)
		return vti_asm_fail_at(
			as, r->line, r->column,
			"field target cannot encode %+d words: offsets are %d to -1 and 1 to "
			"%d (.target names a register for others)",
			to, -VT_TARGET_BACKWARD, VT_TARGET_FORWARD);
	w->target = (uint8_t)(to > 0 ? to - 1 : VT_TARGET_BACK - to - 1);
	return true;
}

static bool resolve(struct assembler *as)
{
	struct vt_ucode *u = as->u;
	unsigned i;
	int to;

	for (i = 0; i < u->ntargets; i++) {
		to = find_label(as, &as->targets[i]);
		if (to < 0)
			return false;
		u->targets[i].word = (uint8_t)to;
	}
	for (i = 0; i < VT_NCLASSES; i++) {
		u->start[i] = VT_UCODE_NO_START;
		if (!as->starts[i].name[0])
			continue;
		to = find_label(as, &as->starts[i]);
		if (to < 0)
			return false;
		u->start[i] = (uint8_t)to;
	}
	for (i = 0; i < u->nwords; i++) {
		if (!resolve_branch(as, i))
			return false;
		u->words[i] = vt_ucode_pack(&u->fields[i]);
	}
	return true;
}

/* ---- options ---- */

static int set_constant(struct vt_ucode *u, const char *set, struct vt_error *err)
{
	const char *equals = strchr(set, '=');
	unsigned i;

	for (i = 0; equals && i < u->nconstants; i++)
		if (strlen(u->constants[i].name) == (size_t)(equals - set) &&
		    memcmp(u->constants[i].name, set, (size_t)(equals - set)) == 0)
			return vt_parse_u64(equals + 1, "--set", &u->constants[i].value, err);
	return vt_error_set(err, VT_E_USAGE, "--set %s: the program has no such constant", set);
}

static int check_program(struct assembler *as)
{
	unsigned word;

	if (vt_ucode_check(as->u, &word, as->err) == 0)
		return 0;
	return word == UINT_MAX ? vt_error_prefix(as->err, "%u:1", as->line)
				: vt_error_prefix(as->err, "%u:1", as->lines[word]);
}

static int assemble(struct assembler *as, const char *text, const char *end)
{
	const char *p = text;
	size_t i;

	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		as->line++;
		as->p = as->line_start = p;
		as->end = newline ? newline : end;
		p = newline ? newline + 1 : end;
		if (!take_line(as))
			return -(int)as->err->code;
	}
	if (!resolve(as))
		return -(int)as->err->code;
	for (i = 0; i < as->o->nsets; i++)
		if (set_constant(as->u, as->o->sets[i], as->err) < 0)
			return -(int)as->err->code;
	return check_program(as);
}

int vt_ucode_assemble(struct vt_ucode *u, const char *text, size_t size,
		      const struct vt_assemble_options *o, struct vt_error *err)
{
	struct assembler *as;
	int code;

	if (size > MAX_TEXT)
		return vt_error_set(err, VT_E_FORMAT, "1:1: a program has at most %u bytes of text",
				    MAX_TEXT);
	as = calloc(1, sizeof(*as));
	if (!as)
		return vt_error_nomem(err);
	memset(u, 0, sizeof(*u));
	u->cam_bits = 32;
	u->random_bits = 4;
	u->slots = o->slots ? o->slots : VT_UCODE_SLOTS;
	memcpy(u->key, "key", 4);
	as->u = u;
	as->o = o;
	as->err = err;
	code = assemble(as, text, text + size);
	free(as);
	return code;
}
