/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_CFI_H
#define VT_IMAGE_CFI_H

#include "base/bytes.h"
#include "base/error.h"
#include "image/elf.h"

/*
 * Call frame information of one section, .eh_frame or .debug_frame: the rules by which the frame
 * and the return address of an instruction's procedure are found.
 *
 * elfutils' libdw computes the same rows, but it does not tell the procedure they belong to, nor
 * that two procedures claim one instruction; and it allocates as many columns as a file names: a
 * hostile file of 100 bytes makes it take 2.7 GB.
 */
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

/* False when the section says nothing certain about the instruction at `vaddr`. */
bool vti_cfi_find(const struct vti_cfi *f, uint64_t vaddr, struct vti_cfi_row *row);

/* A signed LEB128 number; the cursor goes bad when it does not fit 64 bits. */
uint64_t vti_cfi_signed(struct vt_cursor *c);

#endif
