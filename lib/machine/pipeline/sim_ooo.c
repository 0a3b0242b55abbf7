/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "machine/pipeline/branch.h"
#include "machine/pipeline/ooo.h"
#include "machine/pipeline/sim_internal.h"

/* Instructions of wrong paths that are remembered: a power of 2. */
#define ASTRAY 4096

/* An instruction that was fetched and not executed. */
struct astray {
	uint64_t addr;
	uint64_t next;	/* where fetch goes on; 0: no further */
	uint8_t length; /* 0: none is remembered here */
};

struct vti_simooo {
	const struct vt_core *core; /* borrowed */
	struct vt_sim_hooks hooks;
	struct vt_simmem *mem;
	struct vt_simbranch *branches;
	struct vt_ooo *engine;
	uint64_t line; /* the number of that which was fetched last */
	unsigned line_shift;
	struct astray *astray;		/* ASTRAY of them; NULL without code */
	const struct vt_sim_insn *insn; /* at hand */
	uint64_t predicted;		/* where it was thought to go */
	uint64_t cycle;
	struct vt_sim_retired out;
};

/* ---- fetch ---- */

static struct vt_simmem_access fetch_bytes(struct vti_simooo *s, uint64_t cycle, uint64_t addr,
					   uint32_t length)
{
	struct vt_simmem_access none = {0};
	uint64_t first = addr >> s->line_shift, last = (addr + length - 1) >> s->line_shift;

	/* Only the first fetch from a line can miss. */
	if (first == s->line && last == first)
		return none;
	s->line = last;
	return vt_simmem_fetch(s->mem, cycle, addr, length);
}

static struct vt_simmem_access fetch(void *arg, uint64_t cycle)
{
	struct vti_simooo *s = arg;
	struct vt_simmem_access a;

	a = fetch_bytes(s, cycle, s->insn->addr, s->insn->op->length ? s->insn->op->length : 1);
	s->out.fetch_missed = a.missed;
	return a;
}

/* What is at an address that the program did not go to; NULL if it is not known. */
static const struct astray *decode_astray(struct vti_simooo *s, uint64_t addr)
{
	struct astray *a = &s->astray[(addr ^ addr >> 12) & (ASTRAY - 1)];
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	size_t n;

	if (a->length && a->addr == addr)
		return a;
	n = s->hooks.code(s->hooks.arg, addr, code, sizeof(code));
	if (n > sizeof(code) || !vt_facts_decode(code, n, &f))
		return NULL;
	a->addr = addr;
	a->length = f.length;
	a->next = addr + f.length;
	/* Which way conditional branches would be predicted there matters little to caches. */
	if (f.flags & (VT_FACT_RETURN | VT_FACT_INDIRECT | VT_FACT_SYSCALL))
		a->next = 0;
	else if (f.flags & (VT_FACT_JUMP | VT_FACT_CALL) && f.has_target)
		a->next = addr + (uint64_t)f.target;
	return a;
}

/* Until a branch is known to have been mispredicted, what was predicted is fetched. */
static void go_astray(void *arg, uint64_t begin, uint64_t end)
{
	struct vti_simooo *s = arg;
	uint32_t width = s->core->fetch ? s->core->fetch : 1, n;
	/* No more than the reorder buffer and the stages before it hold. */
	uint32_t most = s->core->rob < ASTRAY ? s->core->rob + width : ASTRAY;
	uint64_t addr = s->predicted;
	const struct astray *a;

	for (n = 1; s->astray && addr && begin < end && n <= most; n++) {
		a = decode_astray(s, addr);
		if (!a)
			break;
		begin += fetch_bytes(s, begin, addr, a->length).cycles;
		if (n % width == 0 || a->next != addr + a->length)
			begin++;
		addr = a->next;
	}
}

/* ---- memory ---- */

