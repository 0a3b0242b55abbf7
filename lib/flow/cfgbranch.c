/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "flow/cfgstate_internal.h"

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

static const struct {
	const char *name; /* Zydis's */
	enum condition taken;
	enum condition not_taken;
} branches[] = {
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
	uint64_t above = with < vti_mask(width) ? with + 1 : with, below = with ? with - 1 : 0;
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
		if (*lo == with && *lo < *hi)
			++*lo;
		else if (*hi == with && *lo < *hi)
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

void vti_flowstate_branch(struct vti_flowstate *s, const struct vt_facts *f, bool taken)
{
	const struct vti_compare *c = &s->compare;
	struct vti_value v = c->value;
	uint64_t lo, hi;
	size_t i;

	if (!c->valid || v.entry)
		return;
	for (i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (strcmp(branches[i].name, f->mnemonic) == 0)
			break;
	if (i == sizeof(branches) / sizeof(branches[0]))
		return;
	v = vti_flowstate_evaluate(s, &v);
	lo = v.lo;
	hi = v.hi;
	satisfy(taken ? branches[i].taken : branches[i].not_taken, c->with, c->width, &lo, &hi);
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
