/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "interpret/plugins_internal.h"

/* Instructions that are remembered; when there are more, all are forgotten. */
#define MAX_INSNS 65536

#define GENERAL VT_RUN_REGS

/* A register whose content the captures of a run tell. */
struct reg {
	uint64_t value;
	bool known;
};

/* One run on its way to being tuples. */
struct making {
	struct vti_plugin_tuples *t;
	const struct vtrace_plugin *plugin;
	const struct vt_run *run;
	struct reg regs[GENERAL];
	bool failed;
};

void vti_plugin_tuples_init(struct vti_plugin_tuples *t)
{
	*t = (struct vti_plugin_tuples){.list = NULL};
	vt_hash_init(&t->insns, sizeof(struct vti_plugin_insn),
		     offsetof(struct vti_plugin_insn, code));
}

void vti_plugin_tuples_fini(struct vti_plugin_tuples *t)
{
	vt_hash_fini(&t->insns);
	free(t->list);
}

/* ---- what there is to capture ---- */

/* What the interpreter captures, as plugins know it; VTRACE_NWHATS: not at all. */
static unsigned what_of(unsigned what)
{
	switch (what) {
	case VT_WHAT_LOAD:
		return VTRACE_LOAD_VALUE;
	case VT_WHAT_STORE:
		return VTRACE_STORE_VALUE;
	case VT_WHAT_LOAD_ADDRESS:
		return VTRACE_LOAD_ADDRESS;
	case VT_WHAT_STORE_ADDRESS:
		return VTRACE_STORE_ADDRESS;
	case VT_WHAT_RESULT:
		return VTRACE_RESULT;
	case VT_WHAT_ARG:
		return VTRACE_ARGUMENT;
	case VT_WHAT_TARGET:
		return VTRACE_TARGET;
	case VT_WHAT_OPERAND:
		return VTRACE_OPERAND;
	default:
		return VTRACE_NWHATS;
	}
}

uint32_t vti_plugin_wants(uint32_t what)
{
	uint32_t wants = 1u << VT_WHAT_UNKNOWN;
	unsigned w;

	for (w = 0; w < VT_NWHATS; w++)
		if (what_of(w) < VTRACE_NWHATS && what & VTRACE_BIT(what_of(w)))
			wants |= 1u << w;
	/* The value of a register follows from the instructions that read and write it. */
	if (what & VTRACE_BIT(VTRACE_REGISTER))
		wants |= 1u << VT_WHAT_OPERAND | 1u << VT_WHAT_RESULT;
	return wants;
}

static uint32_t classes_of(uint32_t flags)
{
	static const struct {
		uint32_t fact, class;
	} pairs[] = {
		{VT_FACT_LOAD, VTRACE_LOAD},	     {VT_FACT_STORE, VTRACE_STORE},
		{VT_FACT_BRANCH, VTRACE_BRANCH},     {VT_FACT_CONDITIONAL, VTRACE_CONDITIONAL},
		{VT_FACT_JUMP, VTRACE_JUMP},	     {VT_FACT_CALL, VTRACE_CALL},
		{VT_FACT_RETURN, VTRACE_RETURN},     {VT_FACT_INDIRECT, VTRACE_INDIRECT},
		{VT_FACT_SYSCALL, VTRACE_SYSCALL},   {VT_FACT_DIVIDE, VTRACE_DIVIDE},
		{VT_FACT_MULTIPLY, VTRACE_MULTIPLY}, {VT_FACT_STRING, VTRACE_STRING},
		{VT_FACT_FLOAT, VTRACE_FLOAT},	     {VT_FACT_VECTOR, VTRACE_VECTOR},
		{VT_FACT_ATOMIC, VTRACE_ATOMIC},     {VT_FACT_PUSH, VTRACE_PUSH},
		{VT_FACT_POP, VTRACE_POP},	     {VT_FACT_MOVE, VTRACE_MOVE},
		{VT_FACT_COMPARE, VTRACE_COMPARE},
	};
	uint32_t classes = VTRACE_ANY;
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (flags & pairs[i].fact)
			classes |= pairs[i].class;
	return classes;
}

