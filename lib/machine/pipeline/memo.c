/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/prefetch.h"

/* Ways that are remembered of each block; then all are forgotten. */
#define RUNS 64

/* When so many have been remembered, it is asked whether it pays. */
#define MANY 128

/* Who made a value is not remembered: none of the tags that instructions have. */
#define UNKNOWN UINT64_MAX

/* A wait that is not remembered: longer than any that is. */
#define LONG UINT8_MAX

struct vti_simmemo {
	struct vti_simrun *first;    /* that depart from no other, the one used last first */
	struct vti_simask *plans[2]; /* by whether it fetches at first; NULL: not known yet */
	struct vti_simends ends;
	uint32_t known;
	uint16_t ninsns;
	uint8_t nunits;
	uint8_t nread;
	uint8_t nwritten;
	uint16_t nasks[2];
	uint32_t nruns;
	uint32_t learned;
	struct vti_simrun *last; /* remembered last */
	/* Registers it reads before it writes them; those it writes; the first reader of each. */
	uint8_t regs[];
};

static const uint8_t *written_regs(const struct vti_simmemo *m)
{
	return m->regs + m->nread;
}

static const uint8_t *get_register_readers(const struct vti_simmemo *m)
{
	return written_regs(m) + m->nwritten;
}

/* ---- the parts of a run ---- */

static inline const uint8_t *get_ready_ranges(const struct vti_simrun *r)
{
	return (const uint8_t *)r->body;
}

static inline const uint16_t *run_written(const struct vti_simmemo *m, const struct vti_simrun *r)
{
	return r->body + m->nread;
}

static inline const uint16_t *get_unit_states(const struct vti_simmemo *m,
					      const struct vti_simrun *r)
{
	return run_written(m, r) + m->nwritten;
}

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

/* Registers of a block, in the order of their numbers. */
struct uses {
	uint64_t read;
	uint64_t written;
	uint8_t reader[VT_NREGS];
};

static bool find_block_regs(const struct vt_sim_insn *insns, uint32_t n, struct uses *u)
{
	uint64_t regs;
	uint32_t i;

	u->read = u->written = 0;
	for (i = 0; i < n; i++) {
		const struct vt_mop *op = insns[i].op;

		if (!is_simple(op))
			return false;
		regs = (op->reads | op->address_reads) & ~u->read & ~u->written;
		u->read |= regs;
		for (; regs; regs &= regs - 1)
			u->reader[__builtin_ctzll(regs)] = (uint8_t)i;
		if (makes_results(op))
			u->written |= op->writes;
	}
	return true;
}

static uint8_t put_regs(uint64_t regs, uint8_t *list)
{
	uint8_t n = 0;

	for (; regs; regs &= regs - 1)
		list[n++] = (uint8_t)__builtin_ctzll(regs);
	return n;
}

static void set_ends(struct vti_simends *e, const struct vt_sim_insn *insns, uint32_t n)
{
	const struct vt_sim_insn *last = &insns[n - 1];

	e->addr = insns->addr;
	e->length = insns->op->length ? insns->op->length : 1;
	e->last = last->addr;
	e->fall = last->addr + last->op->length;
	e->target = last->target;
	e->flags = last->op->flags;
}

struct vti_simmemo *vti_simmemo_new(const struct vt_core *core, const struct vt_sim_insn *insns,
				    uint32_t n)
{
	uint8_t read[VT_NREGS], write[VT_NREGS];
	struct vti_simmemo *m;
	uint8_t nread, nwritten, i;
	struct uses u;

	if (core->nunits > VTI_SIMMEMO_UNITS || core->issue > LONG || !n || n > VTI_SIMMEMO_INSNS ||
	    !find_block_regs(insns, n, &u))
		return NULL;
	nread = put_regs(u.read, read);
	nwritten = put_regs(u.written, write);
	m = calloc(1, sizeof(*m) + 2 * (size_t)nread + nwritten);
	if (!m)
		return NULL;
	m->ninsns = (uint16_t)n;
	m->nunits = (uint8_t)core->nunits;
	set_ends(&m->ends, insns, n);
	m->nread = nread;
	m->nwritten = nwritten;
	memcpy(m->regs, read, nread);
	memcpy(m->regs + nread, write, nwritten);
	for (i = 0; i < nread; i++)
		m->regs[nread + nwritten + i] = u.reader[read[i]];
	return m;
}

