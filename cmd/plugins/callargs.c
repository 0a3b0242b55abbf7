/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arguments at call sites: what the registers that pass the first six integer arguments (System V
 * ABI for x86-64, 3.2.3) hold at each call.  The lists stand at the call, so they tell callers
 * apart. How many arguments the procedure takes is not known: the higher ones may be left from
 * before.
 *
 * Options: a number from 1 to 6, the arguments that are emitted.
 */
#include <stdio.h>
#include <stdlib.h>

#include <vtrace/plugin.h>

#define ARGUMENTS 6

static const struct vtrace_kind kinds[ARGUMENTS] = {
	{"argument 1", VTRACE_ADDRESS}, {"argument 2", VTRACE_ADDRESS},
	{"argument 3", VTRACE_ADDRESS}, {"argument 4", VTRACE_ADDRESS},
	{"argument 5", VTRACE_ADDRESS}, {"argument 6", VTRACE_ADDRESS}};

static const uint16_t registers[ARGUMENTS] = {VTRACE_REG_DI, VTRACE_REG_SI, VTRACE_REG_DX,
					      VTRACE_REG_CX, VTRACE_REG_R8, VTRACE_REG_R9};

static const struct vtrace_rule rules[] = {{VTRACE_CALL, 0, VTRACE_BIT(VTRACE_ARGUMENT), 0}};

struct state {
	uint32_t wanted;
};

static void *create_callargs(const char *options, char *error, size_t size)
{
	struct state *s;

	if (*options && (options[0] < '1' || options[0] > '6' || options[1])) {
		snprintf(error, size, "\"%s\" is no number from 1 to 6", options);
		return NULL;
	}
	s = malloc(sizeof(*s));
	if (s)
		s->wanted = *options ? (uint32_t)(options[0] - '0') : ARGUMENTS;
	else
		snprintf(error, size, "out of memory");
	return s;
}

static int process_callargs(void *state, const struct vtrace_run *run, vtrace_emit *emit,
			    void *host)
{
	const struct state *s = state;
	uint32_t k;
	size_t i;

	for (i = 0; i < run->ntuples; i++) {
		const struct vtrace_tuple *t = &run->tuples[i];

		for (k = 0; k < s->wanted && t->known; k++) {
			const struct vtrace_value v = {t->pc, t->value, k, 8};

			if (t->reg == registers[k] && emit(host, &v) < 0)
				return -1;
		}
	}
	return 0;
}

const struct vtrace_plugin vtrace_plugin = {
	.abi = VTRACE_PLUGIN_ABI,
	.size = sizeof(struct vtrace_plugin),
	.name = "callargs",
	.description = "what the argument registers hold at each call",
	.kinds = kinds,
	.nkinds = ARGUMENTS,
	.rules = rules,
	.nrules = 1,
	.create = create_callargs,
	.destroy = free,
	.process = process_callargs,
};
