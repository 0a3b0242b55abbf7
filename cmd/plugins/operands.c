/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operands: what the registers that an instruction reads hold, and what it loads.  Numbers that an
 * instruction takes as floating-point ones are a kind of their own, printed as such, each element
 * of a packed one by itself.
 *
 * Options: "float" or "int" leaves out the other kind.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vtrace/plugin.h>

enum { INTEGER, FLOATING, NKINDS };

static const struct vtrace_kind kinds[NKINDS] = {{"operand", VTRACE_HEX},
						 {"float operand", VTRACE_IEEE}};

/* Of moves there is the result already; addresses are no operands. */
static const struct vtrace_rule rules[] = {
	{VTRACE_ANY, VTRACE_MOVE | VTRACE_BRANCH | VTRACE_PUSH | VTRACE_POP,
	 VTRACE_BIT(VTRACE_OPERAND) | VTRACE_BIT(VTRACE_LOAD_VALUE), 0}};

struct state {
	bool wanted[NKINDS];
};

static void *create_operands(const char *options, char *error, size_t size)
{
	bool integer = strcmp(options, "int") == 0, floating = strcmp(options, "float") == 0;
	struct state *s;

	if (*options && !integer && !floating) {
		snprintf(error, size, "\"%s\" is neither int nor float", options);
		return NULL;
	}
	s = malloc(sizeof(*s));
	if (s)
		*s = (struct state){{!floating, !integer}};
	else
		snprintf(error, size, "out of memory");
	return s;
}

static uint64_t low_bytes(uint64_t value, unsigned size)
{
	return size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

/* The 8 bytes of a lane, or what there is of them, as numbers of `size` bytes each. */
static int emit_numbers(const struct vtrace_tuple *t, uint32_t kind, unsigned size,
			vtrace_emit *emit, void *host)
{
	unsigned at, end = t->size - 8u * t->lane;

	for (at = 0; at + size <= end && at < 8; at += size) {
		const struct vtrace_value v = {t->pc, low_bytes(t->value >> 8 * at, size), kind,
					       size};

		if (emit(host, &v) < 0)
			return -1;
	}
	return 0;
}

static int process_operands(void *state, const struct vtrace_run *run, vtrace_emit *emit,
			    void *host)
{
	const struct state *s = state;
	size_t i;

	for (i = 0; i < run->ntuples; i++) {
		const struct vtrace_tuple *t = &run->tuples[i];
		bool real = t->format == VTRACE_IEEE && (t->element == 4 || t->element == 8);
		unsigned rest = t->size - 8u * t->lane;
		unsigned size = real ? t->element : rest < 8 ? rest : 8;

		if ((t->what != VTRACE_OPERAND && t->what != VTRACE_LOAD_VALUE) || !t->known)
			continue;
		if (!s->wanted[real ? FLOATING : INTEGER])
			continue;
		if (emit_numbers(t, real ? FLOATING : INTEGER, size, emit, host) < 0)
			return -1;
	}
	return 0;
}

const struct vtrace_plugin vtrace_plugin = {
	.abi = VTRACE_PLUGIN_ABI,
	.size = sizeof(struct vtrace_plugin),
	.name = "operands",
	.description = "operands of instructions, floating-point ones as such",
	.kinds = kinds,
	.nkinds = NKINDS,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.create = create_operands,
	.destroy = free,
	.process = process_operands,
};