static void forget_runs(struct vti_simmemo *m)
{
	struct vti_simrun *r, *older;

	for (r = m->last; r; r = older) {
		older = r->older;
		free(r);
	}
	m->nruns = 0;
	m->first = m->last = NULL;
}

void vti_simmemo_free(struct vti_simmemo *m)
{
	if (!m)
		return;
	forget_runs(m);
	free(m->plans[0]);
	free(m->plans[1]);
	free(m);
}

/* ---- finding ---- */

static inline uint64_t wait_for(uint64_t at, uint64_t base)
{
	return at <= base ? 0 : at - base < LONG ? at - base : LONG;
}

void vti_simmemo_expect(const struct vti_simmemo *m)
{
	const char *first = (const char *)m->first;

	if (first) {
		VT_PREFETCH(first);
		VT_PREFETCH(first + 64);
		VT_PREFETCH(first + 128);
	}
	VT_PREFETCH(m->plans[0]);
	VT_PREFETCH(m->plans[1]);
}

const struct vti_simends *vti_simmemo_ends(const struct vti_simmemo *m)
{
	return &m->ends;
}

const struct vti_simask *vti_simmemo_plan(const struct vti_simmemo *m, bool fetches)
{
	return m->plans[fetches];
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
		entry->ready[i] = (uint8_t)wait_for(e->values[m->regs[i]].ready, base);
	return true;
}

static inline bool run_fits_entry(const struct vti_simmemo *m, const struct vti_simrun *r,
				  const struct vti_simentry *entry)
{
	const uint8_t *range = get_ready_ranges(r);
	uint32_t i;

	if (r->free != entry->free || r->could != entry->could || r->used != entry->used ||
	    r->fetches != entry->fetches)
		return false;
	for (i = 0; i < m->nread; i++)
		if (entry->ready[i] < range[2 * i] || entry->ready[i] > range[2 * i + 1])
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
		if (run_fits_entry(m, *at, entry))
			return put_first(&m->first, at);
	return NULL;
}

struct vti_simrun *vti_simmemo_other(const struct vti_simmemo *m, const struct vti_simentry *entry,
				     struct vti_simrun *run, uint32_t i, uint16_t answer)
{
	struct vti_simrun **at;

	for (at = &run->others; *at; at = &(*at)->next)
		if ((*at)->at == i && (*at)->answer == answer && run_fits_entry(m, *at, entry))
			return put_first(&run->others, at);
	return NULL;
}

bool vti_simmemo_pays(const struct vti_simmemo *m)
{
	return m->learned < MANY || m->known > m->learned;
}

/* ---- remembering ---- */

static struct vti_simrun *new_simrun(const struct vti_simmemo *m, uint32_t nevents)
{
	uint32_t issued = m->nread + m->nwritten + 2 * (uint32_t)m->nunits;
	struct vti_simrun *r =
		calloc(1, sizeof(*r) + (issued + (size_t)m->ninsns) * sizeof(r->body[0]) +
				  nevents * sizeof(struct vti_simevent));

	if (!r)
		return NULL;
	r->nevents = (uint16_t)nevents;
	r->issued_at = (uint16_t)issued;
	r->events_at = (uint16_t)(issued + m->ninsns);
	return r;
}

/*
 * A register that was there before the instruction that reads it first could have been issued was
 * not waited for, and would not have been if it had been there any earlier, or a little later.
 */
