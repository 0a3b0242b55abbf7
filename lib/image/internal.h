/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_INTERNAL_H
#define VT_IMAGE_INTERNAL_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

#include "image/elf.h"
#include "image/lines.h"

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

/* Returns libdw's handle of the DWARF, or NULL: lines that are packed have none.  Borrowed. */
Dwarf *vti_lines_dwarf(const struct vt_lines *l);

/* Finds the entry of the unit that holds a vaddr; of split DWARF, the skeleton's. */
bool vti_lines_unit_die(struct vt_lines *l, uint64_t vaddr, Dwarf_Die *unit);

/* Finds the entry of the function, not inlined, that holds a vaddr, among those of a unit. */
bool vti_lines_function_die(struct vt_lines *l, Dwarf_Die *unit, uint64_t vaddr,
			    Dwarf_Die *function);

/* Returns the size in bytes of an entry's unit, an upper bound on its number of entries. */
uint64_t vti_dwarf_unit_size(Dwarf_Die *die);

#endif
