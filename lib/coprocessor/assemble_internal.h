/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_ASSEMBLE_INTERNAL_H
#define VT_COPROCESSOR_ASSEMBLE_INTERNAL_H

#include "coprocessor/assemble.h"

#define MAX_LABELS 128
#define MAX_TEXT   (1u << 20) /* bytes of a program's text */

struct token {
	const char *at;
	size_t size; /* 0: the end of the line */
	unsigned column;
};

struct label {
	char name[VT_UCODE_NAME];
	uint8_t word;
};

/* A name that stands for a word that may come later. */
struct reference {
	char name[VT_UCODE_NAME];
	unsigned line, column;
};

/* Which fields of the word at hand are taken. */
struct taken {
	bool any, alu, a, b, x, step, memory, cam, branch;
};

struct assembler {
	struct vt_ucode *u;
	const struct vt_assemble_options *o;
	struct vt_error *err;
	const char *p, *end; /* what is left of the line */
	const char *line_start;
	unsigned line;
	struct token token; /* at hand */
	struct label labels[MAX_LABELS];
	unsigned nlabels;
	struct reference branches[VT_UCODE_WORDS]; /* name[0] 0: done */
	struct reference starts[VT_NCLASSES];
	struct reference targets[VT_UCODE_TARGETS];
	unsigned lines[VT_UCODE_WORDS]; /* of each word */
	uint32_t data;			/* bytes of the data array in use */
	struct vt_uword word;
	struct taken taken;
	bool slots_used;
};

/* Sets the error, with line and column; false. */
bool vti_asm_fail_at(struct assembler *as, unsigned line, unsigned column, const char *fmt, ...)
	VT_PRINTF(4, 5);
#define FAIL(as, tok, ...) vti_asm_fail_at(as, (as)->line, (tok).column, __VA_ARGS__)

/* Goes to the next token of the line. */
void vti_asm_advance(struct assembler *as);

/* Whether the token at hand is this text; then passes it; or fails where it is not. */
bool vti_asm_is(const struct assembler *as, const char *text);
bool vti_asm_accept(struct assembler *as, const char *text);
bool vti_asm_expect(struct assembler *as, const char *text);

/* Fails: the token at hand is no `what`. */
bool vti_asm_unexpected(struct assembler *as, const char *what);

/* Take a name; a name that stands for a word; and a number, from `low` to `high`. */
bool vti_asm_name(struct assembler *as, const char *what, char name[VT_UCODE_NAME]);
bool vti_asm_reference(struct assembler *as, struct reference *r);
bool vti_asm_number(struct assembler *as, uint64_t *v);
bool vti_asm_between(struct assembler *as, uint64_t low, uint64_t high, const char *what,
		     uint64_t *v);

/* The number of the token in a table of names; -1: it is none of them. */
int vti_asm_word(const struct assembler *as, const char *const *words, int n);

/* Takes a line with a directive. */
bool vti_asm_directive(struct assembler *as);

#endif