/* Borrowed until the next call; NULL when memory ran out. */
static const struct vti_plugin_insn *find_plugin_insn(struct vti_plugin_tuples *t, int64_t pid,
						      uint64_t ip, vt_plugins_code_fn *code,
						      void *arg)
{
	struct vti_plugin_insn key = {.pid = pid, .ip = ip}, *i;
	uint8_t bytes[VT_MAX_INSN];
	size_t n, k;
	bool added;

	if (t->insns.count >= MAX_INSNS)
		vt_hash_clear(&t->insns);
	i = vt_hash_add(&t->insns, &key, &added);
	if (!i || !added)
		return i;
	n = code(arg, pid, ip, bytes, sizeof(bytes));
	i->known = vt_facts_decode(bytes, n, &i->facts);
	i->classes = classes_of(i->known ? i->facts.flags : 0);
	for (k = 0; i->known && k < 8 && k < i->facts.length; k++)
		i->code |= (uint64_t)bytes[k] << 8 * k;
	return i;
}

/* ---- tuples ---- */

static enum vtrace_format format_of(struct vt_number_type type)
{
	switch (type.number) {
	case VT_NUMBER_UNSIGNED:
		return VTRACE_UNSIGNED;
	case VT_NUMBER_SIGNED:
		return VTRACE_SIGNED;
	case VT_NUMBER_FLOAT:
		return VTRACE_IEEE;
	case VT_NUMBER_ADDRESS:
		return VTRACE_ADDRESS;
	default:
		return VTRACE_HEX;
	}
}

static void add_tuple(struct making *k, const struct vti_plugin_insn *i, uint32_t number,
		      unsigned what, struct vtrace_tuple tuple)
{
	struct vti_plugin_tuples *t = k->t;

	if (!vt_array_grow(&t->list, &t->cap, t->count + 1, sizeof(*t->list))) {
		k->failed = true;
		return;
	}
	tuple.pc = i->ip;
	tuple.insn = number;
	tuple.classes = i->classes;
	tuple.what = (uint16_t)what;
	/* An instruction or a register: of 15 bytes at most. */
	if (!tuple.element)
		tuple.element = (uint8_t)tuple.size;
	t->list[t->count++] = tuple;
}

static void put_capture(struct making *k, const struct vti_plugin_insn *i, unsigned what,
			const struct vt_capture *c)
{
	struct vt_number_type type =
		vt_facts_type(i->known ? &i->facts : NULL, (enum vt_what)c->what, c->reg, c->size);
	struct vtrace_tuple t = {.value = c->known ? c->value : 0,
				 .reg = c->reg,
				 .size = c->size,
				 .lane = c->lane,
				 .known = c->known,
				 .format = (uint8_t)format_of(type),
				 .element = type.size};

	add_tuple(k, i, c->insn, what, t);
}

/* What the plugin wants of an instruction, VTRACE_BIT(…). */
static uint32_t get_wanted_bits(const struct vtrace_plugin *p, uint32_t classes)
{
	uint32_t what = 0;
	size_t r;

	for (r = 0; r < p->nrules; r++)
		if (p->rules[r].classes & classes && !(p->rules[r].except & classes))
			what |= p->rules[r].what;
	return what;
}

/* An operand that is captured later in the same instruction is the register's value before. */
static struct reg find_value_before(const struct making *k, const struct vt_capture *c, size_t n,
				    uint32_t reg)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (c[i].what == VT_WHAT_OPERAND && c[i].reg == reg && c[i].size == 8 && c[i].known)
			return (struct reg){c[i].value, true};
	return k->regs[reg];
}

static void put_registers(struct making *k, const struct vti_plugin_insn *i,
			  const struct vt_capture *c, size_t n)
{
	const struct vtrace_plugin *p = k->plugin;
	size_t r;

	for (r = 0; r < p->nrules; r++) {
		const struct vtrace_rule *rule = &p->rules[r];
		struct reg v;

		if (!(rule->what & VTRACE_BIT(VTRACE_REGISTER)) || !(rule->classes & i->classes) ||
		    rule->except & i->classes)
			continue;
		v = find_value_before(k, c, n, rule->reg);
		add_tuple(k, i, c->insn, VTRACE_REGISTER,
			  (struct vtrace_tuple){.value = v.known ? v.value : 0,
						.reg = (uint16_t)rule->reg,
						.size = 8,
						.known = v.known});
	}
}

