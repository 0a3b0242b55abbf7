/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "coprocessor/assemble_internal.h"

static unsigned log2_of(uint64_t n)
{
	unsigned bits = 0;

	while (n >> bits > 1)
		bits++;
	return bits;
}

/* Arrays have names of their own; registers share theirs with operands and targets. */
static bool is_new(struct assembler *as, const struct token *at, const char *name)
{
	const struct vt_ucode *u = as->u;
	unsigned i;
	bool old = vt_ucode_find_index(u, name);

	for (i = 0; i < u->nconstants; i++)
		old = old || strcmp(u->constants[i].name, name) == 0;
	for (i = 0; i < u->ntargets; i++)
		old = old || strcmp(u->targets[i].name, name) == 0;
	for (i = 0; i < VT_NOPERANDS; i++)
		old = old || (vt_ucode_operands[i] && strcmp(vt_ucode_operands[i], name) == 0);
	return !old || FAIL(as, *at, "%s is named already", name);
}

static bool directive_constant(struct assembler *as)
{
	struct vt_ucode_constant c = {.value = 0};
	struct token at = as->token;

	if (!vti_asm_name(as, "a constant", c.name) || !is_new(as, &at, c.name) ||
	    !vti_asm_number(as, &c.value))
		return false;
	if (as->u->nconstants == VT_UCODE_CONSTANTS)
		return FAIL(as, at, "there are %d constant registers", VT_UCODE_CONSTANTS);
	as->u->constants[as->u->nconstants++] = c;
	return true;
}

/* NUMBER, or slots [+ NUMBER]: wide enough for the number of a slot, or wider. */
static bool take_width(struct assembler *as, uint64_t *bits)
{
	struct token at = as->token;
	uint64_t more = 0;

	if (!vti_asm_accept(as, "slots"))
		return vti_asm_between(as, 1, 16, "the width of an index register", bits);
	as->slots_used = true;
	*bits = log2_of(as->u->slots);
	if (vti_asm_accept(as, "+") && !vti_asm_between(as, 0, 16, "what is added", &more))
		return false;
	*bits += more;
	return (*bits >= 1 && *bits <= 16) ||
	       FAIL(as, at, "the width of an index register is 1 to 16");
}

static bool directive_index(struct assembler *as)
{
	struct vt_ucode_index_register x = {.bits = 0};
	struct token at = as->token;
	uint64_t v;

	if (!vti_asm_name(as, "an index register", x.name) || !is_new(as, &at, x.name))
		return false;
	if (!take_width(as, &v))
		return false;
	x.bits = (uint8_t)v;
	if (vti_asm_accept(as, "=")) {
		if (!vti_asm_between(as, 0, (UINT64_C(1) << x.bits) - 1, "a number of that width",
				     &v))
			return false;
		x.start = (uint16_t)v;
	}
	x.keep = vti_asm_accept(as, "keep");
	if (as->u->nindexes == VT_UCODE_INDEXES)
		return FAIL(as, at, "there are %d index registers", VT_UCODE_INDEXES);
	as->u->indexes[as->u->nindexes++] = x;
	return true;
}

static bool directive_base(struct assembler *as)
{
	struct vt_ucode_base b = {.elements = as->u->slots};
	struct token at = as->token, width, count;
	uint64_t v;
	uint32_t size;

	if (!vti_asm_name(as, "an array", b.name))
		return false;
	if (vt_ucode_find_base(as->u, b.name))
		return FAIL(as, at, "%s is named already", b.name);
	width = as->token;
	if (!vti_asm_number(as, &v))
		return false;
	if (v != 8 && v != 16 && v != 32 && v != 64)
		return FAIL(as, width, "elements have 8, 16, 32 or 64 bits");
	b.bits = (uint8_t)v;
	count = as->token;
	if (as->token.size && (isdigit((unsigned char)*as->token.at) || vti_asm_is(as, "slots"))) {
		if (!vti_asm_between(as, 1, VT_UCODE_MAX_SLOTS, "the number of elements", &v))
			return false;
		if (v & (v - 1))
			return FAIL(as, count,
				    "arrays have a power of two of elements, as addresses are "
				    "made without arithmetic");
		b.elements = (uint16_t)v;
	} else {
		as->slots_used = true;
	}
	b.key = vti_asm_accept(as, "key");
	b.keep = vti_asm_accept(as, "keep");
	size = (uint32_t)b.elements * b.bits / 8;
	size = size < 8 ? 8 : size;
	b.start = (as->data + size - 1) / size * size;
	as->data = b.start + size;
	if (as->u->nbases == VT_UCODE_BASES)
		return FAIL(as, at, "there are %d base registers", VT_UCODE_BASES);
	if (b.start >= 1u << 16)
		return FAIL(as, at, "base registers have 16 bits");
	as->u->bases[as->u->nbases++] = b;
	return true;
}

