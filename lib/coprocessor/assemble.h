/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_ASSEMBLE_H
#define VT_COPROCESSOR_ASSEMBLE_H

#include "coprocessor/program.h"

struct vt_assemble_options {
	uint16_t slots;		 /* instead of the program's; 0: the program's */
	const char *const *sets; /* "NAME=NUMBER": constants that are replaced */
	size_t nsets;
};

/*
 * Assembles the text of a program (vt-ucode(5)).  Returns 0; -VT_E_FORMAT, the text beginning
 * "LINE:COLUMN: ", for an error in the program and for what the hardware cannot encode, naming the
 * field; or -VT_E_USAGE for an option that does not fit the program.
 */
int vt_ucode_assemble(struct vt_ucode *u, const char *text, size_t size,
		      const struct vt_assemble_options *o, struct vt_error *err);

/* Appends the text of a program, which assembles to the same program. */
void vt_ucode_disassemble(const struct vt_ucode *u, struct vt_buf *out);

/* Appends the operations of one word, without a final newline. */
void vt_ucode_print_word(const struct vt_ucode *u, unsigned at, struct vt_buf *out);

#endif
