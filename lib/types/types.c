/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "types/types.h"

#include <assert.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "image/internal.h"
#include "types/internal.h"

struct type_entry {
	uint64_t die;
	struct vti_type *type;
};

const char *vt_untyped_text(enum vt_untyped why)
{
	static const char *const texts[VT_NUNTYPED] = {
		[VT_TYPED] = "known",
		[VT_UNTYPED_NO_DWARF] = "no debug information",
		[VT_UNTYPED_NO_CODE] = "no debug information of the code",
		[VT_UNTYPED_NO_VARIABLE] = "no variable there",
		[VT_UNTYPED_NO_TYPE] = "no type",
		[VT_UNTYPED_AMBIGUOUS] = "several types",
		[VT_UNTYPED_VOID] = "pointer to void or characters",
		[VT_UNTYPED_RETURNED] = "returned as a pointer to void",
		[VT_UNTYPED_INCOMPLETE] = "type only declared",
		[VT_UNTYPED_OUTSIDE] = "outside the type",
		[VT_UNTYPED_SPLIT] = "debug information in a file not found",
		[VT_UNTYPED_LIMIT] = "too large",
		[VT_UNTYPED_NOMEM] = "out of memory",
		[VT_UNTYPED_INEXACT] = "instruction not known",
	};

	assert((unsigned)why < VT_NUNTYPED);
	return texts[why];
}

/* Looks for the file that dwz made, unless it is none that may be opened. */
static bool has_alternate(const struct vt_types *t, bool *wanted)
{
	const char *name = NULL;
	const void *id;
	struct stat st;

	*wanted = dwelf_dwarf_gnu_debugaltlink(t->dwarf, &name, &id) > 0 && name;
	if (!*wanted || (stat(name, &st) == 0 && !S_ISREG(st.st_mode)))
		return false;
	return dwarf_getalt(t->dwarf) != NULL;
}

struct vt_types *vt_types_new(struct vt_lines *lines, const struct vt_elf *elf,
			      struct vt_unwind *unwind, struct vt_error *err)
{
	struct vt_types *t;
	bool wanted;

	if (!lines || !elf || !vti_lines_dwarf(lines)) {
		vt_error_set(err, VT_E_NOTFOUND, "%s: no debug information with types",
			     elf ? vt_elf_info(elf)->path : "image");
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (t)
		t->names = vt_intern_new();
	if (!t || !t->names) {
		free(t);
		vt_error_nomem(err);
		return NULL;
	}
	t->lines = lines;
	t->elf = elf;
	t->unwind = unwind;
	t->dwarf = vti_lines_dwarf(lines);
	vt_hash_init(&t->types, sizeof(struct type_entry), sizeof(uint64_t));
	vti_families_clear(t);
	t->lost.alternate = !has_alternate(t, &wanted) && wanted;
	return t;
}

struct vt_types *vt_types_new_image(struct vt_images *images, uint32_t image, struct vt_error *err)
{
	enum vt_unknown why;
	struct vt_types *t =
		vt_types_new(vt_images_lines(images, image), vt_images_elf(images, image, &why),
			     vt_images_unwind(images, image), err);

	if (t) {
		t->images = images;
		t->image = image;
	}
	return t;
}

void vt_types_free(struct vt_types *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->types.count; i++)
		vti_type_free(((struct type_entry *)vt_hash_at(&t->types, i))->type);
	vt_hash_fini(&t->types);
	vt_hash_fini(&t->defined);
	vti_families_clear(t);
	vt_hash_fini(&t->families);
	free(t->globals);
	free(t->entries);
	vt_intern_free(t->names);
	free(t);
}

void vt_types_lost(const struct vt_types *t, struct vt_types_lost *lost)
{
	*lost = t->lost;
}
