/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_CFI_H
#define VT_IMAGE_CFI_H

#include "image/unwind.h"

/* Call frame information of one section, .eh_frame or .debug_frame. */
struct vti_cfi;

/* How a value, or the place of one, is computed. */
enum vti_cfi_how {
	VTI_CFI_UNKNOWN,
	VTI_CFI_OFFSET,	    /* memory at CFA + offset; of the CFA: register `reg` + offset */
	VTI_CFI_VALUE,	    /* CFA + offset itself */
	VTI_CFI_REGISTER,   /* DWARF's register `reg` */
	VTI_CFI_PLACE,	    /* memory where the expression says; of the CFA: its value */
	VTI_CFI_EXPRESSION, /* what the expression says */
};

struct vti_cfi_rule {
	enum vti_cfi_how how;
	uint64_t reg;
	uint64_t offset;
	const uint8_t *expr; /* borrowed from the file */
	size_t size;
};

/* The rules for the instructions at `start` up to, without it, `end`. */
struct vti_cfi_row {
	uint64_t start;
	uint64_t end;
	uint64_t entry; /* of the procedure, or its part */
	struct vti_cfi_rule cfa;
	struct vti_cfi_rule ra;
};

/* *cfi is NULL when there is no such section.  -VT_E_NOMEM. */
int vti_cfi_open(const struct vt_elf *e, const char *section, struct vti_cfi **cfi,
		 struct vt_error *err);
void vti_cfi_close(struct vti_cfi *f);

/* False when nothing certain is told of the instruction at `vaddr`. */
bool vti_cfi_find(const struct vti_cfi *f, uint64_t vaddr, struct vti_cfi_row *row);

/* A DWARF register, 16 being the instruction pointer: `pc`. */
bool vti_cfi_register(uint64_t reg, uint64_t pc, const struct vt_unwind_state *s, uint64_t *value);

/* What an expression (DWARF 5, 2.5) leaves on its stack, which `first`, unless NULL, is on at the
 * start. */
bool vti_cfi_evaluate(const struct vti_cfi_rule *rule, const uint64_t *first, uint64_t pc,
		      const struct vt_unwind_state *s, uint64_t *value);

/* A signed LEB128 number. */
struct vt_cursor;
uint64_t vti_cfi_signed(struct vt_cursor *c);

#endif
