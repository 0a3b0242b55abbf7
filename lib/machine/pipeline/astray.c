/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/astray.h"

#include <stdlib.h>

#include "machine/pipeline/sim_internal.h"

struct vti_astray {
	vt_sim_code_fn *code;
	void *arg;
	struct vti_astray_insn insns[VTI_ASTRAY];
};

struct vti_astray *vti_astray_new(vt_sim_code_fn *code, void *arg)
{
	struct vti_astray *t = calloc(1, sizeof(*t));

	if (t) {
		t->code = code;
		t->arg = arg;
	}
	return t;
}

void vti_astray_free(struct vti_astray *t)
{
	free(t);
}

const struct vti_astray_insn *vti_astray_find(struct vti_astray *t, uint64_t addr)
{
	struct vti_astray_insn *a = &t->insns[(addr ^ addr >> 12) & (VTI_ASTRAY - 1)];
	uint8_t code[VT_MAX_INSN];
	struct vt_facts f;
	size_t n;

	if (a->length && a->addr == addr)
		return a;
	n = t->code(t->arg, addr, code, sizeof(code));
	if (n > sizeof(code) || !vt_facts_decode(code, n, &f))
		return NULL;
	a->addr = addr;
	a->length = f.length;
	a->flags = f.flags;
	a->next = addr + f.length;
	/* Which way conditional branches would be predicted there matters little to caches. */
	if (f.flags & (VT_FACT_RETURN | VT_FACT_INDIRECT | VT_FACT_SYSCALL))
		a->next = 0;
	else if (f.flags & (VT_FACT_JUMP | VT_FACT_CALL) && f.has_target)
		a->next = addr + (uint64_t)f.target;
	return a;
}

/* What the front end holds of an instruction on a wrong path, fetched in cycle `begin`. */
static void follow_astray(struct vt_simcore *s, const struct vti_astray_insn *insn, uint64_t begin,
			  const struct vt_simmem_access *fetch, uint64_t history)
{
	uint32_t depth = s->core->front ? s->core->front : 1;
	uint64_t placed = begin + fetch->cycles + depth - 1;

	vti_follow_wrong(&s->follow, &(struct vti_follow_wrong){
					     .insn = insn,
					     .begin = begin,
					     .placed = placed < s->lost_end ? placed : 0,
					     .end = s->lost_end,
					     .fetch_missed = fetch->missed,
					     .history = history,
					     .nhistory = s->follow.nhistory,
				     });
}

void vti_sim_go_astray(struct vt_simcore *s, uint32_t flags)
{
	uint32_t width = s->core->fetch ? s->core->fetch : 1, n;
	/* No more than the reorder buffer and the stages before it hold. */
	uint32_t most = s->core->rob < VTI_ASTRAY ? s->core->rob + width : VTI_ASTRAY;
	/* Of the branch itself, the direction that was predicted. */
	uint64_t history = s->follow.history ^ (flags & VT_FACT_CONDITIONAL ? 1 : 0);
	uint64_t addr = s->predicted, begin = s->lost_begin, slots;
	const struct vti_astray_insn *a;
	struct vt_simmem_access fetch;

	for (n = 1; s->astray && addr && begin < s->lost_end && n <= most; n++) {
		a = vti_astray_find(s->astray, addr);
		if (!a)
			break;
		fetch = fetch_bytes(s, begin, addr, a->length);
		if (--s->follow.left == 0)
			follow_astray(s, a, begin, &fetch, history);
		if (a->flags & VT_FACT_CONDITIONAL)
			history <<= 1;
		begin += fetch.cycles;
		if (n % width == 0 || a->next != addr + a->length)
			begin++;
		addr = a->next;
	}
	s->nastray += n - 1;
	if (begin >= s->lost_end || n > most)
		return;
	slots = (s->lost_end - begin) * width;
	s->nempty += slots < most + 1 - n ? slots : most + 1 - n;
}
