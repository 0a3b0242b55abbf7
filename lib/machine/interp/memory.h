/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_MEMORY_H
#define VT_MACHINE_INTERP_MEMORY_H

#include "machine/interp/internal.h"

/* Accesses to memory; `size` is 1 to 32 bytes. */

void vti_load(struct vt_interp *m, const struct vti_op *op, struct vt_word addr, unsigned size,
	      struct vt_word *words);
/* Replaces loaded words by recorded ones with m->hooks->load, which must be set. */
void vti_ask_load(struct vt_interp *m, const struct vti_op *op, struct vt_word addr, unsigned size,
		  struct vt_word *words);
void vti_store(struct vt_interp *m, struct vt_word addr, unsigned size,
	       const struct vt_word *words);

/* Returns a guard; if it is unknown, asks m->hooks->guard. */
struct vt_word vti_guard(struct vt_interp *m, const struct vti_op *op, struct vt_word guard);

void vti_compare_and_swap(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);
void vti_load_guarded(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);
void vti_store_guarded(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);

/* Access elements of the guest state's rings (struct vti_array). */
void vti_get_element(struct vt_interp *m, const struct vti_op *op, struct vt_word *slots);
void vti_put_element(struct vt_interp *m, const struct vti_op *op, const struct vt_word *slots);

/* Makes everything unknown that an instruction writes which VEX does not support. */
void vti_run_unlifted(struct vt_interp *m, const struct vti_unlifted *u);

#endif
