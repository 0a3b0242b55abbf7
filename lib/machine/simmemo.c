/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/simmemo.h"

#include <stdlib.h>
#include <string.h>

/* Ways that are remembered of each block; then all are forgotten. */
#define RUNS 64

/* When so many have been remembered, it is asked whether it pays. */
#define MANY 128

/* A wait that is not remembered: longer than any that is. */
#define LONG UINT8_MAX

struct vti_simmemo {
	uint32_t ninsns;
	uint32_t nunits;
	uint32_t nruns;
	uint64_t learned;
	uint64_t known;
	uint32_t nread;
	uint32_t nwritten;
	uint8_t read[VT_NREGS];	   /* registers it reads before it writes them, */
	uint16_t reader[VT_NREGS]; /* the first that reads each, */
	uint8_t written[VT_NREGS]; /* those it writes, */
	uint64_t writer[VT_NREGS]; /* and the tag of the last that does */
	struct vti_simrun *first;  /* that depart from no other, the one used last first */
	struct vti_simrun *runs[RUNS];
};

/* ---- what a block reads and writes ---- */

static bool makes_results(const struct vt_mop *op)
{
	unsigned i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (op->uops[i].operands & VT_UOP_WRITES)
			return true;
	return false;
}

/* What waits for all before it depends on more than the entry tells. */
static bool is_simple(const struct vt_mop *op)
{
	const uint32_t stack = VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN;
	unsigned i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (op->uops[i].op_class == VT_OP_SYNC || op->uops[i].op_class == VT_OP_SLOW)
			return false;
	/* Who moves the stack pointer earlier than its other results moves its own value of it. */
	return !(op->flags & stack) || !(op->writes & (uint64_t)1 << VT_REG_SP) ||
	       makes_results(op);
}

static bool look(struct vti_simmemo *m, const struct vt_sim_insn *insns, uint32_t n)
{
	uint64_t read = 0, written = 0, regs;
	uint64_t writer[VT_NREGS];
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct vt_mop *op = insns[i].op;

		if (!is_simple(op))
			return false;
		regs = (op->reads | op->address_reads) & ~read & ~written;
		read |= regs;
		for (; regs; regs &= regs - 1) {
			m->read[m->nread] = (uint8_t)__builtin_ctzll(regs);
			m->reader[m->nread++] = (uint16_t)i;
		}
		regs = makes_results(op) ? op->writes : 0;
		written |= regs;
		for (; regs; regs &= regs - 1)
			writer[__builtin_ctzll(regs)] = insns[i].tag;
	}
	for (; written; written &= written - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(written);

		m->written[m->nwritten] = (uint8_t)reg;
		m->writer[m->nwritten++] = writer[reg];
	}
	return true;
}

struct vti_simmemo *vti_simmemo_new(const struct vt_core *core, const struct vt_sim_insn *insns,
				    uint32_t n)
{
	struct vti_simmemo *m;

	if (core->nunits > VTI_SIMMEMO_UNITS || core->issue > LONG || !n || n > VTI_SIMMEMO_INSNS)
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->ninsns = n;
	m->nunits = core->nunits;
	if (look(m, insns, n))
		return m;
	free(m);
	return NULL;
}

static void forget(struct vti_simmemo *m)
{
	uint32_t i;

	for (i = 0; i < m->nruns; i++)
		free(m->runs[i]);
	m->nruns = 0;
	m->first = NULL;
}

void vti_simmemo_free(struct vti_simmemo *m)
{
	if (m)
		forget(m);
	free(m);
}

/* ---- finding ---- */

static inline uint64_t wait_for(uint64_t at, uint64_t base)
{
	return at <= base ? 0 : at - base < LONG ? at - base : LONG;
}

bool vti_simmemo_entry(const struct vti_simmemo *m, const struct vt_inorder *e, bool fetches,
		       struct vti_simentry *entry)
{
	uint64_t base = e->cycle, wait;
	uint32_t used = e->used, i;