/* What an instruction leaves in the registers.  Writing 4 bytes clears the others. */
static void update_registers(struct making *k, const struct vti_plugin_insn *i,
			     const struct vt_capture *c, size_t n)
{
	unsigned r;
	size_t j;

	for (r = 0; r < GENERAL; r++) {
		for (j = 0; j < n; j++)
			if (c[j].what == VT_WHAT_OPERAND && c[j].reg == r && c[j].size == 8 &&
			    c[j].known)
				k->regs[r] = (struct reg){c[j].value, true};
		if (!i->known || i->facts.writes >> r & 1)
			k->regs[r].known = false;
		for (j = 0; j < n; j++)
			if (c[j].what == VT_WHAT_RESULT && c[j].reg == r)
				k->regs[r] = (struct reg){c[j].value, c[j].known && c[j].size >= 4};
	}
}

static void put_insn(struct making *k, const struct vti_plugin_insn *i, uint32_t what,
		     uint32_t number)
{
	const struct vt_run *run = k->run;
	bool first = number == 0 && run->begins;

	if (what & VTRACE_BIT(VTRACE_INSN))
		add_tuple(k, i, number, VTRACE_INSN,
			  (struct vtrace_tuple){
				  .value = i->code, .size = i->facts.length, .known = i->known});
	if (first && run->has_latency && what & VTRACE_BIT(VTRACE_LATENCY))
		add_tuple(k, i, number, VTRACE_LATENCY,
			  (struct vtrace_tuple){.value = run->latency,
						.size = 8,
						.known = 1,
						.format = VTRACE_UNSIGNED});
	if (first && what & VTRACE_BIT(VTRACE_RETURN_ADDRESS))
		add_tuple(k, i, number, VTRACE_RETURN_ADDRESS,
			  (struct vtrace_tuple){.value = run->caller,
						.size = 8,
						.known = run->caller != 0,
						.format = VTRACE_ADDRESS});
}

/* The captures c[0] to c[n - 1] are of one instruction; `next` is the one after it, or NULL. */
static void put_all(struct making *k, const struct vti_plugin_insn *i, const struct vt_capture *c,
		    size_t n, const struct vt_capture *next)
{
	uint32_t what = get_wanted_bits(k->plugin, i->classes);
	bool target = false;
	size_t j;

	put_insn(k, i, what, c->insn);
	if (what & VTRACE_BIT(VTRACE_REGISTER))
		put_registers(k, i, c, n);
	for (j = 0; j < n; j++) {
		unsigned w = what_of(c[j].what);

		target |= w == VTRACE_TARGET;
		if (w < VTRACE_NWHATS && what & VTRACE_BIT(w))
			put_capture(k, i, w, &c[j]);
	}
	if (next && !target && i->classes & VTRACE_BRANCH && what & VTRACE_BIT(VTRACE_TARGET))
		add_tuple(k, i, c->insn, VTRACE_TARGET,
			  (struct vtrace_tuple){.value = next->ip,
						.size = 8,
						.known = 1,
						.format = VTRACE_ADDRESS});
}

static void init_tuple_registers(struct making *k)
{
	unsigned r;

	for (r = 0; k->run->regs && r < GENERAL; r++)
		if (vt_reg_is_general(r))
			k->regs[r] = (struct reg){k->run->regs[r].value,
						  vt_word_is_known(k->run->regs[r])};
}

int vti_plugin_tuples_make(struct vti_plugin_tuples *t, const struct vtrace_plugin *plugin,
			   const struct vt_run *run, vt_plugins_code_fn *code, void *arg,
			   struct vt_error *err)
{
	struct making k = {.t = t, .plugin = plugin, .run = run};
	const struct vti_plugin_insn *insn;
	size_t i, n;

	t->count = 0;
	init_tuple_registers(&k);
	for (i = 0; i < run->ncaptures && !k.failed; i += n) {
		const struct vt_capture *c = &run->captures[i];

		for (n = 1; i + n < run->ncaptures && c[n].insn == c->insn; n++)
			;
		insn = find_plugin_insn(t, run->pid, c->ip, code, arg);
		if (!insn) {
			k.failed = true;
			break;
		}
		put_all(&k, insn, c, n, i + n < run->ncaptures ? &c[n] : NULL);
		update_registers(&k, insn, c, n);
	}
	return k.failed ? vt_error_nomem(err) : 0;
}