static struct vt_simmem_access go_to_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct vti_simooo *s = arg;

	return vti_sim_access(s->mem, s->insn, store, nth, cycle, &s->out);
}

static struct vt_ooo_place place(void *arg, bool store, unsigned nth)
{
	struct vti_simooo *s = arg;
	struct vt_ooo_place none = {0};
	uint32_t i, n = 0;

	for (i = 0; i < s->insn->naccesses; i++) {
		const struct vt_sim_access *at = &s->insn->accesses[i];

		if (at->store == store && n++ == nth)
			return (struct vt_ooo_place){at->addr, at->size};
	}
	return none;
}

/* ---- the machine ---- */

struct vti_simooo *vti_simooo_new(const struct vt_core *m, const struct vt_sim_hooks *hooks)
{
	struct vti_simooo *s = calloc(1, sizeof(*s));
	struct vt_ooo_hooks asked = {fetch, go_to_memory, place, go_astray, s};

	if (!s)
		return NULL;
	s->core = m;
	s->hooks = *hooks;
	s->line = UINT64_MAX;
	s->line_shift = vti_sim_line_shift(m);
	s->mem = vt_simmem_new(m);
	s->branches = vt_simbranch_new(m);
	s->engine = vt_ooo_new(m, &asked);
	if (hooks->code)
		s->astray = calloc(ASTRAY, sizeof(*s->astray));
	if (s->mem && s->branches && s->engine && (s->astray || !hooks->code))
		return s;
	vti_simooo_free(s);
	return NULL;
}

void vti_simooo_free(struct vti_simooo *s)
{
	if (!s)
		return;
	vt_simmem_free(s->mem);
	vt_simbranch_free(s->branches);
	vt_ooo_free(s->engine);
	free(s->astray);
	free(s);
}

uint64_t vti_simooo_cycle(const struct vti_simooo *s)
{
	return s->cycle;
}

/* `cost` is used until the next one; s->out points to it. */
static void run(struct vti_simooo *s, const struct vt_sim_insn *insn, bool brief,
		struct vt_inorder_cost *cost)
{
	uint64_t fall = insn->addr + insn->op->length;
	struct vt_ooo_insn in = {.op = insn->op, .tag = insn->tag, .brief = brief};
	struct vt_ooo_times times;

	s->insn = insn;
	s->out.fetch_missed = 0;
	s->out.data_missed = 0;
	s->out.access_cycle = 0;
	if (insn->next) {
		in.taken = insn->next != fall || vt_sim_insn_taken(insn);
		s->predicted = vt_simbranch_predict(s->branches, insn->addr, insn->op->flags, fall,
						    insn->target, insn->next);
		in.mispredicted = s->predicted != insn->next;
	}
	vt_ooo_run(s->engine, &in, cost, &times);
	s->cycle = cost->cycle;
	s->out.tag = insn->tag;
	s->out.addr = insn->addr;
	s->out.cycle = cost->cycle;
	s->out.head = cost->head;
	s->out.used = cost->used;
	s->out.fetch_cycle = times.fetched;
	s->out.done_cycle = times.done;
	s->out.mispredicted = in.mispredicted;
	s->out.nstalls = cost->nstalls;
	s->out.stalls = cost->stalls;
}

void vti_simooo_run(struct vti_simooo *s, const struct vt_sim_insn *insn)
{
	struct vt_inorder_cost cost;

	run(s, insn, false, &cost);
	s->hooks.retire(s->hooks.arg, &s->out);
}

uint64_t vti_simooo_run_block(struct vti_simooo *s, const struct vt_sim_block *b, uint64_t due)
{
	struct vt_inorder_cost cost;
	uint64_t head = 0;
	uint32_t i;

	for (i = 0; i < b->ninsns; i++) {
		run(s, &b->insns[i], true, &cost);
		if (cost.cycle < due)
			head += cost.head;
		else
			s->hooks.retire(s->hooks.arg, &s->out);
	}
	return head;
}
