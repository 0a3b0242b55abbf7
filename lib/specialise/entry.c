/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/entry.h"

#include <stdlib.h>

#include "base/buf.h"
#include "image/procedures.h"

void vti_entries_fini(struct vti_entries *e)
{
	free(e->list);
	*e = (struct vti_entries){0};
}

int vti_entries_add(struct vti_entries *e, uint32_t image, uint64_t offset, struct vt_error *err)
{
	if (!vt_array_grow(&e->list, &e->cap, e->count + 1, sizeof(*e->list)))
		return vt_error_nomem(err);
	e->list[e->count++] = (struct vti_entry){offset, image};
	return 0;
}

int vti_entries_add_image(struct vti_entries *e, struct vt_images *images, uint32_t image,
			  struct vt_error *err)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, image, &why);
	uint64_t *starts = NULL, offset;
	int64_t n, i;
	int code = 0;

	if (!elf || vt_elf_info(elf)->has_symtab)
		return 0;
	n = vt_procedure_starts(elf, &starts, err);
	for (i = 0; i < n && code == 0; i++)
		if (vt_images_offset(images, image, starts[i], &offset))
			code = vti_entries_add(e, image, offset, err);
	free(starts);
	return n < 0 ? (int)n : code;
}

static int compare_entry_places(const void *a, const void *b)
{
	const struct vti_entry *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void vti_entries_sort(struct vti_entries *e)
{
	if (e->count)
		qsort(e->list, e->count, sizeof(*e->list), compare_entry_places);
}

const struct vti_entry *vti_entries_before(const struct vti_entries *e, uint32_t image,
					   uint64_t offset, uint64_t *end)
{
	const struct vti_entry at = {offset, image};
	size_t low = 0, high = e->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (compare_entry_places(&e->list[mid], &at) <= 0)
			low = mid + 1;
		else
			high = mid;
	}
	*end = low < e->count && e->list[low].image == image ? e->list[low].offset : 0;
	return low && e->list[low - 1].image == image ? &e->list[low - 1] : NULL;
}
