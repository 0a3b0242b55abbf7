/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_TYPES_TRACK_H
#define VT_TYPES_TRACK_H

#include "machine/insn/insn.h"
#include "types/internal.h"

/* What registers point to, followed through the instructions of a block. */

#define VTI_TRACK_REGS 24 /* general registers, by number */

/* A pointer to the byte at `offset` of a value of a type; NULL: unknown. */
struct vti_pointer {
	struct vti_type *object;
	int64_t offset;
};

struct vti_track {
	struct vti_pointer regs[VTI_TRACK_REGS];
};

/* Whether the instruction only copies a value, always. */
bool vti_is_plain_move(const struct vt_facts *f);

/*
 * Finds what the memory operand of the instruction at `pc` is in, as vt_types_access().
 */
enum vt_untyped vti_track_operand(struct vt_types *t, const struct vti_track *k, uint64_t pc,
				  const struct vt_facts *f, struct vt_variable *v, uint64_t *offset,
				  bool *through);

/* Executes the instruction at `pc`. */
void vti_track_step(struct vt_types *t, struct vti_track *k, uint64_t pc, const struct vt_facts *f);

/* Forgets what these registers point to: bit n, register n. */
void vti_track_forget(struct vti_track *k, uint64_t written);

/* Returns the type that a called procedure returns, if the call is direct; or NULL. */
struct vti_type *vti_type_returned(struct vt_types *t, uint64_t target, const char **procedure);

/* Those that a called procedure need not preserve (System V ABI for AMD64, 3.2.1). */
#define VTI_CALL_CLOBBERS                                                                          \
	(UINT64_C(1) << VT_REG_AX | UINT64_C(1) << VT_REG_CX | UINT64_C(1) << VT_REG_DX |          \
	 UINT64_C(1) << VT_REG_SI | UINT64_C(1) << VT_REG_DI | UINT64_C(15) << VT_REG_R8)

#endif
