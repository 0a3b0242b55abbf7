/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/procedure_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* int3, which padding is made of, and which ends what control can reach. */
#define NO_CODE 0xcc

#define PAGE 4096 /* the smallest that a protection is of */

static bool find_file_code(struct vt_images *images, const struct vt_procedure *proc,
			   struct vt_proccode *c)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, proc->image, &why);
	size_t avail = 0;

	if (!elf || vt_elf_info(elf)->machine != VT_MACHINE_X86_64)
		return false;
	c->bytes = vt_elf_bytes(elf, proc->start, &avail);
	c->size = avail < proc->end - proc->start ? avail : (size_t)(proc->end - proc->start);
	return c->bytes && c->size;
}

static bool procedure_is_patched(struct vt_images *images, const struct vt_procedure *proc)
{
	uint64_t vaddr, offset;

	for (vaddr = proc->start; vaddr < proc->end; vaddr = (vaddr | (PAGE - 1)) + 1)
		if (vt_images_offset(images, proc->image, vaddr, &offset) &&
		    vt_images_is_patched(images, proc->image, offset))
			return true;
	return false;
}

/* Whether code ran that is not the file's, which `c` has. */
static bool ran_other_code(struct vt_images *images, const struct vt_blockcode *blocks,
			   const struct vt_procedure *proc, const struct vt_proccode *c)
{
	uint64_t offset;
	size_t i;

	if (!vt_images_offset(images, proc->image, proc->start, &offset))
		return false;
	for (i = 0; i < c->size; i++) {
		size_t size = 0;
		const uint8_t *bytes = vt_blockcode_at(blocks, proc->image, offset + i, &size);

		if (bytes && size <= c->size - i && memcmp(c->bytes + i, bytes, size) != 0)
			return true;
	}
	return false;
}

static bool copy_block_code(struct vt_images *images, const struct vt_blockcode *blocks,
			    const struct vt_procedure *proc, struct vt_proccode *c)
{
	const struct vt_image *image = vt_images_get(images, proc->image);
	bool anonymous = image && image->type == VT_IMAGE_ANON;
	uint64_t offset = proc->start, i = 0;
	bool any = false;

	if (!anonymous && !vt_images_offset(images, proc->image, proc->start, &offset))
		return false;
	memset(c->owned, NO_CODE, c->size);
	while (i < c->size) {
		size_t size = 0;
		const uint8_t *bytes = vt_blockcode_at(
			blocks, anonymous ? VT_UNMAPPED_IMAGE : proc->image, offset + i, &size);

		if (!bytes || !size || size > c->size - i) {
			i++;
			continue;
		}
		memcpy(c->owned + i, bytes, size);
		any = true;
		i += size;
	}
	c->bytes = c->owned;
	return any;
}

/* More than any compiler makes of one procedure: for code without a file all of it is copied. */
#define MAX_PROCEDURE (UINT64_C(64) << 20)

int vt_proccode_find(struct vt_images *images, const struct vt_blockcode *blocks,
		     const struct vt_procedure *proc, struct vt_proccode *c, struct vt_error *err)
{
	bool patched;

	if (proc->end <= proc->start)
		return vt_error_set(err, VT_E_NOTFOUND, "no procedure");
	if (proc->end - proc->start > MAX_PROCEDURE)
		return vt_error_set(err, VT_E_LIMIT, "%s: a procedure of %" PRIu64 " bytes",
				    proc->name, proc->end - proc->start);
	patched = procedure_is_patched(images, proc);
	if (!patched && find_file_code(images, proc, c)) {
		patched = blocks && ran_other_code(images, blocks, proc, c);
		if (!patched)
			return 0;
	}
	if (blocks) {
		c->size = (size_t)(proc->end - proc->start);
		c->owned = malloc(c->size);
		if (!c->owned)
			return vt_error_nomem(err);
		if (copy_block_code(images, blocks, proc, c))
			return 0;
	}
	return vt_error_set(err, VT_E_NOTFOUND, "%s: its code %s", proc->name,
			    patched ? "was patched at run time" : "is not there");
}

void vt_proccode_fini(struct vt_proccode *c)
{
	free(c->owned);
	*c = (struct vt_proccode){0};
}
