/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/culprits.h"
#include "stream/writer.h"

/* The records of what was found. */

static void write_stall(struct vt_writer *w, const struct vt_culprits_proc *p,
			const struct vt_culprit_stall *s)
{
	const struct vt_procedure *proc = &p->flow->proc;
	const struct vt_cfg_insn *insns = p->flow->cfg->insns;
	uint64_t *row = vt_writer_row(w, VT_STALL);
	uint64_t guilty[VT_CULPRIT_GUILTY];
	uint32_t i;

	row[VT_STALL_IMAGE] = proc->image;
	row[VT_STALL_OFFSET] = p->offset + (insns[s->insn].addr - proc->start);
	row[VT_STALL_CAUSE] = s->cause;
	vt_row_set_f64(&row[VT_STALL_LOW], s->low);
	vt_row_set_f64(&row[VT_STALL_HIGH], s->high);
	row[VT_STALL_CONFIDENCE] = s->confidence;
	vt_row_set_f64(&row[VT_STALL_CYCLES], s->cycles);
	vt_row_set_f64(&row[VT_STALL_BOUND], s->bound);
	row[VT_STALL_WHY] = s->why;
	row[VT_STALL_FLAGS] = s->flags;
	for (i = 0; i < s->nguilty; i++)
		guilty[i] = p->offset + (insns[s->guilty[i]].addr - proc->start);
	vt_writer_words(w, VT_STALL_CULPRITS, guilty, s->nguilty);
}

static int write_procedure_stalls(void *writer, const struct vt_culprits_proc *p,
				  struct vt_error *err)
{
	size_t i;

	for (i = 0; i < p->nstalls; i++)
		write_stall(writer, p, &p->stalls[i]);
	return vt_writer_error(writer, err);
}

int vt_culprits_write(const struct vt_culprits_source *src, struct vt_writer *w,
		      struct vt_culprits_totals *t, struct vt_error *err)
{
	int code = vt_culprits_run(src, write_procedure_stalls, w, t, err);

	if (code < 0)
		return code;
	vt_writer_meta(w, "vculprit.cpu", src->core->name);
	vt_writer_meta_u64(w, "vculprit.procedures", t->procedures);
	vt_writer_meta_u64(w, "vculprit.without_code", t->without_code);
	vt_writer_meta_u64(w, "vculprit.outside", t->outside);
	return 0;
}