	if (e->nholds && e->holds[e->nholds - 1].cycle > base) {
		base = e->holds[e->nholds - 1].cycle;
		used = 0;
	}
	/* A cycle with no slots left is over. */
	if (used == e->width) {
		base++;
		used = 0;
	}
	entry->base = base;
	entry->used = (uint8_t)used;
	entry->fetches = fetches;
	entry->free = entry->could = 0;
	for (i = 0; i < m->nunits; i++) {
		if (e->units[i].free <= base)
			continue;
		wait = e->units[i].free - base;
		if (wait >= LONG)
			return false;
		entry->free |= wait << 8 * i;
		/* Who began in this cycle may be put elsewhere. */
		if (e->units[i].last == base)
			entry->could |= (uint64_t)(e->units[i].could & 0xff) << 8 * i;
	}
	for (i = 0; i < m->nread; i++)
		entry->ready[i] = (uint8_t)wait_for(e->values[m->read[i]].ready, base);
	return true;
}

static inline bool fits(const struct vti_simmemo *m, const struct vti_simrun *r,
			const struct vti_simentry *entry)
{
	uint32_t i;

	if (r->free != entry->free || r->could != entry->could || r->used != entry->used ||
	    r->fetches != entry->fetches)
		return false;
	for (i = 0; i < m->nread; i++)
		if (entry->ready[i] < r->range[2 * i] || entry->ready[i] > r->range[2 * i + 1])
			return false;
	return true;
}

static struct vti_simrun *put_first(struct vti_simrun **list, struct vti_simrun **at)
{
	struct vti_simrun *r = *at;

	*at = r->next;
	r->next = *list;
	return *list = r;
}

struct vti_simrun *vti_simmemo_find(struct vti_simmemo *m, const struct vti_simentry *entry)
{
	struct vti_simrun **at;

	for (at = &m->first; *at; at = &(*at)->next)
		if (fits(m, *at, entry))
			return put_first(&m->first, at);
	return NULL;
}

struct vti_simrun *vti_simmemo_other(const struct vti_simmemo *m, const struct vti_simentry *entry,
				     struct vti_simrun *run, uint32_t i, uint16_t answer)
{
	struct vti_simrun **at;

	for (at = &run->others; *at; at = &(*at)->next)
		if ((*at)->at == i && (*at)->answer == answer && fits(m, *at, entry))
			return put_first(&run->others, at);
	return NULL;
}

bool vti_simmemo_pays(const struct vti_simmemo *m)
{
	return m->learned < MANY || m->known > m->learned;
}

/* ---- remembering ---- */

static struct vti_simrun *make_run(struct vti_simmemo *m, uint32_t nevents)
{
	size_t size = sizeof(struct vti_simrun) + nevents * sizeof(struct vti_simevent) +
		      (m->ninsns + m->nwritten) * sizeof(uint16_t) + 2 * (size_t)m->nread;
	struct vti_simrun *r = calloc(1, size);

	if (!r)
		return NULL;
	r->events = (struct vti_simevent *)(r + 1);
	r->issued = (uint16_t *)(r->events + nevents);
	r->written = r->issued + m->ninsns;
	r->range = (uint8_t *)(r->written + m->nwritten);
	return r;
}

/*
 * A register that was there before the instruction that reads it first could have been issued was
 * not waited for, and would not have been if it had been there any earlier, or a little later.
 */
static void set_range(const struct vti_simmemo *m, const struct vti_simentry *entry,
		      struct vti_simrun *r)
{
	uint32_t i, before;

	for (i = 0; i < m->nread; i++) {
		before = m->reader[i] ? r->issued[m->reader[i] - 1] : 0;
		r->range[2 * i] = r->range[2 * i + 1] = entry->ready[i];
		if (entry->ready[i] > before)
			continue;
		r->range[2 * i] = 0;
		r->range[2 * i + 1] = before < LONG ? (uint8_t)before : LONG - 1;
	}
}

