/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_CFI_H
#define VT_IMAGE_CFI_H

#include "base/bytes.h"
#include "base/error.h"
#include "image/elf.h"

/*
 * Call frame information of a section, .eh_frame or .debug_frame: the rules for finding the frame
 * and the return address of the procedure that an instruction is in.
 *
 * elfutils' libdw computes the same rows, but it does not return the procedure, nor detect that two
 * procedures claim an instruction.  And it allocates as many columns as a file names: 2.7 GB for a
 * hostile file of 100 bytes.
 */
struct vti_cfi;

/* How a value, or its address, is computed. */
enum vti_cfi_how {
	VTI_CFI_UNKNOWN,    /* of a preserved register: unchanged */
	VTI_CFI_OFFSET,	    /* memory at CFA + offset; for the CFA: register `reg` + offset */
	VTI_CFI_VALUE,	    /* CFA + offset */
	VTI_CFI_REGISTER,   /* DWARF register `reg` */
	VTI_CFI_PLACE,	    /* memory at the expression's value; for the CFA: that value */
	VTI_CFI_EXPRESSION, /* the expression's value */
	VTI_CFI_LOST,	    /* a preserved register whose value is gone */
};

/* The registers that procedures preserve for their callers: rbx, rbp, r12 to r15. */
#define VTI_CFI_PRESERVED 6

struct vti_cfi_rule {
	enum vti_cfi_how how;
	uint64_t reg;
	uint64_t offset;
	const uint8_t *expr; /* borrowed from the file */
	size_t size;
};

/* The rules for the instructions in [start, end); vaddrs. */
struct vti_cfi_row {
	uint64_t start;
	uint64_t end;
	uint64_t entry; /* start of the procedure, or of a part of it */
	bool signal;	/* a signal trampoline: its caller was interrupted, and called nothing */
	struct vti_cfi_rule cfa;
	struct vti_cfi_rule ra;
	struct vti_cfi_rule preserved[VTI_CFI_PRESERVED]; /* the caller's values */
};

/* Reads a section.  *cfi is NULL if the file does not have it.  Returns 0 or -VT_E_NOMEM. */
int vti_cfi_open(const struct vt_elf *e, const char *section, struct vti_cfi **cfi,
		 struct vt_error *err);
void vti_cfi_close(struct vti_cfi *f);

/* Finds the rules for the instruction at `vaddr`.  Returns false if there are none, or conflicting
 * ones. */
bool vti_cfi_find(const struct vti_cfi *f, uint64_t vaddr, struct vti_cfi_row *row);

/* Reads a signed LEB128 number; sets the cursor's `bad` if it does not fit 64 bits. */
uint64_t vti_cfi_signed(struct vt_cursor *c);

#endif
