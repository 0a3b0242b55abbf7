/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_INTERNAL_H
#define VT_IMAGE_INTERNAL_H

#include <gelf.h>
#include <libelf.h>

#include "image/elf.h"

/* libelf's handle of the file, borrowed. */
Elf *vti_elf_handle(const struct vt_elf *e);

/*
 * A section by name, with its header; NULL when there is none.  With `data`, also its content,
 * and NULL when that is not wholly inside the file.
 */
Elf_Scn *vti_elf_section(const struct vt_elf *e, const char *name, GElf_Shdr *shdr,
			 Elf_Data **data);

/* A section's content if it lies wholly inside the file, else NULL. */
Elf_Data *vti_elf_section_data(const struct vt_elf *e, Elf_Scn *scn);

#endif