static void set_units(struct vti_simrun *r, uint64_t base, uint32_t n,
		      const struct vt_inorder *before, const struct vt_inorder *after)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct vti_inorder_unit *x = &before->units[i], *u = &after->units[i];

		if (x->free == u->free && x->last == u->last && x->could == u->could)
			continue;
		r->touched |= (uint8_t)(1u << i);
		r->now |= (uint8_t)((u->last == after->cycle) << i);
		r->unit_free[i] = (uint16_t)(u->free > base ? u->free - base : 0);
		r->unit_could[i] = (uint8_t)u->could;
	}
}

/* Whether all of it can be said in two bytes. */
static bool is_short(const struct vti_simmemo *m, const struct vti_simentry *entry,
		     const struct vt_inorder *after)
{
	uint64_t most = entry->base + UINT16_MAX;
	uint32_t i;

	for (i = 0; i < m->nunits; i++)
		if (after->units[i].free > most)
			return false;
	for (i = 0; i < m->nwritten; i++)
		if (after->values[m->written[i]].ready > most)
			return false;
	for (i = 0; i < m->nread; i++)
		if (entry->ready[i] == LONG)
			return false;
	return after->cycle <= most && after->latest <= most;
}

static void set_run(const struct vti_simmemo *m, const struct vti_simentry *entry,
		    const struct vti_simdone *done, struct vti_simrun *r)
{
	const struct vt_inorder *after = done->after;
	uint64_t base = entry->base;
	uint32_t i;

	r->free = entry->free;
	r->could = entry->could;
	r->used = entry->used;
	r->fetches = entry->fetches;
	r->end = (uint16_t)(after->cycle - base);
	r->end_used = (uint8_t)after->used;
	r->latest = (uint16_t)(after->latest > base ? after->latest - base : 0);
	r->nevents = done->nevents;
	if (r->nevents)
		memcpy(r->events, done->events, r->nevents * sizeof(*r->events));
	for (i = 0; i < m->ninsns; i++)
		r->issued[i] = (uint16_t)(done->issued[i] - base);
	for (i = 0; i < m->nwritten; i++)
		r->written[i] = (uint16_t)(after->values[m->written[i]].ready - base);
	set_range(m, entry, r);
	set_units(r, base, m->nunits, done->before, after);
}

void vti_simmemo_add(struct vti_simmemo *m, const struct vti_simentry *entry,
		     const struct vti_simdone *done, struct vti_simrun *from, uint32_t at)
{
	struct vti_simrun *r, **list;

	if (!is_short(m, entry, done->after))
		return;
	r = make_run(m, done->nevents);
	if (!r)
		return;
	if (m->nruns == RUNS) {
		forget(m);
		from = NULL;
	}
	set_run(m, entry, done, r);
	if (from && at < r->nevents) {
		r->at = (uint16_t)at;
		r->answer = r->events[at].answer;
	}
	list = from ? &from->others : &m->first;
	r->next = *list;
	*list = r;
	m->runs[m->nruns++] = r;
	m->learned++;
}

/* ---- running ---- */

void vti_simmemo_apply(struct vti_simmemo *m, const struct vti_simentry *entry,
		       const struct vti_simrun *run, struct vt_inorder *e)
{
	uint64_t base = entry->base;
	uint32_t i, touched;

	e->cycle = base + run->end;
	e->used = run->end_used;
	e->nholds = 0;
	m->known++;
	if (base + run->latest > e->latest)
		e->latest = base + run->latest;
	for (i = 0; i < m->nwritten; i++) {
		struct vti_inorder_value *v = &e->values[m->written[i]];

		v->made = v->tlb = v->ready = base + run->written[i];
		v->by = m->writer[i];
	}
	for (touched = run->touched; touched; touched &= touched - 1) {
		struct vti_inorder_unit *u;

		i = (uint32_t)__builtin_ctz(touched);
		u = &e->units[i];
		u->free = base + run->unit_free[i];
		u->last = run->now >> i & 1 ? e->cycle : 0;
		u->could = run->unit_could[i];
	}
}
