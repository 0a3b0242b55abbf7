/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as an ELF file: symbols, PLT, lines, inlined calls, types, instructions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "image/disasm.h"
#include "image/lines.h"
#include "image/symbols.h"
#include "types/types.h"

#define MAX_ASKED 50

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_type(struct vt_types *types, const struct vt_ctype *type)
{
	const struct vt_typemember *members;
	struct vt_typeplace place;
	size_t n, i;

	for (i = 0; type && i < 4; i++) {
		vt_type_members(types, type, &members, &n);
		vt_type_place(types, type, 0, 4, &place);
		vt_type_place_in(types, type, 4 * type->size, 9, 8, &place);
		type = vt_type_target(types, type);
	}
}

static void ask_types(struct vt_lines *l, const struct vt_elf *elf, const struct vt_symbols *t)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_unwind *u = vt_unwind_new(elf, &err);
	struct vt_types *types = vt_types_new(l, elf, u, &err);
	struct vt_local locals[8];
	struct vt_variable v;
	struct vt_heaptype h;
	size_t i, j, n;
	uint64_t offset;
	bool through;

	for (i = 0; types && i < vt_symbols_count(t) && i < MAX_ASKED; i++) {
		uint64_t at = vt_symbols_at(t, i)->start;

		if (vt_types_global(types, at, &v, &offset) == VT_TYPED)
			ask_type(types, v.type);
		vt_types_locals(types, at + 8, locals, 8, &n);
		for (j = 0; j < n; j++)
			ask_type(types, locals[j].variable.type);
		for (j = 0; j < 24; j++)
			if (vt_types_access(types, at + j, &v, &offset, &through) == VT_TYPED)
				ask_type(types, v.type);
		if (vt_types_heap(types, at + 8, 64, &h) == VT_TYPED)
			ask_type(types, h.type);
	}
	vt_types_free(types);
	vt_unwind_free(u);
}

static void ask_lines(const struct vt_elf *elf, const struct vt_symbols *t)
{
	struct vt_frame frames[VT_MAX_INLINE];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_lines *l = vt_lines_new(elf, &err);
	struct vt_line line;
	size_t i;

	for (i = 0; l && i < vt_symbols_count(t) && i < MAX_ASKED; i++) {
		uint64_t at = vt_symbols_at(t, i)->start;

		vt_lines_at(l, at, &line);
		vt_lines_frames(l, at + 2, frames, VT_MAX_INLINE);
		vt_lines_function(l, at, frames);
	}
	if (l)
		ask_types(l, elf, t);
	vt_lines_free(l);
}

static void ask_code(const struct vt_elf *elf, struct vt_symbols *t)
{
	const struct vt_elf_info *info = vt_elf_info(elf);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_disasm *d =
		vt_disasm_new(info->machine, info->bits, info->big, VT_SYNTAX_ATT, &err);
	size_t i, avail;

	for (i = 0; i < vt_symbols_count(t) && i < MAX_ASKED; i++) {
		const struct vt_symbol *s = vt_symbols_at(t, i);
		const uint8_t *bytes = vt_elf_bytes(elf, s->start, &avail);
		struct vt_insn insn;

		vt_symbols_display(t, s);
		if (d && bytes)
			vt_disasm_at(d, bytes, avail, s->start, &insn);
	}
	vt_disasm_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vt_symbols *t = vt_symbols_new();
	struct vt_error err = VT_ERROR_INIT;
	void *copy = malloc(size + 1);
	struct vt_elf *elf;

	if (!t || !copy)
		abort();
	memcpy(copy, data, size);
	elf = vt_elf_open_memory(copy, size, "fuzz", &err);
	if (elf && vt_symbols_add_elf(t, elf, NULL, &err) == 0 &&
	    vt_symbols_add_plt(t, elf, &err) == 0 && vt_symbols_finish(t, &err) == 0) {
		ask_code(elf, t);
		ask_lines(elf, t);
	}
	vt_symbols_free(t);
	vt_elf_close(elf);
	free(copy);
	return 0;
}
