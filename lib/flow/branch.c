/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "flow/state_internal.h"

enum condition {
	IF_NONE,
	IF_ABOVE,
	IF_NOT_BELOW,
	IF_BELOW,
	IF_NOT_ABOVE,
	IF_EQUAL,
	IF_NOT_EQUAL,
	IF_GREATER,
	IF_NOT_LESS,
	IF_LESS,
	IF_NOT_GREATER,
	IF_SIGN,
	IF_NO_SIGN
};

struct branch {
	const char *name; /* Zydis's */
	enum condition taken;
	enum condition not_taken;
};

static const struct branch branches[] = {
	{"jnbe", IF_ABOVE, IF_NOT_ABOVE},     {"jnb", IF_NOT_BELOW, IF_BELOW},
	{"jb", IF_BELOW, IF_NOT_BELOW},	      {"jbe", IF_NOT_ABOVE, IF_ABOVE},
	{"jz", IF_EQUAL, IF_NOT_EQUAL},	      {"jnz", IF_NOT_EQUAL, IF_EQUAL},
	{"jnle", IF_GREATER, IF_NOT_GREATER}, {"jnl", IF_NOT_LESS, IF_LESS},
	{"jl", IF_LESS, IF_NOT_LESS},	      {"jle", IF_NOT_GREATER, IF_GREATER},
	{"js", IF_SIGN, IF_NO_SIGN},	      {"jns", IF_NO_SIGN, IF_SIGN},
};

/* The range of what satisfies a condition, given that it is in [*lo, *hi]. */
static void satisfy(enum condition c, uint64_t with, unsigned width, uint64_t *lo, uint64_t *hi)
{
	uint64_t most = vti_mask(width) / 2; /* as signed */
	/* Where one of these wraps around, the branch is never taken and tells nothing. */
	uint64_t above = with + 1, below = with - 1;
	bool positive = with <= most;

	switch (c) {
	case IF_ABOVE:
		*lo = above;
		break;
	case IF_NOT_BELOW:
		*lo = with;
		break;
	case IF_BELOW:
		*hi = below;
		break;
	case IF_NOT_ABOVE:
		*hi = with;
		break;
	case IF_EQUAL:
		*lo = *hi = with;
		break;
	case IF_NOT_EQUAL:
		if (*lo == with)
			++*lo;
		else if (*hi == with)
			--*hi;
		break;
	case IF_GREATER:
	case IF_NOT_LESS:
		if (positive) {
			*lo = c == IF_GREATER ? above : with;
			*hi = most;
		}
		break;
	case IF_LESS:
	case IF_NOT_GREATER:
		if (positive && *hi <= most)
			*hi = c == IF_LESS ? below : with;
		break;
	case IF_SIGN:
		if (!with)
			*lo = most + 1;
		break;
	case IF_NO_SIGN:
		if (!with)
			*hi = most;
		break;
	default:
		break;
	}
}

static const struct branch *find_branch(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (strcmp(branches[i].name, name) == 0)
			return &branches[i];
	return NULL;
}

static void learn_condition(struct vti_flowstate *s, enum condition condition)
{
	const struct vti_compare *c = &s->compare;
	struct vti_value v = vti_flowstate_evaluate(s, &c->value);
	uint64_t lo = v.lo, hi = v.hi;

	satisfy(condition, c->with, c->width, &lo, &hi);
	if (lo < v.lo)
		lo = v.lo;
	if (hi > v.hi)
		hi = v.hi;
	/* Below half its range, it is the same with and without sign. */
	if (v.sext && hi > vti_mask(v.width) / 2)
		return;
	v.sext = false;
	vti_flowstate_learn(s, &v, lo, hi);
}

void vti_flowstate_branch(struct vti_flowstate *s, const struct vt_facts *f, bool taken)
{
	const struct branch *b = find_branch(f->mnemonic);

	if (b && s->compare.valid && !s->compare.value.entry)
		learn_condition(s, taken ? b->taken : b->not_taken);
}
