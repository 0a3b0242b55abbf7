/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_TYPES_SUBJECT_H
#define TESTS_UNIT_TYPES_SUBJECT_H

#include <stdlib.h>

#include "image/symbols.h"
#include "tests/unit/common/toolbox.h"
#include "types/types.h"

/* A program, built without relocation, so that its addresses are vaddrs; and its types. */
struct subject {
	char *dir;
	struct vt_elf *elf;
	struct vt_symbols *symbols;
	struct vt_lines *lines;
	struct vt_unwind *unwind;
	struct vt_types *types; /* NULL: it has none */
};

static inline void subject_open(struct subject *s)
{
	struct vt_error err = VT_ERROR_INIT;

	s->elf = vt_elf_open(toolbox_path(s->dir, "p"), &err);
	assert_non_null(s->elf);
	s->symbols = vt_symbols_new();
	assert_int_equal(vt_symbols_add_elf(s->symbols, s->elf, NULL, &err), 0);
	assert_int_equal(vt_symbols_finish(s->symbols, &err), 0);
	s->lines = vt_lines_new(s->elf, &err);
	s->unwind = vt_unwind_new(s->elf, &err);
	assert_non_null(s->unwind);
	s->types = vt_types_new(s->lines, s->elf, s->unwind, &err);
}

static inline void subject_build(struct subject *s, const char *program, const char *file,
				 const char *compiler)
{
	s->dir = toolbox_dir();
	toolbox_write(s->dir, file, program);
	free(toolbox_run(s->dir, "%s -no-pie -fno-pie %s -o p", compiler, file));
	subject_open(s);
}

static inline void subject_close(struct subject *s)
{
	vt_types_free(s->types);
	vt_unwind_free(s->unwind);
	vt_lines_free(s->lines);
	vt_symbols_free(s->symbols);
	vt_elf_close(s->elf);
}

static inline void subject_demolish(struct subject *s)
{
	subject_close(s);
	toolbox_remove(s->dir);
}

#endif
