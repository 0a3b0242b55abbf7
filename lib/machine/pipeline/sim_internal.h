/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SIM_INTERNAL_H
#define VT_MACHINE_PIPELINE_SIM_INTERNAL_H

#include "machine/pipeline/memory.h"
#include "machine/pipeline/sim.h"

/*
 * What the instruction's n-th load or store takes at `cycle`, noted in *out.  Accesses that there
 * are no micro-operations for go with the last one.
 */
struct vt_simmem_access vti_sim_access(struct vt_simmem *mem, const struct vt_sim_insn *insn,
				       bool store, unsigned nth, uint64_t cycle,
				       struct vt_sim_retired *out);

/* log2 of the size of the lines that code is fetched by. */
unsigned vti_sim_line_shift(const struct vt_core *m);

/* The kinds of machine.  The functions are those of machine/pipeline/sim.h. */
struct vti_siminorder;
struct vti_simooo;

struct vti_siminorder *vti_siminorder_new(const struct vt_core *m,
					  const struct vt_sim_hooks *hooks);
void vti_siminorder_free(struct vti_siminorder *s);
void vti_siminorder_run(struct vti_siminorder *s, const struct vt_sim_insn *insn);
uint64_t vti_siminorder_run_block(struct vti_siminorder *s, struct vt_sim_block *b, uint64_t next,
				  uint64_t due);
void vti_siminorder_drain(struct vti_siminorder *s);
uint64_t vti_siminorder_cycle(const struct vti_siminorder *s);

struct vti_simooo *vti_simooo_new(const struct vt_core *m, const struct vt_sim_hooks *hooks);
void vti_simooo_free(struct vti_simooo *s);
void vti_simooo_run(struct vti_simooo *s, const struct vt_sim_insn *insn);
uint64_t vti_simooo_run_block(struct vti_simooo *s, const struct vt_sim_block *b, uint64_t due);
uint64_t vti_simooo_cycle(const struct vti_simooo *s);

#endif