static void set_ranges(const struct vti_simmemo *m, const struct vti_simentry *entry,
		       const uint64_t *issued, struct vti_simrun *r)
{
	uint8_t *range = (uint8_t *)r->body;
	uint64_t before;
	uint32_t i;

	for (i = 0; i < m->nread; i++, range += 2) {
		before = get_register_readers(m)[i]
				 ? issued[get_register_readers(m)[i] - 1] - entry->base
				 : 0;
		range[0] = range[1] = entry->ready[i];
		if (entry->ready[i] > before)
			continue;
		range[0] = 0;
		range[1] = before < LONG ? (uint8_t)before : LONG - 1;
	}
}

static void set_units(const struct vti_simmemo *m, struct vti_simrun *r, uint64_t base,
		      const struct vti_simdone *done)
{
	uint16_t *out = r->body + m->nread + m->nwritten;
	uint32_t i;

	for (i = 0; i < m->nunits; i++, out += 2) {
		const struct vti_inorder_unit *x = &done->before->units[i];
		const struct vti_inorder_unit *u = &done->after->units[i];

		if (x->free == u->free && x->last == u->last && x->could == u->could)
			continue;
		r->touched |= (uint8_t)(1u << i);
		r->now |= (uint8_t)((u->last == done->after->cycle) << i);
		out[0] = (uint16_t)(u->free > base ? u->free - base : 0);
		out[1] = (uint16_t)u->could;
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
		if (after->values[written_regs(m)[i]].ready > most)
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
	for (i = 0; i < m->nwritten; i++)
		r->body[m->nread + i] = (uint16_t)(after->values[written_regs(m)[i]].ready - base);
	for (i = 0; i < m->ninsns; i++)
		r->body[r->issued_at + i] = (uint16_t)(done->issued[i] - base);
	if (r->nevents)
		memcpy(r->body + r->events_at, done->events, r->nevents * sizeof(*done->events));
	set_ranges(m, entry, done->issued, r);
	set_units(m, r, base, done);
}

/* What the block asks is the same each time: false if it is not, or memory ran out. */
static bool keeps_plan(struct vti_simmemo *m, bool fetches, const struct vti_simdone *done)
{
	struct vti_simask **plan = &m->plans[fetches];
	uint32_t i, n = done->nevents;

	if (!*plan) {
		*plan = malloc((n + (size_t)1) * sizeof(**plan));
		if (!*plan)
			return false;
		if (n)
			memcpy(*plan, done->asks, n * sizeof(**plan));
		m->nasks[fetches] = (uint16_t)n;
		return true;
	}
	for (i = 0; i < n && i < m->nasks[fetches]; i++)
		if ((*plan)[i].insn != done->asks[i].insn ||
		    (*plan)[i].kind != done->asks[i].kind || (*plan)[i].nth != done->asks[i].nth)
			return false;
	return n == m->nasks[fetches];
}

void vti_simmemo_add(struct vti_simmemo *m, const struct vti_simentry *entry,
		     const struct vti_simdone *done, struct vti_simrun *from, uint32_t at)
{
	struct vti_simrun *r, **list;

	if (!is_short(m, entry, done->after) || !keeps_plan(m, entry->fetches, done))
		return;
	r = new_simrun(m, done->nevents);
	if (!r)
		return;
	if (m->nruns == RUNS) {
		forget_runs(m);
		from = NULL;
	}
	set_run(m, entry, done, r);
	if (from && at < r->nevents) {
		r->at = (uint16_t)at;
		r->answer = done->events[at].answer;
	}
	list = from ? &from->others : &m->first;
	r->next = *list;
	*list = r;
	r->older = m->last;
	m->last = r;
	m->nruns++;
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
		struct vti_inorder_value *v = &e->values[written_regs(m)[i]];

		v->made = v->tlb = v->ready = base + run_written(m, run)[i];
		v->by = UNKNOWN;
	}
	for (touched = run->touched; touched; touched &= touched - 1) {
		struct vti_inorder_unit *u;
		const uint16_t *out;

		i = (uint32_t)__builtin_ctz(touched);
		u = &e->units[i];
		out = get_unit_states(m, run) + 2 * (size_t)i;
		u->free = base + out[0];
		u->last = run->now >> i & 1 ? e->cycle : 0;
		u->could = out[1];
	}
}