bool vti_asm_reference(struct assembler *as, struct reference *r)
{
	r->line = as->line;
	r->column = as->token.column;
	return vti_asm_name(as, "a label", r->name);
}

static bool directive_class(struct assembler *as)
{
	struct token at = as->token;
	int c = vti_asm_word(as, vt_ucode_classes, VT_NCLASSES);

	if (c < 0)
		return vti_asm_unexpected(as, "class of operations");
	vti_asm_advance(as);
	if (as->starts[c].name[0])
		return FAIL(as, at, "class %s has a start already", vt_ucode_classes[c]);
	return vti_asm_expect(as, "->") && vti_asm_reference(as, &as->starts[c]);
}

static bool directive_target(struct assembler *as)
{
	struct vt_ucode *u = as->u;
	struct token at = as->token;
	char name[VT_UCODE_NAME];

	if (!vti_asm_name(as, "a target register", name) || !is_new(as, &at, name) ||
	    !vti_asm_expect(as, "->"))
		return false;
	if (u->ntargets == VT_UCODE_TARGETS)
		return FAIL(as, at, "there are %d target registers", VT_UCODE_TARGETS);
	memcpy(u->targets[u->ntargets].name, name, sizeof(name));
	return vti_asm_reference(as, &as->targets[u->ntargets++]);
}

static bool directive_host(struct assembler *as)
{
	int h = vti_asm_word(as, vt_ucode_hosts, VT_NHOSTS);

	if (h < 0)
		return vti_asm_unexpected(as, "handler of the main processor");
	as->u->host = (enum vt_ucode_host)h;
	vti_asm_advance(as);
	return true;
}

static bool directive_slots(struct assembler *as)
{
	struct token at = as->token;
	uint64_t v;

	if (!vti_asm_between(as, 1, VT_UCODE_MAX_SLOTS, "the number of slots", &v))
		return false;
	if (v & (v - 1))
		return FAIL(as, at, "the number of slots is a power of two");
	if (as->slots_used)
		return FAIL(as, at, ".slots stands before what uses it");
	as->u->slots = as->o->slots ? as->o->slots : (uint16_t)v;
	return true;
}

static bool directive_cam(struct assembler *as)
{
	struct token at = as->token;
	uint64_t v;

	if (!vti_asm_number(as, &v))
		return false;
	if (v != 32 && v != 64)
		return FAIL(as, at, "entries of the associative array have 32 or 64 bits");
	as->u->cam_bits = (uint8_t)v;
	return !as->token.size || vti_asm_name(as, "the key", as->u->key);
}

static bool directive_random(struct assembler *as)
{
	uint64_t v;

	if (!vti_asm_between(as, 1, 16, "the width of random numbers", &v))
		return false;
	as->u->random_bits = (uint8_t)v;
	return true;
}

bool vti_asm_directive(struct assembler *as)
{
	static const struct {
		const char *name;
		bool (*take)(struct assembler *);
	} table[] = {
		{".constant", directive_constant}, {".index", directive_index},
		{".base", directive_base},	   {".class", directive_class},
		{".target", directive_target},	   {".host", directive_host},
		{".slots", directive_slots},	   {".cam", directive_cam},
		{".random", directive_random},
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (vti_asm_accept(as, table[i].name))
			return table[i].take(as);
	return vti_asm_unexpected(as, "directive");
}
