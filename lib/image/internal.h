/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_INTERNAL_H
#define VT_IMAGE_INTERNAL_H

#include <gelf.h>
#include <libelf.h>

#include "image/elf.h"

/* Returns libelf's handle of the file.  Borrowed. */
Elf *vti_elf_handle(const struct vt_elf *e);

/*
 * Finds a section by name and stores its header.  Unless `data` is NULL, also stores its content,
 * and considers only sections that are entirely inside the file.  Returns NULL if there is none.
 */
Elf_Scn *vti_elf_section(const struct vt_elf *e, const char *name, GElf_Shdr *shdr,
			 Elf_Data **data);

/* Returns a section's content, or NULL if it is not entirely inside the file. */
Elf_Data *vti_elf_section_data(const struct vt_elf *e, Elf_Scn *scn);

#endif
