/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Strides: by how much the address of a load or store differs from that of the last time the same
 * instruction ran in the same run, and the addresses themselves.  What memory an instruction walks
 * through, and how regularly, says what prefetching can do for it.
 *
 * Options: "strides" or "addresses" leaves out the other.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vtrace/plugin.h>

enum { STRIDE, ADDRESS, NKINDS };

static const struct vtrace_kind kinds[NKINDS] = {{"stride", VTRACE_SIGNED},
						 {"address", VTRACE_ADDRESS}};

/* What push, pop, call and ret do to the stack is no news. */
static const struct vtrace_rule rules[] = {
	{VTRACE_LOAD | VTRACE_STORE, VTRACE_PUSH | VTRACE_POP | VTRACE_CALL | VTRACE_RETURN,
	 VTRACE_BIT(VTRACE_LOAD_ADDRESS) | VTRACE_BIT(VTRACE_STORE_ADDRESS), 0}};

/* Accesses that are remembered, by the low bits of what tells them apart: newer ones win. */
#define SLOTS 4096

struct access {
	uint64_t pc;
	uint64_t address;
	int64_t pid;
	int64_t tid;
	uint32_t run;  /* number of the run that it was seen in; 0: never */
	uint32_t insn; /* number in that run */
	uint16_t what;
};

struct state {
	bool wanted[NKINDS];
	uint32_t run;
	struct access slots[SLOTS];
};

static void *create_strides(const char *options, char *error, size_t size)
{
	bool strides = strcmp(options, "strides") == 0;
	bool addresses = strcmp(options, "addresses") == 0;
	struct state *s;

	if (*options && !strides && !addresses) {
		snprintf(error, size, "\"%s\" is neither strides nor addresses", options);
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s) {
		snprintf(error, size, "out of memory");
		return NULL;
	}
	s->wanted[STRIDE] = !addresses;
	s->wanted[ADDRESS] = !strides;
	return s;
}

static struct access *slot_of(struct state *s, const struct vtrace_tuple *t)
{
	uint64_t hash = (t->pc * 16 + t->what) * UINT64_C(0x9e3779b97f4a7c15);

	return &s->slots[hash >> 52];
}

/* Within a run, or where the thread's next one goes on without a gap. */
static bool follows_access(const struct state *s, const struct access *a,
			   const struct vtrace_tuple *t, const struct vtrace_run *run)
{
	if (a->pc != t->pc || a->what != t->what || a->pid != run->pid || a->tid != run->tid)
		return false;
	if (a->run == s->run)
		return a->insn != t->insn;
	return a->run + 1 == s->run && !run->begins;
}

static int emit_stride(struct state *s, const struct vtrace_tuple *t, const struct vtrace_run *run,
		       vtrace_emit *emit, void *host)
{
	struct access *a = slot_of(s, t);
	struct vtrace_value v = {t->pc, t->value - a->address, STRIDE, 8};

	if (s->wanted[STRIDE] && t->known && follows_access(s, a, t, run) && emit(host, &v) < 0)
		return -1;
	/* An access whose address nobody knows breaks the chain. */
	*a = (struct access){.pc = t->pc,
			     .address = t->value,
			     .pid = run->pid,
			     .tid = run->tid,
			     .run = t->known ? s->run : 0,
			     .insn = t->insn,
			     .what = t->what};
	v.value = t->value;
	v.kind = ADDRESS;
	return s->wanted[ADDRESS] && t->known ? emit(host, &v) : 0;
}

static int process_strides(void *state, const struct vtrace_run *run, vtrace_emit *emit, void *host)
{
	struct state *s = state;
	size_t i;

	/* 0 is for "never": when the numbers are used up, all is forgotten. */
	if (++s->run >= UINT32_MAX - 1) {
		memset(s->slots, 0, sizeof(s->slots));
		s->run = 2;
	}
	for (i = 0; i < run->ntuples; i++)
		if (emit_stride(s, &run->tuples[i], run, emit, host) < 0)
			return -1;
	return 0;
}

const struct vtrace_plugin vtrace_plugin = {
	.abi = VTRACE_PLUGIN_ABI,
	.size = sizeof(struct vtrace_plugin),
	.name = "strides",
	.description = "distances between the addresses that an instruction accesses",
	.kinds = kinds,
	.nkinds = NKINDS,
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
	.create = create_strides,
	.destroy = free,
	.process = process_strides,
};
